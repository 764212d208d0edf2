from dataclasses import replace

import pytest

from rebalance_engine.effects import Failure
from rebalance_engine.events import (
    BrokerSeen,
    ConsumeType,
    HeldSeen,
    MemberListSeen,
    MemberSeen,
    MemberStrategySeen,
    Missing,
    PresenceSeen,
    RouteMissing,
    RouteSeen,
    SubscriptionsSeen,
)
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.network import answers
from rebalance_engine.network.admin import Denied
from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.gate import NotAsked
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.remoting.bodies.clients import Connection, ConsumerConnection, SubscriptionData
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo, PopProcessQueueInfo, ProcessQueueInfo
from rebalance_engine.remoting.bodies.routes import BrokerData, ClusterInfo, QueueData, TopicRouteData
from rebalance_engine.remoting.codes import Language, RequestCode
from rebalance_engine.remoting.errors import BrokenContent
from rebalance_engine.remoting.requests.contract import Refused

BY = Answerer(address="10.0.0.1:10911", code=RequestCode.GET_CONSUMER_CONNECTION_LIST, at=5, broker="east")


def test_a_source_says_who_answered_what() -> None:
    assert (BY.source.broker, BY.source.address, BY.source.detail) == ("east", "10.0.0.1:10911", "203")


def test_brokers_and_routes_are_stated_with_their_masters() -> None:
    east = BrokerData(cluster="c", broker_name="east", broker_addrs={0: "e:1", 1: "e:2"})
    west = BrokerData(cluster="c", broker_name="west", broker_addrs={1: "w:2"})
    queues = tuple(
        QueueData(broker_name=name, read_queue_nums=2, write_queue_nums=1, perm=6) for name in ("east", "west")
    )

    seen = list(answers.brokers_stated(ClusterInfo(broker_addr_table={"east": east}), BY, {"e:1": "5.5.0"}))
    route = answers.route_stated("orders", TopicRouteData(queue_datas=queues, broker_datas=(east, west)), BY)

    assert all(isinstance(fact, BrokerSeen) for fact in seen)
    assert [(fact.broker_id, fact.address, fact.version) for fact in seen] == [(0, "e:1", "5.5.0"), (1, "e:2", None)]
    assert isinstance(route, RouteSeen)
    assert [(one.broker, one.read_queues, one.has_master) for one in route.brokers] == [
        ("east", 2, True),
        ("west", 2, False),
    ]
    assert isinstance(answers.route_stated("orders", None, BY), RouteMissing)


def test_the_version_of_a_client_behind_a_proxy_is_the_proxys_and_not_told() -> None:
    one = Connection(client_id="web-1@1@0@d1o2m9xh3k", client_addr="10.0.0.7:1", language=Language.JAVA, version=497)

    member, presence, *_ = answers.members_stated("G", ConsumerConnection(connection_set=(one,)), BY)

    assert isinstance(member, MemberSeen)
    assert isinstance(presence, PresenceSeen)
    assert [(each.language, each.version) for each in (member, presence)] == [("JAVA", None)] * 2


def test_members_are_stated_with_where_they_are() -> None:
    one = Connection(client_id="A", client_addr="10.0.0.7:1", language=Language.JAVA, version=407)
    nameless = Connection(client_id="", client_addr="10.0.0.8:1")
    table = {"orders": SubscriptionData(topic="orders"), "": SubscriptionData(topic="")}
    connection = ConsumerConnection(
        connection_set=(one, one, nameless), subscription_table=table, message_model=MessageModel.CLUSTERING
    )

    member, presence, *_, subscriptions = answers.members_stated("G", connection, BY)
    listed = answers.list_stated("G", ("A", "A", ""), BY)

    assert isinstance(member, MemberSeen)
    assert (member.client, member.language, member.version) == ("A", "JAVA", "4.9.7")
    assert isinstance(presence, PresenceSeen)
    assert presence.address == "10.0.0.7:1"
    assert isinstance(subscriptions, SubscriptionsSeen)
    assert [one.topic for one in subscriptions.subscriptions] == ["orders"]
    assert isinstance(listed, MemberListSeen)
    assert listed.clients == ("A", "A")
    assert answers.list_stated("G", None, BY).clients == ()


def test_what_a_member_holds_is_stated_apart_from_what_it_gave_up() -> None:
    first, second = MessageQueue("orders", "east", 0), MessageQueue("orders", "east", 1)
    info = ConsumerRunningInfo(
        properties={
            "PROP_CONSUMEORDERLY": "true",
            "PROP_CONSUMER_START_TIMESTAMP": "7",
            "allocateMessageQueueStrategy": "AVG",
        },
        subscription_set=(
            SubscriptionData(topic="orders", sub_string="b", sub_version=2),
            SubscriptionData(topic="orders", sub_string="a", sub_version=1),
        ),
        mq_table={second: ProcessQueueInfo(dropped=True), first: ProcessQueueInfo()},
    )

    said, subscribes, strategy, held = answers.held_stated("G", "A", info, BY)

    assert isinstance(said, MemberSeen)
    assert (said.is_orderly, said.started_at) == (True, 7)
    assert isinstance(subscribes, SubscriptionsSeen)
    assert [one.expression for one in subscribes.subscriptions] == ["b"]
    assert isinstance(strategy, MemberStrategySeen)
    assert isinstance(held, HeldSeen)
    assert (held.queues, held.dropped) == ((first,), (second,))


@pytest.mark.parametrize(("is_dropped", "kind"), [(False, ConsumeType.POP), (True, None)])
def test_a_member_with_a_queue_that_it_pops_from_says_so(is_dropped: bool, kind: ConsumeType | None) -> None:
    popped = {MessageQueue("orders", "east", -1): PopProcessQueueInfo(dropped=is_dropped)}

    said, *_, held = answers.held_stated("G", "A", ConsumerRunningInfo(mq_pop_table=popped), BY)

    assert isinstance(said, MemberSeen)
    assert isinstance(held, HeldSeen)
    assert (said.consume_type, held.queues) == (kind, ())


def test_what_a_member_holds_is_observed_from_when_it_was_asked() -> None:
    *_, held = answers.held_stated("G", "A", ConsumerRunningInfo(), replace(BY, asked_at=3))

    assert (held.at, held.source.observed_at) == (5, 3)


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("AVG_BY_CIRCLE", "AVG_BY_CIRCLE"),
        ("org.apache.x.AllocateMessageQueueConsistentHash@7a46a697", "CONSISTENT_HASH"),
        ("com.shop.OurStrategy@1f", "com.shop.OurStrategy"),
        ("", None),
    ],
)
def test_a_strategy_has_rocketmqs_name_where_it_is_known(told: str, name: str | None) -> None:
    assert answers.strategy_of({"allocateMessageQueueStrategy": told}) == name


def test_queues_that_none_can_be_make_an_answer_unusable() -> None:
    info = ConsumerRunningInfo(mq_table={MessageQueue("orders", "east", -7): ProcessQueueInfo()})

    with pytest.raises(BrokenContent, match="queue_id=-7"):
        answers.usable(info)


@pytest.mark.parametrize(
    ("trouble", "missing"),
    [
        (NotAsked("e:1", "the budget"), Missing.NOT_ASKED),
        (NoAnswer(Failure.TIMEOUT, "e:1"), Missing.TIMEOUT),
        (NoAnswer(Failure.NOT_CONNECTED, "e:1"), Missing.ERROR),
        (Denied("e:1", None, Refused(code=207)), Missing.TIMEOUT),
        (Denied("e:1", None, Refused(code=206)), Missing.NOT_ONLINE),
        (Denied("e:1", None, Refused(code=16)), Missing.NO_PERMISSION),
        (Denied("e:1", None, Refused(code=1, remark="AclException: Check signature failed")), Missing.NO_PERMISSION),
        (Denied("e:1", None, Refused(code=1)), Missing.REFUSED),
        (Denied("e:1", None, Refused(code=1, remark="java.util.NoSuchElementException")), Missing.REFUSED),
        (BrokenContent("no JSON"), Missing.ERROR),
    ],
)
def test_why_an_answer_is_missing_is_told_apart(trouble: answers.Trouble, missing: Missing) -> None:
    fact = answers.missed(BY, trouble, group="G")

    assert fact.missing is missing
    assert (fact.group, fact.broker, fact.request) == ("G", "east", "203")
