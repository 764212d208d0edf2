from itertools import groupby

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rebalance_engine import MessageQueue
from rebalance_engine.model import Order, java_utf8, sort_queues, utf16
from tests.rebalance_engine.generators import message_queues, orders, texts


def code_units(name: str) -> list[int]:
    """What Java's ``String.compareTo`` looks at, worked out by arithmetic."""
    units = []
    for point in map(ord, name):
        if point >= 0x10000:
            units += [0xD800 + ((point - 0x10000) >> 10), 0xDC00 + ((point - 0x10000) & 0x3FF)]
        else:
            units.append(point)
    return units


def test_a_queue_is_spelled_as_java_spells_it() -> None:
    queue = MessageQueue("orders", "east", 3)

    text = str(queue)

    assert text == "MessageQueue [topic=orders, brokerName=east, queueId=3]"


def test_a_negative_queue_id_is_spelled_with_its_sign() -> None:
    assert str(MessageQueue("orders", "east", -1)).endswith(", queueId=-1]")


def test_a_queue_is_its_three_parts() -> None:
    queue = MessageQueue("orders", "east", 3)

    assert (queue.topic, queue.broker, queue.queue_id) == ("orders", "east", 3)
    assert queue == MessageQueue(topic="orders", broker="east", queue_id=3)
    assert queue < MessageQueue("orders", "east", 20) < MessageQueue("orders", "west", 0)


def test_java_sorts_an_astral_character_before_a_private_one() -> None:
    names = ["\uff5e", "\U0001f600", "z"]

    assert Order.JAVA.sort(names) == ["z", "\U0001f600", "\uff5e"]
    assert Order.BYTES.sort(names) == ["z", "\uff5e", "\U0001f600"]


def test_sorting_keeps_duplicates() -> None:
    assert Order.JAVA.sort(["B", "A", "B"]) == ["A", "B", "B"]


@given(st.lists(texts, max_size=12))
@example(["\ud800", "\U00010000", "\udc00", "\ue000", "\uffff"])
@example(["a\U0010ffff", "a\ue000", "a"])
def test_java_order_compares_utf16_code_units(names: list[str]) -> None:
    in_order = Order.JAVA.sort(names)

    assert in_order == sorted(names, key=code_units)


@given(texts)
def test_utf16_holds_the_code_units(name: str) -> None:
    encoded = utf16(name)

    assert [int.from_bytes(encoded[i : i + 2], "big") for i in range(0, len(encoded), 2)] == code_units(name)


@given(st.lists(st.text(max_size=6), max_size=12))
def test_byte_order_compares_utf8(names: list[str]) -> None:
    assert Order.BYTES.sort(names) == sorted(names, key=str.encode)


@given(orders, st.lists(st.text("abAB~", max_size=4), max_size=8))
def test_plain_names_sort_alike_everywhere(order: Order, names: list[str]) -> None:
    assert order.sort(names) == sorted(names)


def test_the_exact_key_is_used_as_soon_as_one_name_needs_it() -> None:
    assert Order.JAVA.key(["A", "B"]) is str
    assert Order.JAVA.key(["A", "é"]) is utf16
    assert Order.BYTES.key(["A", "é"]) is str


@given(st.text())
def test_text_without_surrogates_is_plain_utf8(name: str) -> None:
    assert java_utf8(name) == name.encode()


@pytest.mark.parametrize(
    ("name", "encoded"),
    [
        ("\ud83d\ude00", b"\xf0\x9f\x98\x80"),
        ("\U0001f600\ud800", b"\xf0\x9f\x98\x80?"),
        ("a\ud800b", b"a?b"),
        ("\ude00\ud83d", b"??"),
        ("\ud800\ud83d\ude00\udc00", b"?\xf0\x9f\x98\x80?"),
        ("", b""),
    ],
)
def test_java_writes_pairs_as_one_character_and_lone_surrogates_as_question_marks(name: str, encoded: bytes) -> None:
    assert java_utf8(name) == encoded


@given(st.lists(message_queues, max_size=20), orders)
def test_queues_sort_by_topic_broker_and_number(queues: list[MessageQueue], order: Order) -> None:
    units = code_units if order is Order.JAVA else str.encode

    in_order = sort_queues(queues, order)

    assert in_order == sorted(queues, key=lambda queue: (units(queue.topic), units(queue.broker), queue.queue_id))


def test_queue_ids_sort_as_numbers() -> None:
    queues = [MessageQueue("orders", "east", queue_id) for queue_id in (10, 9, 2, -1)]

    assert [queue.queue_id for queue in sort_queues(queues)] == [-1, 2, 9, 10]


def test_queues_of_one_broker_stay_together_among_exotic_ones() -> None:
    queues = [MessageQueue("orders", broker, i) for i in (1, 0) for broker in ("\uff5e", "\U0001f600", "east")]

    runs = [broker for broker, _ in groupby(sort_queues(queues), key=lambda queue: queue.broker)]

    assert runs == ["east", "\U0001f600", "\uff5e"]
