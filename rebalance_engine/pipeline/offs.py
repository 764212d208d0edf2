"""When a group was off: all its members had stopped, and none had started yet. Plain Python.

A batch group that runs at night, one that is scaled to nothing: that nobody consumes then is no pause of a rebalance.
It is off only where all that is known says so: whoever had each queue last was stopped, or let it go. A group of which
some queue was lost with its owner is not off but down. Where the next member starts within a few minutes the group was
restarted: that nobody consumed meanwhile is what its deploy cost.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.loads import Presence
from rebalance_engine.pipeline.named import merged
from rebalance_engine.pipeline.sweep import Hold, Stretch, cut_at

Spans = Sequence[tuple[int, int]]
RESTARTED_WITHIN_MS = 300_000  # a deploy's changes are no further apart


def times_without_members(holds: Mapping[MessageQueue, Sequence[Hold]], present: Presence, unheard: Presence) -> Spans:
    """Tell from each time that the last member had stopped until the next came, in order.

    Args:
        present: when members were there, as far as lines tell it of them.
        unheard: when others were, of whom nobody tells what they held.
    """
    every = [hold for those in holds.values() for hold in those]
    there = chain.from_iterable(spans for known in (present, unheard) for spans in known.values())
    nobody = _between(sorted([*there, *((hold.from_ms, hold.until_ms) for hold in every)]))
    if not nobody:
        return ()
    by_client: dict[str, list[Hold]] = {}
    for hold in every:
        # Of whom no line tells that it came or went, nothing but a stop tells that it was gone when it held nothing.
        if hold.client not in present:
            by_client.setdefault(hold.client, []).append(hold)
    of_queues, of_clients = ([_ends(those) for those in by.values()] for by in (holds, by_client))
    return [
        (begin, end)
        for begin, end in nobody
        if all(_last(ends, begin) in (None, "stopped", "released") for ends in of_queues)
        and all(_last(ends, begin) in (None, "stopped", "lost") for ends in of_clients)
    ]


def _between(spans: Spans) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    until: int | None = None
    for begin, end in spans:
        if until is not None and begin > until:
            found.append((until, begin))
        until = end if until is None else max(until, end)
    return found


def _ends(holds: Iterable[Hold]) -> list[tuple[int, str]]:
    return sorted((hold.until_ms, hold.ended) for hold in holds)


def _last(ends: Sequence[tuple[int, str]], at_ms: int) -> str | None:
    place = bisect_right(ends, at_ms, key=lambda end: end[0])
    return ends[place - 1][1] if place else None


def off_or_restarted(without: Spans) -> tuple[Spans, Spans]:
    """Tell of the times without any member those in which the group was off from those in which it was restarted."""
    is_off = [end - begin > RESTARTED_WITHIN_MS for begin, end in without]
    long, short = ([span for span, off in zip(without, is_off, strict=True) if off is which] for which in (True, False))
    return long, short


def off_within(off: Spans, begin_ms: int, end_ms: int) -> int:
    """Tell for how long a group was off within a time."""
    return sum(min(end, end_ms) - max(begin, begin_ms) for begin, end in _meeting(off, begin_ms, end_ms))


def within_any(begin_ms: int, end_ms: int, *those: Spans) -> int:
    """Tell how much of a time passed while any of several things went on; what two of them share counts once."""
    met = merged(span for spans in those for span in _meeting(spans, begin_ms, end_ms))
    return off_within(met, begin_ms, end_ms)


def cut_where_off(stretch: Stretch, off: Spans) -> Iterable[Stretch]:
    """Cut a stretch without an owner where its group's being off begins and ends."""
    rest = stretch
    for at_ms in chain.from_iterable(_meeting(off, stretch.from_ms, stretch.until_ms) if not stretch.clients else ()):
        *before, rest = cut_at(rest, at_ms)
        yield from before
    yield rest


def is_off(stretch: Stretch, off: Spans) -> bool:
    """Ask whether a stretch, cut so, passed while the group was off."""
    return not stretch.clients and bool(_meeting(off, stretch.from_ms, stretch.until_ms))


def _meeting(off: Spans, begin_ms: int, end_ms: int) -> Spans:
    first = bisect_right(off, begin_ms, key=lambda one: one[1])
    return off[first : bisect_right(off, end_ms - 1, key=lambda one: one[0])]
