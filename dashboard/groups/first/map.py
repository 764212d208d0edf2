"""Who holds what, in the first paint: by the grammar and measures of ``static/js/views/map.js``.

That draws it anew. Heights are the same, so that nothing jumps then; cells are as wide as on a page of 1,280 px. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from dashboard.common.shown import shown
from dashboard.common.spans import age
from dashboard.groups.first.columns import (
    PER_BOLD,
    Column,
    brokers_of,
    fit,
    middle_of,
    numbered,
    piece_of,
    place,
    topics_of,
)
from dashboard.groups.first.lags import Foot, foot_of
from dashboard.groups.first.marks import Marks, Text, Who, count_cells, marks_of
from dashboard.groups.models.members import UNASKED
from dashboard.groups.showing import is_cell_proxied
from dashboard.groups.table import QueueRow, every_queue
from dashboard.push.messages import Cell, GroupState
from dashboard.push.runs import count

MOST_CELLS, MOST_COLUMNS, MOST_ROWS = 50 * 220, 250, 100  # of more there are tiles: static/js/lib/tiles.js
MOST_DRAWN = 3_000  # cells in the first paint; where every member has every queue there may be more
MOST_BANDS, BAND = 40, 14  # of tiles
FEW_ROWS = 50  # of more those are drawn that a piece of the map has to do with
WIDE = 100  # queues: with more of them the map takes the width of the page
HEAD, FOOT = 66, 38  # px
ROWS = ((120, 10), (24, 14))  # of more members rows are so many px high
NARROW_ROOM, WIDE_ROOM = 385, 721  # px for columns, on a page of 1,280 px, beside names, loads and rates
LONGEST_NAME = 40  # letters
LOAD = 96  # px
Around = Mapping[str, object]
Lags = Sequence[Mapping[str, Any]]
Picture = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """A member, or who left a moment ago: its state as the map has it, what it holds, when it was seen.

    ``is_partial``: it may hold more.
    """

    client: str
    state: str
    held: int | None
    words: str
    load: float = 0
    is_partial: bool = False

    @property
    def name(self) -> str:
        """Its id, cut as the map cuts it."""
        return shown(self.client, LONGEST_NAME)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The cells, and all that stands around them."""

    rows: Sequence[Row]
    row: int
    width: int
    height: int
    marks: Marks
    heads: Sequence[Text]
    lines: str
    rules: str
    heading: str
    mean: float
    foot: Foot | None


@dataclass(frozen=True, slots=True)
class FirstMap:
    """The map of a page: ``drawn``, or None where there are too many cells, and ``room``, the height that it will have.

    ``is_tiles``: the script draws tiles there. ``is_wide``: it takes the width of the page.
    """

    members: int
    queues: int
    is_tiles: bool
    is_wide: bool
    is_zoomed: bool
    has_rates: bool
    room: int
    drawn: Drawn | None

    @property
    def is_empty(self) -> bool:
        """Whether there is no queue that a member could own: nothing is divided."""
        return not self.queues and self.drawn is not None and not self.drawn.heads


def first_map(state: GroupState, around: Around, lag: Lags, *, zoom: str = "", is_past: bool = False) -> FirstMap:
    """Draw the map of a group.

    Args:
        state: what is shown of it.
        around: what the map shows besides, as ``story.around`` gives it.
        lag: what brokers told of how far it is behind, as ``lag.told_plainly`` gives it.
        zoom: the piece that is shown in cells; empty is all.
        is_past: it is of a past instant: of that nobody knows when members were seen, or how much they consumed.
    """
    queues, members = sum(count(part.ids) for part in state.queues), len(state.members)
    is_large = _is_large(members, queues)
    is_wide = queues > WIDE
    if is_large and not zoom:
        return FirstMap(members, queues, True, is_wide, False, False, _room_of_tiles(members), None)
    away = around.get("away")
    found = every_queue(state, away if isinstance(away, list) else [])
    found = piece_of(found, zoom) if zoom else found
    rows = _rows(state, around, is_past=is_past)
    if zoom and len(rows) > FEW_ROWS:
        busy = {client for queue in found for client in (*queue.held, *queue.wanted)}
        rows = [row for row in rows if row.client in busy]
    foot = None if is_past and not lag else lag
    drawn = None
    if count_cells(found) <= MOST_DRAWN:
        drawn = _drawn(state, rows, found, foot, around, room=WIDE_ROOM if is_wide else NARROW_ROOM)
    room = _room_of_cells(len(rows), has_foot=foot is not None)
    return FirstMap(
        members, queues, False, is_wide, bool(zoom), not is_past and state.head.model != "BROADCASTING", room, drawn
    )


def room_of(pictures: Sequence[Picture], *, has_foot: bool) -> int:
    """Say how high each of some maps beside each other will be that a script draws: in cells, or all of them in tiles.

    Args:
        pictures: each with ``members`` and ``queues``, as browsers get them; the first is the one that is asked for.
        has_foot: how far the group is behind stands below.
    """
    sizes = [(len(each["members"]), sum(count(part["ids"]) for part in each["queues"])) for each in pictures]
    if any(_is_large(*size) for size in sizes):
        return _room_of_tiles(sizes[0][0])
    return _room_of_cells(sizes[0][0], has_foot=has_foot)


def _is_large(members: int, queues: int) -> bool:
    return members * queues > MOST_CELLS or queues > MOST_COLUMNS or members > MOST_ROWS


def _room_of_tiles(members: int) -> int:
    return HEAD + -(-members // max(1, -(-members // MOST_BANDS))) * BAND + 8


def _room_of_cells(rows: int, *, has_foot: bool) -> int:
    return HEAD + rows * _height(rows) + 1 + (FOOT if has_foot else 0)


def _height(rows: int) -> int:
    return next((px for least, px in ROWS if rows > least), 30)


def _rows(state: GroupState, around: Around, *, is_past: bool) -> list[Row]:
    """Give the members in their order, and among them who left a moment ago."""
    now = int(str(around["now"]))
    seen = {each["client"]: each["at"] for each in _list(around, "seen")}
    rows = [
        Row(
            cell.client,
            "silent" if cell.held is None else "here",
            None if cell.held is None else count(cell.held),
            _seen(cell, None if is_past else (seen.get(cell.client),), now),
            is_partial=cell.is_partial,
        )
        for cell in state.members
    ]
    here = {cell.client for cell in state.members}
    for gone in _list(around, "left"):
        if gone["client"] not in here and gone["until"] > now:
            words = _("%(how)s %(age)s ago") % {"how": gone["words"], "age": age(now - gone["at"])}
            at = next((i for i, row in enumerate(rows) if row.client > gone["client"]), len(rows))
            rows.insert(at, Row(gone["client"], "left", 0, words))
    return rows


def _list(around: Around, name: str) -> list[dict[str, Any]]:
    found = around.get(name)
    return found if isinstance(found, list) else []


def _seen(cell: Cell, seen: tuple[int | None] | None, now: int) -> str:
    """Say when a member told last what it holds; ``seen`` None: only whether it did is known."""
    if is_cell_proxied(cell):
        return _("through a proxy")
    at = None if seen is None else seen[0]
    if seen is None or (at is None and cell.held is not None):
        return _("no answer") if cell.held is None else ""
    if at is None:
        return _("not asked yet") if cell.missing in UNASKED else _("never answered")
    words = _("no answer for %(age)s") if cell.held is None else _("seen %(age)s ago")
    if cell.held is None and cell.missing in UNASKED:
        words = _("not asked for %(age)s")
    return words % {"age": age(now - at)}


def _drawn(
    state: GroupState,
    rows: Sequence[Row],
    found: Sequence[QueueRow],
    lag: Lags | None,
    around: Around,
    *,
    room: int,
) -> Drawn:
    columns, cell = place(found, room)
    row, width = _height(len(rows)), columns[-1].x + cell if columns else 0
    height = len(rows) * row
    silent = {each.client for each in state.members if each.held is None or each.is_partial}
    who = Who(
        {each.client: number for number, each in enumerate(rows)},
        silent,
        state.head.model == "BROADCASTING",
        state.head.is_target_known,
    )
    heading, mean, rows = _loads(rows, has_mean=bool(columns) and not silent)
    return Drawn(
        rows,
        row,
        width + 18,
        height + 1,
        marks_of(columns, who, cell=cell, row=row, height=height),
        _heads(columns, cell),
        "".join(f"M{span.start} 17.5H{span.end}" for span in topics_of(columns, cell)),
        "".join(f"M0 {(number + 1) * row - 0.5}H{width}" for number in range(len(rows))),
        heading,
        mean,
        None if lag is None else foot_of(columns, cell, lag, now=int(str(around["now"]))),
    )


def _loads(rows: Sequence[Row], *, has_mean: bool) -> tuple[str, float, list[Row]]:
    """Give what stands above the loads, where their mean stands in px, and rows with how long their bars are."""
    known = [row.held for row in rows if row.held is not None]
    here = max(1, sum(row.state != "left" for row in rows))
    mean = sum(known) / here if known and has_mean else 0
    scale = LOAD / max(1, mean, *known)
    heading = _("held (mean %(mean)s)") % {"mean": f"{mean:.1f}" if known else "–"} if has_mean else _("held")
    return heading, mean * scale, [replace(row, load=(row.held or 0) * scale) for row in rows]


def _heads(columns: Sequence[Column], cell: int) -> list[Text]:
    topics = [
        Text("of-topic", span.start, 11, fit(_topic(span.name), span.end - span.start + 8, PER_BOLD))
        for span in topics_of(columns, cell)
    ]
    brokers = [
        Text("of-broker", span.start, 30, fit(shown(span.name), span.end - span.start + 4))
        for span in brokers_of(columns, cell)
    ]
    numbers = [Text("of-id", middle_of(each, cell), 45, str(each.row.queue_id)) for each in numbered(columns, cell)]
    return [*topics, *brokers, *numbers]


def _topic(name: str) -> str:
    return "retry" if name.startswith("%RETRY%") else shown(name)
