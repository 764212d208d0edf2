from __future__ import annotations

from dashboard.groups.first.columns import Column, place
from dashboard.groups.first.lags import foot_of, in_short
from dashboard.groups.table import QueueRow

NOW = 100_000


def columns(count: int) -> tuple[list[Column], int]:
    return place([QueueRow("orders", "east", number, "ok", "", ("A",), ("A",)) for number in range(count)], 400)


def told(*lags: int | None, missing: str | None = None) -> dict[str, object]:
    queues = [["orders", number, lag, None, None] for number, lag in enumerate(lags)]
    return {"broker": "east", "at": NOW - 5_000, "missing": missing, "queues": queues, "looks": []}


def test_what_waits_stands_below_its_queue_and_adds_up() -> None:
    foot = foot_of(*columns(3), [told(0, 1_234, 5)], now=NOW)

    assert [(each.look, each.words) for each in foot.figures] == [
        ("lag-none", "0"),
        ("lag-waits", "1.2k"),
        ("lag-waits", "5"),
    ]
    assert (foot.total, foot.mark, foot.told) == ("1239", "exact", "told 5\u00a0s ago")


def test_what_is_unknown_is_a_dash_and_makes_the_sum_a_bound() -> None:
    foot = foot_of(*columns(3), [told(7, None)], now=NOW)

    assert [each.words for each in foot.figures] == ["7", "–", "–"]
    assert (foot.total, foot.mark) == ("≥\u00a07", "bound")
    assert foot_of(*columns(1), [], now=NOW).mark == "unknown"


def test_what_a_silent_broker_told_is_old_and_in_no_sum() -> None:
    foot = foot_of(*columns(1), [told(7, missing="no answer")], now=NOW)

    assert [(each.look, each.words) for each in foot.figures] == [("lag-unknown", "7")]
    assert (foot.total, foot.mark, foot.told) == ("–", "unknown", "")


def test_a_broker_that_never_told_is_not_nothing() -> None:
    never = {"broker": "west", "at": 0, "missing": "no answer", "queues": [], "looks": []}

    assert foot_of([], 30, [told(4), never], now=NOW).total == "≥\u00a04"


def test_numbers_are_short() -> None:
    assert [in_short(lag) for lag in (0, 999, 9_940, 9_960, 999_600)] == ["0", "999", "9.9k", "10k", "1.0M"]
