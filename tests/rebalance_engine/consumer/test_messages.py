from dataclasses import replace

import pytest

from rebalance_engine.consumer.messages import Message, read_stored
from rebalance_engine.remoting.compression import MAX_INFLATED, compress
from rebalance_engine.remoting.errors import BrokenMessage
from rebalance_engine.remoting.messages import Host, StoredMessage, encode_message
from rebalance_engine.remoting.properties import encode_properties
from rebalance_engine.remoting.requests.consuming import PullMessageResponse
from rebalance_engine.remoting.sysflags import Compression, with_compression


def stored(offset: int, topic: str = "orders", **properties: str) -> StoredMessage:
    return StoredMessage(
        topic=topic,
        queue_id=0,
        queue_offset=offset,
        commit_log_offset=100 + offset,
        born_timestamp=1,
        born_host=Host("10.0.0.1", 1),
        store_timestamp=2,
        store_host=Host("10.0.0.2", 10911),
        reconsume_times=3,
        body=b"hello",
        property_text=encode_properties(properties),
    )


def bombs(count: int) -> bytes:
    """Messages of a few bytes that inflate to 16 MiB each."""
    body = compress(Compression.ZSTD, bytes(MAX_INFLATED))
    bomb = replace(stored(5), body=body, sys_flag=with_compression(0, Compression.ZSTD))
    return encode_message(bomb) * count


def answer(body: bytes) -> PullMessageResponse:
    return PullMessageResponse(suggest_which_broker_id=0, next_begin_offset=0, min_offset=0, max_offset=0, body=body)


def test_messages_are_read_as_they_were_stored() -> None:
    first, second = stored(5, TAGS="A", UNIQ_KEY="id"), stored(6)

    messages = list(read_stored(answer(encode_message(first) + encode_message(second))))

    assert [(each.offset, each.commit_log_offset, each.tags, each.size) for each in messages] == [
        (5, 105, "A", 5),
        (6, 106, None, 5),
    ]
    assert messages[0].message_id == "id" and messages[0].reconsume_times == 3
    assert messages[1].message_id == "0A00000200002A9F000000000000006A"


def test_a_retried_message_has_its_original_topic() -> None:
    (message,) = read_stored(answer(encode_message(stored(5, "%RETRY%G", RETRY_TOPIC="orders"))))

    assert message.topic == "orders"


def test_what_is_no_message_is_refused() -> None:
    with pytest.raises(BrokenMessage):
        list(read_stored(answer(b"nonsense")))


def test_what_cannot_be_read_is_skipped_where_somebody_is_told() -> None:
    bodies = encode_message(stored(5)) + encode_message(replace(stored(6), sys_flag=1)) + encode_message(stored(7))
    told: list[StoredMessage | None] = []

    messages = list(read_stored(answer(bodies), skip=lambda message, _: told.append(message)))

    assert [each.offset for each in messages] == [5, 7]
    assert [None if each is None else each.queue_offset for each in told] == [6]


def test_many_messages_that_each_inflate_to_much_are_refused() -> None:
    with pytest.raises(BrokenMessage, match="over 67108864 more together"):
        list(read_stored(answer(bombs(5))))


def test_a_message_is_known_by_its_offset() -> None:
    message = Message(5, "orders")

    assert (message.offset, message.size, message.reconsume_times, message.content) == (5, 0, 0, None)
