"""Failed messages on their way back: each is seen again in the retry queue, when its delay is over and not before."""

from __future__ import annotations

from dataclasses import dataclass, field

from rebalance_engine.consumer.messages import Message
from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.breach import Rule, Weather, hold
from rebalance_engine.simulation.clock import Clock
from rebalance_engine.simulation.store import DEAD_LETTER_PREFIX, Returned
from rebalance_engine.simulation.timers import ON_THE_WAY

DELAYS = (10_000, 30_000, 60_000)  # ms; of the first retries of a message (``messageDelayLevel`` from level 3 on)


@dataclass(slots=True)
class Returns:
    """What brokers took back and nobody has seen again yet, of one group."""

    clock: Clock
    weather: Weather
    _expected: dict[tuple[str, str], tuple[Returned, int]] = field(default_factory=dict)

    def expect(self, returned: Returned) -> None:
        """Note that a broker has a message back."""
        broker, key = returned.place.broker, (returned.place.broker, returned.name)
        is_dead = returned.topic.startswith(DEAD_LETTER_PREFIX)
        delay = 0 if is_dead else DELAYS[min(returned.message.reconsume_times, len(DELAYS) - 1)]
        self._expected[key] = returned, self.clock.now + delay
        self.clock.after(delay + ON_THE_WAY, lambda: self._check(key, broker))

    def stored(self, queue: MessageQueue, message: Message) -> None:
        """Note a message: it may be one that comes back."""
        if message.reconsume_times:
            expected = self._expected.pop((queue.broker, str(message.content)), None)
            hold(
                expected is not None and self.clock.now >= expected[1],
                Rule.RETURNED,
                f"{queue.broker} lets a message of {message.topic} come back that nobody sent back, twice, or too soon",
            )

    def _check(self, key: tuple[str, str], broker: str) -> None:
        if key in self._expected and self.weather.was_fair(self._expected[key][1], self.clock.now, broker):
            self._fail(self._expected[key][0])

    def check_all_back(self) -> None:
        """Insist at the end that all have come back."""
        for returned, due in self._expected.values():
            if due + ON_THE_WAY < self.clock.now:
                self._fail(returned)

    @property
    def last_due(self) -> int:
        """When the last one is due, 0 if none is on its way."""
        return max((due for _, due in self._expected.values()), default=0)

    @staticmethod
    def _fail(returned: Returned) -> None:
        place = returned.place
        told = f"{place.topic}/{place.broker}/{place.queue_id} {returned.offset}"
        hold(False, Rule.RETURNED, f"{told} was sent back and does not come again")
