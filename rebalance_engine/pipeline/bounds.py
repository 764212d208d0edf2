"""What a group's members took and let go in the holes of their logs, and between which moments. Plain Python.

What a member had before a hole, and shows no more when it speaks again, it let go meanwhile; what it shows then and had
not before, it took. Another's take in between shows that it had let go by then, or a little later: a newcomer takes up
to 1.5 s before the old owner drops.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rebalance_engine.pipeline.sweep import PERSISTS_WITHIN_MS

Row = dict[str, object]
Queue = tuple[object, ...]
DROPS_WITHIN_MS = 2_000  # after the next owner's take, where both are told of the change
PERSISTED_TWICE_MS = 12_000  # whoever held anything would have said so
REMOVED = "removal line"
ENDED_IN_HOLE = "its log has a hole; it shows it before, and not after"
TAKEN_IN_HOLE = "its log has a hole, in which another took it"
UNKEPT = "its offset is persisted no more; its removal is not in the log"
BY_LINES_OF_OTHERS = (
    UNKEPT,
    "a result without it; its removal is not in the log",
    "added again; its removal is not in the log",
)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a member's log shows of a queue around one of its holes; times in ms, None where it shows nothing.

    Attributes:
        hole_ms, heard_ms: its last line before and its first one after.
        persisted_ms: the last before the hole that persists the queue; again_ms: the first after it.
        listed_ms: the first result after it that has the queue.
        speaks_ms: the first line after it that persists any queue.
    """

    hole_ms: int
    heard_ms: int
    persisted_ms: int | None = None
    again_ms: int | None = None
    listed_ms: int | None = None
    speaks_ms: int | None = None

    @property
    def is_persisted(self) -> bool:
        """Whether the queue was one of those that the member persisted when the hole began."""
        return self.persisted_ms is not None and self.hole_ms - self.persisted_ms < PERSISTS_WITHIN_MS

    def shows(self, until_ms: int) -> bool:
        """Ask whether the member had the queue again, or still, when it spoke again: before a moment."""
        signs = (self.again_ms,) if self.is_persisted else (self.again_ms, self.listed_ms)
        return any(sign is not None and sign <= until_ms for sign in signs)


class Takes:
    """Who else held a queue when, by their first lines of it."""

    def __init__(self, spans: Iterable[Row]) -> None:
        known = [(_time(row, "from_ms"), row) for row in spans]
        self._rows = sorted(((at, row) for at, row in known if at is not None), key=lambda one: one[0])
        self._times = [at for at, _ in self._rows]

    def by_others(self, client: object, since_ms: int, until_ms: int) -> list[Row]:
        """Give the holds of others that began in a time."""
        those = self._rows[bisect_left(self._times, since_ms) : bisect_right(self._times, until_ms)]
        return [row for _, row in those if row["client_id"] != client]

    def is_held_throughout(self, client: object, since_ms: int, until_ms: int) -> bool:
        """Ask whether another held it all the time: then that others did in between shows nothing."""
        before = self._rows[: bisect_right(self._times, since_ms)]
        return any(row["client_id"] != client and _sure(row, "until_ms") >= until_ms for _, row in before)


def bounded(spans: Sequence[Row], shown: Mapping[tuple[object, ...], Sequence[Shown]]) -> Iterator[Row]:
    """Give a group's holds, with those that begin or end in a hole of their member's log between its edges.

    Args:
        spans: as ``SPANS``.
        shown: by process, client and queue, what is shown around each hole, in order.
    """
    takes: dict[Queue, list[Row]] = {}
    for row in spans:
        takes.setdefault(_queue(row), []).append(row)
    others = {queue: Takes(rows) for queue, rows in takes.items()}
    for row in spans:
        holes = shown.get((row["process"], row["client_id"], *_queue(row)), ())
        yield from _ended(_begun(row, holes), holes, others[_queue(row)]) if holes else (row,)


def _queue(row: Row) -> Queue:
    return row["topic"], row["broker"], row["queue_id"]


def _time(row: Row, name: str) -> int | None:
    value = row[name]
    return value if isinstance(value, int) else None


def _sure(row: Row, name: str) -> int:
    value = row[name]
    assert isinstance(value, int)
    return value


def _begun(row: Row, holes: Sequence[Shown]) -> Row:
    """Let a take that no line of its own tells have been in the hole after which it shows."""
    told, after = _time(row, "from_ms"), _time(row, "from_after_ms")
    if told is not None and after is None:  # by its own line
        return row
    seen = _sure(row, "first_seen_ms") if told is None else told
    inside = [
        one
        for one in holes
        if (after is None or one.heard_ms > after) and one.heard_ms <= seen and not one.is_persisted
        and (one.again_ms is None or one.again_ms - one.heard_ms < PERSISTS_WITHIN_MS)
    ]  # fmt: skip
    if not inside or (told is None and inside[-1].again_ms is None):  # it may have had that from the beginning
        return row
    last = inside[-1]
    first = last if last.again_ms is not None else inside[0]
    since = first.hole_ms if after is None else max(first.hole_ms, after)
    return {**row, "from_ms": last.heard_ms, "from_after_ms": since}


def _ended(row: Row, holes: Sequence[Shown], takes: Takes) -> Iterator[Row]:
    """End a hold in the first hole after which its member shows it no more; cut it where another had it in between."""
    rest = row
    for hole in holes:
        began = _time(rest, "from_ms")
        began = _sure(rest, "first_seen_ms") if began is None else began
        until = _sure(rest, "until_ms")
        if not began <= hole.hole_ms < until:
            continue
        later = _shown_again(hole, holes, until)
        if later is not None:
            yield _last(rest, hole, takes.by_others(row["client_id"], hole.hole_ms - DROPS_WITHIN_MS, hole.heard_ms))
            again = {"from_ms": later.heard_ms, "from_after_ms": later.hole_ms, "first_seen_ms": later.heard_ms}
            rest = {**rest, **again}
            continue
        others = takes.by_others(row["client_id"], hole.hole_ms - DROPS_WITHIN_MS, hole.heard_ms)
        if hole.shows(until) or (rest["evidence"] == REMOVED and until >= hole.heard_ms):
            is_apart = hole.is_persisted and not takes.is_held_throughout(row["client_id"], hole.hole_ms, hole.heard_ms)
            back = _back_from(others, hole) if is_apart else None
            if back is not None:
                yield _let_go(rest, hole, others, TAKEN_IN_HOLE)
                rest = {**rest, "from_ms": hole.heard_ms, "from_after_ms": back, "first_seen_ms": hole.heard_ms}
            continue
        yield _last(rest, hole, others)
        return
    yield rest


def _shown_again(hole: Shown, holes: Sequence[Shown], until_ms: int) -> Shown | None:
    """Give the later hole in which a member took again what it let go in one: between them it persists others alone."""
    if not hole.is_persisted or hole.again_ms is None or hole.speaks_ms is None or hole.again_ms > until_ms:
        return None
    between = [one for one in holes if hole.heard_ms < one.hole_ms < hole.again_ms]
    if not between or between[0].hole_ms < hole.speaks_ms + PERSISTS_WITHIN_MS:
        return None
    return between[-1] if hole.again_ms - between[-1].heard_ms < PERSISTS_WITHIN_MS else None


def _back_from(others: Sequence[Row], hole: Shown) -> int | None:
    """Tell since when its member may have had a queue again that others had in the hole, all of them for a while."""
    ends = [_sure(other, "until_ms") for other in others]
    if not ends or max(ends) > hole.heard_ms + DROPS_WITHIN_MS:
        return None
    return max(hole.hole_ms, min(hole.heard_ms, max(ends)) - DROPS_WITHIN_MS)


def _last(row: Row, hole: Shown, others: Sequence[Row]) -> Row:
    until = _sure(row, "until_ms")
    speaks = (hole.speaks_ms is not None and hole.speaks_ms <= until) or until - hole.heard_ms > PERSISTED_TWICE_MS
    if (hole.is_persisted and speaks) or row["evidence"] in BY_LINES_OF_OTHERS:
        return _let_go(row, hole, others, ENDED_IN_HOLE)
    if others:
        return _let_go(row, hole, others, TAKEN_IN_HOLE)
    after = _time(row, "until_after_ms")  # nothing tells whether it was let go then: it may have been
    return {**row, "until_after_ms": hole.hole_ms if after is None else min(after, hole.hole_ms)}


def _let_go(row: Row, hole: Shown, others: Sequence[Row], evidence: str) -> Row:
    told = [] if row["evidence"] == UNKEPT else [_sure(row, "until_ms")]  # its lines may lie in the hole
    until = min([hole.heard_ms, *told, *(_sure(one, "from_ms") + DROPS_WITHIN_MS for one in others)])
    until = max(until, hole.hole_ms)
    edges = {"until_ms": until, "until_after_ms": hole.hole_ms, "until_before_ms": None}
    return {**row, **edges, "ended": "released", "evidence": evidence}
