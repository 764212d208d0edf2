import random

import pytest

from rebalance_engine.model import MessageQueue
from rebalance_engine.producer.java_numbers import MIN_INT
from rebalance_engine.producer.selectors import by_hash, by_random, by_sharding_key, fnv_1a

QUEUES = [MessageQueue("orders", "east", number) for number in range(3)]


@pytest.mark.parametrize(("argument", "position"), [(7, 1), (-7, 1), (MIN_INT, 2), ("A", 2), (True, 1)])
def test_the_hash_of_the_argument_chooses(argument: str | int, position: int) -> None:
    assert by_hash(argument)(QUEUES) == QUEUES[position]


def test_another_number_of_queues_maps_otherwise() -> None:
    assert by_hash(7)(QUEUES[:2]) == QUEUES[1]
    assert by_hash(8)(QUEUES) != by_hash(8)(QUEUES[:2])


def test_luck_chooses_any() -> None:
    selector = by_random(random.Random(1))

    assert {selector(QUEUES) for _ in range(50)} == set(QUEUES)


@pytest.mark.parametrize(("text", "value"), [(b"", 0x811C9DC5), (b"a", 0xE40C292C), (b"foobar", 0xBF9CF968)])
def test_the_hash_of_go_is_fnv_1a(text: bytes, value: int) -> None:
    assert fnv_1a(text) == value


def test_a_sharding_key_always_leads_to_the_same_queue_and_none_to_any() -> None:
    luck = random.Random(1)

    assert {by_sharding_key("a", luck)(QUEUES) for _ in range(20)} == {QUEUES[0xE40C292C % 3]}
    assert {by_sharding_key("", luck)(QUEUES) for _ in range(50)} == set(QUEUES)
