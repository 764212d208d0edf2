"""What an answer of a cluster states: typed answers in, facts with their provenance out. Nothing here awaits.

A fact is stated for the moment at which its answer came in. What a peer says that no fact can hold (a queue id below
-1, say) makes the whole answer one that cannot be used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypedDict

from rebalance_engine.effects import Address, Failure
from rebalance_engine.events import (
    EXACT,
    AnswerMissed,
    BrokerQueues,
    BrokerSeen,
    ConsumeType,
    Exactness,
    Fact,
    HeldSeen,
    MemberListSeen,
    MemberSeen,
    MemberStrategySeen,
    Missing,
    Origin,
    PresenceSeen,
    RouteMissing,
    RouteSeen,
    Source,
    Subscription,
    SubscriptionsSeen,
)
from rebalance_engine.events.shapes import ANY_QUEUE, MAX_AT, shorten
from rebalance_engine.network.admin import Denied
from rebalance_engine.network.gate import NotAsked
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.proxied import is_of_grpc
from rebalance_engine.remoting.acl import is_refused_by_acl
from rebalance_engine.remoting.bodies import clients
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo
from rebalance_engine.remoting.bodies.routes import ClusterInfo, TopicRouteData
from rebalance_engine.remoting.codes import RequestCode, ResponseCode
from rebalance_engine.remoting.errors import BrokenContent, RemotingError
from rebalance_engine.remoting.versions import version_name

# The simple class names under ``client/.../consumer/rebalance/``, and what their ``getName()`` answers.
STRATEGY_OF_CLASS = {
    "AllocateMessageQueueAveragely": "AVG",
    "AllocateMessageQueueAveragelyByCircle": "AVG_BY_CIRCLE",
    "AllocateMessageQueueByConfig": "CONFIG",
    "AllocateMessageQueueByMachineRoom": "MACHINE_ROOM",
    "AllocateMessageQueueConsistentHash": "CONSISTENT_HASH",
    "AllocateMachineRoomNearby": "MACHINE_ROOM_NEARBY",
}
_OBJECT = re.compile(r"@[0-9a-f]{1,8}$")  # ``Object.toString()``: class name, @, hash

Trouble = NoAnswer | Denied | RemotingError | ValueError


class _About(TypedDict):
    """What every fact about one member has."""

    at: int
    source: Source
    exactness: Exactness
    group: str
    client: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """Who answered which request, and when: ms since 1970. ``asked_at``: when it was asked, where that is known."""

    address: Address
    code: RequestCode
    at: int
    broker: str | None = None
    client: str | None = None
    cluster: str | None = None
    asked_at: int | None = None

    @property
    def since(self) -> int:
        """The earliest time of which the answer may tell: of when it was asked, however late it came."""
        return self.at if self.asked_at is None else self.asked_at

    @property
    def source(self) -> Source:
        """The provenance of what it stated."""
        return Source(
            origin=Origin.ADMIN_ANSWER,
            cluster=self.cluster,
            broker=self.broker,
            address=self.address,
            client=self.client,
            detail=str(int(self.code)),
        )


def brokers_stated(info: ClusterInfo, by: Answerer, versions: Mapping[Address, str]) -> Iterator[BrokerSeen]:
    """State the brokers that a NameServer lists (106)."""
    source = by.source
    for broker in info.broker_addr_table.values():
        for number, address in sorted(broker.broker_addrs.items()):
            yield BrokerSeen(
                at=by.at,
                source=source,
                exactness=EXACT,
                broker=broker.broker_name,
                broker_id=number,
                address=address,
                version=versions.get(address),
            )


def route_stated(topic: str, route: TopicRouteData | None, by: Answerer) -> Fact:
    """State a topic's route, or that a NameServer has none (105)."""
    if route is None:
        return RouteMissing(at=by.at, source=by.source, exactness=EXACT, topic=topic)
    masters = {broker.broker_name for broker in route.broker_datas if broker.master_address is not None}
    queues = tuple(
        BrokerQueues(
            broker=data.broker_name,
            read_queues=data.read_queue_nums,
            write_queues=data.write_queue_nums,
            permission=data.perm,
            has_master=data.broker_name in masters,
        )
        for data in {data.broker_name: data for data in route.queue_datas}.values()
    )
    return RouteSeen(
        at=by.at,
        source=by.source,
        exactness=EXACT,
        topic=topic,
        brokers=queues,
        order_configuration=route.order_topic_conf or None,
    )


def list_stated(group: str, ids: tuple[str, ...] | None, by: Answerer) -> MemberListSeen:
    """State the member list of a broker (38); None: nobody is online there."""
    assert by.broker is not None
    return MemberListSeen(
        at=by.at,
        source=by.source,
        exactness=EXACT,
        group=group,
        broker=by.broker,
        clients=tuple(filter(None, ids or ())),
    )


def members_stated(group: str, connection: clients.ConsumerConnection, by: Answerer) -> Iterator[Fact]:
    """State what a broker says of each member, and of the group's subscriptions (203); not the list itself."""
    source = by.source
    assert by.broker is not None
    kind = None if connection.consume_type is None else ConsumeType(connection.consume_type.value)
    for one in connection.connection_set:
        if not one.client_id:
            continue
        version = version_of(one.client_id, one.version)
        about: _About = {"at": by.at, "source": source, "exactness": EXACT, "group": group, "client": one.client_id}
        yield MemberSeen(
            **about,
            language=one.language.name,
            version=version,
            consume_type=kind,
            message_model=connection.message_model,
        )
        if one.client_addr:
            yield PresenceSeen(
                **about, broker=by.broker, address=one.client_addr, language=one.language.name, version=version
            )
    yield SubscriptionsSeen(
        at=by.at,
        source=source,
        exactness=EXACT,
        group=group,
        subscriptions=_subscriptions(connection.subscription_table.values()),
    )


def version_of(client: str, version: int) -> str | None:
    """Give the version of a client's library, where a broker is told of it.

    Of a client of gRPC the proxy puts its own: a release like 5.0.8 is no name of ``MQVersion``, and
    ``ClientActivity.parseClientVersion`` gives the current one then.
    """
    return None if version <= 0 or is_of_grpc(client) else version_name(version)


def held_stated(group: str, client: str, info: ConsumerRunningInfo, by: Answerer) -> Iterator[Fact]:
    """State what a member says of itself (307): what it holds, subscribes to, and divides by."""
    about: _About = {"at": by.at, "source": by.source, "exactness": EXACT, "group": group, "client": client}
    said = info.properties
    is_popping = any(not entry.dropped for entry in (info.mq_pop_table or {}).values())
    yield MemberSeen(
        **about,
        consume_type=ConsumeType.POP if is_popping else None,
        is_orderly={"true": True, "false": False}.get(said.get("PROP_CONSUMEORDERLY", "").lower()),
        started_at=started_at(said),
    )
    yield SubscriptionsSeen(**about, subscriptions=_subscriptions(info.subscription_set))
    if strategy := strategy_of(said):
        yield MemberStrategySeen(**about, strategy=strategy)
    held = sorted(queue for queue, entry in info.mq_table.items() if not entry.dropped)
    dropped = sorted(queue for queue, entry in info.mq_table.items() if entry.dropped)
    # It held this at some moment after it was asked: what a later look shows may have begun right then.
    about["source"] = replace(by.source, observed_at=by.asked_at)
    yield HeldSeen(**about, queues=tuple(held), dropped=tuple(dropped))


def usable(info: ConsumerRunningInfo) -> ConsumerRunningInfo:
    """Give a member's answer back if everything that it holds can be stated.

    Raises:
        BrokenContent: it holds queues that cannot be.
    """
    odd = [q for q in info.mq_table if q.queue_id < ANY_QUEUE or not q.topic or not q.broker]
    if odd:
        raise BrokenContent(f"the client says that it holds {shorten(odd[0])}, which no queue can be")
    return info


def strategy_of(properties: Mapping[str, str]) -> str | None:
    """Name the strategy that a member reports: RocketMQ's name of it, else the class; Go and C++ tell none.

    >>> strategy_of({"allocateMessageQueueStrategy": "org.x.AllocateMessageQueueAveragely@1b2c3d"})
    'AVG'
    """
    told = properties.get("allocateMessageQueueStrategy", "").strip()
    name = _OBJECT.sub("", told)
    return STRATEGY_OF_CLASS.get(name.rpartition(".")[2], name) or None


def started_at(properties: Mapping[str, str]) -> int | None:
    """Say when a member was made, by its own clock, in ms since 1970; None: it does not tell, or nothing that can be.

    >>> started_at({"PROP_CONSUMER_START_TIMESTAMP": "1700000000000"})
    1700000000000
    """
    return _instant(properties.get("PROP_CONSUMER_START_TIMESTAMP", ""))


def missed(
    by: Answerer, why: Trouble | Missing, *, group: str | None = None, told_at: int | None = None
) -> AnswerMissed:
    """State that an answer did not come, or cannot be used; ``told_at`` is when the last one that did was asked for."""
    return AnswerMissed(
        at=by.at,
        source=by.source,
        exactness=EXACT if told_at is None else Exactness.between(min(told_at, by.at), by.at),
        request=str(int(by.code)),
        missing=why if isinstance(why, Missing) else why_missing(why),
        broker=by.broker,
        address=by.address,
        group=group,
        client=by.client,
    )


def why_missing(trouble: Trouble) -> Missing:
    """Say in one word why an answer did not come."""
    match trouble:
        case NotAsked():
            return Missing.NOT_ASKED
        case NoAnswer(failure=Failure.TIMEOUT) | Denied(code=ResponseCode.CONSUME_MSG_TIMEOUT):
            return Missing.TIMEOUT
        case Denied(code=code, remark=remark) if is_refused_by_acl(code, remark):
            return Missing.NO_PERMISSION
        case Denied(code=ResponseCode.CONSUMER_NOT_ONLINE):
            return Missing.NOT_ONLINE
        case Denied():
            return Missing.REFUSED
        case _:
            return Missing.ERROR


def _subscriptions(told: Iterable[clients.SubscriptionData]) -> tuple[Subscription, ...]:
    """Give each topic once, in order: of two the higher version holds, as it does at brokers."""
    by_topic: dict[str, Subscription] = {}
    for data in sorted((data for data in told if data.topic), key=lambda data: data.sub_version):
        by_topic[data.topic] = Subscription(
            topic=data.topic,
            expression=data.sub_string,
            expression_type=data.expression_type or "TAG",
            sub_version=data.sub_version,
        )
    return tuple(by_topic[topic] for topic in sorted(by_topic))


def _instant(text: str) -> int | None:
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        return None
    return int(text) if 0 < int(text) <= MAX_AT else None
