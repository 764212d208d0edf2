"""The groups of one run, in the same processes: for each its books, told what happens in it and not in the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from rebalance_engine.consumer import Deliver
from rebalance_engine.consumer.application import Result
from rebalance_engine.consumer.messages import Message
from rebalance_engine.effects import Channel, Heard, Received
from rebalance_engine.events import Fact
from rebalance_engine.model import RETRY_TOPIC_PREFIX, MessageQueue
from rebalance_engine.remoting.requests.consuming import LockBatchMq, PullMessage, UnlockBatchMq, UpdateConsumerOffset
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroup
from rebalance_engine.remoting.requests.producing import SendMessage
from rebalance_engine.simulation.breach import Weather
from rebalance_engine.simulation.broker import BrokerProcess
from rebalance_engine.simulation.clients import ConsumerProcess
from rebalance_engine.simulation.clock import Clock
from rebalance_engine.simulation.figures import Figures
from rebalance_engine.simulation.scenario import Scenario
from rebalance_engine.simulation.sending import SendBook
from rebalance_engine.simulation.store import DEAD_LETTER_PREFIX, Returned
from rebalance_engine.simulation.watching import Watch

FIRST, SECOND = "g", "h"


class Watches:
    """Who looks on for each group; the order of the groups is that in which members start their consumers.

    Attributes:
        of: group -> who looks on.
        strategies: group -> what its members divide queues by, unless one of the first group was told another.
        sends: the messages of all producers.
        on_end: who is told that a client has shut itself down.
    """

    def __init__(self, scenario: Scenario, clock: Clock, weather: Weather) -> None:
        self.strategies = {FIRST: scenario.strategy}
        if scenario.beside is not None:
            self.strategies[SECOND] = scenario.beside
        self.of: Mapping[str, Watch] = {group: Watch(group, scenario, clock, weather) for group in self.strategies}
        self.sends = SendBook(clock, weather, tuple(scenario.brokers))
        self.on_end: Callable[[ConsumerProcess], None] = lambda _client: None
        self._retry_topics = {RETRY_TOPIC_PREFIX + group: group for group in self.of}

    @property
    def figures(self) -> Figures:
        """The figures of all groups, as one run."""
        total = Figures()
        for watch in self.of.values():
            total.add(watch.ledger.figures)
        total.seeds = 1
        return total

    def states(self, process: ConsumerProcess, fact: Fact) -> None:
        """Take in what a client states of one of its consumers."""
        watch = self.of.get(getattr(fact, "group", ""))
        if watch is not None:
            watch.ledger.states(process, fact)

    def restarted(self, broker: str, crashed_at: int) -> None:
        """Note that a broker is started again."""
        for watch in self.of.values():
            watch.ledger.restarted(broker, crashed_at)

    def broker_starts(self, name: str) -> None:
        """Begin new books for a broker that is started."""
        for watch in self.of.values():
            watch.broker_starts(name)

    # ---- brokers ----

    def heard(self, broker: BrokerProcess, heard: Heard, responses: Iterable[object]) -> None:
        """Let each group look at what a broker's membership heard, and at requests of its own only."""
        told = tuple(responses)
        meant = group_of(heard.request) if isinstance(heard, Received) else None
        for group, watch in self.of.items():
            watch.heard(broker, heard, told, is_meant=meant in (None, group))

    def pulled(self, broker: BrokerProcess, channel: Channel, pull: PullMessage) -> None:
        """Look at a pull that is served."""
        self.of[pull.consumer_group].pulled(broker, channel, pull)

    def committed(self, broker: BrokerProcess, channel: Channel, pull: PullMessage) -> None:
        """Look at the offset that came with a pull."""
        self.of[pull.consumer_group].committed(broker, channel, pull)

    def sent(self, queue: MessageQueue, offset: int, request: SendMessage) -> None:
        """Note where a producer's message is."""
        self.sends.stored(queue, offset, request.body)

    def stored(self, queue: MessageQueue, message: Message) -> None:
        """Note a message: it is for all groups, but one that comes back is for the group that sent it back."""
        owner = self._retry_topics.get(queue.topic)
        for group, watch in self.of.items():
            if owner in (None, group):
                watch.ledger.stored(queue, message)

    def returned(self, broker: BrokerProcess, channel: Channel, returned: Returned) -> None:
        """Note a message that came back."""
        group = returned.topic.removeprefix(RETRY_TOPIC_PREFIX).removeprefix(DEAD_LETTER_PREFIX)
        self.of[group].returned(broker, channel, returned)

    # ---- listeners ----

    def delivered(self, client: ConsumerProcess, deliver: Deliver) -> None:
        """Look on while a listener begins."""
        self.of[deliver.group].ledger.delivered(client, deliver)

    def consumed(self, client: ConsumerProcess, deliver: Deliver, result: Result) -> None:
        """Look on while a listener ends."""
        self.of[deliver.group].ledger.consumed(client, deliver, result)

    def ended(self, client: ConsumerProcess) -> None:
        """Note that a client has shut itself down."""
        self.on_end(client)


def group_of(request: object) -> str | None:
    """Give the group that a request is about; None: all, or none."""
    if isinstance(request, GetConsumerListByGroup | UpdateConsumerOffset):
        return request.consumer_group
    if isinstance(request, LockBatchMq | UnlockBatchMq):
        return request.body.consumer_group
    return None
