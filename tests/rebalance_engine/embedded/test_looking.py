from pathlib import Path

import pytest

from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.message_ids import read_offset_id
from rebalance_engine.remoting.messages import decode_messages
from rebalance_engine.remoting.requests.upkeep import QueryConsumeQueue, QueryMessage, ViewMessageById
from rebalance_engine.remoting.tags import java_hash
from tests.rebalance_engine.embedded.desk import START, Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.put_topic("orders", 2)
    channel = made.connect()
    for number in range(4):
        properties = {"KEYS": f"k{number} shared", "UNIQ_KEY": f"id{number}", "TAGS": "A"}
        made.send(channel, "orders", f"m{number}", number % 2, **properties)
        made.wait(1_000)
    return made


def query(key: str, *, begin: int = 0, end: int = START + 10_000, most: int = 9, unique: bool = False) -> QueryMessage:
    return QueryMessage(
        topic="orders", key=key, max_num=most, begin_timestamp=begin, end_timestamp=end, is_unique_key=unique or None
    )


def found(desk: Desk, request: QueryMessage) -> list[str]:
    return [message.body.decode() for message in decode_messages(desk.get(desk.connect(), request).body)]


def test_a_message_is_viewed_by_its_id(desk: Desk) -> None:
    sent = desk.send(desk.connect(), "orders", "this one")

    body = desk.get(desk.connect(), ViewMessageById(offset=read_offset_id(sent.msg_id)[1])).body

    assert decode_messages(body)[0].body == b"this one"
    assert desk.refused(desk.connect(), ViewMessageById(offset=1)).code == ResponseCode.SYSTEM_ERROR


def test_messages_are_found_by_key(desk: Desk) -> None:
    assert found(desk, query("k2")) == ["m2"]
    assert found(desk, query("id3", unique=True)) == ["m3"]
    assert sorted(found(desk, query("shared"))) == ["m0", "m1", "m2", "m3"]
    assert found(desk, query("shared", most=1)) == ["m2"]


def test_messages_are_found_within_a_time(desk: Desk) -> None:
    assert sorted(found(desk, query("shared", begin=START + 1_000, end=START + 2_000))) == ["m1", "m2"]


@pytest.mark.parametrize("key", ["share", "m2", "", "unknown"])
def test_a_part_of_a_key_is_no_key(desk: Desk, key: str) -> None:
    assert desk.refused(desk.connect(), query(key)).code == ResponseCode.QUERY_NOT_FOUND


def test_an_answer_says_how_far_the_newest_is(desk: Desk) -> None:
    answer = desk.get(desk.connect(), query("shared"))

    assert answer.index_last_update_timestamp == START + 3_000


def test_the_index_of_a_queue_is_shown(desk: Desk) -> None:
    desk.join(desk.connect(), "G", "orders", tags="A")
    request = QueryConsumeQueue(topic="orders", queue_id=1, index=1, count=9, consumer_group="G")

    body = desk.get(desk.connect(), request).body

    assert ([row.tags_code for row in body.queue_data], body.max_queue_index) == ([java_hash("A")], 2)
    assert body.subscription_data is not None and body.subscription_data.sub_string == "A"


def test_an_unknown_topic_has_no_index(desk: Desk) -> None:
    request = QueryConsumeQueue(topic="x", queue_id=0, index=0, count=1)

    assert desk.refused(desk.connect(), request).remark == "x-0 consumeQueue is not exist"
