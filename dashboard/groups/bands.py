"""When queues of a group had no owner, or two: as steps over time. Pure: spans of holding in, steps out.

Spans can nest (a queue held by one member inside another's time), so they are swept, never paired.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

EVER, FOREVER = -(2**62), 2**62
Intervals = Sequence[tuple[int, int]]
Stretches = dict[int, list[tuple[int, int]]]  # of each queue, in order, apart from each other


@dataclass(frozen=True, slots=True)
class Held:
    """A member had a queue from ``at`` until ``until``; None: has it still. ``queue`` and ``client`` are any keys.

    ``low``: of what nobody was seen to have, since when that may have been so; None: since it was seen.
    """

    queue: int
    at: int
    until: int | None
    client: int = 0
    low: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """From ``since`` until ``until``, ``queues`` queues were so."""

    since: int
    until: int
    queues: int


@dataclass(frozen=True, slots=True)
class Bounded:
    """A member had a queue; each end within its bounds. ``at_low`` None: it may have begun any time before.

    ``until`` None: it has it still, and told so last at ``told_until``. ``silences``: when it told nothing, and then
    again. ``back_low``: who had it was lost, and may have been back since; at ``until_high`` it had told what it has.
    """

    queue: int
    client: int
    at: int
    at_low: int | None
    at_high: int | None
    until: int | None
    until_low: int | None
    until_high: int | None
    told_until: int
    silences: Intervals = ()
    back_low: int | None = None


@dataclass(frozen=True, slots=True)
class Away:
    """A queue left all routes between ``low`` (None: unknown) and ``at``; it was back between the other two.

    ``back_at`` None: it is in none still, as routes told last at ``told_at`` (None: nobody kept when that was).
    ``back_low`` None: nobody knows. ``at`` at ``FOREVER``: it may have left since ``low``, and nobody has looked.
    """

    low: int | None
    at: int
    back_low: int | None = None
    back_at: int | None = None
    told_at: int | None = None

    @property
    def seen(self) -> tuple[int, int]:
        """From when to when it was seen to be in none."""
        return self.at, FOREVER if self.back_at is None else self.back_at

    @property
    def surely(self) -> tuple[int, int]:
        """From when to when it was in none for certain."""
        if self.back_at is None:
            return self.at, FOREVER if self.told_at is None else max(self.at, self.told_at)
        return self.at, self.at if self.back_low is None else max(self.at, min(self.back_low, self.back_at))


Gone = Mapping[int, Sequence[Away]]
NOTHING: Gone = {}
NOWHERE: Mapping[int, Intervals] = {}


def sweep(
    spans: Iterable[Bounded],
    *,
    since: int,
    until: int,
    orphans: Iterable[Held] = (),
    gone: Gone = NOTHING,
    sure_until: int = FOREVER,
) -> tuple[list[Step], list[Step], list[Step]]:
    """Give the steps without owner, those perhaps without (as ``gaps`` does), and those with two or more, in a window.

    A queue has two owners while each told that it has it. It has no owner from the end of its last span on, until
    somebody has it again; before its first span nothing is known of it but what ``orphans`` tell: times in which it was
    seen that nobody has it.
    """
    spans = list(spans)
    nobody, perhaps = gaps(spans, until=until, orphans=list(orphans), gone=gone, sure_until=sure_until)
    _, two = stretches(all_told(spans), until=until, gone=as_perhaps_gone(gone, spans))
    return _pile(_since(nobody, since)), _pile(_since(perhaps, since)), _pile(_since(two, since))


def as_seen(span: Bounded) -> Held:
    """Give it as one look told."""
    return Held(span.queue, span.at, span.until, span.client)


def as_told(span: Bounded) -> Held:
    """Shorten it to the time of which its holder told."""
    certain = as_certain(span)
    return certain if certain.until is not None else replace(certain, until=max(certain.at, span.told_until))


def all_told(spans: Iterable[Bounded]) -> Iterator[Held]:
    """Shorten spans to the times of which their holders told: in silences they may have let go, and taken again."""
    for span in spans:
        yield from _parts(as_told(span), span)


def all_certain(spans: Iterable[Bounded]) -> Iterator[Held]:
    """Shorten spans to what is certain, without the silences that are over.

    That each had its queue when it was first seen to stays: since then it is known when nobody had it.
    """
    for span in spans:
        certain = as_certain(span)
        yield replace(certain, until=certain.at)
        yield from _parts(certain, span)


def _parts(held: Held, span: Bounded) -> Iterator[Held]:
    if not span.silences or (span.until is not None and span.until_low == span.until):  # by its own word until then
        yield held
        return
    for low, high in without([(held.at, FOREVER if held.until is None else held.until)], span.silences):
        yield replace(held, at=low, until=None if high == FOREVER else high)


def as_certain(span: Bounded) -> Held:
    """Shorten it to what is certain; what nobody saw end lasts."""
    if span.until is None:
        return Held(span.queue, max(span.at, span.at_high or span.at), None, span.client)
    at = min(max(span.at, span.at_high or span.at), span.until)
    end = span.until if span.until_low is None else min(span.until_low, span.until)
    return Held(span.queue, at, max(at, end), span.client)


def as_possible(span: Bounded) -> Held:
    """Lengthen it to what may be."""
    at = EVER if span.at_low is None else min(span.at_low, span.at)
    return Held(span.queue, at, None if span.until is None else max(span.until, span.until_high or 0), span.client)


def as_member(span: Bounded) -> Held:
    """Lengthen it to what may be while it was a member: who is lost owns nothing then, and may have it still."""
    return replace(as_possible(span), until=span.until)


def as_possibly_nobodys(orphans: Iterable[Held], spans: Iterable[Bounded]) -> Iterator[Held]:
    """Lengthen times in which nobody was seen to have a queue, before anybody had it, to what may be.

    They may have begun before they were seen; and where the first who had it may have had it by then, they last until
    that one had it for certain.
    """
    first: dict[int, tuple[int, int]] = {}  # of each queue, when it was somebody's as seen, and at the earliest
    for span in spans:
        at, low = first.get(span.queue, (FOREVER, FOREVER))
        first[span.queue] = min(at, span.at), min(low, as_possible(span).at)
    for orphan in orphans:
        at, low = first.get(orphan.queue, (FOREVER, FOREVER))
        if at < orphan.at:
            yield orphan
            continue
        is_taken = orphan.until is not None and low <= orphan.until
        since = orphan.at if orphan.low is None else min(orphan.low, orphan.at)
        yield replace(orphan, at=since, until=None if is_taken else orphan.until)


def as_kept(spans: Sequence[Bounded]) -> Iterator[Held]:
    """Lengthen spans to what may be; who was lost may have a queue until it is another one's.

    Or until it was back, and had told what it has; where it was another one's before, it may have it again while it is
    back and has not told. So a return makes nothing less certain of before.
    """
    by_queue: dict[int, list[Bounded]] = {}
    for span in sorted(spans, key=lambda each: each.at):
        by_queue.setdefault(span.queue, []).append(span)
    for span in spans:
        held = as_possible(span)
        if span.until is not None and (span.until_high is None or span.back_low is not None):
            ends = (_passed_on(span, span.until, by_queue[span.queue]), span.until_high)
            held = replace(held, until=min((end for end in ends if end is not None), default=None))
        yield held
        if span.back_low is not None and span.until_high is not None and span.back_low < span.until_high:
            yield Held(span.queue, span.back_low, span.until_high, span.client)


def _passed_on(span: Bounded, lost: int, spans: Sequence[Bounded]) -> int | None:
    """Give since when the queue of a lost one is another one's: who has it then, or the next; None: nobody's yet.

    One look may tell both, that it is lost and who has it; and who has it may have been looked at before.
    """
    after = bisect_left(spans, lost, key=lambda each: each.at)
    if any(other is not span and _is_told_at(other, lost) for other in spans[:after]):
        return lost
    return next((other.at for other in spans[after:] if other is not span), None)


def _is_told_at(span: Bounded, at: int) -> bool:
    return any(told.at <= at and told.until is not None and told.until >= at for told in all_told([span]))


def as_seen_gone(gone: Gone) -> dict[int, Intervals]:
    """Give when queues were seen to be in no route."""
    return {queue: [(at, back) for at, back in (each.seen for each in own) if at < back] for queue, own in gone.items()}


def as_surely_gone(gone: Gone) -> dict[int, Intervals]:
    """Give when queues were in no route for certain."""
    return {queue: [each.surely for each in own] for queue, own in gone.items()}


def as_perhaps_gone(gone: Gone, spans: Iterable[Bounded]) -> dict[int, Intervals]:
    """Give when queues may have been in no route: where nobody knows since when, since somebody had them last."""
    unknown = {queue for queue, own in gone.items() if any(each.low is None for each in own)}
    had: dict[int, list[tuple[int, int]]] = {}
    for span in spans:
        if span.queue in unknown:
            had.setdefault(span.queue, []).append((span.at, span.at if span.until is None else span.until))
    return {queue: [_perhaps(each, had.get(queue, ())) for each in own] for queue, own in gone.items()}


def _perhaps(away: Away, had: Intervals) -> tuple[int, int]:
    low, end = away.low, away.seen[1]
    if low is None:
        low = max((min(until, away.at) for at, until in had if at <= away.at), default=EVER)
    return low, end


def gaps(
    spans: Sequence[Bounded],
    *,
    until: int,
    orphans: Sequence[Held] = (),
    gone: Gone = NOTHING,
    sure_until: int = FOREVER,
) -> tuple[Stretches, Stretches]:
    """Give when each queue had nobody for certain, and when perhaps, until an instant; none while it was ``gone``.

    Perhaps: between the last look that saw it held and the first that saw it let go, or taken; while who had it is
    lost without a word; between the last look that saw it in a route and the first that did not, and back; and what
    lasts after ``sure_until``, when the oldest look was on which all rests.
    """
    seen, _ = stretches(map(as_seen, spans), until=until, orphans=orphans, gone=as_seen_gone(gone))
    away = as_perhaps_gone(gone, spans)
    sure, _ = stretches(as_kept(spans), until=until, orphans=orphans, gone=away)
    sure = surely_lasting(sure, until=until, sure_until=sure_until, gone=away)
    perhaps = {queue: without(own, sure.get(queue, ())) for queue, own in seen.items()}
    return {queue: without(own, perhaps[queue]) for queue, own in seen.items()}, perhaps


def surely_lasting(
    times: Stretches, *, until: int, sure_until: int, gone: Mapping[int, Intervals] = NOWHERE
) -> Stretches:
    """Cut what lasts until an instant, or until it was ``gone``, to when it was certain: somebody may have it since."""
    if sure_until >= until:
        return times
    cut: Stretches = {}
    for queue, own in times.items():
        open_ends = {until, *(low for low, _ in gone.get(queue, ()))}
        told = [(low, min(high, sure_until) if high in open_ends else high) for low, high in own]
        cut[queue] = [(low, high) for low, high in told if low < high]
    return cut


def stretches(
    spans: Iterable[Held], *, until: int, orphans: Iterable[Held] = (), gone: Mapping[int, Intervals] = NOWHERE
) -> tuple[Stretches, Stretches]:
    """Give when each queue had no owner, and when two or more, in order, until an instant; but not while ``gone``."""
    by_queue: dict[int, list[Held]] = {}
    for span in spans:
        by_queue.setdefault(span.queue, []).append(span)
    nobody: Stretches = {}
    two: Stretches = {}
    for queue, low, high in _never_owned(orphans, {queue: min(x.at for x in own) for queue, own in by_queue.items()}):
        if low < (end := min(high, until)):
            _append(nobody.setdefault(queue, []), low, end)
    for queue, own in by_queue.items():
        for low, high, owners in _counts(own, until):
            if owners != 1:
                _append((two if owners else nobody).setdefault(queue, []), low, high)
    return _there(nobody, gone), _there(two, gone)


def _there(times: Stretches, gone: Mapping[int, Intervals]) -> Stretches:
    """Leave out when queues were in no route; queues of which nothing stays are left out too."""
    for queue in times.keys() & gone.keys():
        times[queue] = without(times[queue], gone[queue])
    return {queue: own for queue, own in times.items() if own}


def without(intervals: Intervals, others: Intervals) -> list[tuple[int, int]]:
    """Leave times out of stretches."""
    left = list(intervals)
    for since, until in others:
        parts = [part for low, high in left for part in ((low, min(high, since)), (max(low, until), high))]
        left = [(low, high) for low, high in parts if low < high]
    return left


def joined_up(intervals: Intervals) -> list[tuple[int, int]]:
    """Put times in order, and those together that overlap or follow each other."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(intervals):
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return found


def _append(intervals: list[tuple[int, int]], low: int, high: int) -> None:
    """Append an interval; one that begins at the end of the last one goes on with it."""
    if intervals and intervals[-1][1] == low:
        intervals[-1] = (intervals[-1][0], high)
    else:
        intervals.append((low, high))


def _since(each: Stretches, since: int) -> list[tuple[int, int]]:
    return [(max(low, since), high) for intervals in each.values() for low, high in intervals]


def _never_owned(orphans: Iterable[Held], first_at: Mapping[int, int]) -> Iterable[tuple[int, int, int]]:
    """Give when queues were seen to have nobody, before anybody had them; no time twice of one queue."""
    told: dict[int, int] = {}  # until when, of each queue
    for orphan in sorted(orphans, key=lambda each: each.at):
        end = FOREVER if orphan.until is None else orphan.until
        low, high = max(orphan.at, told.get(orphan.queue, EVER)), min(end, first_at.get(orphan.queue, end))
        told[orphan.queue] = max(low, high)
        yield orphan.queue, low, high


def _counts(spans: list[Held], until: int) -> Iterable[tuple[int, int, int]]:
    """Count a queue's owners from its first span on, each member once."""
    edges = sorted(
        [(span.at, 1, span.client) for span in spans]
        + [(span.until, -1, span.client) for span in spans if span.until is not None]
    )
    mine: dict[int, int] = {}
    for number, (at, change, client) in enumerate(edges):
        mine[client] = mine.get(client, 0) + change
        following = edges[number + 1][0] if number + 1 < len(edges) else until
        if at < min(following, until):
            yield at, min(following, until), sum(1 for spans_of_it in mine.values() if spans_of_it > 0)


def _pile(intervals: list[tuple[int, int]]) -> list[Step]:
    """Pile intervals up to steps."""
    changes: dict[int, int] = {}
    for low, high in intervals:
        if low < high:
            changes[low] = changes.get(low, 0) + 1
            changes[high] = changes.get(high, 0) - 1
    steps: list[Step] = []
    count = 0
    edges = sorted(edge for edge, change in changes.items() if change)
    for number, edge in enumerate(edges[:-1]):
        count += changes[edge]
        if count:
            steps.append(Step(edge, edges[number + 1], count))
    return steps
