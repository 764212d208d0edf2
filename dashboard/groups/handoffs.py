"""What became of the queues that moved in a round: dropped at A, taken at B, and the time in between, with bounds.

Spans of holding may nest, and a queue may come back to whom it left: so the ends and the beginnings are matched in
their order, queue by queue (``pairing``), and only then given to the rounds. A queue that its own member let go and
took again is no handoff. One that somebody took beside an owner who kept it is told too, with the time in which both
had it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dashboard.groups.bands import EVER, FOREVER, without
from dashboard.groups.pairing import Instant, Pair, Span, Way, pairs
from rebalance_engine.model import MessageQueue

Times = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """A duration in ms: at least, at most; None is unbounded."""

    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Story:
    """One queue's way from a member to another; None is nobody. ``unowned`` or ``overlap`` None: it has no end yet.

    ``others``: when somebody else may have had it after it was let go, who was seen later, or is lost.
    """

    queue: MessageQueue
    from_client: str | None
    to_client: str | None
    dropped: Instant | None
    taken: Instant | None
    first_pull_at: int | None
    unowned: Bounds | None
    overlap: Bounds | None
    way: Way = Way.HANDED
    others: Times = ()

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
        for pair in pairs(by_queue[queue], parts[0].since, before):
            number, (lost, got, way) = _placed(pair, parts)
            if number is not None and (lost is None or got is None or lost.client != got.client):
                told[number].append(_without_others(_story(lost, got, way), by_queue[queue]))
    return told


def _placed(pair: Pair, parts: Sequence[Part]) -> tuple[int | None, Pair]:
    """Find the round that a pair is of. What was taken beside its owner before all of them is let go in one of them."""
    lost, got, way = pair
    number = _part_of(lost if way is not Way.BESIDE else None, got if way is not Way.KEPT else None, parts)
    if number is not None or way is not Way.BESIDE:
        return number, pair
    return _part_of(got, None, parts), (got, lost, Way.KEPT)


def _without_others(story: Story, spans: Sequence[Span]) -> Story:
    """Leave out of what is certain when another one may have had the queue, who was seen with it later, or is lost."""
    dropped, taken, unowned = story.dropped, story.taken, story.unowned
    if dropped is None or dropped.high is None:
        return story
    every = (
        time
        for each in spans
        if each.until is not dropped
        for time in may_have_had(each.since.low, each.since.at, each.until, dropped, each.back_low)
    )
    others = tuple(sorted(each for each in every if each[1] > dropped.high))
    if not unowned or not unowned.low or taken is None or taken.low is None:
        return replace(story, others=others)
    since, until = dropped.high, taken.low
    certain = without([(since, until)], [each for each in others if each[0] < until and each[1] > since])
    low = min(unowned.low, sum(high - low for low, high in certain))
    return replace(story, unowned=replace(unowned, low=low), others=others)


@dataclass(frozen=True, slots=True)
class Hold:
    """One member had a queue from ``at`` until ``until`` (None: it has it), or ``until_high`` (None: nobody knows).

    ``back_low``: as ``bands.Bounded`` has it.
    """

    client: str
    at: int
    at_low: int | None
    until: int | None
    until_high: int | None
    back_low: int | None = None

    def may_have_had(self, dropped: Instant) -> Times:
        """Say when it may have had a queue that another one let go."""
        end = None if self.until is None else Instant(self.until, None, self.until_high)
        return may_have_had(self.at_low, self.at, end, dropped, self.back_low)


def may_have_had(low: int | None, at: int, end: Instant | None, dropped: Instant, back_low: int | None) -> Times:
    """Say when somebody may have had a queue that another one let go.

    Who was lost before that passed it on, and may have it again while he is back (``back_low``) and has not told. Of
    who has it still this says when he may have come.
    """
    since = EVER if low is None else low
    if end is None:
        return ((since, at),)
    first = dropped.at if dropped.low is None else dropped.low
    is_lost = end.high is None or back_low is not None
    if end.at > first or not is_lost:
        return ((since, FOREVER if end.high is None else end.high),)
    again = ((back_low, end.high),) if back_low is not None and end.high is not None and back_low < end.high else ()
    return ((since, end.at), *again)


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
    elif overlap is not None and got is not None:
        owners = (got,) if lost is None else (lost, got)
        overlap = _while_told(overlap, got.since, got.certain_until, owners)
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
    began = max(one.since, other.since, key=lambda since: (since.at, since.low or 0))
    lasted = _after(began, _as_member(min(ends, key=_at, default=None)))
    if lasted is None:
        return None
    told = [end for span in (one, other) if (end := span.certain_until) is not None]
    return _while_told(lasted, began, min(told, default=None), (one, other))


def _while_told(overlap: Bounds, began: Instant, told: int | None, owners: Iterable[Span]) -> Bounds:
    """Say that both had a queue only as long as both told of it: who answers no more may have let it go.

    In a silence that is over too: nobody knows that he did not, and took it again.
    """
    since = began.at if began.high is None else began.high
    until = since + overlap.low if told is None else min(since + overlap.low, told)
    silent = [each for span in owners if not _is_of_his_word(span) for each in span.silences]
    lasted = without([(since, until)] if since < until else [], silent)
    return replace(overlap, low=sum(high - low for low, high in lasted))


def _is_of_his_word(span: Span) -> bool:
    """Whether who let a queue go said so himself: then he had it until then, silent to looks or not."""
    return span.until is not None and span.until.low == span.until.at


def _as_member(end: Instant | None) -> Instant | None:
    """Give when somebody had something no more as a member: who was lost may have it still, and owns it no longer."""
    return None if end is None else replace(end, high=end.at if end.high is None else min(end.high, end.at))


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
