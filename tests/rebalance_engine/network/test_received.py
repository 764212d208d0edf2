import asyncio
from typing import Any, cast

import numpy as np
import pytest

from rebalance_engine.consumer.messages import message_of
from rebalance_engine.model import MessageQueue
from rebalance_engine.network import ConsumeFromWhere, Consumer, Producer
from rebalance_engine.network.received import ReceivedMessage, Retry
from rebalance_engine.remoting.messages import Host, StoredMessage
from rebalance_engine.remoting.properties import encode_properties
from tests.rebalance_engine.network.clusters import QUICK, cluster, put
from tests.rebalance_engine.network.loop import on_a_loop

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


def test_an_answer_in_numbers_of_another_library_is_one_in_ints() -> None:
    three = cast("int", np.int64(3))
    answer = Retry(delay_level=three, done=three, suspend_ms=three)

    assert answer == Retry(delay_level=3, done=3, suspend_ms=3)
    assert {type(answer.delay_level), type(answer.done), type(answer.suspend_ms)} == {int}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"delay_level": "x"}, "delay_level is 'x'; needed is a whole number from -1"),
        ({"delay_level": -7}, "delay_level is -7; needed is a whole number from -1"),
        ({"done": "x"}, "done is 'x'; needed is a whole number from 0"),
        ({"done": -1}, "done is -1"),
        ({"suspend_ms": "x"}, "suspend_ms is 'x'; needed is a whole number from 0 to 2147483647, or None"),
    ],
)
def test_an_answer_that_makes_no_sense_is_refused_where_it_is_made(given: dict[str, Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        Retry(**given)


def test_a_message_that_is_answered_so_can_be_answered_again() -> None:
    answers: list[object] = []
    message = ReceivedMessage(QUEUE, message_of(stored()), answers.append)
    with pytest.raises(TypeError, match="delay_level is 'x'"):
        message.retry("x")  # type: ignore[arg-type]  # a mistake
    message.ack()

    assert answers == [None]


@on_a_loop
async def test_a_listener_whose_answer_makes_no_sense_gets_its_message_again() -> None:
    wrong: list[dict[str, Any]] = [{"suspend_ms": "x"}, {"delay_level": -7}, {"done": "x"}]
    consumed = asyncio.Event()

    async def answer(_: ReceivedMessage) -> Retry | None:
        if wrong:
            return Retry(**wrong.pop())
        consumed.set()
        return None

    first = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
    async with cluster(orders=1) as east, Producer(east.namesrv) as producer:
        await put(producer, ["x"])
        async with Consumer(
            east.namesrv, "G", "orders", answer, version=QUICK, from_where=first, orderly=True, suspend_ms=10
        ):
            await consumed.wait()
