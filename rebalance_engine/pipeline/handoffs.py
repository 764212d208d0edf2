"""The handoffs of one group, and what each cost: pauses, refused pulls, lock waits, duplicates. Plain Python.

Every figure says how it is known: exactly, or as a bound. What no line tells is None, never 0.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import accumulate

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.sweep import PERSISTS_WITHIN_MS, Change, Hold, changes, returns

# From the add to the first pull: 5.x dispatches new pull requests 500 ms later (RebalancePushImpl.dispatchPullRequest).
DISPATCHED_AFTER_MS = {"java5": 500}
TELLS_REFUSALS = ("java5", "java4")  # the others' logs have no line for a pull that a broker refused
TELLS_BEGINS = ("java5", "java4")  # C++'s clients persist what they do not begin with: what they had before
FIRST_PULL_WITHIN_MS = 60_000  # an orderly queue is pulled at once when it is locked; else its line is another hold's
REFUSED_WITHIN_MS = 35_000  # until the next heartbeat, which brings the subscription (rebalance.md 5)
TRIED_AGAIN_AFTER_MS = 1_000  # pullTimeDelayMillsWhenException
REFUSED_AGAIN_WITHIN_MS = 5_000  # one that comes later came after pulls that were not refused
DROPPED_BEFORE_MS = 1_000  # a queue is dropped first, and its removal written down last
LOCK_TRIED_WITHIN_MS = 25_000  # two tries of one wait are at most a timer's round of 20 s apart
STORED_WITHIN_MS = 2_000
PERSISTED_EVERY_MS = 5_000
BROKERS_SECOND_MS = 1_000
TOLD_LATER_MS = 60_000  # a pull loop or a listener that was at work when its queue was dropped tells it at its end


@dataclass(frozen=True, slots=True)
class Clue:
    """A line about one queue: what, when, by which process, with which numbers.

    ``client`` is None where nobody knows of which of its process it is: it may be of any. Of ``offset back``, a
    broker's line about an offset below the one that it had, ``number`` is the former.
    """

    at_ms: int
    what: str
    process: str
    number: int | None = None
    number2: int | None = None
    client: str | None = None


@dataclass(frozen=True, slots=True)
class Handoff:
    """One queue's way from one member to another; times and bounds in ms, offsets in messages.

    Attributes:
        pause_ms: nobody pulled for so long, at least; exactly, within the logs' resolution, where ``is_pause_exact``.
        refused: pulls that the broker refused because the new owner's subscription was not there yet; None where no
            line would tell it.
        lock_wait_ms: from the first refused lock to the take; None where none was refused.
        silence_most_ms: no longer than this was nothing consumed; None where no line bounds it.
        duplicates_least, duplicates_most: None where no line bounds them.
    """

    queue: MessageQueue
    change: Change
    first_pull_ms: int | None
    is_pause_exact: bool
    pause_ms: int
    refused: int | None
    lock_wait_ms: int | None
    silence_most_ms: int | None
    duplicates_least: int | None
    duplicates_most: int | None


def handoffs_of(
    holds: Mapping[MessageQueue, Sequence[Hold]],
    clues: Mapping[MessageQueue, Sequence[Clue]],
    refusals: Mapping[str, Sequence[int]] | None = None,
) -> Iterator[Handoff]:
    """Tell every handoff of a group, queue by queue, and every return of a queue to the member that had let it go.

    Args:
        clues: of each queue, in any order; those of kind ``persisted all`` may be a choice.
        refusals: by process, when pulls were refused of which no line says the queue, in order.
    """
    for queue, those in holds.items():
        mine = _Told(clues.get(queue, ()), those, refusals or {})
        changed = list(changes(those))
        mine.give_backs(changed)
        for change in (*changed, *returns(those)):
            yield _handoff(queue, change, mine)


class _Told:
    """One queue's clues, by process and kind, in order of time."""

    def __init__(self, clues: Iterable[Clue], holds: Iterable[Hold], refusals: Mapping[str, Sequence[int]]) -> None:
        self._refusals = refusals
        self._ends: dict[tuple[str, str], list[int]] = {}
        for hold in sorted(holds, key=lambda hold: hold.until_ms):
            self._ends.setdefault((hold.process, hold.client), []).append(hold.until_ms)
        self._clues: dict[tuple[str, str], list[Clue]] = {}
        for clue in sorted(clues, key=_at):
            kind = "persisted" if clue.what == "persisted all" else clue.what
            self._clues.setdefault((clue.process, kind), []).append(clue)
        self._tops: dict[tuple[str, str], tuple[list[Clue], list[int]]] = {}
        backs = (clue for those in self._clues.values() for clue in those if clue.what == "offset back")
        self._backs = sorted(backs, key=_at)
        self.backs_of: dict[Change, list[Clue]] = {}

    def between(self, hold: Hold, what: str, since_ms: int, until_ms: int) -> list[Clue]:
        """Give what the process of a hold said of a kind in a time, its end too."""
        those = self._clues.get((hold.process, what), [])
        begin = bisect_left(those, since_ms, key=_at)
        return [clue for clue in those[begin : bisect_right(those, until_ms, begin, key=_at)] if _is_of(clue, hold)]

    def told_until(self, hold: Hold) -> int:
        """Say until when what is told of a dropped queue is of a hold, and not of its client's next."""
        ends = self._ends[hold.process, hold.client]
        later = ends[at] - DROPPED_BEFORE_MS if (at := bisect_right(ends, hold.until_ms)) < len(ends) else None
        last = hold.until_ms + TOLD_LATER_MS
        return last if later is None else max(hold.until_ms, min(later, last))

    def refused_somewhere(self, hold: Hold, since_ms: int, until_ms: int) -> bool:
        """Ask whether a pull of the process of a hold was refused then, nobody knows of which queue."""
        times = self._refusals.get(hold.process, ())
        return bisect_left(times, since_ms) < bisect_right(times, until_ms)

    def refused_at_first(self, hold: Hold) -> list[Clue]:
        """Give the pulls that were refused one after another from the hold's beginning on."""
        found: list[Clue] = []
        last = hold.from_ms + DISPATCHED_AFTER_MS.get(hold.layout, 0)
        for clue in self.between(hold, "pull refused", hold.from_ms, hold.from_ms + REFUSED_WITHIN_MS):
            if clue.at_ms - last > REFUSED_AGAIN_WITHIN_MS:
                break
            found.append(clue)
            last = clue.at_ms
        return found

    def give_backs(self, changed: Iterable[Change]) -> None:
        """Give what brokers say of offsets that went back to the one handoff in which two consumed then.

        A broker tells the second only. A line at any other time is of a member whose pulls overtook each other; of one
        that may be of two handoffs nobody knows of which.
        """
        shared = sorted(
            (
                (change.taker.from_ms - BROKERS_SECOND_MS, change.giver.surely_until_ms + BROKERS_SECOND_MS, change)
                for change in changed
                if change.taker.from_ms <= change.giver.surely_until_ms
            ),
            key=lambda one: one[0],
        )
        there: list[tuple[int, int, Change]] = []  # by their ends
        begun = 0
        for clue in self._backs:
            while begun < len(shared) and shared[begun][0] < clue.at_ms:
                heappush(there, (shared[begun][1], begun, shared[begun][2]))
                begun += 1
            while there and there[0][0] < clue.at_ms:
                heappop(there)
            if len(there) == 1:
                self.backs_of.setdefault(there[0][2], []).append(clue)

    def numbers(self, hold: Hold, what: str, since_ms: int, until_ms: int) -> list[int]:
        """Give the numbers that these have."""
        return [clue.number for clue in self.between(hold, what, since_ms, until_ms) if clue.number is not None]

    def waiting_since(self, hold: Hold) -> int:
        """Tell when the first lock of those that were refused before a hold was: a wait's tries follow each other."""
        those = [clue for clue in self._clues.get((hold.process, "lock refused"), []) if _is_of(clue, hold)]
        first = hold.from_ms
        for at in range(bisect_right(those, first, key=_at) - 1, -1, -1):
            if first - those[at].at_ms > LOCK_TRIED_WITHIN_MS:
                break
            first = those[at].at_ms
        return first

    def rise_over(self, hold: Hold, top: int) -> int | None:
        """Tell when the process of a hold first persisted a higher offset, from the hold's beginning on."""
        those, tops = self._persisted(hold)
        begin = bisect_left(those, hold.from_ms, key=_at)
        if begin == len(those) or tops[begin] <= top:
            return None
        return next(those[at].at_ms for at in range(begin, len(those)) if (those[at].number or 0) > top)

    def first_persisted(self, hold: Hold) -> int | None:
        """Tell which offset the client of a hold persisted first in it."""
        those, _ = self._persisted(hold)
        begin = bisect_left(those, hold.from_ms, key=_at)
        return those[begin].number if begin < len(those) else None

    def _persisted(self, hold: Hold) -> tuple[list[Clue], list[int]]:
        """Give what the client of a hold persisted, and of each the highest of it and all later ones."""
        key = hold.process, hold.client
        if key not in self._tops:  # most often nothing is looked for
            those = [clue for clue in self._clues.get((hold.process, "persisted"), []) if _is_of(clue, hold)]
            self._tops[key] = those, list(accumulate((clue.number or 0 for clue in reversed(those)), max))[::-1]
        return self._tops[key]


def _is_of(clue: Clue, hold: Hold) -> bool:
    return clue.client is None or clue.client == hold.client


def _at(clue: Clue) -> int:
    return clue.at_ms


def _handoff(queue: MessageQueue, change: Change, told: _Told) -> Handoff:
    giver, taker = change.giver, change.taker
    refused = told.refused_at_first(taker)
    pulled = told.between(taker, "first pull", taker.from_ms, taker.from_ms + FIRST_PULL_WITHIN_MS)
    first_pull_ms = pulled[0].at_ms if pulled else None
    taken = taker.from_ms if taker.from_after_ms is None else taker.from_after_ms
    is_unseen = taker.from_ms - taker.may_begin_ms > PERSISTS_WITHIN_MS  # what it met at first its log may lack
    begins = (None if is_unseen else first_pull_ms) or taken + DISPATCHED_AFTER_MS.get(taker.layout, 0)
    if refused and not is_unseen:
        begins = max(begins, refused[-1].at_ms + TRIED_AGAIN_AFTER_MS)
    is_refused_unsaid = told.refused_somewhere(taker, taker.from_ms, taker.from_ms + REFUSED_WITHIN_MS)
    tells_refusals = not is_unseen and (refused or pulled or taker.layout in TELLS_REFUSALS)
    least, most = _surely_twice(told, change), _perhaps_twice(told, change)
    return Handoff(
        queue=queue,
        change=change,
        first_pull_ms=first_pull_ms,
        is_pause_exact=first_pull_ms is not None
        and giver.until_after_ms is None
        and not is_refused_unsaid
        and not is_unseen,
        pause_ms=max(0, begins - giver.until_ms),
        refused=len(refused) if tells_refusals and not is_refused_unsaid else None,
        lock_wait_ms=None if is_unseen else taker.from_ms - told.waiting_since(taker) or None,
        silence_most_ms=_silence(told, change),
        duplicates_least=least if least is None or most is None else min(least, most),
        duplicates_most=most,
    )


def _silence(told: _Told, change: Change) -> int | None:
    """Bound it by the offsets that are persisted every 5 s: the giver's last, and the taker's first that tells more.

    The giver's last grew after the one before it was persisted. A member persists where it begins, too, which is what
    the broker had: no more than what the giver persisted when it let go, or, where it did not, what came with its
    pulls. Where the taker had consumed something before the giver's last, nothing was silent.
    """
    giver, taker = change.giver, change.taker
    lasts = [one for one in told.between(giver, "persisted", giver.from_ms, giver.until_ms) if one.number is not None]
    if not lasts:
        return None
    top = max(clue.number or 0 for clue in lasts)
    reached = next(place for place, clue in enumerate(lasts) if clue.number == top)
    since = lasts[reached].at_ms - PERSISTED_EVERY_MS
    if reached:
        since = max(since, lasts[reached - 1].at_ms)
    base = _told_begin(told, taker) if taker.layout in TELLS_BEGINS else None
    if base is None:
        is_final = giver.ended == "released" and lasts[-1].at_ms >= giver.until_ms - DROPPED_BEFORE_MS
        base = top if is_final else max(top, told.first_persisted(taker) or 0)
    rose_ms = told.rise_over(taker, base)
    return None if rose_ms is None else max(0, rose_ms - since)


def _surely_twice(told: _Told, change: Change) -> int | None:
    """Count messages of which two members tell: what a listener finished after the drop, and what a broker saw.

    What a listener ended after the drop was consumed and not committed. While two hold a queue, a broker that is
    told an offset below the one it has (``ConsumerOffsetManager``) is told it by the other member. Of what lies
    between, both consumed what is not below where the taker began, nor above what the giver persisted; where either
    is not known, nothing is counted. Either may name messages of the other.
    """
    giver = change.giver
    around = giver.until_ms - DROPPED_BEFORE_MS, told.told_until(giver)
    found = told.between(giver, "uncommitted", *around)
    counts = [sum(clue.number or 0 for clue in found)] if found else []
    if seen := told.backs_of.get(change):
        begin, ends = _begin_of(told, change), told.numbers(giver, "persisted", giver.from_ms, giver.until_ms)
        if begin is not None and ends and (both := _within(seen, begin, max(ends))):
            counts.append(both)
    return max(counts, default=None)


def _within(backs: Iterable[Clue], begin: int, end: int) -> int:
    """Count the offsets from ``begin`` up to ``end``, without it, that lie in any of the stretches that went back."""
    counted, reached = 0, begin
    for since, until in sorted(
        (clue.number, clue.number2) for clue in backs if clue.number is not None and clue.number2
    ):
        counted += max(0, min(until, end) - max(since, reached))
        reached = max(reached, until)
    return counted


def _perhaps_twice(told: _Told, change: Change) -> int | None:
    """Bound them by how far the giver had pulled when its loop ended, and where the taker began."""
    giver = change.giver
    since = max(giver.from_ms, giver.until_ms - TOLD_LATER_MS)
    ends = told.numbers(giver, "pull ended", since, told.told_until(giver))
    begins = _begin_of(told, change)
    if not ends or begins is None or giver.ended == "lost":
        return None
    return max(0, max(ends) - begins)


def _begin_of(told: _Told, change: Change) -> int | None:
    """Find where the taker began: its own line, or the last offset that was persisted before it asked."""
    giver, taker = change.giver, change.taker
    own = _told_begin(told, taker)
    if own is not None:
        return own
    if change.unowned_ms > STORED_WITHIN_MS:
        return (
            None  # the broker was away, perhaps, and came back with offsets of up to 5 s before: they go to disk then
        )
    return max(told.numbers(giver, "persisted", giver.from_ms, taker.from_ms), default=None)


def _told_begin(told: _Told, taker: Hold) -> int | None:
    soon = taker.from_ms - 1_000, taker.from_ms + FIRST_PULL_WITHIN_MS
    own = [number for what in ("start offset", "first pull") for number in told.numbers(taker, what, *soon)]
    return min(own, default=None)
