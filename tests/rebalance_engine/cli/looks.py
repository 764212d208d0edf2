"""Looks at groups for tests of what is drawn of them, without a network."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain

from rebalance_engine.effects import Failure
from rebalance_engine.group import GroupView
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.asked import Heard
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.looking import GroupLook, MemberLook, as_members
from rebalance_engine.remoting.bodies.clients import Connection, ConsumerConnection, SubscriptionData
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo, ProcessQueueInfo
from rebalance_engine.remoting.codes import Language, RequestCode

AT = 1_700_000_000_000
STRATEGY = {"allocateMessageQueueStrategy": "AVG"}


def queues(size: int, topic: str = "orders", broker: str = "east") -> list[MessageQueue]:
    return [MessageQueue(topic, broker, number) for number in range(size)]


def member(
    client: str, held: Sequence[MessageQueue] | None, *topics: str, started_at: int | None = None, times: int = 1
) -> MemberLook:
    by = Answerer(
        address="east:1", code=RequestCode.GET_CONSUMER_RUNNING_INFO, at=AT - 200, broker="east", client=client
    )
    connections = tuple(
        Connection(client_id=client, client_addr=f"10.0.0.{9 - number}:1", language=Language.JAVA, version=407)
        for number in range(times)
    )
    running: Heard[ConsumerRunningInfo]
    if held is None:
        running = Heard(by, trouble=NoAnswer(Failure.TIMEOUT, "east:1"))
    else:
        table = {queue: ProcessQueueInfo() for queue in held}
        said = tuple(SubscriptionData(topic=topic) for topic in topics or ("orders",))
        start = {} if started_at is None else {"PROP_CONSUMER_START_TIMESTAMP": str(started_at)}
        running = Heard(by, ConsumerRunningInfo(properties=STRATEGY | start, mq_table=table, subscription_set=said))
    return MemberLook(client_id=client, connections={"east": connections}, running=running)


def look(
    all_queues: Sequence[MessageQueue],
    members: Sequence[MemberLook],
    *,
    model: MessageModel = MessageModel.CLUSTERING,
    lag: Mapping[MessageQueue, int | None] | None = None,
    never_stored: Collection[MessageQueue] | None = None,
) -> GroupLook:
    """Make a look; without ``never_stored`` brokers said so of all queues of which it is not known what waits."""
    by = Answerer(address="east:1", code=RequestCode.GET_CONSUMER_CONNECTION_LIST, at=AT, broker="east")
    told = ConsumerConnection(connection_set=tuple(one for seen in members for one in seen.connections["east"]))
    return GroupLook(
        group="billing",
        cluster="shop",
        began_at=AT - 400,
        ended_at=AT,
        name_servers={},
        lists={"east": Heard(by, told)},
        configs={},
        routes={},
        members=tuple(members),
        view=GroupView.of("billing", all_queues, chain.from_iterable(map(as_members, members)), model),
        lag=lag or {},
        never_stored=frozenset(set(all_queues) - set(lag or {}) if never_stored is None else never_stored),
    )
