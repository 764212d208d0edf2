"""Where topics are: what a name server knows of brokers.

A broker whose connection closes is forgotten at once, a silent one after two minutes. A permission that an operator
takes away from a broker's topics here lasts until the broker registers something new.

Source: ``namesrv/.../routeinfo/RouteInfoManager.java``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from rebalance_engine.effects import Address, Channel
from rebalance_engine.remoting.bodies.routes import (
    MASTER_ID,
    PERM_READ,
    PERM_WRITE,
    BrokerData,
    ClusterInfo,
    QueueData,
    TopicList,
    TopicRouteData,
)
from rebalance_engine.remoting.bodies.settings import TopicConfig

Permission = Callable[[int], int]

EXPIRES_MS = 120_000  # ``brokerExpiredTime``


@dataclass(slots=True, kw_only=True)
class Registered:
    """One broker group.

    Attributes:
        addresses: broker id -> where it listens.
        channels: broker id -> the connection over which it registered; None for a broker of this process.
        heard_at: broker id -> when it last registered, in ms.
        topics: what it said of its topics last.
        queues: topic -> its queues here, with permissions as they are in routes.
    """

    name: str
    cluster: str
    addresses: dict[int, Address]
    channels: dict[int, Channel | None]
    heard_at: dict[int, int]
    topics: Mapping[str, TopicConfig]
    queues: dict[str, QueueData]


class RouteTable:
    """All brokers that registered."""

    def __init__(self) -> None:
        self._brokers: dict[str, Registered] = {}

    # ---- brokers come and go ----

    def register(
        self,
        broker: str,
        broker_id: int,
        *,
        address: Address,
        cluster: str,
        topics: Mapping[str, TopicConfig],
        channel: Channel | None,
        at: int,
    ) -> None:
        """Enter a broker, or hear of it again; only a master's topics count."""
        known = self._brokers.get(broker)
        if known is None:
            known = self._brokers[broker] = Registered(
                name=broker, cluster=cluster, addresses={}, channels={}, heard_at={}, topics={}, queues={}
            )
        known.cluster = cluster
        known.addresses = {one: there for one, there in known.addresses.items() if there != address}
        known.addresses[broker_id] = address
        known.channels[broker_id] = channel
        known.heard_at[broker_id] = at
        if broker_id == MASTER_ID and topics != known.topics:
            known.topics = dict(topics)
            known.queues |= {topic: _queue_data(broker, config) for topic, config in topics.items()}

    def unregister(self, broker: str, broker_id: int) -> None:
        """Forget a broker."""
        known = self._brokers.get(broker)
        if known is None or known.addresses.pop(broker_id, None) is None:
            return
        del known.channels[broker_id], known.heard_at[broker_id]
        if not known.addresses:
            del self._brokers[broker]

    def closed(self, channel: Channel) -> None:
        """Forget the brokers that registered over a connection."""
        for known in tuple(self._brokers.values()):
            for broker_id in [one for one, over in known.channels.items() if over == channel]:
                self.unregister(known.name, broker_id)

    def expire(self, at: int) -> None:
        """Forget the brokers that were silent for too long, but for those of this process."""
        for known in tuple(self._brokers.values()):
            for broker_id, heard_at in tuple(known.heard_at.items()):
                if known.channels[broker_id] is not None and at - heard_at > EXPIRES_MS:
                    self.unregister(known.name, broker_id)

    # ---- questions ----

    def route(self, topic: str) -> TopicRouteData | None:
        """Say where a topic is; None where no broker has it."""
        found = [known for known in self._brokers.values() if topic in known.queues]
        if not found:
            return None
        return TopicRouteData(
            queue_datas=tuple(known.queues[topic] for known in found),
            broker_datas=tuple(map(_broker_data, found)),
        )

    def clusters(self) -> ClusterInfo:
        """Give all brokers and clusters."""
        clusters: dict[str, list[str]] = {}
        for known in self._brokers.values():
            clusters.setdefault(known.cluster, []).append(known.name)
        return ClusterInfo(
            broker_addr_table={known.name: _broker_data(known) for known in self._brokers.values()},
            cluster_addr_table={cluster: tuple(names) for cluster, names in clusters.items()},
        )

    def topics(self, cluster: str | None = None) -> tuple[str, ...]:
        """Name all topics, or those of a cluster."""
        of = [known for known in self._brokers.values() if cluster in {None, known.cluster}]
        return tuple(dict.fromkeys(topic for known in of for topic in known.queues))

    def system_topics(self) -> TopicList:
        """Name clusters and brokers, and some broker's address (``getSystemTopicList``)."""
        names: dict[str, None] = {}
        for known in self._brokers.values():
            names |= {known.cluster: None, known.name: None}
        first = next(iter(self._brokers.values()), None)
        return TopicList(topic_list=tuple(names), broker_addr=next(iter(first.addresses.values())) if first else None)

    def master_of(self, broker: str) -> Address | None:
        """Say where the master of a broker group listens."""
        known = self._brokers.get(broker)
        return known.addresses.get(MASTER_ID) if known else None

    # ---- operators ----

    def delete_topic(self, topic: str, cluster: str | None = None) -> None:
        """Forget where a topic is."""
        for known in self._brokers.values():
            if cluster in {None, known.cluster}:
                known.queues.pop(topic, None)
                known.topics = {name: config for name, config in known.topics.items() if name != topic}

    def wipe_write(self, broker: str) -> int:
        """Take the write permission from all topics of a broker; say how many it has."""
        return self._set_permission(broker, lambda perm: perm & ~PERM_WRITE)

    def add_write(self, broker: str) -> int:
        """Make all topics of a broker readable and writable, whatever they were; say how many it has."""
        return self._set_permission(broker, lambda _: PERM_READ | PERM_WRITE)

    def _set_permission(self, broker: str, change: Permission) -> int:
        known = self._brokers.get(broker)
        if known is None:
            return 0
        known.queues = {topic: replace(queue, perm=change(queue.perm)) for topic, queue in known.queues.items()}
        return len(known.queues)


def _queue_data(broker: str, config: TopicConfig) -> QueueData:
    return QueueData(
        broker_name=broker,
        read_queue_nums=config.read_queue_nums,
        write_queue_nums=config.write_queue_nums,
        perm=config.perm,
        topic_sys_flag=config.topic_sys_flag,
    )


def _broker_data(known: Registered) -> BrokerData:
    return BrokerData(cluster=known.cluster, broker_name=known.name, broker_addrs=dict(known.addresses))
