"""What became of the queues that moved in a round: dropped at A, taken at B, and the time in between, with bounds.

Spans of holding may nest, and a queue may come back to whom it left: so the ends and the beginnings are matched in
their order, queue by queue, and only then given to the rounds. A queue that its own member let go and took again is no
handoff. One that somebody took beside an owner who kept it is told too, with the time in which both had it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from rebalance_engine.model import MessageQueue


@dataclass(frozen=True, slots=True)
class Instant:
    """When something happened: ``at``, within ``low`` and ``high``; None is unbounded."""

    at: int
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Span:
    """A member had a queue from ``since`` until ``until``; None: has it still, and said so last at ``told_at``."""

    queue: MessageQueue
    client: str
    since: Instant
    until: Instant | None
    first_pull_at: int | None = None
    told_at: int | None = None

    @property
    def certain_until(self) -> int | None:
        """Until when it had it for certain; None: to this day."""
        if self.until is None:
            return self.told_at
        return self.since.at if self.until.low is None else self.until.low


@dataclass(frozen=True, slots=True)
class Bounds:
    """A duration in ms: at least, at most; None is unbounded."""

    low: int
    high: int | None


class Way(Enum):
    """How a queue came from one to the other.

    ``BESIDE``: the other took it and let it go again, and the one had it all the while. ``KEPT``: the one let it go,
    and the other had it before, and still.
    """

    HANDED = "handed over"
    BESIDE = "taken beside its owner, and let go again"
    KEPT = "let go beside its owner"


@dataclass(frozen=True, slots=True)
class Story:
    """One queue's way from a member to another; None is nobody. ``unowned`` or ``overlap`` None: it has no end yet."""

    queue: MessageQueue
    from_client: str | None
    to_client: str | None
    dropped: Instant | None
    taken: Instant | None
    first_pull_at: int | None
    unowned: Bounds | None
    overlap: Bounds | None
    way: Way = Way.HANDED

    @property
    def is_known(self) -> bool:
        """Whether it is known to have changed owner; who was first seen with a queue may have had it all the time."""
        return self.dropped is not None or (self.taken is not None and self.taken.low is not None)


@dataclass(frozen=True, slots=True)
class Part:
    """One round of a chain in which each superseded the one before it, as far as handoffs are told by it.

    It was seen to begin at ``at``, and did not before ``low``. ``since``: what is exact, and lies before ``low``, may
    still be its doing: members let go before they say that they leave. ``came`` and ``went`` are its causes' clients.
    """

    since: int
    low: int
    at: int
    came: frozenset[str] = frozenset()
    went: frozenset[str] = frozenset()


Pair = tuple[Span | None, Span | None, Way]
TAKE = 1  # of what one look shows, a drop comes first; but nobody drops what he did not take


def tell(spans: Iterable[Span], parts: Sequence[Part], *, before: int | None = None) -> list[list[Story]]:
    """Tell the handoffs of a chain of rounds, each round's, until ``before`` (None: there was none since).

    A drop and the take that follows it are one story, of the round in which the first of the two happened. So a queue
    that a superseded round left unowned is its own to the end, whoever takes it. But what somebody took who came in a
    later round is of that one where nobody knows that it was let go before that may have begun.

    Args:
        spans: all that began, ended or lasted within the chain, of the queues of which any began or ended.
        parts: the rounds in their order, at least one.
        before: since when the next chain may have been under way.
    """
    by_queue: dict[MessageQueue, list[Span]] = {}
    for span in spans:
        by_queue.setdefault(span.queue, []).append(span)
    told: list[list[Story]] = [[] for _ in parts]
    for queue in sorted(by_queue):
        for lost, got, way in _pairs(by_queue[queue], parts[0].since, before):
            number = _part_of(lost if way is not Way.BESIDE else None, got if way is not Way.KEPT else None, parts)
            if number is not None and (lost is None or got is None or lost.client != got.client):
                told[number].append(_story(lost, got, way))
    return told


def _pairs(spans: Sequence[Span], since: int, before: int | None) -> Iterator[Pair]:
    """Walk through the takes and drops of one queue, and say which belong together; what has no other half is alone."""
    holders = [span for span in spans if span.since.at < since and (span.until is None or span.until.at >= since)]
    dropped, taken, alone = list[Span](), list[Span](), list[Span]()
    for at, kind, span in _events(spans):
        if at < since or (before is not None and at >= before):
            continue
        if kind == TAKE:
            if dropped:
                yield dropped.pop(0), span, Way.HANDED
            else:
                (taken if holders else alone).append(span)
            holders.append(span)
            continue
        holders = [other for other in holders if other is not span]
        keeper = min((other for other in holders if other.client != span.client), key=_began, default=None)
        if any(other is span for other in taken):
            taken = [other for other in taken if other is not span]
            yield (keeper, span, Way.BESIDE) if keeper is not None else (None, span, Way.HANDED)
        elif taken:
            yield span, taken.pop(0), Way.HANDED
        elif keeper is not None:
            if not all(_ends_with(other, span) for other in holders):  # together: the last one of them tells it
                yield span, keeper, Way.KEPT
        else:
            dropped.append(span)
    yield from ((span, None, Way.HANDED) for span in dropped)
    yield from ((None, span, Way.HANDED) for span in (*taken, *alone))


def _events(spans: Sequence[Span]) -> list[tuple[int, int, Span]]:
    """Give takes and drops in their order: of one instant the drops first, but not of what was taken then.

    Of drops that were seen together the one comes last that may have been the last.
    """
    ended = [
        (span.until.at, 2 * TAKE * (span.until.at == span.since.at), span.until.low or 0, span)
        for span in spans
        if span.until is not None
    ]
    began = [(span.since.at, TAKE, 0, span) for span in spans]
    events = sorted((*ended, *began), key=lambda event: (event[:3], event[3].client))
    return [(at, kind, span) for at, kind, _, span in events]


def _ends_with(other: Span, span: Span) -> bool:
    return other.until is not None and span.until is not None and other.until.at == span.until.at


def _began(span: Span) -> tuple[int, str]:
    return span.since.at, span.client


def _part_of(lost: Span | None, got: Span | None, parts: Sequence[Part]) -> int | None:
    """Find the round that a handoff is of; None: of none."""
    dropped, taken = lost.until if lost is not None else None, got.since if got is not None else None
    places = [_place(at, parts, is_early=lost is not None) for at in (dropped, taken) if at is not None]
    number = min((place for place in places if place is not None), default=None)
    if number is None:
        return None
    for later in range(number + 1, len(parts)):
        part = parts[later]
        if got is not None and got.client in part.came and got.since.at >= part.low and not _was_over(dropped, part):
            return later
        if got is not None and got.client in parts[number].came:
            continue
        if lost is not None and dropped is not None and lost.client in part.went and dropped.at >= part.since:
            return later
    return number


def _was_over(dropped: Instant | None, later: Part) -> bool:
    """Whether somebody had let a queue go for certain before a later round may have begun."""
    end = _as_member(dropped)
    return end is not None and end.high is not None and end.high < later.low


def _place(at: Instant, parts: Sequence[Part], *, is_early: bool) -> int | None:
    """Find the round in which something happened: a look sees a change later than who made it.

    What is ``is_early`` may have come a while before the first round began: what somebody let go of.
    """
    if at.low == at.high == at.at:
        starts = [part.since if is_early and part is parts[0] else part.low for part in parts]
    else:
        starts = [part.at for part in parts]
    return max((number for number, start in enumerate(starts) if start <= at.at), default=None)


def _story(lost: Span | None, got: Span | None, way: Way) -> Story:
    known = lost or got
    assert known is not None
    dropped, taken = lost.until if lost and way is not Way.BESIDE else None, got.since if got else None
    unowned, overlap = _after(dropped, taken), _after(taken, _as_member(dropped))
    if way is not Way.HANDED and lost is not None and got is not None:
        unowned, overlap = Bounds(0, 0), _both(lost, got)
    return Story(
        queue=known.queue,
        from_client=lost.client if lost else None,
        to_client=got.client if got else None,
        dropped=dropped,
        taken=taken,
        first_pull_at=got.first_pull_at if got else None,
        unowned=unowned,
        overlap=overlap,
        way=way,
    )


def _both(one: Span, other: Span) -> Bounds | None:
    """Bound how long two had a queue, of whom one had it at the end of the other's time.

    That both had it is certain only as long as each told of it: who does not answer may have let it go since.
    """
    ends = [span.until for span in (one, other) if span.until is not None]
    began = max(one.since, other.since, key=_at)
    lasted = _after(began, _as_member(min(ends, key=_at, default=None)))
    if lasted is None:
        return None
    told = [end - (began.high or began.at) for span in (one, other) if (end := span.certain_until) is not None]
    return replace(lasted, low=max(0, min([lasted.low, *told])))


def _as_member(end: Instant | None) -> Instant | None:
    """Give when somebody had something no more as a member: who was lost may have it still, and owns it no longer."""
    return end if end is None or end.high is not None else replace(end, high=end.at)


def _at(instant: Instant) -> int:
    return instant.at


def _after(first: Instant | None, second: Instant | None) -> Bounds | None:
    """Bound how long ``second`` came after ``first``; not at all is 0."""
    if first is None or second is None:
        return None
    low = 0 if second.low is None or first.high is None else max(0, second.low - first.high)
    high = None if second.high is None or first.low is None else max(0, second.high - first.low)
    return Bounds(low, high)


def pause_of(story: Story) -> Bounds | None:
    """Bound how long nobody pulled, from the drop to the first pull; None where either is not known."""
    dropped, pull = story.dropped, story.first_pull_at
    if dropped is None or pull is None or (story.taken is not None and pull < (story.taken.low or pull)):
        return None
    return _after(dropped, Instant(pull, pull, pull))


Pause = tuple[int | None, int | None]
"""How long nobody pulled a queue, in ms: at least, and at most; None is unknown on that side."""

NO_PAUSE: Pause = (0, 0)
UNKNOWN_PAUSE: Pause = (None, None)


def stood_still(pause: Pause, unowned_low: int | None) -> Pause:
    """Bound how long nobody pulled; where no first pull is known, at least as long as nobody had it: who could pull?"""
    return pause if pause != UNKNOWN_PAUSE else (unowned_low, None)


def longest_pause(pauses: Sequence[Pause]) -> Pause:
    """Bound the longest of some pauses, as pages, API and metrics all tell it. Of none it is ``NO_PAUSE``.

    It is at least the longest lower bound, and has no upper one where any has none. At least 0 and at most anything is
    ``UNKNOWN_PAUSE``.
    """
    low = max((low for low, _ in pauses if low is not None), default=None)
    highs = [high for _, high in pauses if high is not None]
    if not pauses:
        return NO_PAUSE
    if len(highs) == len(pauses):
        return low, max(highs)
    return (low, None) if low else UNKNOWN_PAUSE
