"""Facts for tests of the dashboard, short to say. Instants are ms after ``T0``; members are A, B, C."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dashboard.clusters.models import Cluster
from dashboard.groups.operations import Recorded, record
from rebalance_engine.events import (
    EXACT,
    AnswerMissed,
    BrokerQueues,
    Departure,
    Exactness,
    Fact,
    HeldSeen,
    MemberJoined,
    MemberLeft,
    MemberListSeen,
    MemberSeen,
    MemberStrategySeen,
    MessageModel,
    Missing,
    Origin,
    RouteSeen,
    Source,
    Subscription,
    SubscriptionsSeen,
)
from rebalance_engine.model import MessageQueue

T0 = 1_700_000_000_000
EAST = Source(origin=Origin.ADMIN_ANSWER, broker="east", address="127.0.0.1:10911")
NAMESRV = Source(origin=Origin.ADMIN_ANSWER, address="127.0.0.1:9876")
REPORT = Source(origin=Origin.AGENT_REPORT, client="A")
ORDERS = Subscription(topic="orders", expression="*", expression_type="TAG", sub_version=1)


def add_cluster(name: str = "shop") -> Cluster:
    return Cluster.objects.create(name=name, namesrv="127.0.0.1:9876", added_at=T0)


def told(*facts: Fact, at: int = 0) -> Recorded:
    """Store facts for the cluster of all tests."""
    return record(cluster="shop", facts=facts, now=T0 + at)


def queue(number: int, topic: str = "orders", broker: str = "east") -> MessageQueue:
    return MessageQueue(topic, broker, number)


def route(size: int, at: int = 0, *, topic: str = "orders", broker: str = "east") -> RouteSeen:
    queues = BrokerQueues(broker=broker, read_queues=size, write_queues=size, permission=6, has_master=True)
    return RouteSeen(at=T0 + at, source=NAMESRV, exactness=EXACT, topic=topic, brokers=(queues,))


def seen(client: str, at: int = 0, group: str = "g") -> list[Fact]:
    """A member that was there when the watcher came: no change, only known now."""
    return [
        MemberSeen(
            at=T0 + at,
            source=EAST,
            exactness=EXACT,
            group=group,
            client=client,
            language="JAVA",
            version="V5_5_0",
            message_model=MessageModel.CLUSTERING,
        ),
        subscribes(client, at, group=group),
        uses(client, at, "AVG", group=group),
    ]


def uses(client: str, at: int, strategy: str, group: str = "g") -> MemberStrategySeen:
    return MemberStrategySeen(at=T0 + at, source=EAST, exactness=EXACT, group=group, client=client, strategy=strategy)


def subscribes(client: str, at: int = 0, *topics: str, group: str = "g") -> SubscriptionsSeen:
    each = tuple(
        Subscription(topic=topic, expression="*", expression_type="TAG", sub_version=1)
        for topic in topics or ["orders"]
    )
    return SubscriptionsSeen(at=T0 + at, source=EAST, exactness=EXACT, group=group, client=client, subscriptions=each)


def joined(client: str, at: int, group: str = "g", *, low: int | None = None) -> MemberJoined:
    exactness = EXACT if low is None else Exactness.between(T0 + low, T0 + at)
    return MemberJoined(at=T0 + at, source=EAST, exactness=exactness, group=group, client=client)


def left(client: str, at: int, departure: Departure = Departure.UNKNOWN, group: str = "g") -> MemberLeft:
    return MemberLeft(at=T0 + at, source=EAST, exactness=EXACT, group=group, client=client, departure=departure)


def held(
    client: str, at: int, queues: Iterable[int], group: str = "g", topic: str = "orders", *, asked: int | None = None
) -> HeldSeen:
    return HeldSeen(
        at=T0 + at,
        source=EAST if asked is None else replace(EAST, observed_at=T0 + asked),
        exactness=EXACT,
        group=group,
        client=client,
        queues=tuple(queue(number, topic) for number in queues),
        dropped=(),
    )


def listed(at: int, *clients: str, group: str = "g", broker: str = "east") -> MemberListSeen:
    return MemberListSeen(at=T0 + at, source=EAST, exactness=EXACT, group=group, broker=broker, clients=clients)


def untold(at: int, group: str = "g", broker: str = "east", low: int | None = None) -> AnswerMissed:
    """A broker did not say who is a member, and had said it at ``low``."""
    within = EXACT if low is None else Exactness.between(T0 + low, T0 + at)
    return AnswerMissed(
        at=T0 + at, source=EAST, exactness=within, request="38", missing=Missing.TIMEOUT, broker=broker, group=group
    )


def missed(client: str, at: int, group: str = "g", missing: Missing = Missing.TIMEOUT) -> AnswerMissed:
    return AnswerMissed(
        at=T0 + at, source=EAST, exactness=EXACT, request="307", missing=missing, group=group, client=client
    )
