"""Who looks on at one group while a world runs: every book that is kept of it, and what is told to which."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rebalance_engine.effects import Channel, Heard, Received
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.requests.consuming import (
    LockBatchMq,
    LockBatchMqResponse,
    PullMessage,
    UnlockBatchMq,
    UpdateConsumerOffset,
)
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroup, HeartBeat
from rebalance_engine.simulation.breach import Weather
from rebalance_engine.simulation.broker import BrokerProcess
from rebalance_engine.simulation.clients import ConsumerProcess
from rebalance_engine.simulation.clock import Clock
from rebalance_engine.simulation.ledger import Ledger
from rebalance_engine.simulation.pacing import Paces
from rebalance_engine.simulation.presences import PresenceBook
from rebalance_engine.simulation.scenario import Scenario
from rebalance_engine.simulation.store import Returned
from rebalance_engine.simulation.subscribing import Told


class Watch:
    """The books of one group.

    Attributes:
        ledger: of the group's queues.
    """

    def __init__(self, group: str, scenario: Scenario, clock: Clock, weather: Weather) -> None:
        self.ledger = Ledger(clock, weather, is_orderly=scenario.is_orderly)
        self._group = group
        self._clock = clock
        self._paces = Paces(weather, len(scenario.topics) + 1)
        self._presences: dict[str, PresenceBook] = {}
        self._told: dict[str, Told] = {}
        self._looks: dict[type, Callable[[BrokerProcess, Received, Iterable[object]], None]] = {
            HeartBeat: self._beat,
            GetConsumerListByGroup: self._asked,
            LockBatchMq: self._locked,
            UnlockBatchMq: self._unlocked,
            UpdateConsumerOffset: self._updated,
        }

    def broker_starts(self, name: str) -> None:
        """Begin new books for a broker that is started."""
        self._presences[name] = PresenceBook(self._group)
        self._told[name] = Told(self._group)

    # ---- brokers ----

    def heard(self, broker: BrokerProcess, heard: Heard, responses: Iterable[object], *, is_meant: bool = True) -> None:
        """Look at what a broker's membership heard; who is a member may change by what means another group, too."""
        self._presences[broker.name].heard(broker, heard, self._clock.now)
        if isinstance(heard, Received) and is_meant:
            look = self._looks.get(type(heard.request))
            if look is not None:
                look(broker, heard, responses)

    def _beat(self, broker: BrokerProcess, received: Received, _: Iterable[object]) -> None:
        client = broker.links[received.channel].client
        assert isinstance(received.request, HeartBeat)
        self._told[broker.name].beat(received.request)
        if isinstance(client, ConsumerProcess):
            self._paces.beat(client, broker.name, self._clock.now)

    def _asked(self, broker: BrokerProcess, received: Received, _: Iterable[object]) -> None:
        self._paces.asked(_consumer(broker, received.channel), self._clock.now)

    def _locked(self, broker: BrokerProcess, received: Received, responses: Iterable[object]) -> None:
        request, ordering = received.request, self.ledger.ordering
        assert isinstance(request, LockBatchMq)
        by = broker.links[received.channel].client.name
        for response in responses:
            if isinstance(response, LockBatchMqResponse):
                granted = response.body.lock_ok_mq_set
                ordering.locks.granted(request.body.client_id, granted, self._clock.now, by)
                for queue in sorted(set(request.body.mq_set) - set(granted)):
                    ordering.refused(queue)

    def _unlocked(self, broker: BrokerProcess, received: Received, _: Iterable[object]) -> None:
        request = received.request
        assert isinstance(request, UnlockBatchMq)
        by = broker.links[received.channel].client.name
        self.ledger.ordering.locks.released(request.body.client_id, request.body.mq_set, self._clock.now, by)

    def _updated(self, broker: BrokerProcess, received: Received, responses: Iterable[object]) -> None:
        assert isinstance(received.request, UpdateConsumerOffset)
        if not any(isinstance(each, Refused) for each in responses):
            self._committed(broker, received.channel, received.request)

    def pulled(self, broker: BrokerProcess, channel: Channel, pull: PullMessage) -> None:
        """Look at a pull that is served."""
        self._told[broker.name].pulled(broker.name, pull)
        self.ledger.pulled(_consumer(broker, channel), MessageQueue(pull.topic, broker.name, pull.queue_id))

    def committed(self, broker: BrokerProcess, channel: Channel, pull: PullMessage) -> None:
        """Look at the offset that came with a pull."""
        self._committed(broker, channel, pull)

    def _committed(self, broker: BrokerProcess, channel: Channel, request: UpdateConsumerOffset | PullMessage) -> None:
        queue = MessageQueue(request.topic, broker.name, request.queue_id)
        self.ledger.committed(_consumer(broker, channel), queue, request.commit_offset)

    def returned(self, broker: BrokerProcess, channel: Channel, returned: Returned) -> None:
        """Note a message that came back."""
        self.ledger.returned(_consumer(broker, channel), returned)


def _consumer(broker: BrokerProcess, channel: Channel) -> ConsumerProcess:
    client = broker.links[channel].client
    assert isinstance(client, ConsumerProcess), f"{client.name} is no consumer"
    return client
