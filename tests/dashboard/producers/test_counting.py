from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dashboard.producers.counting import Counted, count, heard_until
from dashboard.producers.standing import Standing, sends_of

NOW, SINCE = 100_000, 40_000


def standing(*sends: list[Any]) -> Standing:
    return Standing("east", 99_000, sends_of(sends), (), None, None, None, None)


def tallied(since: int, until: int, *spans: list[int], at: int | None = None) -> list[Any]:
    slowest = max(high for _low, high, _n in spans)
    return [since - slowest if at is None else at, slowest, "ok", "t", [since, until, [list(each) for each in spans]]]


def test_all_sends_are_counted_with_an_exact_median() -> None:
    each = standing(
        tallied(50_000, 51_000, [3, 3, 2], [90, 90, 1]),
        [60_000, 3_000, "remoting error", "t"],
        tallied(70_000, 71_000, [4, 4, 5]),
    )

    counted = count(each, since=SINCE, now=NOW, heard=90_000)

    assert counted is not None
    assert (counted.sends, counted.failed, counted.median_ms) == (9, 1, (4, 4))
    assert (counted.since, counted.until, counted.per_second) == (SINCE, 90_000, 9 / 50)


def test_a_time_that_begins_or_ends_within_a_tally_is_that_between_tallies() -> None:
    each = standing(
        tallied(39_000, 41_000, [3, 3, 7]),
        [40_400, 500, "broker error", "t"],
        tallied(50_000, 51_000, [5, 5, 2]),
        tallied(99_500, 101_000, [6, 6, 9]),
    )

    assert count(each, since=SINCE, now=NOW, heard=101_000) == Counted(41_000, 99_499, ((5, 5, 2),), 0)


def test_of_latencies_that_are_counted_together_the_median_has_bounds() -> None:
    counted = count(standing(tallied(50_000, 51_000, [3, 3, 2], [4, 9, 3])), since=SINCE, now=NOW, heard=NOW)

    assert counted is not None and counted.median_ms == (4, 9)


@pytest.mark.parametrize(
    "sends",
    [[], [[50_000, 7, "ok", "t"]], [[50_000, 7, "ok", "t"], tallied(60_000, 61_000, [5, 5, 2])]],
    ids=["nothing told", "a reporter that counts none", "one that began to count"],
)
def test_where_not_all_are_counted_nothing_is_known(sends: list[list[Any]]) -> None:
    assert count(standing(*sends), since=SINCE, now=NOW, heard=NOW) is None


def test_what_is_not_kept_is_not_counted() -> None:
    each = replace(standing(tallied(50_000, 51_000, [3, 3, 2])), sends_since=26_000)

    assert count(each, since=SINCE, now=NOW, heard=NOW) is None
    assert count(replace(each, sends_since=25_000), since=SINCE, now=NOW, heard=NOW) is not None


def test_failures_alone_are_counted_for_each_is_told() -> None:
    counted = count(standing([50_000, 3_000, "client error", None]), since=SINCE, now=NOW, heard=NOW)

    assert counted is not None
    assert (counted.sends, counted.failed, counted.median_ms) == (1, 1, (3_000, 3_000))


def test_a_producer_told_up_to_its_last_word() -> None:
    quiet = Standing("west", None, (), (), None, None, None, None)

    assert heard_until([quiet]) == 0
    assert heard_until([quiet, standing(tallied(98_000, 99_700, [3, 3, 2]))]) == 99_700
