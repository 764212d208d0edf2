from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.groups.first.columns import place
from dashboard.groups.first.marks import Marks, Who, cells_of, count_cells, marks_of
from dashboard.groups.table import QueueRow

WHO = Who({"A": 0, "B": 1}, frozenset(), is_shared=False, knows_target=True)


def row(kind: str, held: str = "", wanted: str = "") -> QueueRow:
    return QueueRow("orders", "east", 0, kind, "", tuple(held), tuple(wanted))


def drawn(queue: QueueRow, who: Who = WHO, *, room: int = 30) -> Marks:
    columns, cell = place([queue], room)
    return marks_of(columns, who, cell=cell, row=30, height=60)


@pytest.mark.parametrize(
    ("queue", "cells"),
    [
        (row("ok", "A", "A"), [("A", "ok", False)]),
        (row("let", "A", "B"), [("A", "let", False), ("B", "want", False)]),
        (row("two", "AB", "B"), [("A", "two", False), ("B", "two", True)]),
        (row("perhaps", "AB", "B"), [("A", "claim", False), ("B", "claim", True)]),
        (row("none", "", "A"), [("A", "want", False)]),
        (row("stray", "A"), [("A", "ok", False)]),
    ],
    ids=lambda each: each.kind if isinstance(each, QueueRow) else "",
)
def test_cells_are_as_the_browser_has_them(queue: QueueRow, cells: list[tuple[str, str, bool]]) -> None:
    assert list(cells_of([queue], WHO)) == cells


def test_who_is_wanted_and_silent_may_have_it_and_without_a_target_nobody_should_let_go() -> None:
    silent = replace(WHO, silent=frozenset("B"))

    assert list(cells_of([row("unknown", "", "B")], silent)) == [("B", "maybe", False)]
    assert list(cells_of([row("ok", "A")], replace(WHO, knows_target=False))) == [("A", "ok", False)]
    assert [look for _, look, _ in cells_of([row("ok", "AB", "AB")], replace(WHO, is_shared=True))] == ["ok", "ok"]


@pytest.mark.parametrize(
    ("kind", "ground", "above", "words"),
    [
        ("none", ["column-none"], ["sign-none"], []),
        ("two", ["column-two"], ["sign-two"], ["2"]),
        ("perhaps", ["column-perhaps"], [], ["2?"]),
        ("unknown", [], [], ["?"]),
        ("disputed", [], [], ["≠"]),
        ("away", ["column-away"], [], ["\N{MULTIPLICATION SIGN}"]),
        ("let", [], ["sign-let"], []),
        ("stray", ["column-stray"], [], []),
        ("ok", [], [], []),
    ],
)
def test_no_column_is_told_by_its_colour_alone(
    kind: str, ground: list[str], above: list[str], words: list[str]
) -> None:
    marks = drawn(row(kind, "A", "A"))

    assert (list(marks.grounds), list(marks.above), [each.words for each in marks.words]) == (ground, above, words)


def test_a_ring_lies_above_the_cells_and_letters_stand_where_they_have_room() -> None:
    marks = drawn(row("two", "AB", "A"))

    assert list(marks.cells) == ["cell-two", "ring"]
    assert marks.cells["cell-two"].count("M") == 2
    assert [(each.words, each.y) for each in marks.letters] == [("2", 15), ("2", 45)]
    assert drawn(row("two", "AB", "A"), room=7).letters == []


def test_who_has_no_row_is_left_out_and_cells_are_counted() -> None:
    assert drawn(row("ok", "Z", "Z")).cells == {}
    assert count_cells([row("let", "A", "B"), row("none")]) == 2
