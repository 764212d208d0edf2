"""What is a bound, or unknown, beside members of whom nobody tells what they held."""

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline import measures, schemas
from rebalance_engine.pipeline.stories import comings, tell
from rebalance_engine.pipeline.sweep import Hold, Stretch, surely_ms
from rebalance_engine.pipeline.wording import above_fewest, at_least, overlap
from tests.rebalance_engine.pipeline.test_measures import frame, handoff, opened
from tests.rebalance_engine.pipeline.test_stories import clue, kinds, span

AT_REST = [span("A", 1_000, 90_000, ended="open"), span("B", 2_000, 30_000, queue_id=1)]


def test_a_round_beside_a_member_of_no_log_has_bounds() -> None:
    """B lets a queue go at 30,000: C, of whom brokers tell alone, may have it; or is gone before."""
    came = clue("joined", 20_000, client_id="C", number=1)
    gone = clue("left", 22_000, client_id="C", number=1)
    ends, names = clue("input ends", 90_000), ("above_fewest", "unowned", "unowned_most")

    there, alone = (
        kinds(list(tell(AT_REST, [*clues, clue("joined", 29_000, client_id="D")])), "round")[-1]
        for clues in ([came, ends], [came, gone, ends])
    )

    assert tuple(there[name] for name in names) == (None, 0, 1)
    assert tuple(alone[name] for name in names) == (0, 1, 1)


def test_of_a_group_of_which_nobody_tells_what_it_held_moves_are_unknown() -> None:
    (row,) = kinds(list(comings([clue("joined", 1_000, client_id="A", number=1)])), "bare round")

    names = ("moves", "handoffs", "above_fewest", "unowned", "unowned_most")
    assert {row[name] for name in names} == {None}


@pytest.mark.spark
def test_a_queue_that_another_may_have_had_in_between_does_not_go_back_and_forth(spark: SparkSession) -> None:
    unsure = {"pause_is": "unknown", "queue_id": 1}
    moved = frame(
        spark,
        schemas.HANDOFFS,
        *(handoff(0, "A", "B"), handoff(30_000, "B", "A")),
        *(handoff(0, "A", "B", queue_id=1), handoff(30_000, "B", "A", **unsure), handoff(50_000, "A", "B", queue_id=1)),
    )
    rounds = frame(spark, schemas.ROUNDS, opened(1, 0, above_fewest=2), opened(2, 30_000, above_fewest=None))
    kept = (schemas.STRETCHES, schemas.MEMBER_LOADS, schemas.GROUP_LOADS)
    empty = (frame(spark, schema).limit(0) for schema in kept)

    (row,) = measures.costs_of(rounds, moved, *empty).collect()

    assert (row["flaps"], row["above_fewest"], row["above_fewest_unknown"]) == (1, 2, 1)


def test_a_count_that_is_a_bound_says_so() -> None:
    row: dict[str, object] = {"flaps": 2, "above_fewest": 3, "above_fewest_unknown": 0, "unheard": 0}
    none = {"flaps": 0, "above_fewest": 0}

    assert (at_least(row, "flaps"), above_fewest(row)) == (2, 3)
    beside = {**row, "unheard": 1, "above_fewest_unknown": 1}
    assert (at_least(beside, "flaps"), above_fewest(beside)) == ("at least 2", "at least 3")
    assert (at_least(beside | none, "flaps"), above_fewest(beside | none)) == (None, None)


def test_two_surely_had_a_queue_no_longer_than_the_first_of_them_surely_had_it() -> None:
    """A was killed between 8 and 20 s; B took the queue at 5 s, or at 10 s."""
    killed = Hold(0, 20_000, "A", "lost", until_after_ms=8_000)
    early, late = Hold(5_000, 90_000, "B"), Hold(10_000, 90_000, "B")

    assert surely_ms(Stretch(5_000, 20_000, ("A", "B")), [killed, early]) == 3_000
    assert surely_ms(Stretch(10_000, 20_000, ("A", "B")), [killed, late]) == 0
    assert surely_ms(Stretch(20_000, 90_000, ("B",)), [early]) == 0
    twice = [Hold(0, 9_000, "A", process="1"), Hold(2_000, 8_000, "A", process="2")]
    assert surely_ms(Stretch(2_000, 8_000, ("A", "A")), twice) == 6_000


@pytest.mark.spark
def test_an_overlap_has_two_bounds(spark: SparkSession) -> None:
    spans = [span("A", 0, 20_000, ended="lost", until_after_ms=8_000), span("B", 5_000, 90_000, ended="open")]
    told = kinds(list(tell(spans, [])), "stretch")
    kept = (schemas.ROUNDS, schemas.HANDOFFS, schemas.MEMBER_LOADS, schemas.GROUP_LOADS)
    rounds, moved, *loads = (frame(spark, schema).limit(0) for schema in kept)

    (row,) = measures.costs_of(rounds, moved, frame(spark, schemas.STRETCHES, *told), *loads).collect()

    assert (row["overlap_least_ms"], row["overlap_ms"]) == (3_000, 15_000)


def test_an_overlap_is_said_with_two_bounds() -> None:
    row: dict[str, object] = {"overlap_staying_ms": 900, "overlap_least_ms": 300, "overlap_stopping_ms": 20}

    assert overlap(row) == "300 ms to 900 ms, and 20 ms while one shut down"
    assert overlap({**row, "unheard": 1}) == "at least 300 ms, and 20 ms while one shut down"


def test_who_had_no_queue_and_was_killed_leaves_the_skew_known() -> None:
    """E writes its last line when D comes; B lets a queue go after that, and C has it soon. E ends at 80,000."""
    came = [clue("joined", at, client_id=name) for at, name in ((500, "E"), (20_000, "C"))]
    silent = [clue("closed", 80_000, client_id="E"), clue("log ends", 20_100, client_id="E")]
    clues = [*came, *silent, clue("input ends", 99_000)]
    rest = [span("A", 1_000, 99_000, ended="open"), span("B", 1_000, 20_200, queue_id=1)]

    def unheard(*more: dict[str, object]) -> list[int]:
        return [row["unheard"] for row in kinds(list(tell([*rest, *more], clues)), "group load")]

    assert unheard(span("C", 20_400, 99_000, queue_id=1, ended="open")) == [0]
    assert unheard(span("C", 80_700, 99_000, queue_id=1, ended="open")) == [1]
    assert unheard(span("C", 20_400, 99_000, queue_id=1, ended="open"), span("B", 50_000, 99_000, queue_id=2)) == [1]
