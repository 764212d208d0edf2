import pytest

from rebalance_engine.consumer.messages import message_of
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.received import ReceivedMessage, Retry
from rebalance_engine.remoting.messages import Host, StoredMessage
from rebalance_engine.remoting.properties import encode_properties

QUEUE = MessageQueue("orders", "east", 0)


def stored(**properties: str) -> StoredMessage:
    return StoredMessage(
        topic="orders",
        queue_id=0,
        queue_offset=7,
        commit_log_offset=42,
        flag=3,
        born_timestamp=100,
        born_host=Host("10.0.0.1", 5),
        store_timestamp=101,
        store_host=Host("10.0.0.2", 10911),
        reconsume_times=2,
        body=b"hello",
        property_text=encode_properties(properties),
    )


def test_a_message_tells_what_was_sent_and_where_it_is() -> None:
    whole = stored(KEYS="k1 k2", TAGS="new", UNIQ_KEY="ID", __SHARDINGKEY="7", region="north")
    message = ReceivedMessage(QUEUE, message_of(whole))

    assert (message.topic, message.queue, message.offset, message.body) == ("orders", QUEUE, 7, b"hello")
    assert (message.keys, message.tags, message.sharding_key) == (("k1", "k2"), "new", "7")
    assert (message.message_id, message.properties["region"], message.flag) == ("ID", "north", 3)
    assert (message.born_at, message.stored_at, message.reconsume_times) == (100, 101, 2)
    assert (message.born_host, message.store_host) == (Host("10.0.0.1", 5), Host("10.0.0.2", 10911))
    assert "ID of 'orders' at orders/east/0 7, 5 bytes" in repr(message)


def test_a_message_without_an_id_has_that_of_its_place() -> None:
    message = ReceivedMessage(QUEUE, message_of(stored()))

    assert message.message_id == message.offset_message_id == "0A00000200002A9F000000000000002A"
    assert message.keys == () and message.sharding_key is None


def test_a_retried_message_is_of_its_original_topic() -> None:
    retry = MessageQueue("%RETRY%G", "east", 0)

    assert ReceivedMessage(retry, message_of(stored(RETRY_TOPIC="bills"))).topic == "bills"


def test_a_message_of_a_loop_can_be_settled_and_no_other() -> None:
    answers: list[object] = []
    message = ReceivedMessage(QUEUE, message_of(stored()), answers.append)
    message.ack()
    message.retry(3, suspend_ms=50)

    assert answers == [None, Retry(delay_level=3, suspend_ms=50)]
    with pytest.raises(RuntimeError, match="did not come from a loop"):
        ReceivedMessage(QUEUE, message_of(stored())).ack()
