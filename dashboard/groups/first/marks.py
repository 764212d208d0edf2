"""The marks of the first map: what a queue's column and cells look like; as ``static/js/views/map.js``. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dashboard.groups.first.columns import Column
from dashboard.groups.table import QueueRow

FEW_PX = 8  # of a column's width: signs need more
ROOM_FOR_LETTERS = 12
WORDS = {"away": "\N{MULTIPLICATION SIGN}", "perhaps": "2?", "disputed": "≠", "unknown": "?"}  # above a column
LOOKS = {"away": "sign-away", "disputed": "sign-disputed", "perhaps": "sign-unknown", "unknown": "sign-unknown"}
GROUNDS = {"away": "column-away", "stray": "column-stray", "none": "column-none", "two": "column-two"}
GROUNDS["perhaps"] = "column-perhaps"


@dataclass(frozen=True, slots=True)
class Who:
    """What the marks depend on besides the queues: whose rows these are, who is silent, what the group is."""

    rows: Mapping[str, int]  # clients to their rows
    silent: Collection[str]
    is_shared: bool
    knows_target: bool


@dataclass(frozen=True, slots=True)
class Text:
    """A letter or two in a drawing."""

    look: str
    x: float
    y: float
    words: str


@dataclass(slots=True)
class Marks:
    """What is drawn: by look one path each, and letters. ``above`` stands over the columns."""

    grounds: dict[str, str] = field(default_factory=lambda: defaultdict(str))
    cells: dict[str, str] = field(default_factory=lambda: defaultdict(str))
    letters: list[Text] = field(default_factory=list)
    above: dict[str, str] = field(default_factory=lambda: defaultdict(str))
    words: list[Text] = field(default_factory=list)


def marks_of(columns: Sequence[Column], who: Who, *, cell: int, row: int, height: int) -> Marks:
    """Draw all columns; ``cell`` and ``row`` are the width and height of a cell in px, ``height`` that of all rows."""
    marks = Marks()
    for column in columns:
        _ground(marks, column, cell, height)
        _sign(marks, column, cell)
        for client, look, has_ring in cells_of(column.rows, who):
            if client in who.rows:
                if look == "want" and column.row.kind == "none":
                    marks.cells["cell-ground"] += _box(column.x, who.rows[client] * row, cell=cell, row=row)
                _cell(marks, column.x, who.rows[client] * row, look, cell=cell, row=row)
                if has_ring:
                    marks.cells["ring"] += _box(column.x, who.rows[client] * row, cell=cell, row=row)
    marks.cells = _in_order(marks.cells)
    marks.grounds, marks.above = dict(marks.grounds), dict(marks.above)  # a template asks any of them for "items"
    return marks


def cells_of(rows: Sequence[QueueRow], who: Who) -> Iterator[tuple[str, str, bool]]:
    """Give the cells of a queue: its clients, what each is to it, and whether it is the one of two that is right."""
    queue = rows[0]
    if queue.kind == "stray":
        yield from ((row.held[0], "ok", False) for row in rows)
        return
    is_two = not who.is_shared and len(queue.held) > 1
    for client in queue.held:
        is_wanted = client in queue.wanted
        if is_two:
            yield client, "claim" if queue.kind == "perhaps" else "two", is_wanted
        else:
            yield client, "ok" if is_wanted or not who.knows_target else "let", False
    for client in queue.wanted:
        if client not in queue.held:
            yield client, "maybe" if client in who.silent else "want", False


def _in_order(cells: Mapping[str, str]) -> dict[str, str]:
    """Rings lie above what they are around, what hides the ground below what stands there."""
    order = {"cell-ground": 0, "ring": 2}
    return {look: cells[look] for look in sorted(cells, key=lambda look: order.get(look, 1))}


def _ground(marks: Marks, column: Column, cell: int, height: int) -> None:
    look = GROUNDS.get(column.row.kind)
    if look == "column-stray":
        marks.grounds[look] += f"M{column.x + cell / 2:g} 0V{height}"
    elif look in {"column-two", "column-perhaps"}:
        marks.grounds[look] += f"M{column.x + 0.5} 0h{cell - 1}v{height}h{1 - cell}z"
    elif look is not None:
        marks.grounds[look] += f"M{column.x} 0h{cell}v{height}h-{cell}z"


def _sign(marks: Marks, column: Column, cell: int) -> None:
    kind, middle = column.row.kind, column.x + cell / 2
    is_narrow = cell < FEW_PX
    if kind == "none":
        circle = f"M{middle - 4:g} 57.5a4 4 0 1 0 8 0a4 4 0 1 0 -8 0M{middle - 4.5:g} 62.5l9 -10"
        marks.above["sign-none"] += f"M{middle:g} 52V63" if is_narrow else circle
    elif kind == "let":
        marks.above["sign-let"] += f"M{middle - 3:g} 55l3 5 3 -5"
    elif kind == "two":
        marks.above["sign-two"] += f"M{middle - min(7, cell / 2):g} 50h{min(14, cell)}v14h-{min(14, cell)}z"
        if cell >= ROOM_FOR_LETTERS:
            marks.words.append(Text("digit", middle, 57.5, "2"))
    elif kind in WORDS:
        marks.words.append(Text(LOOKS[kind], middle, 61, "·" if is_narrow and kind != "away" else WORDS[kind]))


def _cell(marks: Marks, x: int, y: int, look: str, *, cell: int, row: int) -> None:
    marks.cells[f"cell-{look}"] += _box(x, y, cell=cell, row=row)
    if look in {"two", "claim"} and cell - _gap(cell) >= ROOM_FOR_LETTERS:
        words, letter = ("2", "digit") if look == "two" else ("?", "digit is-claim")
        marks.letters.append(Text(letter, x + cell / 2, y + row / 2, words))


def _gap(cell: int) -> float:
    return next((gap for least, gap in ((20, 3), (10, 2), (6, 1)) if cell > least), 0.5)


def _box(x: float, y: float, *, cell: int, row: int) -> str:
    """Write the path of a cell; wide ones have round corners."""
    gap = _gap(cell)
    wide, tall = cell - gap, row - (8 if row > 20 else 3)
    left, top = x + gap / 2, y + (row - tall) / 2
    if wide <= 10:
        return f"M{left:g} {top:g}h{wide:g}v{tall}h-{wide:g}z"
    a, b = f"{wide - 4:g}", tall - 4
    return f"M{left + 2:g} {top:g}h{a}q2 0 2 2v{b}q0 2 -2 2h-{a}q-2 0 -2 -2v-{b}q0 -2 2 -2z"


def count_cells(rows: Iterable[QueueRow]) -> int:
    """Count what would be drawn at most."""
    return sum(len(row.held) + len(row.wanted) for row in rows)
