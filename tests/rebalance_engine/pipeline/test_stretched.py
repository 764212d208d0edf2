"""When nobody, or several, held a queue, as rows."""

from __future__ import annotations

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.loads import Presence
from rebalance_engine.pipeline.offs import Spans
from rebalance_engine.pipeline.sorting import Clues
from rebalance_engine.pipeline.stretched import last_there, stretch_rows
from rebalance_engine.pipeline.sweep import Hold

QUEUE = MessageQueue("orders", "east", 0)
END_MS = 90_000
NOBODY: Presence = {}


def rows(*holds: Hold, unheard: Presence = NOBODY, off: Spans = (), also: int = 0) -> list[dict[str, object]]:
    """Tell a queue's; the group has somebody until then also."""
    clues = Clues({}, [], [], {}, set(), END_MS, {}, {}, {}, {}, {}, [], [], {}, {})
    told = {QUEUE: list(holds)}
    found = list(stretch_rows(told, clues, unheard, off, max(also, last_there(told, unheard)), {}))
    assert {kind for kind, _ in found} <= {"stretch"}
    return [row for _, row in found]


def test_the_group_had_somebody_until_the_last_who_held_a_queue_or_was_there_had_gone() -> None:
    holds = {QUEUE: [Hold(0, 10, "A"), Hold(5, 30, "B")]}

    assert last_there({}) == 0
    assert last_there(holds) == 30
    assert last_there(holds, {"C": [(1, 20), (25, 40)]}) == 40


def test_of_a_queue_that_always_had_one_owner_nothing_is_told() -> None:
    assert rows(Hold(0, 10_000, "A"), Hold(10_000, END_MS, "B", "open")) == []


def test_a_time_without_owner_is_told_and_who_may_have_had_the_queue_is_counted() -> None:
    holds = Hold(0, 10_000, "A"), Hold(12_000, END_MS, "B", "open")

    (alone,), (beside,) = rows(*holds), rows(*holds, unheard={"C": [(0, END_MS)]})

    assert (alone["at_ms"], alone["until_ms"], alone["clients"], alone["unheard"]) == (10_000, 12_000, [], 0)
    assert (alone["topic"], alone["broker"], alone["queue_id"]) == ("orders", "east", 0)
    assert (alone["is_open"], alone["is_deserted"]) == (False, False)
    assert beside["unheard"] == 1


def test_a_time_with_two_owners_says_how_long_both_surely_had_the_queue() -> None:
    (row,) = rows(Hold(0, 8_000, "A", "lost", until_after_ms=6_000), Hold(5_000, END_MS, "B", "open"))[:1]

    assert (row["at_ms"], row["clients"]) == (5_000, ["A", "B"])
    assert row["surely_ms"] == 1_000


def test_what_nobody_has_after_all_have_gone_is_deserted_and_still_so_at_the_end() -> None:
    (row,) = rows(Hold(0, 10_000, "A", "stopped"))

    assert (row["at_ms"], row["until_ms"], row["is_deserted"], row["is_open"]) == (10_000, END_MS, True, True)


def test_a_queue_that_nobody_takes_once_the_group_is_back_is_without_owner_then_and_deserted_while_it_was_off() -> None:
    told = rows(Hold(0, 10_000, "A", "stopped"), off=[(20_000, 50_000)], also=80_000)

    assert [(row["at_ms"], row["until_ms"], row["is_deserted"], row["is_open"]) for row in told] == [
        (10_000, 20_000, False, True),
        (20_000, 50_000, True, True),
        (50_000, 80_000, False, True),
        (80_000, END_MS, True, True),
    ]
