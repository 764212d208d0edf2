from typing import Any

import pytest

from rebalance_engine.pipeline.bounds import REMOVED, UNKEPT, Shown, bounded

Q = ("orders", "east", 0)
GONE = "added again; its removal is not in the log"


def span(client: str, begin: int | None, end: int, **more: object) -> dict[str, object]:
    row: dict[str, object] = {"topic": Q[0], "broker": Q[1], "queue_id": Q[2], "client_id": client, "process": client}
    edges = {"from_ms": begin, "until_ms": end, "from_after_ms": None, "until_after_ms": None, "first_seen_ms": begin}
    return {**row, **edges, "ended": "open", "evidence": "the input's end", **more}


def told(spans: list[dict[str, object]], *holes: Shown, client: str = "A") -> list[tuple[Any, ...]]:
    names = ("from_after_ms", "from_ms", "until_after_ms", "until_ms", "ended")
    rows = bounded(spans, {(client, client, *Q): holes})
    return [tuple(row[name] for name in names) for row in rows if row["client_id"] == client]


def test_what_is_persisted_before_a_hole_and_not_after_was_let_go_in_it() -> None:
    hole = Shown(20_000, 50_000, persisted_ms=19_000, speaks_ms=51_000)

    assert told([span("A", 1_000, 90_000)], hole) == [(None, 1_000, 20_000, 50_000, "released")]


def test_what_is_persisted_no_more_was_let_go_in_the_hole_behind_its_last_line_or_soon_after_that() -> None:
    hole = Shown(20_000, 50_000, persisted_ms=19_000, speaks_ms=51_000)
    mine = span("A", 1_000, 24_000, until_after_ms=19_000, ended="released", evidence=UNKEPT)

    assert told([mine], hole) == [(None, 1_000, 20_000, 50_000, "released")]
    assert told([mine], Shown(30_000, 50_000, persisted_ms=19_000)) == [(None, 1_000, 19_000, 24_000, "released")]


def test_by_when_it_was_let_go_anothers_take_tells() -> None:
    hole = Shown(20_000, 50_000, persisted_ms=19_000, speaks_ms=51_000)

    assert told([span("A", 1_000, 90_000), span("B", 30_000, 90_000)], hole) == [
        (None, 1_000, 20_000, 32_000, "released")
    ]


def test_what_is_persisted_before_and_after_was_held_all_the_time_unless_another_had_it_in_between() -> None:
    hole = Shown(20_000, 50_000, persisted_ms=19_000, again_ms=51_000, speaks_ms=51_000)
    mine = span("A", 1_000, 90_000, ended="stopped", evidence="shutdown line")

    assert told([mine], hole) == [(None, 1_000, None, 90_000, "stopped")]
    assert told([mine, span("B", 30_000, 90_000)], hole) == [(None, 1_000, None, 90_000, "stopped")]
    assert told([mine, span("B", 30_000, 40_000, ended="released")], hole) == [
        (None, 1_000, 20_000, 32_000, "released"),
        (38_000, 50_000, None, 90_000, "stopped"),
    ]


def test_what_is_persisted_before_two_holes_and_behind_them_and_not_between_was_let_go_and_taken_again() -> None:
    """Between them the member persists others alone; where it hardly speaks then, it may have had it."""
    first = Shown(20_000, 50_000, persisted_ms=19_000, again_ms=91_000, speaks_ms=51_000)
    second = Shown(65_000, 90_000, persisted_ms=19_000, again_ms=91_000, speaks_ms=91_000)
    mine = span("A", 1_000, 120_000)

    assert told([mine], first, second) == [
        (None, 1_000, 20_000, 50_000, "released"),
        (65_000, 90_000, None, 120_000, "open"),
    ]
    short = Shown(55_000, 90_000, persisted_ms=19_000, again_ms=91_000, speaks_ms=91_000)
    assert told([mine], first, short) == [(None, 1_000, None, 120_000, "open")]


def test_what_is_persisted_first_after_a_hole_was_taken_in_it() -> None:
    hole = Shown(20_000, 50_000, again_ms=53_000, speaks_ms=51_000)
    late = Shown(20_000, 50_000, again_ms=80_000, speaks_ms=51_000)
    unknown, known = (span("A", None, 90_000, first_seen_ms=53_000), span("A", 53_000, 90_000, from_after_ms=4_000))

    assert told([unknown], hole) == told([known], hole) == [(20_000, 50_000, None, 90_000, "open")]
    assert told([{**unknown, "first_seen_ms": 80_000}], late) == [(None, None, None, 90_000, "open")]
    assert told([span("A", 53_000, 90_000)], hole) == [(None, 53_000, None, 90_000, "open")]


@pytest.mark.parametrize(
    ("hole", "evidence", "bounds"),
    [
        (Shown(20_000, 50_000), "the input's end", (20_000, 90_000, "open")),
        (Shown(20_000, 50_000, listed_ms=60_000), "the input's end", (None, 90_000, "open")),
        (Shown(20_000, 50_000), REMOVED, (None, 90_000, "open")),
        (Shown(20_000, 50_000, again_ms=95_000), GONE, (20_000, 50_000, "released")),
    ],
    ids=["nothing tells", "listed", "removed later", "taken anew"],
)
def test_of_a_queue_that_is_never_persisted_other_lines_tell(
    hole: Shown, evidence: str, bounds: tuple[int | None, int, str]
) -> None:
    assert told([span("A", 1_000, 90_000, evidence=evidence)], hole) == [(None, 1_000, *bounds)]


def test_what_another_takes_in_a_hole_its_owner_let_go_though_it_never_persisted_it() -> None:
    hole = Shown(20_000, 50_000)

    assert told([span("A", 1_000, 90_000), span("B", 30_000, 90_000)], hole) == [
        (None, 1_000, 20_000, 32_000, "released")
    ]


def test_what_was_taken_or_let_go_outside_of_a_hole_stays_exact() -> None:
    hole = Shown(20_000, 50_000, persisted_ms=19_000, again_ms=51_000, speaks_ms=51_000)
    before, after = span("A", 1_000, 15_000, ended="released"), span("A", 60_000, 90_000)

    assert told([before, after], hole) == [
        (None, 1_000, None, 15_000, "released"),
        (None, 60_000, None, 90_000, "open"),
    ]
