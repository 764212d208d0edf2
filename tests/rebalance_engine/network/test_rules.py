import math
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from rebalance_engine.network.rules import (
    MOST,
    Rule,
    a,
    as_int,
    flag,
    function,
    is_async,
    latencies,
    maybe,
    needed,
    seconds,
    seconds_left,
    whole,
)


async def waits(_message: object) -> None:
    """A listener that is awaited."""


class Waits:
    """One that is no function."""

    async def __call__(self, _message: object) -> None:
        """Is awaited too."""


@pytest.mark.parametrize("value", [2, 2.0, np.int64(2), np.uint8(2), np.float32(2), np.float64(2), Fraction(2)])
@pytest.mark.parametrize("rule", [seconds, seconds_left])
def test_any_real_number_is_a_time(rule: Rule, value: object) -> None:
    given = rule("drain_s", value)

    assert (given, type(given)) == (2.0, float)


@pytest.mark.parametrize("value", [True, np.bool_(1), "2", Decimal(2), 2j, np.array([2.0, 3.0]), None])
@pytest.mark.parametrize("rule", [seconds, seconds_left])
def test_what_is_no_real_number_is_no_time(rule: Rule, value: object) -> None:
    with pytest.raises(TypeError, match=r"^drain_s is .*; needed is a number of seconds$"):
        rule("drain_s", value)


@pytest.mark.parametrize("value", [math.nan, np.float32("nan"), math.inf, MOST + 1, 10**400])
@pytest.mark.parametrize("rule", [seconds, seconds_left])
def test_nobody_waits_for_ever_or_for_no_number(rule: Rule, value: object) -> None:
    with pytest.raises(ValueError, match=rf"^drain_s is .*; needed is .* {MOST} seconds$"):
        rule("drain_s", value)


def test_of_a_time_less_than_nothing_may_be_left_but_not_be_asked_for() -> None:
    assert seconds_left("timeout_s", -1) == -1.0
    with pytest.raises(ValueError, match="timeout_s is -1; needed is 0 to"):
        seconds("timeout_s", -1)


def test_latencies_become_plain_whole_numbers() -> None:
    given = latencies("latency_max_ms", (np.int64(50), np.uint16(100), 550))

    assert given == (50, 100, 550)
    assert given is not None
    assert {type(one) for one in given} == {int}
    with pytest.raises(TypeError, match="needed is a tuple of ms"):
        latencies("latency_max_ms", (50, np.float64(100)))


def test_a_whole_number_is_given_as_it_is_used() -> None:
    rule = whole(0, 10, also=(-1, None))

    assert [rule("retries", one) for one in (3, np.int8(3), -1, None)] == [3, 3, -1, None]
    assert type(rule("retries", np.int8(3))) is int
    with pytest.raises(ValueError, match="retries is 11; needed is a whole number from 0 to 10, or -1, or None"):
        rule("retries", 11)


@pytest.mark.parametrize("value", [True, 2.0, np.float64(2), "2", None, np.array([1, 2])])
def test_what_stands_for_no_whole_number_is_no_int(value: object) -> None:
    assert as_int(value) is None


def test_a_rule_may_let_nothing_pass() -> None:
    assert maybe(flag)("orderly", None) is None
    with pytest.raises(TypeError, match="orderly is 5; needed is True or False"):
        maybe(flag)("orderly", 5)


def test_a_function_may_be_left_out() -> None:
    assert function("on_fact", None) is None
    with pytest.raises(TypeError, match="on_fact is 5; needed is a function"):
        function("on_fact", 5)


def test_one_of_several_kinds_is_named_with_all_of_them() -> None:
    assert a(str, int)("offsets_dir", 5) == 5
    with pytest.raises(TypeError, match=r"offsets_dir is 5.0; needed is a str or a int"):
        a(str, int)("offsets_dir", 5.0)


def test_what_was_seen_is_cut_where_it_is_long() -> None:
    assert needed("ip", "x" * 500, "a text") == f"ip is '{'x' * 76}...; needed is a text"


@pytest.mark.parametrize(
    ("listener", "is_so"), [(waits, True), (Waits(), True), (partial(waits), True), (print, False)]
)
def test_a_listener_that_is_awaited_is_known_however_it_is_written(listener: Rule, is_so: bool) -> None:
    assert is_async(listener) is is_so
