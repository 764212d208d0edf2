"""What a group's story says of times in which a member's own log says nothing: in holes, and before it begins."""

from typing import Any

from rebalance_engine.pipeline.stories import tell
from tests.rebalance_engine.pipeline.test_stories import clue, kinds, span


def stretches(rows: list[tuple[str, dict[str, Any]]], queue_id: int = 0) -> list[tuple[object, ...]]:
    told = (row for row in kinds(rows, "stretch") if row["queue_id"] == queue_id)
    return [(row["at_ms"], row["until_ms"], row["clients"], row["unheard"]) for row in told]


def test_what_was_let_go_in_a_hole_has_bounds_of_unowned_and_overlapping_time() -> None:
    """A's log lacks lines from 20,000 until 50,000; B takes A's queue at 30,000, or at 60,000."""
    clues = [clue("hole", 20_000, client_id="A", number=50_000), clue("input ends", 90_000)]

    def told(taken: int) -> list[tuple[str, dict[str, Any]]]:
        gone = span("A", 1_000, 50_000, until_after_ms=20_000)
        kept = span("A", 1_000, 90_000, queue_id=1, ended="open")
        return list(tell([gone, span("B", taken, 90_000, ended="open"), kept], clues))

    early, late = told(30_000), told(60_000)

    assert stretches(early) == [(20_000, 30_000, [], 1), (30_000, 50_000, ["A", "B"], 1)]
    assert stretches(late) == [(20_000, 50_000, [], 1), (50_000, 60_000, [], 0)]
    names = ("unowned_ms", "unowned_most_ms", "overlap_least_ms", "overlap_ms", "pause_is")
    assert [tuple(row[name] for name in names) for rows in (early, late) for row in kinds(rows, "handoff")] == [
        (0, 10_000, 0, 20_000, "at least"),
        (10_000, 40_000, 0, 0, "at least"),
    ]
    assert [row["unheard"] for row in kinds(early, "group load")] == [1]


def test_what_was_taken_in_a_hole_has_bounds_too() -> None:
    """A lets its queue go at 30,000, or at 10,000; B has it after the hole in its log."""
    clues = [clue("hole", 20_000, client_id="B", number=50_000), clue("input ends", 90_000)]

    def told(gone: int) -> list[tuple[str, dict[str, Any]]]:
        own = span("B", 1_000, 90_000, queue_id=1, ended="open")
        taken = span("B", 50_000, 90_000, from_after_ms=20_000, ended="open")
        return list(tell([span("A", 1_000, gone), taken, own], clues))

    early, late = told(10_000), told(30_000)

    assert stretches(early) == [(10_000, 20_000, [], 0), (20_000, 50_000, [], 1)]
    assert stretches(late) == [(20_000, 30_000, ["A", "B"], 1), (30_000, 50_000, [], 1)]
    names = ("unowned_ms", "unowned_most_ms", "overlap_least_ms", "overlap_ms")
    assert [tuple(row[name] for name in names) for rows in (early, late) for row in kinds(rows, "handoff")] == [
        (0, 40_000, 0, 0),
        (0, 20_000, 0, 10_000),
    ]


def test_of_who_took_a_queue_in_a_hole_nobody_knows_what_it_met_at_first() -> None:
    """What its log says behind the hole need not be of the first pull, nor the last lock that was refused."""
    about = {"process": "B", "topic": "orders", "broker": "east", "queue_id": 0, "client_id": "B"}
    clues = [clue("lock refused", 40_000, **about), clue("pull refused", 51_000, **about)]
    clues += [clue("first pull", 52_000, number=3, **about), clue("input ends", 90_000)]

    (seen,), (unseen,) = (
        kinds(list(tell([span("A", 1_000, 30_000), span("B", 50_000, 90_000, from_after_ms=since)], clues)), "handoff")
        for since in (None, 31_000)
    )

    names = ("pause_ms", "pause_is", "refused_pulls", "lock_wait_ms")
    assert [seen[name] for name in names] == [22_000, "exact", 1, 10_000]
    assert [unseen[name] for name in names] == [1_500, "at least", None, None]


def test_a_hole_in_which_nobody_else_takes_or_lets_go_anything_changes_nothing() -> None:
    spans = [span("A", 1_000, 90_000, ended="open"), span("B", 1_000, 90_000, queue_id=1, ended="open")]
    clues = [clue("joined", 500, client_id="A"), clue("input ends", 90_000)]

    whole, with_hole = (
        list(tell(spans, [*clues, *more])) for more in ([], [clue("hole", 20_000, client_id="A", number=50_000)])
    )

    assert whole == with_hole


def test_a_member_whose_log_begins_late_is_not_idle_before_and_may_have_had_what_nobody_else_had() -> None:
    """B came at 10,000, by a broker's word, and its log begins at 60,000: A let it have the queue, most likely."""
    spans = [span("A", 1_000, 12_000), span("B", 62_000, 90_000, ended="open")]
    spans += [span("A", 1_000, 90_000, queue_id=1, ended="open")]
    clues = [clue("joined", 500, client_id="A"), clue("joined", 10_000, client_id="B"), clue("input ends", 90_000)]

    def told(*more: dict[str, object]) -> tuple[list[tuple[object, ...]], dict[str, int], list[int]]:
        rows = list(tell(spans, [*clues, *more]))
        idle = {row["client"]: row["idle_ms"] for row in kinds(rows, "member load")}
        return stretches(rows), idle, [row["unheard"] for row in kinds(rows, "group load")]

    late = clue("log begins", 62_000, client_id="B")
    assert told() == ([(12_000, 62_000, [], 0)], {"A": 500, "B": 52_000}, [0])
    assert told(late) == ([(12_000, 62_000, [], 1)], {"A": 500, "B": 0}, [1])


def test_a_log_that_ends_before_others_leaves_open_what_its_member_holds_then() -> None:
    """A's log ends at 40,000, not A: its queue is not unowned then, and the one that it let go may not be."""
    spans = [span("A", 1_000, 40_000, ended="open"), span("A", 1_000, 30_000, queue_id=1)]
    clues = [clue("joined", 500, client_id="A"), clue("log ends", 40_000, client_id="A"), clue("input ends", 90_000)]

    rows = list(tell(spans, clues))

    assert stretches(rows) == []
    assert stretches(rows, 1) == [(30_000, 90_000, [], 1)]
