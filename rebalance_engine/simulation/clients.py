"""Client processes: consumers whose listeners take time, and producers that send now and then."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from rebalance_engine.consumer import (
    Client,
    ClientSettings,
    Consumed,
    Deliver,
    GroupSettings,
    Message,
    Order,
    Start,
    Stop,
)
from rebalance_engine.consumer.application import Result
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.profiles import Profile
from rebalance_engine.effects import Heard
from rebalance_engine.events import Origin, Source
from rebalance_engine.model import MessageQueue
from rebalance_engine.producer import Message as Outgoing
from rebalance_engine.producer import Producer, Settings, java
from rebalance_engine.producer.send_loop import Result as SendResult
from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.requests.consuming import PullMessageResponse
from rebalance_engine.simulation.broker import Found
from rebalance_engine.simulation.nameserver import ADDRESS as NAME_SERVER
from rebalance_engine.simulation.process import Place, Process

MOST_FAILURES = 2  # of one message: with the delays of the first two retries a run still comes to an end


@dataclass(frozen=True, slots=True)
class Listener:
    """How an application consumes: the shortest and longest time of a batch in ms, and how many of 1000 fail."""

    low: int = 5
    high: int = 40
    fails: int = 0


class Audience(Protocol):
    """Who looks on while messages are consumed."""

    def delivered(self, client: ConsumerProcess, deliver: Deliver) -> None:
        """The listener got messages."""

    def consumed(self, client: ConsumerProcess, deliver: Deliver, result: Result) -> None:
        """The listener has returned."""

    def ended(self, client: ConsumerProcess) -> None:
        """The client has shut itself down."""


class Addressee(Protocol):
    """Who is told what is sent."""

    def begun(self, body: bytes) -> None:
        """A message is sent."""

    def ended(self, body: bytes, result: SendResult | None) -> None:
        """The producer was told what became of it."""


class ConsumerProcess(Process):
    """One run of a client with a consumer of each group in it.

    Attributes:
        client_id: what brokers know it by.
        strategies: group -> what it divides queues by, as the scenario names it.
        machine: the client.
        started_at, stopping_since: when it began, and when it began to shut down.
        changed_at: group and topic -> when it last took or dropped a queue of it.
    """

    def __init__(
        self,
        place: Place,
        *,
        client_id: str,
        profile: Profile,
        strategies: Mapping[str, str],
        luck: random.Random,
        listener: Listener,
        audience: Audience,
    ) -> None:
        super().__init__(place)
        self.client_id = client_id
        self.profile = profile
        self.strategies = strategies
        self.listener = listener
        self.changed_at: dict[tuple[str, str], int] = {}
        self._luck = luck
        self._audience = audience
        self._members: list[Member] = []
        self.stopping_since: int | None = None
        self.started_at = place.network.clock.now
        self.machine = Client(
            profile,
            ClientSettings(client_id=client_id, name_servers=(NAME_SERVER,)),
            luck=luck,
            source=Source(origin=Origin.SIMULATOR, client=client_id),
            read=read,
        )
        self._doing[Deliver] = self._deliver

    @property
    def language(self) -> Language:
        """What its headers say it is written in."""
        return self.profile.language

    @property
    def version(self) -> int:
        """What its headers say of its version."""
        return self.profile.version_number

    # ---- its machine ----

    def react(self, heard: Heard | Consumed | Order, at: int) -> Iterable[object]:
        """Let the client hear something."""
        return self.machine.handle(heard, at)

    def check(self) -> None:
        """Hold the client to its invariants, and end the process after its consumers have stopped."""
        self.machine.check()
        if self.is_stopping and not self.is_gone and not any(member.is_running for member in self._members):
            self.network.end(self)
            self._audience.ended(self)

    def order(self, order: Order) -> None:
        """Let the application call the client; once its consumer is shut down there is nothing to call."""
        self.do(lambda: self._obey(order))

    def _obey(self, order: Order) -> None:
        if isinstance(order, Start) or order.group in self.machine.groups:
            self.carry_out(self.machine.handle(order, self.clock.now))

    def start(self, settings: GroupSettings) -> None:
        """Start the consumer of a group."""
        self.order(Start(settings=settings))
        self._members.append(self.machine.member(settings.group))

    def stop(self) -> None:
        """Shut all consumers down; then the process ends."""
        self.stopping_since = self.clock.now
        for group in self.machine.groups:
            self.order(Stop(group))

    @property
    def is_stopping(self) -> bool:
        """Whether it shuts down."""
        return self.stopping_since is not None

    def held(self, group: str) -> tuple[MessageQueue, ...]:
        """Give what its table says that it holds of a group."""
        return self.machine.held(group).queues if group in self.machine.groups else ()

    # ---- its listener ----

    def _deliver(self, deliver: Deliver) -> None:
        self._audience.delivered(self, deliver)
        duration = self._luck.randint(self.listener.low, self.listener.high)
        result = self._result(deliver.messages)
        self.after(duration, lambda: self._returns(deliver, result))

    def _result(self, messages: tuple[Message, ...]) -> Result:
        is_bad = self._luck.randrange(1_000) < self.listener.fails
        may_fail = all(message.reconsume_times < MOST_FAILURES for message in messages)
        return Result.LATER if is_bad and may_fail else Result.SUCCESS

    def _returns(self, deliver: Deliver, result: Result) -> None:
        self._audience.consumed(self, deliver, result)
        heard = Consumed(token=deliver.token, result=result)
        self.carry_out(self.machine.handle(heard, self.clock.now))


def read(answer: PullMessageResponse) -> tuple[Message, ...]:
    """Take the messages out of the answer to a pull."""
    assert isinstance(answer, Found), f"{answer} did not come from a simulated broker"
    return answer.messages


class ProducerProcess(Process):
    """One run of a producer, which sends a message to each of its topics in turn until it is told to stop."""

    def __init__(
        self,
        place: Place,
        *,
        version: str,
        topics: tuple[str, ...],
        every_ms: int,
        avoids_faults: bool,
        luck: random.Random,
        addressee: Addressee,
    ) -> None:
        super().__init__(place)
        self._topics = topics
        self._every_ms = every_ms
        self._luck = luck
        self._addressee = addressee
        self._bodies: dict[int, bytes] = {}
        self._sent = 0
        self._until = 0
        self.machine = Producer(
            java(version),
            Settings(
                group=f"{place.name}-group",
                client=place.name,
                name_servers=(NAME_SERVER,),
                avoids_faults=avoids_faults,
            ),
            luck=luck,
            source=Source(origin=Origin.SIMULATOR, client=place.name),
        )

    def start(self, until: int) -> None:
        """Begin to send, up to a time."""
        self._until = until
        self.carry_out(self.machine.start(self.clock.now))
        self.after(self._luck.randint(1, self._every_ms), self._send_next)

    def _send_next(self) -> None:
        if self.clock.now >= self._until:
            return
        topic = self._topics[self._sent % len(self._topics)]
        self._sent += 1
        body = f"{self.name} {self._sent}".encode()
        self._addressee.begun(body)
        sending = self.machine.send(Outgoing(topic=topic, body=body), self.clock.now)
        self._bodies[sending.number] = body
        self.carry_out(sending.effects)
        self.after(self._luck.randint(self._every_ms // 2, self._every_ms * 3 // 2), self._send_next)

    def react(self, heard: Heard, at: int) -> Iterable[object]:
        """Let the producer hear something."""
        return self.machine.handle(heard, at)

    def check(self) -> None:
        """Tell what became of the messages whose calls have ended."""
        for story in self.machine.take_finished():
            self._addressee.ended(self._bodies.pop(story.number), story.result)
