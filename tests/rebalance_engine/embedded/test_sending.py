from pathlib import Path

import pytest

from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.embedded.store import Draft
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.batches import Packed, encode_batch
from rebalance_engine.remoting.bodies.queues import LockBatchRequestBody
from rebalance_engine.remoting.bodies.settings import TopicConfig
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.message_ids import read_offset_id
from rebalance_engine.remoting.messages import StoredMessage, decode_messages
from rebalance_engine.remoting.properties import encode_properties
from rebalance_engine.remoting.requests.consuming import ConsumerSendMsgBack, LockBatchMq
from rebalance_engine.remoting.requests.producing import SendBatchMessage, SendMessage, SendMessageV2
from tests.rebalance_engine.embedded.desk import START, Desk, sending, settings


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.put_topic("orders", 2)
    return made


def stored(desk: Desk, topic: str, queue_id: int = 0) -> list[StoredMessage]:
    return [decode_messages(data)[0] for data in desk.broker.core.store.messages(topic, queue_id, 0, 99)]


def test_a_message_is_stored_with_where_it_came_from(desk: Desk) -> None:
    channel = desk.connect()

    answer = desk.send(channel, "orders", "hello", 1, TAGS="A", UNIQ_KEY="id")

    (message,) = stored(desk, "orders", 1)
    host, position = read_offset_id(answer.msg_id)
    assert (answer.queue_id, answer.queue_offset, answer.transaction_id) == (1, 0, "id")
    assert (tuple(host), position) == (("10.0.0.1", 10911), 0)
    assert tuple(message.born_host) == ("10.0.0.9", 40_001)
    assert (message.born_timestamp, message.store_timestamp) == (START - 5, START)
    assert message.properties == {
        "TAGS": "A",
        "UNIQ_KEY": "id",
        "CLUSTER": "DefaultCluster",
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
    }


def test_before_5_0_there_is_less_in_a_message_and_its_answer(tmp_path: Path) -> None:
    desk = Desk(tmp_path, EmbeddedSettings(membership=settings("4.9.7")))
    desk.put_topic("orders")

    answer = desk.send(desk.connect(), "orders", "hello", WAIT="true", UNIQ_KEY="id")

    assert answer.transaction_id is None
    assert stored(desk, "orders")[0].properties == {"UNIQ_KEY": "id", "CLUSTER": "DefaultCluster"}


def test_the_first_form_of_sending_is_understood_too(desk: Desk) -> None:
    request = SendMessage(producer_group="PG", topic="orders", queue_id=0, born_timestamp=1, body=b"old")

    assert desk.get(desk.connect(), request).queue_offset == 0


def test_the_first_message_makes_its_topic(desk: Desk) -> None:
    desk.send(desk.connect(), "fresh", "hello", 3)

    config = desk.broker.core.find_topic("fresh")
    assert config is not None
    assert (config.read_queue_nums, config.write_queue_nums, config.perm) == (4, 4, 6)


def test_a_broker_that_makes_no_topics_refuses_unknown_ones(tmp_path: Path) -> None:
    desk = Desk(tmp_path, EmbeddedSettings(membership=settings(), creates_topics=False))

    refused = desk.refused(desk.connect(), sending("fresh", "hello"))

    assert refused.code == ResponseCode.TOPIC_NOT_EXIST
    assert (refused.remark or "").startswith("topic[fresh] not exist, apply first please!\nSee https")


@pytest.mark.parametrize(
    ("topic", "queue_id", "code"),
    [
        ("orders", 2, ResponseCode.INVALID_PARAMETER),
        ("or ders", 0, ResponseCode.INVALID_PARAMETER),
        ("SCHEDULE_TOPIC_XXXX", 0, ResponseCode.NO_PERMISSION),
    ],
)
def test_where_nothing_can_be_sent(desk: Desk, topic: str, queue_id: int, code: ResponseCode) -> None:
    assert desk.refused(desk.connect(), sending(topic, "x", queue_id)).code == code


@pytest.mark.parametrize(
    ("version", "code", "end"),
    [("5.5.0", ResponseCode.INVALID_PARAMETER, ", attributes={}]"), ("4.9.7", ResponseCode.SYSTEM_ERROR, "]")],
)
def test_a_queue_that_is_not_there_is_refused_with_what_the_topic_has(
    tmp_path: Path, version: str, code: ResponseCode, end: str
) -> None:
    desk = Desk(tmp_path, EmbeddedSettings(membership=settings(version)))
    desk.put_topic("orders", 2)

    refused = desk.refused(desk.connect(), sending("orders", "x", 2))

    shown = (
        "TopicConfig [topicName=orders, readQueueNums=2, writeQueueNums=2, "
        f"perm=RW-, topicFilterType=SINGLE_TAG, topicSysFlag=0, order=false{end}"
    )
    assert (refused.code, refused.remark) == (
        code,
        f"request queueId[2] is illegal, {shown} Producer: 10.0.0.9:40001",
    )


def test_a_broker_that_may_not_write_refuses_what_is_ordered_only(desk: Desk) -> None:
    desk.broker.core.permission = 4

    desk.send(desk.connect(), "orders", "taken")
    desk.broker.membership.put_topic(TopicConfig(topic_name="trades", order=True))
    refused = desk.refused(desk.connect(), sending("trades", "x"))

    assert len(stored(desk, "orders")) == 1
    assert (refused.code, refused.remark) == (
        ResponseCode.NO_PERMISSION,
        "the broker[10.0.0.1] sending message is forbidden",
    )


def test_a_topic_that_is_only_read_takes_what_is_sent_to_it_all_the_same(desk: Desk) -> None:
    desk.broker.membership.put_topic(TopicConfig(topic_name="orders", perm=4))

    desk.send(desk.connect(), "orders", "taken")

    assert len(stored(desk, "orders")) == 1


def test_the_broker_chooses_a_queue_where_the_producer_does_not(desk: Desk) -> None:
    channel = desk.connect()

    chosen = {desk.send(channel, "orders", "x", -1).queue_id for _ in range(20)}

    assert chosen == {0, 1}


@pytest.mark.parametrize("change", [{"flag": 2**40}, {"sys_flag": 2**40}, {"reconsume_times": -(2**40)}])
def test_numbers_that_fit_no_message_are_refused(desk: Desk, change: dict[str, int]) -> None:
    request = SendMessageV2(
        producer_group="PG",
        topic="orders",
        queue_id=0,
        born_timestamp=1,
        body=b"",
        **change,  # type: ignore[arg-type]
    )

    assert desk.refused(desk.connect(), request).code == ResponseCode.MESSAGE_ILLEGAL


def test_a_message_that_is_too_long_is_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path, EmbeddedSettings(membership=settings(), max_message_bytes=9))

    refused = desk.refused(desk.connect(), sending("fresh", "0123456789"))

    assert refused.code == ResponseCode.MESSAGE_ILLEGAL
    assert "limit 9B" in (refused.remark or "")


# ---- batches ----


def batch(topic: str, *bodies: str) -> SendBatchMessage:
    packed = [Packed(body=body.encode(), property_text=encode_properties({"UNIQ_KEY": body})) for body in bodies]
    return SendBatchMessage(
        producer_group="PG",
        topic=topic,
        queue_id=1,
        born_timestamp=1,
        properties=encode_properties({"UNIQ_KEY": "all", "TAGS": "A"}),
        body=encode_batch(packed),
    )


def test_a_batch_becomes_messages_of_their_own(desk: Desk) -> None:
    answer = desk.get(desk.connect(), batch("orders", "one", "two"))

    messages = stored(desk, "orders", 1)
    assert [(message.body, message.properties["UNIQ_KEY"]) for message in messages] == [
        (b"one", "one"),
        (b"two", "two"),
    ]
    assert {message.properties["TAGS"] for message in messages} == {"A"}
    assert (answer.queue_offset, len(answer.msg_id.split(",")), answer.batch_uniq_id) == (0, 2, "all")


@pytest.mark.parametrize("topic", ["orders", "%RETRY%G"])
def test_a_batch_that_is_none_is_refused(desk: Desk, topic: str) -> None:
    request = SendBatchMessage(producer_group="PG", topic=topic, queue_id=0, born_timestamp=1, body=b"\0\0\0\7bad")

    assert desk.refused(desk.connect(), request).code == ResponseCode.MESSAGE_ILLEGAL


def test_an_empty_batch_is_refused(desk: Desk) -> None:
    assert desk.refused(desk.connect(), batch("orders")).code == ResponseCode.MESSAGE_ILLEGAL


# ---- delays, retries, dead letters ----


def test_a_delayed_message_comes_when_it_is_due(desk: Desk) -> None:
    desk.send(desk.connect(), "orders", "later", DELAY="3")

    desk.wait(9_999)
    before = stored(desk, "orders")
    desk.wait(1)

    assert (before, [message.body for message in stored(desk, "orders")]) == ([], [b"later"])


def test_a_timer_out_of_reach_is_refused(desk: Desk) -> None:
    refused = desk.refused(desk.connect(), sending("orders", "x", TIMER_DELAY_SEC="99999999"))

    assert refused.code == ResponseCode.MESSAGE_ILLEGAL
    assert "timer message illegal" in (refused.remark or "")


def back(position: int, level: int = 0, most: int | None = None) -> ConsumerSendMsgBack:
    return ConsumerSendMsgBack(offset=position, group="G", delay_level=level, max_reconsume_times=most)


def test_a_message_that_came_back_is_seen_again_in_the_retry_topic(desk: Desk) -> None:
    channel = desk.connect()
    _, position = read_offset_id(desk.send(channel, "orders", "hard").msg_id)

    desk.get(channel, back(position))
    desk.wait(10_000)

    (again,) = stored(desk, "%RETRY%G")
    assert (again.body, again.reconsume_times) == (b"hard", 1)
    assert again.properties["RETRY_TOPIC"] == "orders"
    assert read_offset_id(again.properties["ORIGIN_MESSAGE_ID"])[1] == position


def test_it_comes_later_each_time_and_then_to_the_dead_letters(desk: Desk) -> None:
    channel = desk.connect()
    _, position = read_offset_id(desk.send(channel, "orders", "hard").msg_id)
    desk.get(channel, back(position, most=2))
    desk.wait(10_000)
    first = stored(desk, "%RETRY%G")[0]

    desk.get(channel, back(first.commit_log_offset, most=2))
    desk.wait(29_999)
    early = len(stored(desk, "%RETRY%G"))
    desk.wait(1)
    second = stored(desk, "%RETRY%G")[1]
    desk.get(channel, back(second.commit_log_offset, most=2))

    (dead,) = stored(desk, "%DLQ%G")
    assert (early, second.reconsume_times, dead.reconsume_times) == (1, 2, 3)
    assert dead.properties["RETRY_TOPIC"] == "orders"


def test_a_group_decides_how_often_where_the_client_is_too_old_to(desk: Desk) -> None:
    desk.version = 120
    channel = desk.connect()
    _, position = read_offset_id(desk.send(channel, "orders", "hard").msg_id)

    desk.get(channel, back(position, most=0))

    assert stored(desk, "%DLQ%G") == []


def test_a_message_can_be_given_up_at_once(desk: Desk) -> None:
    channel = desk.connect()
    _, position = read_offset_id(desk.send(channel, "orders", "hopeless").msg_id)

    desk.get(channel, back(position, level=-1))

    assert [message.body for message in stored(desk, "%DLQ%G")] == [b"hopeless"]


def test_what_is_nowhere_cannot_come_back(desk: Desk) -> None:
    refused = desk.refused(desk.connect(), back(12_345))

    assert (refused.code, refused.remark) == (ResponseCode.SYSTEM_ERROR, "look message by offset failed, 12345")


@pytest.mark.parametrize(("reconsumed", "topic"), [(1, "%RETRY%G"), (2, "%DLQ%G")])
def test_a_consumer_may_send_to_its_retry_topic_itself(desk: Desk, reconsumed: int, topic: str) -> None:
    request = SendMessageV2(
        producer_group="CLIENT_INNER_PRODUCER",
        topic="%RETRY%G",
        queue_id=0,
        born_timestamp=1,
        reconsume_times=reconsumed,
        max_reconsume_times=1,
        body=b"hard",
    )

    desk.get(desk.connect(), request)

    assert [message.body for message in stored(desk, topic)] == [b"hard"]


def test_of_an_orderly_group_what_is_sent_back_is_dead(desk: Desk) -> None:
    channel = desk.connect()
    queue = MessageQueue("orders", "east", 0)
    desk.get(channel, LockBatchMq(body=LockBatchRequestBody(consumer_group="G", client_id="A", mq_set=(queue,))))

    desk.send(channel, "%RETRY%G", "stuck")

    assert [message.body for message in stored(desk, "%DLQ%G")] == [b"stuck"]


def test_a_disk_that_takes_no_more_is_an_answer(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Draft, __: int) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(desk.broker.core.store, "append", full)

    refused = desk.refused(desk.connect(), sending("orders", "x"))

    assert (refused.code, "the disk is full" in (refused.remark or "")) == (ResponseCode.SYSTEM_ERROR, True)
