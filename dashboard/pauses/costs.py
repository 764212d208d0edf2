"""What rounds cost, added up from their handoffs. Pure: values in, figures with their bounds out; null stays null."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
    """Add up what handoffs cost together."""
    return Cost(
        queues=len({each.queue for each in handoffs}),
        longest=longest_of([each.pause for each in handoffs]),
        paused=sum_of(each.pause for each in handoffs),
        unowned=sum_of(each.unowned for each in handoffs),
        overlap=sum_of(each.overlap for each in handoffs),
    )


def longest_of(spans: Sequence[Between]) -> Between:
    """Bound the longest of some durations: it is at least the longest lower bound; one without an end has none."""
    if not spans:
        return Between(0, 0)
    lows = [each.low for each in spans if each.low is not None]
    highs = [each.high for each in spans if each.high is not None]
    return Between(max(lows, default=None), max(highs) if len(highs) == len(spans) else None)


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
    return pause if pause.is_known else Between(unowned.low, None)
