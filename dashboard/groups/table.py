"""The map in words, queue by queue, for whoever does not see it: how each queue stands, who has it, who should.

``static/js/lib/owners.js`` has the same grammar for the drawing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from django.utils.translation import gettext as _

from dashboard.common.spans import clock
from dashboard.groups.queries import queues_of
from dashboard.groups.showing import is_cell_proxied
from dashboard.push.messages import GroupState
from dashboard.push.runs import unpack

MOST_ROWS = 600  # of more queues those are listed that are not simply held as wanted
Place = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One queue. ``kind`` is the map's: ok, let, two, perhaps, none, unknown, disputed, away or stray.

    ``is_told``: nobody has it where ``held`` is empty; else that is unknown.
    """

    topic: str
    broker: str
    queue_id: int
    kind: str
    words: str
    held: tuple[str, ...]
    wanted: tuple[str, ...]
    moved: str = ""
    is_told: bool = True


@dataclass(frozen=True, slots=True)
class InWords:
    """The rows, and how many queues are left out because they are held as wanted."""

    rows: tuple[QueueRow, ...]
    left_out: int


def in_words(state: GroupState, around: Mapping[str, object]) -> InWords:
    """Say how each queue of a state stands; ``around``: which brokers are away, and what moved a moment ago."""
    away = around.get("away")
    moves = around.get("moves")
    moved = _moved(moves if isinstance(moves, list) else [])
    rows = every_queue(state, away if isinstance(away, list) else [], moved)
    if len(rows) <= MOST_ROWS:
        return InWords(tuple(rows), 0)
    told = [row for row in rows if row.kind != "ok" or row.moved]
    return InWords(tuple(told[:MOST_ROWS]), len(rows) - min(len(told), MOST_ROWS))


def every_queue(
    state: GroupState, away: Collection[str], moved: Mapping[Place, str] = MappingProxyType({})
) -> list[QueueRow]:
    """Give all queues of a state, and strays, in the order of the map; ``away`` are brokers, ``moved`` is in words."""
    return sorted([*_rows(state, away, moved), *_strays(state)], key=_as_drawn)


def _as_drawn(row: QueueRow) -> tuple[bool, str, str, int]:
    return (row.topic.startswith("%RETRY%"), row.topic, row.broker, row.queue_id)


def _rows(state: GroupState, away: Collection[str], moved: Mapping[Place, str]) -> Iterable[QueueRow]:
    held: dict[int, list[str]] = {}
    wanted: dict[int, list[str]] = {}
    for cell in state.members:
        for number in unpack(cell.held or ()).tolist():
            held.setdefault(number, []).append(cell.client)
        for number in unpack(cell.target).tolist():
            wanted.setdefault(number, []).append(cell.client)
    silent = [cell for cell in state.members if cell.held is None]
    has_partial = any(cell.is_partial for cell in state.members)
    are_proxied = bool(silent) and not state.head.untold and not has_partial and all(map(is_cell_proxied, silent))
    is_doubted = bool(state.head.untold or state.head.popping or silent or has_partial)
    is_popped = bool(state.head.popping) and not state.head.untold and not silent and not has_partial
    is_in_part = has_partial and not state.head.untold and not silent
    perhaps = set(unpack(state.head.perhaps_twice).tolist())
    disputed = set(unpack(state.head.disputed).tolist())
    for number, queue in enumerate(queues_of(state)):
        has, should = tuple(held.get(number, ())), tuple(wanted.get(number, ()))
        kind = _kind(state, has, should, is_doubted=is_doubted, is_perhaps=number in perhaps)
        kind = "disputed" if number in disputed and kind not in {"two", "perhaps"} else kind
        kind = "away" if queue.broker in away else kind
        place = (queue.topic, queue.broker, queue.queue_id)
        why = "proxied" if are_proxied else "popped" if is_popped else "in part" if is_in_part else kind
        why = why if kind == "unknown" else kind
        is_told = why not in {"unknown", "proxied", "in part", "disputed", "away"}
        yield QueueRow(*place, kind, _words(why, state), has, should, moved.get(place, ""), is_told)


def _kind(
    state: GroupState, has: tuple[str, ...], should: tuple[str, ...], *, is_doubted: bool, is_perhaps: bool
) -> str:
    if state.head.model == "BROADCASTING":
        return "ok" if has or is_doubted else "none"
    if len(has) > 1:
        return "perhaps" if is_perhaps else "two"
    if not has:
        return "unknown" if is_doubted else "none"
    return "let" if state.head.is_target_known and has[0] not in should else "ok"


def _strays(state: GroupState) -> Iterable[QueueRow]:
    for stray in state.strays:
        place = (stray.topic, stray.broker, stray.queue_id)
        yield QueueRow(*place, "stray", _words("stray", state), (stray.client,), ())


def _moved(moves: Iterable[Mapping[str, object]]) -> dict[Place, str]:
    found: dict[Place, str] = {}
    for move in moves:
        topic, broker, number, at = (move.get(name) for name in ("topic", "broker", "id", "at"))
        if isinstance(number, int) and isinstance(at, int):
            words = _("moved from %(one)s to %(other)s at %(at)s")
            values = {"one": move.get("from") or _("nobody"), "other": move.get("to") or _("nobody yet")}
            found[str(topic), str(broker), number] = words % {**values, "at": clock(at, millis=False)}
    return found


def _words(kind: str, state: GroupState) -> str:
    if kind == "ok" and state.head.model == "BROADCASTING":
        return _("broadcasting: every member has it")
    if kind == "ok" and not state.head.is_target_known:
        return _("held; unknown who should have it")
    return {
        "ok": _("held and wanted"),
        "let": _("held, should let go"),
        "two": _("two owners"),
        "perhaps": _("perhaps two owners"),
        "none": _("no owner"),
        "unknown": _("unknown: no answer"),
        "in part": _("unknown: not each connection of a member can be asked"),
        "proxied": _("no owner that can be asked: taken through a proxy, perhaps"),
        "popped": _("no owner: who takes messages by POP takes these too"),
        "disputed": _("NameServers disagree whether it is there"),
        "away": _("broker away"),
        "stray": _("not in any route"),
    }[kind]
