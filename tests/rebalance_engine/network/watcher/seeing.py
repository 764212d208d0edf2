"""Answers for a watcher's memory, short to say. Members are A, B, C, brokers east and west; times are ms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rebalance_engine.events import Fact
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.watcher.memory import Memory
from rebalance_engine.remoting.bodies.clients import Connection, ConsumerConnection, SubscriptionData
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo, ProcessQueueInfo
from rebalance_engine.remoting.bodies.routes import BrokerData, ClusterInfo, QueueData, TopicRouteData
from rebalance_engine.remoting.codes import RequestCode


def by(at: int, broker: str | None = "east", client: str | None = None) -> Answerer:
    code = RequestCode.GET_CONSUMER_CONNECTION_LIST
    return Answerer(address=f"{broker or 'names'}:1", code=code, at=at, broker=broker, client=client)


def brokers(*names: str) -> ClusterInfo:
    table = {name: BrokerData(cluster="c", broker_name=name, broker_addrs={0: f"{name}:1"}) for name in names}
    return ClusterInfo(broker_addr_table=table)


def route(size: int, *names: str) -> TopicRouteData:
    return TopicRouteData(
        queue_datas=tuple(
            QueueData(broker_name=name, read_queue_nums=size, write_queue_nums=size, perm=6) for name in names
        ),
        broker_datas=tuple(BrokerData(cluster="c", broker_name=name, broker_addrs={0: f"{name}:1"}) for name in names),
    )


def connected(ids: str, topic: str = "orders", port: int = 1) -> ConsumerConnection:
    connections = tuple(Connection(client_id=one, client_addr=f"10.0.0.1:{port}", version=407) for one in ids)
    return ConsumerConnection(connection_set=connections, subscription_table={topic: SubscriptionData(topic=topic)})


def running(numbers: Iterable[int], *, sub_version: int = 1) -> ConsumerRunningInfo:
    return ConsumerRunningInfo(
        properties={"allocateMessageQueueStrategy": "AVG"},
        subscription_set=(SubscriptionData(topic="orders", sub_version=sub_version),),
        mq_table={MessageQueue("orders", "east", number): ProcessQueueInfo() for number in numbers},
    )


def told(memory: Memory, ids: str, at: int, broker: str = "east", *, asked_at: int | None = None) -> list[Fact]:
    """Let a broker list members (203)."""
    connection, said = connected(ids) if ids else None, replace(by(at, broker), asked_at=asked_at)
    facts = list(memory.list_heard("G", tuple(ids) if ids else None, said))
    return facts + list(memory.members_heard("G", connection, said))


def kinds(facts: Iterable[Fact]) -> list[str]:
    return [type(fact).__name__ for fact in facts]


def sound(*names: str) -> Memory:
    """A memory that knows its brokers, each of which has the group."""
    memory = Memory()
    list(memory.cluster_heard(brokers(*names), by(0, None)))
    for name in names:
        memory.groups_heard(name, ["G"])
    return memory
