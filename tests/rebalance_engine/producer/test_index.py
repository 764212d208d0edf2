from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.producer import java
from rebalance_engine.producer.index import Index
from rebalance_engine.producer.java_numbers import MAX_INT, MIN_INT
from rebalance_engine.producer.profiles import CPP, GO, IndexRule
from tests.rebalance_engine.producer.luck import WrittenLuck


def values(rule: IndexRule, start: int, count: int = 3) -> list[int]:
    index = Index(rule, WrittenLuck(start % 2**32))
    return [index.advance("A") for _ in range(count)]


@pytest.mark.parametrize("version", ["4.2.0", "4.7.1", "4.8.0", "4.9.0", "4.9.4", "4.9.8", "5.0.0", "5.1.4", "5.5.0"])
def test_the_first_value_is_one_more_than_the_random_start(version: str) -> None:
    assert values(java(version).index, 7) == [8, 9, 10]


@pytest.mark.parametrize("version", ["4.2.0", "4.8.0", "4.9.0", "4.9.8"])
def test_to_4_9_a_negative_start_is_made_positive(version: str) -> None:
    assert values(java(version).index, -7) == [8, 9, 10]


def test_from_5_0_a_negative_start_is_kept_and_read_without_its_sign_bit() -> None:
    assert values(java("5.0.0").index, -2) == [MAX_INT, 0, 1]


@pytest.mark.parametrize(
    ("version", "at_the_wrap"),
    [
        ("4.7.1", [MAX_INT, 0, 1]),
        ("4.8.0", [MAX_INT, MIN_INT, MAX_INT]),
        ("4.9.0", [MAX_INT, MIN_INT, MAX_INT]),
        ("4.9.4", [MAX_INT, 0, 1]),
        ("5.3.0", [MAX_INT, 0, 1]),
    ],
)
def test_each_version_wraps_in_its_own_way(version: str, at_the_wrap: list[int]) -> None:
    assert values(java(version).index, MAX_INT - 1) == at_the_wrap


@pytest.mark.parametrize(
    ("version", "values_"),
    [("4.7.1", [1, 2]), ("4.8.0", [MAX_INT, MIN_INT]), ("4.9.0", [MAX_INT, MAX_INT - 1]), ("4.9.4", [1, 2])],
)
def test_the_smallest_random_int_stays_negative_from_4_8_on(version: str, values_: list[int]) -> None:
    assert values(java(version).index, MIN_INT, count=2) == values_


def test_threads_have_numbers_of_their_own() -> None:
    index = Index(java("5.3.0").index, WrittenLuck(10, 20))

    assert [index.advance(thread) for thread in "ABAB"] == [11, 21, 12, 22]


def test_a_reset_starts_the_thread_anew_and_no_other() -> None:
    index = Index(java("5.3.0").index, WrittenLuck(10, 20, 99))
    index.advance("A")
    index.advance("B")

    index.reset("A")

    assert [index.advance("A"), index.advance("B")] == [100, 22]


def test_a_reset_draws_from_all_that_is_not_negative() -> None:
    index = Index(java("5.3.0").index, WrittenLuck(10, MAX_INT - 1, MAX_INT))
    index.advance("A")

    index.reset("A")
    largest = index.advance("A")
    index.reset("A")

    assert (largest, index.advance("A")) == (MAX_INT, 1), "2^31 - 1 itself is never drawn"


def test_cpp_has_one_number_that_is_read_before_it_moves_on() -> None:
    index = Index(CPP.index, WrittenLuck())

    assert index.shared == 0
    assert [index.advance(thread) for thread in "AB"] == [0, 1]
    assert index.shared == 2


def test_cpp_begins_again_after_the_largest_int() -> None:
    index = Index(CPP.index, WrittenLuck())
    index._stored["all threads"] = MAX_INT

    index.advance("A")

    assert index.shared == 1


def test_go_has_one_number_that_moves_on_before_it_is_read() -> None:
    index = Index(GO.index, WrittenLuck())

    assert [index.advance(thread) for thread in "AB"] == [1, 2]


@given(st.sampled_from(list(IndexRule)), st.integers(0, 2**32 - 1), st.integers(1, 20))
def test_a_copy_goes_the_same_way_and_leaves_the_original_alone(rule: IndexRule, start: int, steps: int) -> None:
    index = Index(rule, WrittenLuck(start))
    copied = deepcopy(index)

    ahead = [copied.advance("A") for _ in range(steps)]

    assert ahead == [index.advance("A") for _ in range(steps)]
    assert repr(index) == repr(copied)
