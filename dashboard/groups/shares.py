"""How long queues had no owner, or two, in the time of each round: at least, as it was seen, and at most. Pure.

The steps of the time bar are made of the same stretches. What is possible and what is certain of each member's time
bound them: nobody had a queue for certain while nobody can have had it, and at most while nobody had it for certain.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from dashboard.groups.bands import (
    EVER,
    FOREVER,
    NOTHING,
    Bounded,
    Gone,
    Held,
    Intervals,
    Stretches,
    all_certain,
    all_told,
    as_certain,
    as_kept,
    as_member,
    as_perhaps_gone,
    as_possibly_nobodys,
    as_seen,
    as_seen_gone,
    as_surely_gone,
    stretches,
    surely_lasting,
    without,
)
from dashboard.groups.claims import Claim, claims_of, others, reach_of

NONE: Intervals = ()
Stretch = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Window:
    """The time of a round, of which ``wave``; what began in it is its own until ``limit``, when the next wave began.

    ``has_last``: what began at ``until`` began in it too: a round ends with what its last queue did. ``number``: its
    own. ``low``: when it may have begun (None: when it did): what is exact since then is its own.
    """

    since: int
    until: int
    wave: int
    limit: int
    has_last: bool = False
    number: int = 0
    low: int | None = None

    def has(self, at: int) -> bool:
        """Whether an instant is the round's."""
        return self.since <= at < self.until + self.has_last


@dataclass(frozen=True, slots=True)
class Lasted:
    """How long something was so, in ms: at least, as it was seen, at most."""

    low: int = 0
    seen: int = 0
    high: int = 0


@dataclass(frozen=True, slots=True)
class Times:
    """When a queue had no owner, or two, in the time of a round or over its ends: for certain, and perhaps."""

    nobody: tuple[tuple[int, int], ...] = ()
    perhaps_nobody: tuple[tuple[int, int], ...] = ()
    two: tuple[tuple[int, int], ...] = ()
    perhaps_two: tuple[tuple[int, int], ...] = ()


NO_TIMES = Times()


@dataclass(frozen=True, slots=True)
class Share:
    """How long one queue had no owner, and two, in a round, and when (``times``).

    ``is_lasting``: it has none at the end of what is told; ``is_shared``: it has two then. ``is_doubted``: somebody
    does not answer, and may have it. ``is_older``: it had none for certain before the round too. ``is_cut``: it had two
    for longer than the round tells, from before it or beyond it; ``overlap_least`` is how long in all, in ms, at least.
    ``is_two_older``: it had two as seen before the round already.
    ``is_unheld``: nobody is known to have had it by then, ever. ``is_lost``: who had it last was lost, and may have it.
    ``is_since_ever``: nobody knows since when it may have had two, as where the first look saw both. Of a handoff
    between two looks it may be possible that there was nobody, and that there were two, and neither known. ``within``:
    the time of which it is told. ``parts``: when nobody had it in that time: for certain, as seen, and perhaps.
    ``gaps_elsewhere`` and ``twos_elsewhere``: of when in it another round tells that it had none, and two; and
    ``is_perhaps_two_older``: an earlier one tells that perhaps two had it. ``own_gaps``: of when this one does.
    """

    unowned: Lasted
    overlap: Lasted
    is_lasting: bool = False
    is_doubted: bool = False
    is_shared: bool = False
    is_older: bool = False
    is_cut: bool = False
    is_two_older: bool = False
    is_since_ever: bool = False
    overlap_least: int = 0
    is_unheld: bool = False
    is_lost: bool = False
    times: Times = NO_TIMES
    within: tuple[int, int] = (EVER, FOREVER)
    parts: tuple[Stretch, Stretch, Stretch] = ((), (), ())
    gaps_elsewhere: tuple[Claim, ...] = ()
    twos_elsewhere: tuple[Claim, ...] = ()
    is_perhaps_two_older: bool = False
    own_gaps: tuple[Claim, ...] = ()

    def without_gaps(self, told: Intervals) -> Share:
        """Leave out when nobody had it what others tell."""
        least, seen, most = (tuple(without(part, told)) for part in self.parts)
        if (least, seen, most) == self.parts:
            return self
        had, older = self.times, [low for low, _ in self.parts[0][:1]]
        nobody, perhaps = (tuple(without(each, told)) for each in (had.nobody, had.perhaps_nobody))
        return replace(
            self,
            unowned=Lasted(*(sum(high - low for low, high in part) for part in (least, seen, most))),
            is_lasting=self.is_lasting and any(high == self.within[1] for _, high in seen[-1:]),
            is_older=self.is_older and [low for low, _ in least[:1]] == older,
            times=replace(had, nobody=nobody, perhaps_nobody=perhaps),
            parts=(least, seen, most),
        )

    def less_certain(self, perhaps: Intervals) -> Share:
        """Leave out of what is certain what a handoff tells as only possible."""
        least = tuple(without(self.parts[0], perhaps))
        if least == self.parts[0]:
            return self
        lasted = replace(self.unowned, low=sum(high - low for low, high in least))
        times = replace(self.times, nobody=tuple(without(self.times.nobody, perhaps)))
        return replace(self, unowned=lasted, times=times, parts=(least, *self.parts[1:]))

    def without_twos(self, told: Intervals, *, is_older: bool) -> Share:
        """Leave out when perhaps two had it what others tell; ``is_older``: an earlier one of them."""
        perhaps = tuple(without(self.times.perhaps_two, told))
        if self.is_overlap or not self.overlap.high or perhaps == self.times.perhaps_two:
            return self
        most = sum(max(0, min(high, self.within[1]) - max(low, self.within[0])) for low, high in perhaps)
        return replace(
            self,
            overlap=Lasted(0, min(self.overlap.seen, most), most),
            is_since_ever=any(low == EVER for low, _ in perhaps),
            is_cut=self.is_cut and bool(most),
            is_shared=self.is_shared and any(high >= self.within[1] for _, high in perhaps[-1:]),
            is_perhaps_two_older=is_older and not most,
            times=replace(self.times, perhaps_two=perhaps),
        )

    @property
    def overlap_within(self) -> tuple[int, int | None]:
        """Bound how long two had it, with what was of that before and after the round; None: it has no upper bound."""
        low = max(self.overlap.low, self.overlap_least if self.is_overlap else 0)
        return low, None if self.is_since_ever or (self.is_overlap and self.is_cut) else self.overlap.high

    @property
    def is_overlap(self) -> bool:
        """Whether two had it for certain."""
        return self.overlap.low > 0

    @property
    def is_gap(self) -> bool:
        """Whether nobody had it for a while, for certain."""
        return self.unowned.low > 0

    @property
    def is_left_by_lost(self) -> bool:
        """Whether no member has it at the end of what is told, and who was lost may have it still."""
        return self.is_perhaps_gap and self.is_lasting and self.is_lost

    @property
    def is_perhaps_overlap(self) -> bool:
        """Whether two may have had it, or not."""
        return not self.is_overlap and self.overlap.high > 0

    @property
    def is_perhaps_gap(self) -> bool:
        """Whether nobody may have had it for a while, or not; where somebody does not answer that is unknown anyway."""
        return not self.is_gap and self.unowned.high > 0 and not self.is_doubted


@dataclass(frozen=True, slots=True)
class _Three:
    """Stretches of one kind: the certain ones, the ones that were seen, and the possible ones.

    ``begun``: those that were seen, also beyond what all have told.
    """

    low: Stretches
    seen: Stretches
    high: Stretches
    begun: Stretches

    def lasted(self, queue: int, since: int, until: int) -> Lasted:
        return Lasted(*(_within(each.get(queue, NONE), since, until) for each in (self.low, self.seen, self.high)))

    def parts(self, queue: int, since: int, until: int) -> tuple[Stretch, Stretch, Stretch]:
        """Give the stretches within a time: the certain ones, those that were seen, and the possible ones."""
        low, seen, high = (
            tuple((max(low, since), min(high, until)) for low, high in _touching(each.get(queue, NONE), since, until))
            for each in (self.low, self.seen, self.high)
        )
        return low, seen, high

    def when(self, queue: int, since: int, until: int) -> tuple[Stretch, Stretch]:
        """Give the stretches that touch a time, whole: the certain ones; those seen, or else the possible ones."""
        low, seen, high = (_touching(each.get(queue, NONE), since, until) for each in (self.low, self.seen, self.high))
        return low, seen or high


def shares_of(  # noqa: PLR0913 (what may be known of queues is much, and each has a default)
    spans: Iterable[Bounded],
    windows: Sequence[Window],
    *,
    until: int,
    orphans: Iterable[Held] = (),
    gone: Gone = NOTHING,
    told_until: int | None = None,
    sure_until: int = FOREVER,
    doubts: Intervals = NONE,
    once: bool = False,
    near: Sequence[Window] = (),
) -> list[dict[int, Share]]:
    """Give each round's queues that had no owner, or two, or may have had.

    Args:
        spans: what is known of who had what, also of before and after the rounds.
        windows: the rounds, in order.
        until: what is told ends then.
        orphans: when it was seen that nobody had a queue, also of such that nobody ever had.
        gone: when queues were in no route: nothing is told of then, and nothing for certain of when they may have been.
        told_until: when the first of those who do not answer told last; None: all answer.
        sure_until: when the oldest look was on which all rests: what lasts is certain no longer.
        doubts: when somebody who is gone since had not answered: he may have had then what nobody else had.
        once: what a round of a wave told to the end is not told by a later one of it: figures that are added up.
        near: the rounds before and after these, and these, which may tell of a time instead.
    """
    spans, orphans = list(spans), list(orphans)
    told = until if told_until is None else min(until, told_until)
    nobody, two = _threes(spans, orphans, until, told, gone)
    away = as_perhaps_gone(gone, spans)
    nobody = replace(nobody, low=surely_lasting(nobody.low, until=told, sure_until=sure_until, gone=away))
    nobody = replace(nobody, low={queue: without(own, doubts) for queue, own in nobody.low.items()})
    lost, first_at = _had_last_by_lost(spans), dict[int, int]()
    for span in spans:
        first_at[span.queue] = min(span.at, first_at.get(span.queue, span.at))
    found: list[dict[int, Share]] = [{} for _ in windows]
    for queue in sorted(nobody.high.keys() | nobody.seen.keys() | two.high.keys()):
        kinds = [(each.seen.get(queue, NONE), each.high.get(queue, NONE)) for each in (nobody, two)]
        wave, told = 0, 0
        claimed = [
            claims_of(each.begun.get(queue, NONE), each.high.get(queue, NONE), near) if near else []
            for each in (nobody, two)
        ]
        for number in _touched(windows, [interval for _, outer in kinds for interval in outer], claimed[0]):
            window = windows[number]
            low, high = reach_of(window, claimed[0], _reach(window, kinds, until), until)
            told = told if window.wave == wave else low
            wave, own, told = window.wave, max(low, told) if once else low, max(told, high)
            share = Share(
                nobody.lasted(queue, own, high),
                two.lasted(queue, own, high),
                is_lasting=high == until and any(end == until for _, end in kinds[0][0][-1:]),
                is_doubted=told_until is not None and told_until < high,
                is_shared=high == until and any(end == until for _, end in kinds[1][0][-1:]),
                is_older=any(begin < window.since < end for begin, end in nobody.low.get(queue, NONE)),
                is_cut=any(begin < own < end or begin < high < end for begin, end in two.seen.get(queue, NONE)),
                is_two_older=any(begin < own < end for begin, end in two.seen.get(queue, NONE)),
                is_since_ever=any(begin == EVER and end > own for begin, end in two.high.get(queue, NONE)),
                overlap_least=_whole(two.low.get(queue, NONE), own, high),
                is_unheld=first_at.get(queue, high) >= high,
                is_lost=queue in lost,
                times=Times(*nobody.when(queue, own, high), *two.when(queue, own, high)),
                within=(own, high),
                parts=nobody.parts(queue, own, high),
                gaps_elsewhere=others(window, claimed[0], (own, high)) if near else (),
                twos_elsewhere=others(window, claimed[1], (own, high)) if near else (),
                own_gaps=tuple(claim for claim in claimed[0] if claim.round == window.number),
            )
            if share.unowned.high or share.overlap.high:
                found[number][queue] = share
    return found


def _threes(spans: list[Bounded], orphans: list[Held], until: int, told: int, gone: Gone) -> tuple[_Three, _Three]:
    """Tell what is so at least, as seen, and at most; that nobody had a queue until all had ``told``."""
    seen, surely, perhaps = as_seen_gone(gone), as_surely_gone(gone), as_perhaps_gone(gone, spans)
    seen_none, seen_two = stretches(map(as_seen, spans), until=until, orphans=orphans, gone=seen)
    least_none, _ = stretches(as_kept(spans), until=until, orphans=orphans, gone=perhaps)
    _, most_two = stretches(map(as_member, spans), until=until, orphans=orphans, gone=surely)
    most = list(as_possibly_nobodys(orphans, spans))
    most_none, _ = stretches(map(as_certain, spans), until=until, orphans=most, gone=surely)
    if any(span.silences for span in spans):  # of what its owner had before and after a silence alone, nothing is told
        wide, _ = stretches(all_certain(spans), until=until, orphans=most, gone=surely)
        most_none = {queue: _around(own, wide.get(queue, NONE)) for queue, own in most_none.items()}
    _, least_two = stretches(all_told(spans), until=until, gone=perhaps)
    nobody = _Three(_until(least_none, told), _until(seen_none, told), most_none, seen_none)
    return nobody, _Three(least_two, seen_two, most_two, seen_two)


def _around(times: Intervals, wide: Intervals) -> list[tuple[int, int]]:
    """Give of wider stretches those that go on from any of some times, or lie around it."""
    return [(low, high) for low, high in wide if any(low <= end and begin <= high for begin, end in times)]


def _had_last_by_lost(spans: Iterable[Bounded]) -> set[int]:
    """Name the queues that are nobody's now and were lost with who had them last."""
    last: dict[int, Bounded] = {}
    for span in sorted(spans, key=lambda each: FOREVER if each.until is None else each.until):
        last[span.queue] = span
    return {queue for queue, span in last.items() if span.until is not None and span.until_high is None}


def _until(each: Stretches, until: int) -> Stretches:
    return {
        queue: [(low, min(high, until)) for low, high in own if low < until]
        for queue, own in each.items()
        if own[0][0] < until
    }


def _touched(windows: Sequence[Window], intervals: Intervals, claims: Iterable[Claim]) -> list[int]:
    """Number the rounds in the time of which any of these intervals lies, and those that claim any."""
    begins, ends = [window.since for window in windows], [window.until + window.has_last for window in windows]
    lie = {
        n for low, high in intervals for n in range(bisect_right(ends, low), bisect_left(begins, high)) if low < high
    }
    claiming = {claim.round for claim in claims}
    return sorted(lie | {n for n, window in enumerate(windows) if claiming and window.number in claiming})


def _reach(window: Window, kinds: Iterable[tuple[Intervals, Intervals]], until: int) -> tuple[int, int]:
    """Give from when to when a queue's times are a round's: what began in it to its end, and with its bounds."""
    since, end = window.since, window.until
    for seen, outer in kinds:
        own = [(low, high) for low, high in seen if window.has(low)]
        end = max([end, *(min(high, window.limit) for _, high in own)])
        since = min([since, *_wide_begins(window, seen, outer)])
    return since, min(end, until)


def _wide_begins(window: Window, seen: Intervals, outer: Intervals) -> Iterator[int]:
    """Give since when what was seen to begin in a round may have been so; not before what was seen ended before it."""
    before = EVER
    for began, ended in seen:
        if window.has(began):
            yield from (max(low, before) for low, high in outer if EVER < low <= began < high)
        before = ended


def _whole(intervals: Intervals, since: int, until: int) -> int:
    """Add up all of the stretches of which any lies within a time."""
    return sum(high - low for low, high in intervals if low < until and high > since)


def _touching(intervals: Intervals, since: int, until: int) -> Stretch:
    return tuple((low, high) for low, high in intervals if low < until and high > since)


def _within(intervals: Intervals, since: int, until: int) -> int:
    return sum(max(0, min(high, until) - max(low, since)) for low, high in intervals)
