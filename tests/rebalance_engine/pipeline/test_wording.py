import pytest

from rebalance_engine.pipeline.reports import total
from rebalance_engine.pipeline.wording import (
    at_least,
    broken,
    counted,
    fitted,
    handed_over,
    idle,
    lasting,
    off,
    overlap,
    paused,
    percent,
    silent,
    skew,
    twice,
    unheard,
    unowned,
)


@pytest.mark.parametrize(
    ("ms", "said"),
    [
        (0, "0 s"),
        (47, "47 ms"),
        (999, "999 ms"),
        (1_000, "1.0 s"),
        (119_000, "119.0 s"),
        (120_000, "2.0 min"),
        (7_200_000, "2.0 h"),
        (172_800_000, "2.0 d"),
        (50_309_184_000, "582.3 d"),
    ],
)
def test_a_duration_has_the_unit_that_a_person_would_choose(ms: int, said: str) -> None:
    assert lasting(ms) == said


def test_one_is_one_and_shares_are_percent() -> None:
    assert (counted(1, "line"), counted(0, "line")) == ("1 line", "0 lines")
    assert (percent(0.0556), percent(None)) == ("5.56 %", "unknown")


@pytest.mark.parametrize(
    ("text", "shown"),
    [("orders", "orders  "), ("订单组", "订单组  "), ("订单消费组", "订单消费"), ("a订单消费", "a订单消 ")],
)
def test_names_are_as_wide_as_a_terminal_shows_them(text: str, shown: str) -> None:
    assert fitted(text, 8) == shown


def test_a_pause_says_how_much_of_it_was_waiting_for_locks() -> None:
    assert paused({"pause_ms": 622_930, "pause_locked_ms": 604_756}) == "10.4 min, of it 10.1 min waiting for locks"
    assert paused({"pause_ms": 5_000, "pause_locked_ms": None}) == "5.0 s"
    restarted: dict[str, object] = {"pause_ms": 248_000, "pause_restart_ms": 240_000}
    assert paused(restarted) == "4.1 min, of it 4.0 min while no member was there"
    assert paused({**restarted, "pause_locked_ms": 3_000}).endswith(
        "while no member was there and 3.0 s waiting for locks"
    )


@pytest.mark.parametrize(
    ("most", "unbounded", "said"),
    [
        (12_000, 0, "at most 12.0 s"),
        (12_000, 3, "at most 12.0 s in 1 handoff, unknown in the rest"),
        (None, 4, "a time that is unknown"),
    ],
)
def test_silence_is_told_as_far_as_it_is_bounded(most: int | None, unbounded: int, said: str) -> None:
    assert silent({"handoffs": 4, "silence_most_ms": most, "silence_unbounded": unbounded}) == said
    assert silent({"handoffs": 0, "silence_most_ms": None, "silence_unbounded": 0}) == ""


def test_idle_time_has_its_share_where_it_is_known_who_was_there() -> None:
    assert idle({"idle_ms": 60_000, "present_ms": 240_000}) == "60.0 s (25.00 % of their time)"
    assert idle({"idle_ms": None, "present_ms": None}) == "unknown"


def test_unowned_time_says_what_is_not_known_of_it_and_what_has_not_ended() -> None:
    known: dict[str, object] = {"unowned_ms": 4_000, "unowned_most_ms": 4_000, "unowned_open_ms": 0}

    assert unowned(known) == "4.0 s"
    assert unowned({**known, "unowned_open_ms": 3_000}) == "4.0 s, of it 3.0 s of queues that nobody has taken since"
    assert unowned({**known, "unowned_most_ms": 9_000}) == "4.0 s to 9.0 s"
    assert unowned({**known, "unowned_most_ms": 4_001}) == "4.0 s"


def test_queues_of_a_group_whose_members_have_all_gone_are_told_apart() -> None:
    row: dict[str, object] = {"unowned_ms": 4_000, "unowned_most_ms": 4_000, "unowned_open_ms": 0}

    assert unowned({**row, "deserted_ms": 8_640_000}) == "4.0 s"
    assert off({**row, "deserted_ms": 8_640_000}) == "2.4 h"
    assert off(row) == off({**row, "deserted_ms": 0}) == ""


@pytest.mark.parametrize(
    ("least", "most", "unknown", "said"),
    [
        (1.05, 1.05, 0, "1.05"),
        (1.0, 1.4, 0, "1.00 to 1.40 by day"),
        (1.0, 1.4, 1, "1.00 to 1.40 by day, unknown of 1 day"),
        (None, None, 2, "unknown"),
    ],
)
def test_skew_is_told_by_day_and_where_it_is_unknown(
    least: float | None, most: float | None, unknown: int, said: str
) -> None:
    assert skew({"skew_least": least, "skew_most": most, "skew_unknown": unknown}) == said


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("  web1  paused 3 s", ["  web1  paused 3 s"]),
        ("  web1  paused 3.0 min, all", ["  web1  paused 3.0", "    min, all"]),
        ("订单 订单订单订单 订单", ["订单 订单订单订单", "    订单"]),
        (f"a {'b' * 30} c", ["a", f"    {'b' * 30}", "    c"]),
        ("", [""]),
    ],
)
def test_a_line_is_broken_at_blanks_only_and_goes_on_further_in(text: str, lines: list[str]) -> None:
    assert broken(text, width=19, indent=4) == lines


def test_what_is_unknown_is_called_so() -> None:
    assert lasting(None) == "unknown"
    assert total([{"x": None}], "x") is None
    assert twice({"duplicates_least": None, "duplicates_most": None, "duplicates_unbounded": 1}) == "unknown"
    assert twice({"duplicates_least": 1, "duplicates_most": 4, "duplicates_unbounded": 0}) == "1 to 4"


@pytest.mark.parametrize(
    ("least", "most", "handoffs", "unbounded", "said"),
    [
        (None, 40, 5, 2, "at most 40 in 3 handoffs, unknown in the rest"),
        (0, 7, 2, 1, "at most 7 in 1 handoff, unknown in the rest"),
        (6, 40, 5, 2, "at least 6, at most 40 in 3 handoffs, unknown in the rest"),
        (6, None, 5, 5, "at least 6"),
        (0, None, 5, 5, "unknown"),
        (None, 40, 5, 0, "0 to 40"),
    ],
)
def test_what_came_twice_is_told_as_far_as_it_is_bounded(
    least: int | None, most: int | None, handoffs: int, unbounded: int, said: str
) -> None:
    row: dict[str, object] = {"duplicates_least": least, "duplicates_most": most, "duplicates_unbounded": unbounded}

    assert twice({**row, "handoffs": handoffs}) == said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "0"),
        ({"duplicates_least": 3, "duplicates_most": 3, "handoffs": 1}, "3"),
        ({"unheard": 1}, "unknown"),
        ({"overlap_unmoved_ms": 5_000}, "unknown"),
        ({"returns": 13, "duplicates_least": None, "duplicates_most": None, "duplicates_unbounded": 13}, "unknown"),
        ({"returns": 13, "duplicates_unbounded": 13}, "unknown"),
        ({"handoffs": 2, "unheard": 1, "duplicates_most": 8}, "at most 8 in 2 handoffs, unknown in the rest"),
        (
            {"handoffs": 2, "returns": 3, "duplicates_unbounded": 1, "duplicates_most": 8},
            "at most 8 in 4 of 5 handoffs and returns, unknown in the rest",
        ),
    ],
    ids=["nothing moved", "exact", "unheard", "overlap", "returns", "two days", "handoffs", "both"],
)
def test_no_more_is_said_to_have_come_twice_at_most_than_is_bounded(more: dict[str, object], said: str) -> None:
    quiet = {"handoffs": 0, "returns": 0, "duplicates_least": 0, "duplicates_most": 0, "duplicates_unbounded": 0}

    assert twice({**quiet, **more}) == said


def test_where_nobody_tells_what_members_held_silence_and_overlap_have_no_end() -> None:
    row: dict[str, object] = {"handoffs": 4, "silence_most_ms": 9_000, "silence_unbounded": 0, "unheard": 1}
    both: dict[str, object] = {"overlap_staying_ms": 300, "overlap_stopping_ms": 20, "unheard": 1}

    assert silent(row) == "at most 9.0 s in 4 handoffs, unknown in the rest"
    assert overlap(both) == "at least 300 ms, and 20 ms while one shut down"
    assert overlap({**both, "overlap_staying_ms": 0, "overlap_stopping_ms": 0}) == "unknown"
    assert overlap({**both, "unheard": 0}) == "300 ms, and 20 ms while one shut down"


def test_queues_that_go_back_to_their_member_are_counted_beside_handoffs() -> None:
    assert handed_over({"handoffs": 0, "returns": 13}) == "0 handoffs, 13 returns to the same member"
    assert handed_over({"handoffs": 1, "returns": 0}) == "1 handoff"


def test_members_of_no_log_are_told_whoever_tells_of_them() -> None:
    """Brokers name them, or members count them."""
    assert unheard({"unheard": 1}) == "members of whom no log tells what they held: 1"
    assert unheard({"unheard": 0}) == ""


def test_counts_of_what_moved_are_bounds_where_somebody_was_there_of_whom_nobody_tells() -> None:
    some: dict[str, object] = {"handoffs": 3, "returns": 1, "unheard": 1}

    assert handed_over(some) == "at least 3 handoffs, at least 1 return to the same member"
    assert handed_over({"handoffs": 0, "returns": 0, "unheard": 1}) == "handoffs unknown"
    assert [at_least(some, "handoffs"), at_least({**some, "handoffs": 0}, "handoffs")] == ["at least 3", None]
    assert at_least({**some, "unheard": 0}, "handoffs") == 3
