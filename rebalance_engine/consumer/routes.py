"""Where topics and brokers are, as far as a client knows: what came from a name server last.

Source: ``client/.../impl/factory/MQClientInstance.java`` (``topicRouteData2TopicSubscribeInfo``,
``findBrokerAddressInSubscribe``, ``findBrokerAddrByTopic``, ``cleanOfflineBroker``).
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from rebalance_engine.effects import Address
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.routes import MASTER_ID, TopicRouteData
from rebalance_engine.remoting.static_topics import static_endpoints


class RouteBook:
    """The routes that a client knows; an unknown topic has none, and a known one keeps its last.

    Args:
        knows_static_topics: what a route says of logical queues is read.
    """

    def __init__(self, *, knows_static_topics: bool = True) -> None:
        self._knows_static_topics = knows_static_topics
        self._routes: dict[str, TopicRouteData] = {}
        self._queues: dict[str, frozenset[MessageQueue]] = {}
        self._addresses: dict[str, dict[int, Address]] = {}
        self._hosts: dict[str, dict[MessageQueue, str]] = {}
        self._preferred: dict[MessageQueue, int] = {}

    # ---- learning ----

    def learn(self, topic: str, route: TopicRouteData) -> None:
        """Take in what a name server answered."""
        if route == self._routes.get(topic):
            return
        self._routes[topic] = route
        for broker in route.broker_datas:
            self._addresses[broker.broker_name] = dict(broker.broker_addrs)
        self._hosts[topic] = static_endpoints(topic, route) if self._knows_static_topics else {}
        self._queues[topic] = frozenset(self._hosts[topic] or _readable_queues(topic, route))

    def forget_offline(self) -> None:
        """Forget the addresses that no route names any more (``cleanOfflineBroker``)."""
        named = {
            address
            for route in self._routes.values()
            for broker in route.broker_datas
            for address in broker.broker_addrs.values()
        }
        kept = {
            name: {number: address for number, address in addresses.items() if address in named}
            for name, addresses in self._addresses.items()
        }
        self._addresses = {name: addresses for name, addresses in kept.items() if addresses}

    def prefer(self, mq: MessageQueue, broker_id: int) -> None:
        """Note which of a broker's machines suggested itself for the next pull of a queue."""
        self._preferred[mq] = broker_id

    # ---- asking ----

    def queues(self, topic: str) -> frozenset[MessageQueue] | None:
        """Give the queues to divide, or None if the topic is unknown."""
        return self._queues.get(topic)

    def knows(self, topic: str) -> bool:
        """Whether there is a route of a topic."""
        return topic in self._routes

    def broker_of(self, mq: MessageQueue) -> str:
        """Say which broker hosts a queue; a logical queue of a static topic names none."""
        return self._hosts.get(mq.topic, {}).get(mq, mq.broker)

    def master(self, broker: str) -> Address | None:
        """Say where a broker's master listens."""
        return self._addresses.get(broker, {}).get(MASTER_ID)

    def for_pull(self, mq: MessageQueue) -> tuple[Address, bool] | None:
        """Say where to pull a queue, and whether that is a master (``findBrokerAddressInSubscribe``)."""
        addresses = self._addresses.get(self.broker_of(mq))
        if not addresses:
            return None
        wanted = self._preferred.get(mq, MASTER_ID)
        if wanted not in addresses and wanted != MASTER_ID and wanted + 1 in addresses:
            wanted += 1
        number = wanted if wanted in addresses else next(iter(addresses))
        return addresses[number], number == MASTER_ID

    def any_broker_of(self, topic: str, luck: random.Random) -> Address | None:
        """Choose one of a topic's brokers: its master, or any slave where it has none (``findBrokerAddrByTopic``)."""
        route = self._routes.get(topic)
        if route is None or not route.broker_datas:
            return None
        brokers = route.broker_datas
        addresses = brokers[luck.randrange(len(brokers))].broker_addrs if len(brokers) > 1 else brokers[0].broker_addrs
        if MASTER_ID in addresses or not addresses:
            return addresses.get(MASTER_ID)
        return luck.choice(list(addresses.values()))

    def addresses(self, *, masters_only: bool = False) -> Iterator[Address]:
        """Give every known address of a broker, machine by machine."""
        for machines in self._addresses.values():
            for number, address in machines.items():
                if number == MASTER_ID or not masters_only:
                    yield address

    def is_broker(self, address: Address) -> bool:
        """Whether a known broker listens there."""
        return any(address == known for known in self.addresses())


def _readable_queues(topic: str, route: TopicRouteData) -> Iterator[MessageQueue]:
    for queues in route.queue_datas:
        if queues.is_readable:
            for number in range(queues.read_queue_nums):
                yield MessageQueue(topic, queues.broker_name, number)
