import pytest

from rebalance_engine.producer.java_numbers import (
    MAX_INT,
    MIN_INT,
    absolute,
    map_order,
    next_int,
    object_hash,
    remainder,
    string_hash,
    wrap,
)
from tests.rebalance_engine.producer.luck import WrittenLuck


@pytest.mark.parametrize(("sum_", "held"), [(0, 0), (MAX_INT, MAX_INT), (MAX_INT + 1, MIN_INT), (MIN_INT - 1, MAX_INT)])
def test_a_sum_wraps_at_32_bits(sum_: int, held: int) -> None:
    assert wrap(sum_) == held


def test_the_smallest_int_has_no_absolute_value() -> None:
    assert absolute(MIN_INT) == MIN_INT
    assert absolute(-7) == absolute(7) == 7


@pytest.mark.parametrize(("number", "rest"), [(7, 1), (-7, -1), (6, 0), (MIN_INT, -2)])
def test_a_remainder_has_the_sign_of_the_number(number: int, rest: int) -> None:
    assert remainder(number, 3) == rest


def test_a_random_int_may_be_negative() -> None:
    assert [next_int(WrittenLuck(bits)) for bits in (0, MAX_INT, 2**31, 2**32 - 1)] == [0, MAX_INT, MIN_INT, -1]


@pytest.mark.parametrize(("text", "value"), [("", 0), ("A", 65), ("TagA", 2598919), ("\N{GRINNING FACE}", 1772899)])
def test_a_string_hashes_over_its_utf_16_units(text: str, value: int) -> None:
    assert string_hash(text) == value


@pytest.mark.parametrize(
    ("argument", "value"), [(True, 1231), (False, 1237), (-5, -5), (MAX_INT + 1, MIN_INT), (-(2**40), -256), ("A", 65)]
)
def test_other_objects_hash_as_their_class_does(argument: str | int | bool, value: int) -> None:
    assert object_hash(argument) == value


def test_a_map_is_walked_bucket_by_bucket() -> None:
    names = ["broker-a", "broker-b", "east", "west"]

    assert map_order(names, buckets=32) == ["east", "broker-b", "west", "broker-a"]  # as Java 17 walks them


def test_names_in_one_bucket_keep_their_order() -> None:
    assert map_order(["Q", "a", "B", "A"], buckets=32) == ["a", "A", "B", "Q"]  # likewise


def test_a_map_grows_when_three_quarters_are_full() -> None:
    few = ["Q", "A", *"bcdefghij"]  # Q is 81 and A is 65: one bucket of 16, two buckets of 32

    assert map_order(few, buckets=16) == ["Q", "A", *"bcdefghij"]
    assert map_order([*few, "k"], buckets=16) == ["A", *"bcdefghijk", "Q"]
