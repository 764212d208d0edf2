"""A group's handoffs and returns as rows: each in its round, and what passed meanwhile. Plain Python."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rebalance_engine.pipeline.handoffs import Handoff
from rebalance_engine.pipeline.loads import Presence
from rebalance_engine.pipeline.offs import Spans, off_within, within_any
from rebalance_engine.pipeline.rounds import Round
from rebalance_engine.pipeline.routes import Route, gone
from rebalance_engine.pipeline.skews import Doubts, apart_ms, begins_late_ms, ends_late_ms, may_lie_between
from rebalance_engine.pipeline.sorting import known, whole
from rebalance_engine.pipeline.sweep import Hold, Stretch
from rebalance_engine.pipeline.unheard import there_meanwhile

Row = dict[str, object]
# Where another may have held the queue in between.
UNKNOWN: Row = {"unowned_ms": 0, "pause_ms": None, "restart_ms": 0, "pause_is": "unknown"}


@dataclass(frozen=True, slots=True)
class Meanwhile:
    """What there may be between the release of a queue and its next take.

    Attributes:
        off, restarts: when the group had no member, for long, or for minutes.
        short: by topic, when it lacked queues, nobody knows which.
        unheard: when members were there of whom nobody tells what they held.
    """

    off: Spans
    restarts: Spans
    short: Mapping[str, Spans]
    unheard: Presence


def moved_row(
    one: Handoff, rounds: Sequence[Round], routes: Mapping[str, Sequence[tuple[int, Route]]], meanwhile: Meanwhile
) -> tuple[str, Row]:
    """Tell a queue's way from one member to another, or back to the same: its kind, and its row of ``HANDOFFS``.

    Args:
        routes: by topic, in order.
    """
    giver, taker = one.change.giver, one.change.taker
    between = giver.until_ms, max(giver.until_ms, taker.from_ms)
    is_return = giver.client == taker.client
    # In no route, because its broker was away.
    is_gone = gone(one.queue, routes.get(one.queue.topic, ()), taker.from_ms)
    short = meanwhile.short.get(one.queue.topic, ())
    off_ms, restart_ms, away_ms, short_ms = (
        off_within(those, *between) for those in (meanwhile.off, meanwhile.restarts, is_gone, short)
    )
    pause_ms = max(0, one.pause_ms - within_any(*between, meanwhile.off, is_gone, short))
    # A queue may be taken up to a round's length before its old owner drops it: it belongs to the round of the latter.
    last = bisect_right(rounds, between[1], key=lambda this: this.opened_ms)
    row: Row = {
        "at_ms": min(giver.until_ms, taker.from_ms),
        "topic": one.queue.topic,
        "broker": one.queue.broker,
        "queue_id": one.queue.queue_id,
        "from_client": giver.client,
        "to_client": taker.client,
        "released_ms": giver.until_ms,
        "released_after_ms": giver.until_after_ms,
        "taken_ms": taker.from_ms,
        "ended": giver.ended,
        "off_ms": off_ms,
        "away_ms": away_ms,
        "unowned_ms": max(0, one.change.unowned_least_ms - off_ms - short_ms),
        "unowned_most_ms": one.change.unowned_most_ms - off_ms,
        "overlap_ms": one.change.overlap_most_ms,
        "overlap_least_ms": one.change.overlap_least_ms,
        "first_pull_ms": one.first_pull_ms,
        "pause_ms": pause_ms,
        "restart_ms": min(restart_ms, pause_ms),
        # That a broker is back its members learn later: so long the queue was paused, too.
        "pause_is": "exact" if one.is_pause_exact and not short_ms and not away_ms else "at least",
        "refused_pulls": one.refused,
        "lock_wait_ms": one.lock_wait_ms,
        "silence_most_ms": None if one.silence_most_ms is None else max(0, one.silence_most_ms - off_ms),
        "duplicates_least": one.duplicates_least,
        "duplicates_most": one.duplicates_most,
        "round": rounds[last - 1].number if last else None,
    }
    return "return" if is_return else "handoff", row | _unsure(one, meanwhile.unheard)


def in_doubt_of_clocks(one: Handoff, told: tuple[str, Row], holds: Sequence[Hold], doubts: Doubts) -> tuple[str, Row]:
    """Widen the bounds of what lies between two hosts whose clocks differ, or whose logs have whole seconds.

    Args:
        told: of :func:`moved_row`.
        holds: all of its queue.
    """
    kind, row = told
    giver, taker = one.change.giver, one.change.taker
    if may_lie_between(giver, taker, holds, doubts):
        row = row | UNKNOWN
    by = apart_ms(giver, taker, doubts)
    sooner, later = by + ends_late_ms(giver), by + begins_late_ms(taker)  # so much less, or more, may lie between
    if not (sooner or later):
        return kind, row
    names = ("unowned_ms", "unowned_most_ms", "overlap_least_ms", "overlap_ms")
    unowned, unowned_most, overlap, overlap_most = (whole(row[name]) for name in names)
    pause_ms, silence_ms = known(row["pause_ms"]), known(row["silence_most_ms"])
    row = row | {
        "unowned_ms": max(0, unowned - sooner),
        "unowned_most_ms": max(0, unowned_most + later - overlap),
        "overlap_least_ms": max(0, overlap - later),
        "overlap_ms": max(0, overlap_most + sooner - unowned),
        "silence_most_ms": None if silence_ms is None else silence_ms + later,
    }
    if pause_ms is not None:
        left_ms = max(0, pause_ms - sooner)
        row = row | {"pause_ms": left_ms, "restart_ms": min(left_ms, whole(row["restart_ms"])), "pause_is": "at least"}
    return kind, row


def _unsure(one: Handoff, unheard: Presence) -> Row:
    """Say what is not known where another may have held the queue in between, of whom nobody tells."""
    between = Stretch(one.change.giver.until_ms, one.change.taker.from_ms, ())
    is_unsure = bool(one.change.unowned_ms) and there_meanwhile(between, unheard)
    return UNKNOWN if is_unsure else {}
