from pathlib import Path

import pytest

from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.remoting.bodies.settings import TopicConfig
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.brokers import GetAllTopicConfig, GetBrokerConfig, GetBrokerRuntimeInfo
from rebalance_engine.remoting.requests.changes import UpdateAndCreateTopic
from rebalance_engine.remoting.requests.consuming import QueryConsumerOffset, UpdateConsumerOffset
from rebalance_engine.remoting.requests.contract import Request, Response
from rebalance_engine.remoting.requests.upkeep import (
    CleanUnusedTopic,
    CloneGroupOffset,
    DeleteSubscriptiongroup,
    DeleteTopicInBroker,
    GetAllDelayOffset,
    GetBrokerHaStatus,
    GetSystemTopicListFromBroker,
    GetTopicConfig,
    QuerySubscriptionByConsumer,
    UpdateBrokerConfig,
    ViewBrokerStatsData,
)
from tests.rebalance_engine.embedded.desk import Desk, settings


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def topic(name: str, queues: int = 2, **fields: str) -> UpdateAndCreateTopic:
    return UpdateAndCreateTopic(topic=name, read_queue_nums=queues, write_queue_nums=queues, perm=6, **fields)  # type: ignore[arg-type]  # attributes


# ---- topics ----


def test_a_topic_is_made_and_changed(desk: Desk) -> None:
    channel = desk.connect()
    desk.get(channel, topic("orders"))

    desk.get(channel, topic("orders", 5, attributes="+message.type=FIFO,+a=1"))
    desk.get(channel, topic("orders", 5, attributes="-a"))

    found = desk.get(channel, GetTopicConfig(topic="orders")).body
    assert (found.read_queue_nums, found.attributes) == (5, {"message.type": "FIFO"})
    assert desk.refused(channel, GetTopicConfig(topic="x")).code == ResponseCode.TOPIC_NOT_EXIST


def test_a_topic_that_stays_as_it_is_is_not_registered_again(desk: Desk) -> None:
    channel = desk.connect()
    desk.get(channel, topic("orders"))
    version = desk.broker.topics_version

    desk.get(channel, topic("orders"))

    assert desk.broker.topics_version == version


@pytest.mark.parametrize(("version", "code"), [("5.5.0", 29), ("4.9.7", 1)])
@pytest.mark.parametrize("name", ["TBW102", "a b"])
def test_names_that_no_topic_may_have(tmp_path: Path, version: str, code: int, name: str) -> None:
    desk = Desk(tmp_path, EmbeddedSettings(membership=settings(version)))

    assert desk.refused(desk.connect(), topic(name)).code == code
    assert desk.refused(desk.connect(), DeleteTopicInBroker(topic=name)).code == code


@pytest.mark.parametrize(
    "request_", [topic("orders", -1), topic("orders", 10**9), topic("orders", attributes="message.type=FIFO")]
)
def test_what_no_topic_may_be(desk: Desk, request_: UpdateAndCreateTopic) -> None:
    desk.refused(desk.connect(), request_)

    assert desk.broker.core.find_topic("orders") is None


def test_all_topics_are_listed_with_their_version(desk: Desk) -> None:
    before = desk.get(desk.connect(), GetAllTopicConfig())
    desk.put_topic("orders")

    after = desk.get(desk.connect(), GetAllTopicConfig())

    assert after.body.topic_config_table.keys() - before.body.topic_config_table.keys() == {"orders"}
    assert after.total_topic_num == len(after.body.topic_config_table)
    assert after.body.data_version.counter == before.body.data_version.counter + 1
    assert after.body.mapping_data_version is not None


def test_a_deleted_topic_takes_messages_and_offsets_along(desk: Desk) -> None:
    channel = desk.connect()
    desk.put_topic("orders")
    desk.join(channel, "G", "orders")
    desk.send(channel, "orders", "x")
    commit(desk, channel, "G")

    desk.get(channel, DeleteTopicInBroker(topic="orders"))

    assert desk.broker.core.find_topic("orders") is None
    assert desk.broker.core.store.end("orders", 0) == 0
    assert desk.broker.membership.offsets.find("G", "orders", 0) is None


def test_rocketmqs_own_topics_are_listed(desk: Desk) -> None:
    names = desk.get(desk.connect(), GetSystemTopicListFromBroker()).body.topic_list

    assert {"TBW102", "SCHEDULE_TOPIC_XXXX", "rmq_sys_wheel_timer"} <= set(names)


# ---- groups ----


def commit(desk: Desk, channel: int, group: str) -> None:
    desk.get(channel, UpdateConsumerOffset(consumer_group=group, topic="orders", queue_id=0, commit_offset=7))


@pytest.mark.parametrize(("clean", "left"), [(False, 7), (True, None)])
def test_a_deleted_group_keeps_its_offsets_unless_they_are_to_go(desk: Desk, *, clean: bool, left: int | None) -> None:
    channel = desk.connect()
    desk.put_topic("orders")
    desk.join(channel, "G", "orders")
    commit(desk, channel, "G")

    desk.get(channel, DeleteSubscriptiongroup(group_name="G", clean_offset=clean))

    assert desk.broker.membership.groups.find("G") is None
    assert desk.broker.membership.offsets.find("G", "orders", 0) == left


def test_a_group_may_begin_where_another_is(desk: Desk) -> None:
    channel = desk.connect()
    desk.put_topic("orders")
    desk.join(channel, "G", "orders")
    commit(desk, channel, "G")

    desk.get(channel, CloneGroupOffset(src_group="G", dest_group="H", topic="orders"))
    desk.get(channel, CloneGroupOffset(src_group="G", dest_group="I", topic="unknown"))

    assert desk.get(channel, QueryConsumerOffset(consumer_group="H", topic="orders", queue_id=0)).offset == 7


def test_the_subscription_of_a_group_is_told(desk: Desk) -> None:
    channel = desk.connect()
    desk.put_topic("orders")
    desk.join(channel, "G", "orders", tags="A")

    there = desk.get(channel, QuerySubscriptionByConsumer(group="G", topic="orders")).body.subscription_data
    missing = desk.get(channel, QuerySubscriptionByConsumer(group="H", topic="orders")).body.subscription_data

    assert there is not None
    assert (there.sub_string, missing) == ("A", None)


# ---- how it runs ----


def test_settings_are_told_one_a_line(desk: Desk) -> None:
    lines = desk.get(desk.connect(), GetBrokerConfig()).body.splitlines()

    assert {"brokerName=east", "listenPort=10911", "brokerPermission=6", "rejectTransactionMessage=false"} <= set(lines)


def test_the_permission_of_the_broker_can_be_changed(desk: Desk) -> None:
    desk.get(desk.connect(), UpdateBrokerConfig(body="# read only\nbrokerPermission=4\n"))

    assert desk.broker.core.permission == 4


@pytest.mark.parametrize("body", ["brokerPermission=9", "flushDiskType=SYNC_FLUSH", "brokerPermission=4\nx=1"])
def test_nothing_else_can_be_changed(desk: Desk, body: str) -> None:
    desk.refused(desk.connect(), UpdateBrokerConfig(body=body))

    assert desk.broker.core.permission == 6


def test_it_tells_how_it_runs(desk: Desk) -> None:
    desk.send(desk.connect(), "fresh", "x")
    desk.wait(2_000)

    table = desk.get(desk.connect(), GetBrokerRuntimeInfo()).body.table

    assert (table["brokerVersionDesc"], table["msgPutTotalTodayNow"]) == ("V5_5_0", "1")


def test_rates_are_told_of_what_was_counted(desk: Desk) -> None:
    desk.send(desk.connect(), "fresh", "x")
    desk.wait(2_000)

    body = desk.get(desk.connect(), ViewBrokerStatsData(stats_name="TOPIC_PUT_NUMS", stats_key="fresh")).body
    refused = desk.refused(desk.connect(), ViewBrokerStatsData(stats_name="TOPIC_PUT_NUMS", stats_key="x"))

    assert (body.stats_minute.sum, body.stats_minute.tps) == (1, 0.5)
    assert refused.remark == "The stats <TOPIC_PUT_NUMS> <x> not exist"


def test_delays_and_replication_are_told(desk: Desk) -> None:
    channel = desk.connect()
    desk.send(channel, "fresh", "x", DELAY="2")

    delays = desk.get(channel, GetAllDelayOffset()).body.offset_table
    replication = desk.get(channel, GetBrokerHaStatus()).body

    assert (delays, replication.is_master, replication.master_commit_log_max_offset > 0) == ({2: 0}, True, True)


def test_there_is_nothing_to_clean(desk: Desk) -> None:
    assert desk.get(desk.connect(), CleanUnusedTopic()).code == 0


@pytest.mark.parametrize(
    "request_", [GetTopicConfig(topic="orders"), GetBrokerHaStatus(), QuerySubscriptionByConsumer(group="G", topic="T")]
)
def test_4_9_does_not_know_what_5_0_brought(tmp_path: Path, request_: Request[Response]) -> None:
    desk = Desk(tmp_path, EmbeddedSettings(membership=settings("4.9.7")))

    assert desk.refused(desk.connect(), request_).code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED


def test_a_topic_before_5_0_has_no_attributes(tmp_path: Path) -> None:
    desk = Desk(tmp_path, EmbeddedSettings(membership=settings("4.9.7")))
    desk.get(desk.connect(), topic("orders"))

    assert desk.broker.core.find_topic("orders") == TopicConfig(
        topic_name="orders", read_queue_nums=2, write_queue_nums=2
    )
