"""Handoffs and returns as rows, beside what passed meanwhile; and the times without owner that they are of."""

import pytest
from pyspark.sql.types import ArrayType, BooleanType, DoubleType, IntegerType, LongType, StringType

from rebalance_engine.pipeline.schemas import HANDOFFS, STRETCHES
from rebalance_engine.pipeline.stories import tell
from tests.rebalance_engine.pipeline.test_stories import clue, kinds, span

BOUNDS = ("unowned_ms", "unowned_most_ms", "pause_ms", "pause_is")


def divided(at: int, client: str, queues: int, topic: str = "orders") -> dict[str, object]:
    return clue("divided", at, client_id=client, topic=topic, number=queues)


@pytest.mark.parametrize(
    ("taker", "kind", "told", "beside"),
    [
        ("B", "handoff", (40_000, 40_000, 40_500, "at least"), (0, 40_000, 500, "at least")),
        ("A", "return", (40_000, 40_000, 40_500, "at least"), (0, 40_000, 500, "at least")),
    ],
)
def test_what_was_let_go_when_results_tell_of_fewer_queues_need_not_have_been_there(
    taker: str, kind: str, told: tuple[object, ...], beside: tuple[object, ...]
) -> None:
    """A lets its queue go at 100,000, and somebody takes it at 140,000; the line of the changed route is lost."""
    spans = [span("A", 1_000, 100_000), span(taker, 140_000, 300_000, ended="open")]
    clues = [clue("joined", 500, client_id="A"), clue("joined", 600, client_id="B"), clue("input ends", 300_000)]
    clues += [divided(1_000, "A", 8), divided(140_010, taker, 8)]

    for size, topic, bounds in ((7, "orders", beside), (8, "orders", told), (7, "stock", told)):
        rows = list(tell(spans, [*clues, divided(1_000, "A", 8, topic), divided(100_010, "A", size, topic)]))

        (row,), (stretch,) = kinds(rows, kind), kinds(rows, "stretch")
        assert tuple(row[name] for name in BOUNDS) == bounds
        edges = stretch["at_ms"], stretch["until_ms"], stretch["clients"], stretch["unheard"]
        assert edges == (100_000, 140_000, [], int(bounds != told))
        assert type(stretch["unheard"]) is int  # Spark makes nothing of a true, and nothing is certain then


def test_of_queues_that_a_round_leaves_without_owner_the_missing_one_may_be_one() -> None:
    spans = [span("A", 1_000, 100_000), span("A", 1_000, 300_000, queue_id=1, ended="open")]
    clues = [clue("joined", 500, client_id="A"), clue("joined", 100_000, client_id="B"), clue("input ends", 300_000)]

    whole, short = (
        kinds(list(tell(spans, [*clues, divided(1_000, "A", 8), divided(100_010, "A", size)])), "round")[-1]
        for size in (8, 7)
    )

    assert (whole["unowned"], whole["unowned_most"]) == (1, 1)
    assert (short["unowned"], short["unowned_most"]) == (0, 1)


@pytest.mark.parametrize(("taker", "kind"), [("B", "handoff"), ("A", "return")])
def test_while_its_broker_is_away_no_queue_is_paused(taker: str, kind: str) -> None:
    """A let it go when it saw that, and somebody takes it 1 s after the broker is back."""
    routes = [(500, ["east|4|6"]), (60_000, []), (79_000, ["east|4|6"])]
    told = [clue("route", at, topic="orders", queues=queues) for at, queues in routes]
    spans = [span("A", 1_000, 60_000), span(taker, 80_000, 90_000)]

    (row,) = kinds(list(tell(spans, [*told, clue("input ends", 95_000)])), kind)

    assert (row["unowned_ms"], row["away_ms"], row["pause_ms"]) == (20_000, 19_000, 1_500)


def test_that_a_pause_is_exact_is_not_said_where_the_broker_was_away() -> None:
    """It was back before its members learnt that."""
    spans = [span("A", 1_000, 60_000), span("B", 80_000, 90_000)]
    pulled = clue("first pull", 80_700, process="B", topic="orders", broker="east", queue_id=0, number=4)
    routes = [(500, ["east|4|6"]), (60_000, []), (79_000, ["east|4|6"])]
    away = [clue("route", at, topic="orders", queues=queues) for at, queues in routes]

    (alone,), (beside,) = (
        kinds(list(tell(spans, [*more, pulled, clue("input ends", 95_000)])), "handoff") for more in ((), away)
    )

    assert (alone["pause_ms"], alone["pause_is"]) == (20_700, "exact")
    assert (beside["pause_ms"], beside["pause_is"]) == (1_700, "at least")


def test_a_time_in_which_the_group_was_off_and_the_broker_away_is_taken_from_a_pause_once() -> None:
    spans = [span("A", 1_000, 60_000, ended="stopped"), span("B", 780_000, 790_000)]
    comings = (("joined", 500, "A"), ("left", 60_000, "A"), ("joined", 700_000, "B"), ("input ends", 795_000, None))
    clues = [clue(what, at, client_id=who) for what, at, who in comings]
    routes = [(500, ["east|4|6"]), (400_000, []), (710_000, ["east|4|6"])]

    (row,) = kinds(
        list(tell(spans, [*clues, *(clue("route", at, topic="orders", queues=queues) for at, queues in routes)])),
        "handoff",
    )

    assert (row["off_ms"], row["away_ms"], row["pause_ms"]) == (640_000, 310_000, 780_500 - 710_000)


def test_every_row_of_a_story_is_of_the_types_of_its_table() -> None:
    """Rows go to Spark as JSON, which makes NULL of what is of another type, without a word."""
    tables = {"stretch": STRETCHES, "handoff": HANDOFFS, "return": HANDOFFS}
    spans = [span("A", 1_000, 100_000), span("B", 140_000, 200_000), span("B", 210_000, 300_000, ended="open")]
    clues = [clue("joined", 500, client_id="A"), clue("joined", 600, client_id="B"), clue("input ends", 300_000)]
    clues += [divided(1_000, "A", 8), divided(100_010, "A", 7), divided(140_010, "B", 8)]

    rows = [(kind, name, value) for kind, row in tell(spans, clues) if kind in tables for name, value in row.items()]

    fits = {LongType: int, IntegerType: int, StringType: str, BooleanType: bool, DoubleType: float, ArrayType: list}
    wrong = [
        (kind, name, value)
        for kind, name, value in rows
        if value is not None and type(value) is not fits[type(tables[kind][name].dataType)]
    ]
    assert wrong == []
    assert {kind for kind, _, _ in rows} == set(tables)
