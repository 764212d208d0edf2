"""When queues of a group had no owner, or two: as steps over time. Pure: spans of holding in, steps out.

Spans can nest (a queue held by one member inside another's time), so they are swept, never paired.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

EVER, FOREVER = -(2**62), 2**62
NOTHING: Mapping[int, int] = {}
Intervals = Sequence[tuple[int, int]]
Stretches = dict[int, list[tuple[int, int]]]  # of each queue, in order, apart from each other


@dataclass(frozen=True, slots=True)
class Held:
    """A member had a queue from ``at`` until ``until``; None: has it still. ``queue`` and ``client`` are any keys."""

    queue: int
    at: int
    until: int | None
    client: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """From ``since`` until ``until``, ``queues`` queues were so."""

    since: int
    until: int
    queues: int


@dataclass(frozen=True, slots=True)
class Bounded:
    """A member had a queue; each end within its bounds. ``at_low`` None: it may have begun any time before.

    ``until`` None: it has it still, and told so last at ``told_until``.
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


def sweep(
    spans: Iterable[Bounded],
    *,
    since: int,
    until: int,
    orphans: Iterable[Held] = (),
    gone: Mapping[int, int] = NOTHING,
) -> tuple[list[Step], list[Step], list[Step]]:
    """Give the steps without owner, those perhaps without (as ``gaps`` does), and those with two or more, in a window.

    A queue has two owners while each told that it has it. It has no owner from the end of its last span on, until
    somebody has it again; before its first span nothing is known of it but what ``orphans`` tell: times in which it was
    seen that nobody has it.
    """
    spans = list(spans)
    nobody, perhaps = gaps(spans, until=until, orphans=list(orphans), gone=gone)
    _, two = stretches(map(as_told, spans), until=until, gone=gone)
    return _pile(_since(nobody, since)), _pile(_since(perhaps, since)), _pile(_since(two, since))


def as_seen(span: Bounded) -> Held:
    """Give it as one look told."""
    return Held(span.queue, span.at, span.until, span.client)


def as_told(span: Bounded) -> Held:
    """Shorten it to the time of which its holder told."""
    certain = as_certain(span)
    return certain if certain.until is not None else replace(certain, until=max(certain.at, span.told_until))


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


def as_kept(spans: Sequence[Bounded]) -> Iterator[Held]:
    """Lengthen spans to what may be; who was lost (no upper bound) may have a queue until it is another one's."""
    by_queue: dict[int, list[Bounded]] = {}
    for span in sorted(spans, key=lambda each: each.at):
        by_queue.setdefault(span.queue, []).append(span)
    for span in spans:
        held = as_possible(span)
        if span.until is not None and span.until_high is None:
            held = replace(held, until=_passed_on(span, span.until, by_queue[span.queue]))
        yield held


def _passed_on(span: Bounded, lost: int, spans: Sequence[Bounded]) -> int | None:
    """Give since when the queue of a lost one is another one's: who has it then, or the next; None: nobody's yet.

    One look may tell both, that it is lost and who has it; and who has it may have been looked at before.
    """
    after = bisect_left(spans, lost, key=lambda each: each.at)
    if any(other is not span and _is_told_at(other, lost) for other in spans[:after]):
        return lost
    return next((other.at for other in spans[after:] if other is not span), None)


def _is_told_at(span: Bounded, at: int) -> bool:
    told = as_told(span)
    return told.at <= at and told.until is not None and told.until >= at


def gaps(
    spans: Sequence[Bounded], *, until: int, orphans: Sequence[Held] = (), gone: Mapping[int, int] = NOTHING
) -> tuple[Stretches, Stretches]:
    """Give when each queue had nobody for certain, and when perhaps, until an instant, or until it had ``gone``.

    Perhaps: between the last look that saw it held and the first that saw it let go, or taken; and while who had it is
    lost without a word.
    """
    seen, _ = stretches(map(as_seen, spans), until=until, orphans=orphans, gone=gone)
    sure, _ = stretches(as_kept(spans), until=until, orphans=orphans, gone=gone)
    perhaps = {queue: without(own, sure.get(queue, ())) for queue, own in seen.items()}
    return {queue: without(own, perhaps[queue]) for queue, own in seen.items()}, perhaps


def stretches(
    spans: Iterable[Held], *, until: int, orphans: Iterable[Held] = (), gone: Mapping[int, int] = NOTHING
) -> tuple[Stretches, Stretches]:
    """Give when each queue had no owner, and when two or more, in order, until an instant, or until it had ``gone``."""
    by_queue: dict[int, list[Held]] = {}
    for span in spans:
        by_queue.setdefault(span.queue, []).append(span)
    nobody: Stretches = {}
    two: Stretches = {}
    for queue, low, high in _never_owned(orphans, {queue: min(x.at for x in own) for queue, own in by_queue.items()}):
        if low < (end := min(high, gone.get(queue, until), until)):
            nobody.setdefault(queue, []).append((low, end))
    for queue, own in by_queue.items():
        for low, high, owners in _counts(own, min(until, gone.get(queue, until))):
            if owners != 1:
                _append((two if owners else nobody).setdefault(queue, []), low, high)
    return nobody, two


def without(intervals: Intervals, others: Intervals) -> list[tuple[int, int]]:
    """Leave times out of stretches."""
    left = list(intervals)
    for since, until in others:
        parts = [part for low, high in left for part in ((low, min(high, since)), (max(low, until), high))]
        left = [(low, high) for low, high in parts if low < high]
    return left


def _append(intervals: list[tuple[int, int]], low: int, high: int) -> None:
    """Append an interval; one that begins at the end of the last one goes on with it."""
    if intervals and intervals[-1][1] == low:
        intervals[-1] = (intervals[-1][0], high)
    else:
        intervals.append((low, high))


def _since(each: Stretches, since: int) -> list[tuple[int, int]]:
    return [(max(low, since), high) for intervals in each.values() for low, high in intervals]


def _never_owned(orphans: Iterable[Held], first_at: Mapping[int, int]) -> Iterable[tuple[int, int, int]]:
    """Give when queues were seen to have nobody, before anybody had them."""
    for orphan in sorted(orphans, key=lambda each: each.at):
        end = FOREVER if orphan.until is None else orphan.until
        yield orphan.queue, orphan.at, min(end, first_at.get(orphan.queue, end))


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
