from typing import Any

from rebalance_engine.pipeline.rounds import Cause
from rebalance_engine.pipeline.stories import tell
from rebalance_engine.pipeline.unheard import Counted
from rebalance_engine.pipeline.vanished import unsure_of, vanished
from tests.rebalance_engine.pipeline.test_stories import clue, kinds, span

END_MS = 2_000_000


def told(*more: dict[str, object]) -> list[tuple[str, dict[str, Any]]]:
    """A has the one queue, B none; B's log ends at 60,000, and C comes at 300,000 and takes the queue."""
    spans = [span("A", 1_000, 300_500), span("C", 300_600, END_MS, ended="open")]
    clues = [clue("consumer started", at, client_id=who, process=who) for who, at in (("A", 500), ("B", 500))]
    clues += [clue("reached", at, client_id=who, process=who) for who, at in (("A", 600), ("B", 600), ("C", 300_100))]
    clues += [clue("consumer started", 300_000, client_id="C", process="C"), clue("input ends", END_MS)]
    clues += [clue("log ends", at, client_id=who) for who, at in (("A", END_MS), ("B", 60_000), ("C", END_MS))]
    clues += [clue("counted", at, client_id="A", number=number) for at, number in ((1_000, 1), (2_000, 2))]
    return list(tell(spans, [*clues, *more]))


def idle(rows: list[tuple[str, dict[str, Any]]]) -> dict[str, int]:
    return {row["client"]: row["present_ms"] for row in kinds(rows, "member load")}


def test_who_had_nothing_and_is_counted_no_more_has_gone_and_was_idle_until_its_logs_end() -> None:
    """C comes, and both count two: B had gone by then."""
    counted = [clue("counted", 330_000, client_id=who, number=2) for who in ("A", "C")]

    rows = told(*counted)

    assert idle(rows)["B"] == 59_400
    assert kinds(rows, "round")[-1]["members_after"] == ["A", "C"]


def test_who_had_nothing_and_is_counted_still_is_there_and_idle_while_it_may_be_silent() -> None:
    counted = [clue("counted", 330_000, client_id=who, number=3) for who in ("A", "C")]

    assert kinds(told(*counted), "round")[-1]["members_after"] == ["A", "B", "C"]
    assert idle(told(*counted))["B"] == 59_400  # it is silent for longer than anybody is
    assert unsure_of({"B": 60_000}, [], 600_000) == {}


def test_a_broker_whose_log_goes_on_would_tell_that_it_went() -> None:
    assert idle(told(clue("brokers tell", 0, number=END_MS)))["B"] == END_MS - 600


def test_members_that_are_fewer_than_the_quiet_ones_do_not_tell_which_went() -> None:
    there = {"A": [(0, END_MS)], "B": [(0, END_MS)], "D": [(0, END_MS)]}
    quiet = {"B": 60_000, "D": 70_000}

    assert vanished(quiet, there, [Counted(100_000, "A", 2)]) == []
    assert vanished(quiet, there, [Counted(100_000, "A", 2), Counted(200_000, "A", 1)]) == [
        Cause(200_000, "lost", "B"),
        Cause(200_000, "lost", "D"),
    ]
