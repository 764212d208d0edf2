"""What rounds cost, added up from their handoffs. Pure: values in, figures with their bounds out; null stays null."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from dashboard.groups.handoffs import longest_pause, stood_still

LONGEST_MS = 2**53  # more than anything that is measured


@dataclass(frozen=True, slots=True)
class Between:
    """A duration in ms, at least and at most; None is unknown on that side."""

    low: int | None = None
    high: int | None = None

    @property
    def is_known(self) -> bool:
        """Whether anything is known of it."""
        return self.low is not None or self.high is not None


UNKNOWN = Between()


@dataclass(frozen=True, slots=True)
class Told:
    """One handoff, as it was stored.

    Attributes:
        queue: its name.
        round: the number of its round.
        at: when the queue was let go, or, where nobody saw that, when it was taken, or when its round began.
        pause: from the drop to the first pull. Without a first pull at least as long as nobody had it.
        unowned, overlap: how long nobody had it, or two.
        is_seen: ``at`` is when it was let go.
        has_pause: somebody let it go, and there is a pause to tell of.
        dropped, taken, pulled: when it was let go, taken and pulled first, at the earliest and at the latest.
    """

    queue: str
    round: int
    at: int
    from_client: str
    to_client: str
    pause: Between
    unowned: Between
    overlap: Between
    is_seen: bool
    has_pause: bool = True
    dropped: Between = UNKNOWN
    taken: Between = UNKNOWN
    pulled: Between = UNKNOWN


@dataclass(frozen=True, slots=True)
class Unmoved:
    """A queue that nobody had for a while in a round, and of which no handoff tells.

    ``unowned`` is what of it is added up, ``whole`` how long in all, in ms, at least: another round may count the rest.
    """

    queue: str
    unowned: Between
    whole: int = 0


@dataclass(frozen=True, slots=True)
class Sum:
    """Durations added up over queues: ``low`` and ``high`` as far as known, and of how many one bound is not.

    With any unknown upper bound the sum has none.
    """

    low: int
    high: int | None
    unknown: int


@dataclass(frozen=True, slots=True)
class Cost:
    """What one round, one cause or one deploy cost."""

    queues: int
    longest: Between
    paused: Sum
    unowned: Sum
    overlap: Sum


def cost_of(handoffs: Sequence[Told]) -> Cost:
    """Add up what handoffs cost together: the time in which several of them overlap in one queue counts once."""
    return Cost(
        queues=len({each.queue for each in handoffs}),
        longest=longest_of([each.pause for each in handoffs if each.has_pause]),
        paused=_sum_once([_Part(each.queue, each.pause, each.dropped, _pause_ends(each)) for each in handoffs]),
        unowned=_sum_once([_Part(each.queue, each.unowned, each.dropped, each.taken) for each in handoffs]),
        overlap=_sum_once([_Part(each.queue, each.overlap, each.taken, each.dropped) for each in handoffs]),
    )


def _pause_ends(told: Told) -> Between:
    """Say when what is known of a pause ended: where no first pull is, that is when nobody had the queue."""
    return told.pulled if told.pulled.is_known else told.taken


def without(cost: Cost, queues: int) -> Cost:
    """Leave a cost without upper bounds: what so many more queues cost is not told yet."""
    paused, unowned, overlap = (
        Sum(each.low, None, each.unknown + queues) for each in (cost.paused, cost.unowned, cost.overlap)
    )
    return Cost(cost.queues, Between(cost.longest.low or None), paused, unowned, overlap)


def with_unmoved(cost: Cost, unmoved: Sequence[Unmoved]) -> Cost:
    """Add what queues cost that nobody had and of which no handoff tells: nobody pulled them at least so long.

    Where nobody only may have had one, it is in no pause, as on the page of its round.
    """
    certain = [each for each in unmoved if each.unowned.low or each.whole]
    lows = dict.fromkeys((each.queue for each in certain), 0)
    for each in certain:
        lows[each.queue] += each.unowned.low or 0
    unowned = sum_of(each.unowned for each in unmoved)
    open_ended = len({each.queue for each in unmoved if each.unowned.high is None})
    cost = replace(cost, unowned=_both(cost.unowned, replace(unowned, unknown=open_ended)))
    if not certain:
        return cost
    most = max(*lows.values(), *(each.whole for each in certain))
    longest = longest_of([cost.longest, Between(most, None)])
    paused = Sum(cost.paused.low + sum(lows.values()), None, cost.paused.unknown + len(lows))
    return replace(cost, longest=longest, paused=paused)


def _both(one: Sum, other: Sum) -> Sum:
    high = None if one.high is None or other.high is None else one.high + other.high
    return Sum(one.low + other.low, high, one.unknown + other.unknown)


@dataclass(frozen=True, slots=True)
class _Part:
    """A duration of a queue, from somewhere within ``since`` until somewhere within ``until``."""

    queue: str
    lasted: Between
    since: Between
    until: Between

    @property
    def certain(self) -> tuple[int, int] | None:
        """The time in which it was so for certain; None is unknown."""
        return None if self.since.high is None or self.until.low is None else (self.since.high, self.until.low)

    @property
    def possible(self) -> tuple[int, int] | None:
        """The time in which it may have been so; None has no bounds."""
        return None if self.since.low is None or self.until.high is None else (self.since.low, self.until.high)


def _sum_once(parts: Sequence[_Part]) -> Sum:
    by_queue: dict[str, list[_Part]] = {}
    for each in parts:
        by_queue.setdefault(each.queue, []).append(each)
    sums = [_of_queue(own) for own in by_queue.values()]
    unknown = sum(each.unknown for each in sums)
    high = None if unknown else sum(each.high or 0 for each in sums)
    return Sum(sum(each.low for each in sums), high, unknown)


def _of_queue(parts: Sequence[_Part]) -> Sum:
    """Add up one queue's durations; where their times are known, what two of them share counts once."""
    total = sum_of(each.lasted for each in parts)
    if len(parts) == 1:
        return total
    possible = [each.possible for each in parts]
    low = min(total.low, _low_of(parts))
    if total.high is None or None in possible:
        return Sum(low, total.high, total.unknown)
    return Sum(low, max(low, min(total.high, _length(possible))), 0)


def _low_of(parts: Sequence[_Part]) -> int:
    """Add up what is certain of parts that lie apart; of those that may overlap, what is certain of all together.

    Of a part of which less is certain than its bounds allow nobody knows which of it: alone, it counts as the longest.
    """
    low = 0
    for own in _apart(parts):
        whole = [each.certain for each in own if each.certain and each.certain[1] - each.certain[0] == each.lasted.low]
        low += max(_length(whole), *(each.lasted.low or 0 for each in own))
    return low


def _apart(parts: Sequence[_Part]) -> Iterator[list[_Part]]:
    """Put together the parts whose times may overlap."""
    own, end = list[_Part](), -LONGEST_MS
    for each in sorted(parts, key=lambda part: _widest(part)[0]):
        since, until = _widest(each)
        if own and since >= end:
            yield own
            own = []
        own.append(each)
        end = max(end, until)
    yield own


def _widest(part: _Part) -> tuple[int, int]:
    since, until = part.since.low, part.until.high
    return -LONGEST_MS if since is None else since, LONGEST_MS if until is None else until


def _length(spans: Iterable[tuple[int, int] | None]) -> int:
    """Give how long the union of some times is."""
    length, end = 0, -LONGEST_MS
    for low, high in sorted(span for span in spans if span is not None):
        length += max(0, high - max(low, end))
        end = max(end, high)
    return length


def longest_of(spans: Sequence[Between]) -> Between:
    """Bound the longest of some pauses, as pages of rounds, API and metrics do."""
    return Between(*longest_pause([(each.low, each.high) for each in spans]))


def sum_of(spans: Iterable[Between]) -> Sum:
    """Add durations up."""
    low = high = unknown = 0
    for each in spans:
        low += each.low or 0
        high += each.high or 0
        unknown += each.high is None
    return Sum(low, None if unknown else high, unknown)


def pause_of(pause: Between, unowned: Between) -> Between:
    """Bound how long nobody pulled; where no first pull is known, at least as long as nobody had the queue."""
    return Between(*stood_still((pause.low, pause.high), unowned.low))
