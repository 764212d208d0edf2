"""Queues that a round's figures count and none of its handoffs tells of: each with its time, and why it has none.

Of a queue that was handed over in it, that is what no handoff of it tells, which are of another time: two had it
before, or who let it go took it again and let it go once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from dashboard.groups.bands import EVER, FOREVER, Intervals, without
from dashboard.groups.elsewhere import Place
from dashboard.groups.lane import Lane
from dashboard.groups.models import Round
from dashboard.groups.owned import places_of
from dashboard.groups.shares import NO_TIMES, Lasted, Share, Times

MOST_SHOWN = 60
Within = tuple[int, int | None]
UNHELD = "nobody is known to have had it by then, ever"
OLDER = "nobody had it before the round either"
ELSEWHERE = "another round tells of it, or who let it go took it again"
CUT = "two had it before the round, or go on to have it"
BESIDE = "another round tells of it, or who took it let it go again"


@dataclass(frozen=True, slots=True)
class Beyond:
    """One queue: how long nobody had it, and two, in ms, at least and at most (None: unknown); ``why`` in English.

    ``times`` say when. ``is_lasting``: nobody, or two, have it still. ``is_handed``: it has a handoff, of another time.
    ``is_of_round``: nobody may have had it before the round either, which its time leaves out: a finding, which counts
    from when that was seen first, may be older than that.
    """

    topic: str
    broker: str
    queue_id: int
    unowned: Within
    overlap: Within
    is_perhaps_gap: bool
    is_perhaps_overlap: bool
    why: tuple[str, ...]
    times: Times = NO_TIMES
    is_lasting: bool = False
    is_handed: bool = False
    is_of_round: bool = False

    @property
    def weight(self) -> tuple[int, int, int]:
        """What makes it worse than another, or than a handoff, as ``Lane.weight`` does."""
        known = max(self.unowned[0], self.overlap[0])
        return int(self.is_lasting), int(known > 0), known or max(self.unowned[1] or 0, self.overlap[1] or 0)

    @property
    def reasons(self) -> list[str]:
        """Say why in the reader's language."""
        words = {
            UNHELD: _("nobody is known to have had it by then, ever"),
            OLDER: _("nobody had it before the round either"),
            ELSEWHERE: _("another round tells of it, or who let it go took it again"),
            CUT: _("two had it before the round, or go on to have it"),
            BESIDE: _("another round tells of it, or who took it let it go again"),
        }
        return [words[each] for each in self.why]


def beyond(*, shares: Mapping[int, Share], lanes: Sequence[Lane]) -> list[Beyond]:
    """Give the queues of a round that had no owner, or two, or perhaps, of which no handoff tells; longest first.

    Args:
        shares: as ``owned.shares_in`` gives them, by the rows of the queues.
        lanes: the round's handoffs.
    """
    counted = {pk: _clipped(share) for pk, share in shares.items() if _is_counted(share)}
    told = {lane.place for lane in lanes}
    surely = {lane.place for lane in lanes if lane.is_gap}
    gone = {lane.place for lane in lanes if lane.is_perhaps_gap or lane.is_unknown}
    twice: dict[Place, list[tuple[int, int]]] = {}
    for lane in lanes:
        if lane.is_overlap or lane.is_perhaps_overlap:
            twice.setdefault(lane.place, []).append(_had_by_two(lane))
    rows = []
    for pk, place in places_of(counted).items():
        share = counted[pk]
        is_gap_told = place in surely or (place in gone and not share.is_gap)  # what is certain no *perhaps* tells
        share = _untold(share, is_gap_told=is_gap_told, twice=twice.get(place, ()))
        if _is_counted(share):
            is_of_round = share.is_gap and _is_perhaps_older(shares[pk])
            rows.append(replace(_row(place, share), is_handed=place in told, is_of_round=is_of_round))
    return sorted(rows, key=lambda row: (-max(row.unowned[0], row.overlap[0]), row.topic, row.broker, row.queue_id))


def _is_perhaps_older(share: Share) -> bool:
    """Whether nobody may have had a queue before the round either, and its time is the round's alone."""
    since = share.within[0]
    return not share.is_older and since != EVER and any(low < since < high for low, high in share.times.perhaps_nobody)


def _clipped(share: Share) -> Share:
    """Leave out of when it may have been so what its upper bound leaves out: before the round, and beyond its time."""
    times, (since, until) = share.times, share.within
    if not (share.is_gap and share.is_older):
        times = replace(times, perhaps_nobody=_cut(times.perhaps_nobody, since, until))
    if share.overlap_within[1] is not None:
        times = replace(times, perhaps_two=_cut(times.perhaps_two, since, until))
    return replace(share, times=times)


def _cut(times: Intervals, since: int, until: int) -> tuple[tuple[int, int], ...]:
    return tuple((max(low, since), min(high, until)) for low, high in times if low < until and high > since)


def _had_by_two(lane: Lane) -> tuple[int, int]:
    """Give the time in which a lane tells, with its bounds, that two had its queue."""
    if lane.taken_at is None:
        return EVER, FOREVER
    since = lane.taken_at if lane.taken[0] is None else lane.taken[0]
    end = FOREVER if lane.overlap[1] is None else lane.taken_at + lane.overlap[1]
    return since, max(end, lane.dropped_at or 0, lane.dropped[1] or 0)


def _untold(share: Share, *, is_gap_told: bool, twice: Intervals) -> Share:
    """Leave out of what a round says of a queue what its handoffs tell; ``twice``: when they tell of two owners."""
    if is_gap_told:
        times = replace(share.times, nobody=(), perhaps_nobody=())
        share = replace(share, unowned=Lasted(), is_lasting=False, times=times)
    return _of_others(share, twice) if twice else share


def _of_others(share: Share, twice: Intervals) -> Share:
    """Leave out when two had a queue of whom a handoff tells: others may have had it at another time."""
    before = share.times
    two = tuple(without(before.two, twice))
    perhaps = tuple(each for each in before.perhaps_two if not _touches(each, twice) or _touches(each, two))
    least, most = (sum(high - low for low, high in each) for each in (two, perhaps))
    is_open = bool(two) and two[-1][1] == before.two[-1][1]
    return replace(
        share,
        overlap=Lasted(least, max(least, most), max(least, most)) if two or perhaps else Lasted(),
        overlap_least=least,
        is_shared=share.is_shared and is_open,
        is_since_ever=any(low == EVER for low, _ in perhaps),
        is_cut=share.is_cut and is_open,
        times=replace(before, two=two, perhaps_two=perhaps),
    )


def _touches(time: tuple[int, int], others: Intervals) -> bool:
    return any(low < time[1] and high > time[0] for low, high in others)


def count_unmoved(rows: Sequence[Beyond]) -> dict[str, int]:
    """Count the queues without owner in a round, for certain, that were not handed over in it.

    ``unowned_unmoved`` of them had nobody before it either for certain, or nobody is known to have had them ever;
    ``unowned_untold`` are the others: another round tells them, or the same member took them again.
    """
    gaps = [not {OLDER, UNHELD}.isdisjoint(row.why) for row in rows if row.unowned[0] and not row.is_handed]
    return {"unowned_unmoved": sum(gaps), "unowned_untold": len(gaps) - sum(gaps)}


def shown(rows: Sequence[Beyond]) -> dict[str, object]:
    """Give what a page shows of them."""
    return {"beyond": rows[:MOST_SHOWN], "beyond_count": len(rows)}


def let_go_in(lanes: Sequence[Lane]) -> set[Place]:
    """Name the queues that were let go in a round."""
    return {lane.place for lane in lanes if lane.dropped_at is not None}


def has_outlasted(row: Round, lanes: Sequence[Lane]) -> bool:
    """Whether a queue that a round left without owner had none for certain after its end, until somebody took it."""
    end = row.closed_at
    gaps = ((lane.dropped[1], lane.unowned[0]) for lane in lanes if lane.is_gap)
    return end is not None and any(let_go is not None and let_go + (least or 0) > end for let_go, least in gaps)


def _is_counted(share: Share) -> bool:
    return share.is_gap or share.is_perhaps_gap or _has_two(share)


def _has_two(share: Share) -> bool:
    return share.is_overlap or share.is_perhaps_overlap


def _row(place: tuple[str, str, int], share: Share) -> Beyond:
    return Beyond(
        *place,
        unowned=(share.unowned.low, None if share.is_gap and share.is_older else share.unowned.high),
        overlap=share.overlap_within,
        is_perhaps_gap=share.is_perhaps_gap,
        is_perhaps_overlap=share.is_perhaps_overlap,
        why=tuple(_why(share)),
        times=share.times,
        is_lasting=(share.is_gap and share.is_lasting) or (share.is_overlap and share.is_shared),
    )


def _why(share: Share) -> list[str]:
    reasons = []
    if share.is_gap or share.is_perhaps_gap:
        reasons.append(UNHELD if share.is_unheld else OLDER if share.is_older else ELSEWHERE)
    if share.is_overlap or share.is_perhaps_overlap:
        reasons.append(CUT if share.is_cut or share.is_since_ever else BESIDE)
    return reasons
