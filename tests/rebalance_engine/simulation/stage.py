"""A ledger to be told things, and clients of which it is told."""

import random

from rebalance_engine.consumer import Deliver, Profile, java
from rebalance_engine.consumer.application import Result
from rebalance_engine.consumer.messages import Message
from rebalance_engine.events import EXACT, DropReason, Fact, Origin, QueueDropped, QueueTaken, Source
from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.breach import Weather
from rebalance_engine.simulation.clients import ConsumerProcess, Listener
from rebalance_engine.simulation.ledger import Ledger
from rebalance_engine.simulation.process import Place, Process
from tests.rebalance_engine.simulation.small import network

QUEUE = MessageQueue("orders", "east", 0)
SOURCE = Source(origin=Origin.SIMULATOR)


class Stage:
    """A ledger, and clients of which it is told; messages 0 to 9 are there."""

    def __init__(self, *, is_orderly: bool = False, profile: Profile | None = None) -> None:
        self.network = network()
        self.weather = Weather()
        self.ledger = Ledger(self.network.clock, self.weather, is_orderly=is_orderly)
        self.profile = profile or java("5.5.0")
        self.a, self.b = self.client("A"), self.client("B")
        self._tokens = 0
        for _ in range(10):
            self.ledger.stored(QUEUE, Message(offset=0, topic="orders"))

    def client(self, name: str) -> ConsumerProcess:
        return ConsumerProcess(
            Place(self.network, name, f"{name}:1", self.state),
            client_id=name,
            profile=self.profile,
            strategies={"g": "AVG"},
            luck=random.Random(0),
            listener=Listener(),
            audience=self.ledger,  # type: ignore[arg-type]  # it is never asked to end one
        )

    def state(self, _process: Process, _fact: object) -> None:
        return

    def wait(self, ms: int) -> None:
        self.network.clock.run_until(self.network.clock.now + ms)

    def take(self, who: ConsumerProcess, at: int = 0, queue: MessageQueue = QUEUE) -> None:
        self._tell(who, QueueTaken, queue=queue, start_offset=at)

    def drop(
        self,
        who: ConsumerProcess,
        committed: int | None = None,
        reason: DropReason = DropReason.NOT_IN_TARGET,
        queue: MessageQueue = QUEUE,
    ) -> None:
        self._tell(who, QueueDropped, queue=queue, committed_offset=committed, reason=reason)

    def _tell(self, who: ConsumerProcess, kind: type[Fact], **fields: object) -> None:
        now = self.network.clock.now
        frame = {"at": now, "source": SOURCE, "exactness": EXACT, "group": "g", "client": who.name}
        self.ledger.states(who, kind(**frame, **fields))  # type: ignore[arg-type]  # as the facts have them

    def give(self, who: ConsumerProcess, *offsets: int) -> Deliver:
        self._tokens += 1
        messages = tuple(Message(offset=offset, topic="orders") for offset in offsets)
        deliver = Deliver(group="g", queue=QUEUE, messages=messages, token=self._tokens)
        self.ledger.delivered(who, deliver)
        return deliver

    def consume(self, who: ConsumerProcess, *offsets: int, result: Result = Result.SUCCESS) -> None:
        self.ledger.consumed(who, self.give(who, *offsets), result)

    def commit(self, who: ConsumerProcess, offset: int) -> None:
        self.ledger.committed(who, QUEUE, offset)
