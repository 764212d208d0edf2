"""Handoffs and returns as rows, beside what passed meanwhile; and the times without owner that they are of."""

import pytest

from rebalance_engine.pipeline.stories import tell
from tests.rebalance_engine.pipeline.test_stories import clue, kinds, span

BOUNDS = ("unowned_ms", "unowned_most_ms", "pause_ms", "pause_is")


def divided(at: int, client: str, queues: int, topic: str = "orders") -> dict[str, object]:
    return clue("divided", at, client_id=client, topic=topic, number=queues)


@pytest.mark.parametrize(
    ("taker", "kind", "told", "beside"),
    [
        ("B", "handoff", (40_000, 40_000, 40_500, "at least"), (0, 40_000, 40_500, "at least")),
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


def test_of_queues_that_a_round_leaves_without_owner_the_missing_one_may_be_one() -> None:
    spans = [span("A", 1_000, 100_000), span("A", 1_000, 300_000, queue_id=1, ended="open")]
    clues = [clue("joined", 500, client_id="A"), clue("joined", 100_000, client_id="B"), clue("input ends", 300_000)]

    whole, short = (
        kinds(list(tell(spans, [*clues, divided(1_000, "A", 8), divided(100_010, "A", size)])), "round")[-1]
        for size in (8, 7)
    )

    assert (whole["unowned"], whole["unowned_most"]) == (1, 1)
    assert (short["unowned"], short["unowned_most"]) == (0, 1)
