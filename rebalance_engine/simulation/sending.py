"""What producers sent, what brokers stored, and what producers were told about it."""

from __future__ import annotations

from dataclasses import dataclass, field

from rebalance_engine.model import MessageQueue
from rebalance_engine.producer import Sent
from rebalance_engine.producer.send_loop import Result
from rebalance_engine.simulation.breach import Breach, Rule, Weather, hold
from rebalance_engine.simulation.clock import Clock
from rebalance_engine.simulation.sessions import short
from rebalance_engine.simulation.timers import ON_THE_WAY


@dataclass(slots=True)
class SendBook:
    """The messages of all producers, by their bodies, which tell them apart.

    Attributes:
        brokers: the names of those that messages go to.
    """

    clock: Clock
    weather: Weather
    brokers: tuple[str, ...]
    _begun_at: dict[bytes, int] = field(default_factory=dict)
    _open: set[bytes] = field(default_factory=set)
    _stored: dict[bytes, list[tuple[MessageQueue, int]]] = field(default_factory=dict)

    def begun(self, body: bytes) -> None:
        """Note that a message is sent."""
        self._begun_at[body] = self.clock.now
        self._open.add(body)

    def stored(self, queue: MessageQueue, offset: int, body: bytes) -> None:
        """Note that a broker has a message; it has it twice, or late, only if something was lost or held up."""
        begun_at = self._begun_at.get(body)
        if begun_at is None:
            raise Breach(Rule.SENT, f"{short(queue)} has a message at {offset} that nobody sent")
        places = self._stored.setdefault(body, [])
        places.append((queue, offset))
        if len(places) > 1 and self._was_fair(begun_at):
            raise Breach(Rule.SENT, f"{body.decode()} is stored {len(places)} times, last in {short(queue)}")

    def ended(self, body: bytes, result: Result | None) -> None:
        """Note what the producer was told."""
        begun_at = self._begun_at[body]
        self._open.discard(body)
        if not isinstance(result, Sent) or result.response is None:
            if self._was_fair(begun_at):
                raise Breach(Rule.SENT, f"{body.decode()} could not be sent: {result}")
            return
        place = result.queue, result.response.queue_offset
        told = f"{short(place[0])} {place[1]}"
        hold(place in self._stored.get(body, ()), Rule.SENT, f"{body.decode()} is not at {told}, as its producer heard")

    def check_ended(self) -> None:
        """Insist at the end that every call has ended."""
        for body in self._open:
            late = self.clock.now - self._begun_at[body]
            hold(late <= 10 * ON_THE_WAY, Rule.SENT, f"{body.decode()} is sent since {late} ms, and nobody was told")

    def _was_fair(self, since: int) -> bool:
        return self.weather.was_fair(since - ON_THE_WAY, self.clock.now, *self.brokers)
