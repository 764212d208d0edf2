from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.groups.first.map import FirstMap, first_map
from dashboard.push.messages import Cell, GroupState, Head, Queues
from dashboard.push.runs import pack

AROUND: dict[str, object] = {"now": 100_000, "seen": [{"client": "A", "at": 97_000}], "left": [], "away": []}
GONE = {"client": "AA", "at": 90_000, "until": 200_000, "words": "left", "departure": "unregistered"}


def cell(client: str, held: list[int] | None, target: list[int]) -> Cell:
    runs = None if held is None else pack(held)
    return Cell(client, 1, "JAVA", "V5_5_0", "AVG", None, 1, 1, None, pack(target), runs)


def state(*members: Cell, queues: int = 4, model: str = "CLUSTERING") -> GroupState:
    head = Head("shop", "g", model, "AVG", False, True, True, 0, 0, 0, None)
    return GroupState(head, (Queues("orders", "east", (0, queues)),), members, (), ())


TWO = (cell("A", [0, 1, 2], [0, 1]), cell("B", [3], [2, 3]))


def drawn(of: GroupState, **around: object) -> FirstMap:
    return first_map(of, {**AROUND, **around}, [])


def test_members_are_rows_with_what_they_hold_and_when_they_were_seen() -> None:
    found = drawn(state(*TWO)).drawn

    assert found is not None
    assert [(row.client, row.held, row.words) for row in found.rows] == [("A", 3, "seen 3\u00a0s ago"), ("B", 1, "")]
    assert found.heading == "held (mean 2.0)"
    assert {look: path.count("M") for look, path in found.marks.cells.items()} == {
        "cell-let": 1,
        "cell-ok": 3,
        "cell-want": 1,
    }
    assert [text.words for text in found.heads] == ["orders", "east", "0", "1", "2", "3"]


def test_who_does_not_answer_is_said_to_and_no_mean_is_made_up() -> None:
    found = drawn(state(TWO[0], cell("B", None, [3]))).drawn

    assert found is not None
    assert (found.rows[1].state, found.rows[1].held, found.rows[1].words) == ("silent", None, "not asked yet")
    assert (found.heading, found.mean) == ("held", 0)


def test_who_left_a_moment_ago_stands_where_it_stood() -> None:
    found = drawn(state(*TWO), left=[GONE, {**GONE, "client": "B"}, {**GONE, "client": "C", "until": 5}])

    assert found.drawn is not None
    assert [(row.client, row.state) for row in found.drawn.rows] == [("A", "here"), ("AA", "left"), ("B", "here")]
    assert found.drawn.rows[1].words == "left 10\u00a0s ago"
    assert found.room == 66 + 3 * 30 + 1 + 38


@pytest.mark.parametrize(("members", "px"), [(24, 30), (25, 14), (100, 14)])
def test_rows_are_as_high_as_the_browser_draws_them(members: int, px: int) -> None:
    found = drawn(state(*(cell(f"{number:03}", [], []) for number in range(members))))

    assert found.drawn is not None
    assert found.drawn.row == px


def test_of_too_many_cells_the_place_is_kept_and_a_piece_is_drawn() -> None:
    large = state(*(cell(f"{number:03}", [number], [number]) for number in range(60)), queues=400)

    found = drawn(large)

    assert (found.is_tiles, found.is_wide, found.drawn, found.room) == (True, True, None, 66 + 30 * 14 + 8)
    piece = first_map(large, AROUND, [], zoom="orders/east/0")
    assert (piece.is_tiles, piece.is_zoomed) == (False, True)
    assert piece.drawn is not None
    assert len(piece.drawn.rows) == 60


def test_a_broadcast_of_very_many_cells_keeps_its_place_too() -> None:
    every = list(range(200))

    found = drawn(state(*(cell(f"{n:02}", every, every) for n in range(50)), queues=200, model="BROADCASTING"))

    assert (found.drawn, found.is_tiles, found.room) == (None, False, 66 + 50 * 14 + 1 + 38)


def test_of_a_past_instant_nobody_knows_who_was_seen_when() -> None:
    found = first_map(state(*TWO), AROUND, [], is_past=True)

    assert found.drawn is not None
    assert (found.has_rates, found.drawn.foot) == (False, None)
    assert [row.words for row in found.drawn.rows] == ["", ""]


def test_a_group_without_queues_and_members_is_empty() -> None:
    bare = drawn(replace(state(), queues=()))

    assert bare.drawn is not None
    assert (bare.drawn.rows, bare.drawn.width) == ([], 18)
