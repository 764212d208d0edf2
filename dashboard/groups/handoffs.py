"""What became of the queues that moved in a round: dropped at A, taken at B, and the time in between, with bounds.

Spans of holding may nest, and a queue may come back to whom it left: so the ends and the beginnings within a round
are matched in their order, queue by queue. A queue that its own member let go and took again is no handoff.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rebalance_engine.model import MessageQueue


@dataclass(frozen=True, slots=True)
class Instant:
    """When something happened: ``at``, within ``low`` and ``high``; None is unbounded."""

    at: int
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Span:
    """A member had a queue from ``since`` until ``until``; None: has it still."""

    queue: MessageQueue
    client: str
    since: Instant
    until: Instant | None
    first_pull_at: int | None = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """A duration in ms: at least, at most; None is unbounded."""

    low: int
    high: int | None


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


Window = tuple[int, int | None]


def tell(spans: Iterable[Span], *, since: int, before: int | None, exactly: Window | None = None) -> list[Story]:
    """Tell the handoffs of a round from ``since`` until ``before`` (None: it is open).

    Args:
        exactly: since when it may have been under way, and before when: an instant that is exact belongs to it if it
            lies within these. A look sees a change later than who made it. None: the same as the others.
    """
    by_queue: dict[MessageQueue, list[Span]] = {}
    for span in spans:
        by_queue.setdefault(span.queue, []).append(span)
    looked = (since, before)
    return [story for queue in sorted(by_queue) for story in _of_queue(by_queue[queue], looked, exactly or looked)]


def _of_queue(spans: list[Span], looked: Window, exactly: Window) -> Iterator[Story]:
    def is_in(at: Instant | None) -> bool:
        if at is None:
            return False
        since, before = exactly if at.low == at.high == at.at else looked
        return since <= at.at and (before is None or at.at < before)

    dropped = sorted((span for span in spans if is_in(span.until)), key=_end)
    taken = sorted((span for span in spans if is_in(span.since)), key=lambda span: span.since.at)
    for number in range(max(len(dropped), len(taken))):
        lost = dropped[number] if number < len(dropped) else None
        got = taken[number] if number < len(taken) else None
        if lost is None or got is None or lost.client != got.client:
            yield _story(lost, got)


def _story(lost: Span | None, got: Span | None) -> Story:
    known = lost or got
    assert known is not None
    dropped, taken = lost.until if lost else None, got.since if got else None
    return Story(
        queue=known.queue,
        from_client=lost.client if lost else None,
        to_client=got.client if got else None,
        dropped=dropped,
        taken=taken,
        first_pull_at=got.first_pull_at if got else None,
        unowned=_after(dropped, taken),
        overlap=_after(taken, dropped),
    )


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


def _end(span: Span) -> int:
    assert span.until is not None
    return span.until.at
