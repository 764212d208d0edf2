"""Members that count each other differently at one time."""

from pathlib import Path

import pytest

from rebalance_engine.pipeline.disputes import disputes_of
from rebalance_engine.pipeline.reports import read_report
from rebalance_engine.pipeline.stories import tell
from rebalance_engine.pipeline.summary import summary
from rebalance_engine.pipeline.unheard import Counted
from tests.rebalance_engine.pipeline.test_reports import COST, folder, put
from tests.rebalance_engine.pipeline.test_stories import clue, kinds, span

__all__ = ["folder"]
END_MS = 300_000
A, B, LATER = Counted(60_000, "A", 3), Counted(60_400, "B", 2), Counted(150_000, "A", 2)


def test_two_that_count_differently_at_one_time_dispute_until_somebody_counts_again() -> None:
    assert disputes_of([A, B, LATER], {}, END_MS) == [(60_000, 150_000, 3)]
    assert disputes_of([B, A], {"C": [(59_500, END_MS)]}, END_MS) == [(60_000, END_MS, 3)]


@pytest.mark.parametrize(
    ("told", "there"),
    [
        ([A, Counted(60_400, "B", 3)], {}),
        ([A, Counted(60_400, "A", 2)], {}),
        ([A, Counted(64_000, "B", 2)], {}),
        ([A, B, Counted(75_000, "B", 3)], {}),
        ([A, B, Counted(75_000, "A", 2)], {}),
        ([A, B], {"C": [(1_000, 60_200)]}),
        ([A, B], {"C": [(59_500, 59_800)]}),
    ],
    ids=["agree", "one alone", "later", "corrected", "corrected first", "gone in between", "came and went"],
)
def test_what_a_coming_or_going_explains_is_no_dispute(
    told: list[Counted], there: dict[str, list[tuple[int, int]]]
) -> None:
    assert disputes_of(told, there, END_MS) == []


def test_what_rests_on_a_count_that_is_disputed_is_not_told_as_exact() -> None:
    """By A there was a third at 60,000, by B there was not; A lets go what B takes at 80,000."""
    counts = [(1_000, "A", 1), (30_000, "B", 2), (30_100, "A", 2)]
    spans = [span("A", 1_000, 60_010), span("B", 80_000, 200_000, ended="open")]
    spans += [span("B", 30_000, 200_000, queue_id=1, ended="open"), span("A", 1_000, 200_000, queue_id=2, ended="open")]
    ends = clue("input ends", 200_000)

    def told(*more: tuple[int, str, int]) -> tuple[object, ...]:
        clues = [clue("counted", at, client_id=name, number=count) for at, name, count in (*counts, *more)]
        rows = list(tell(spans, [*clues, ends]))
        ((moved,), (load,)) = (kinds(rows, kind) for kind in ("handoff", "group load"))
        return moved["pause_ms"], moved["pause_is"], load["disputes"], load["unheard"]

    assert told((60_000, "A", 3), (60_300, "B", 2), (80_100, "B", 2)) == (None, "unknown", 1, 1)
    assert told((60_000, "A", 2), (60_300, "B", 2), (80_100, "B", 2)) == (20_490, "at least", 0, 0)


def test_the_summary_says_that_members_counted_differently(folder: Path) -> None:
    put(folder, "costs", {**COST, "group": "slow", "disputes": 2})

    assert "members counted each other differently: 2 times" in summary(read_report(folder))
