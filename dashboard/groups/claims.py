"""Which round tells of each bit of a time in which a queue had no owner, or two: that in which it was seen to begin.

What was possible before that, as far as looks leave it open, is that round's too; so nothing is told by two. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dashboard.groups.bands import EVER, Intervals, without

if TYPE_CHECKING:
    from dashboard.groups.shares import Window


class Claim(NamedTuple):
    """A time of which a round tells, by its number; None: each tells what lies in its own. ``began``: as was seen."""

    round: int | None
    low: int
    high: int
    began: int


def claims_of(seen: Intervals, outer: Intervals, windows: Sequence[Window]) -> list[Claim]:
    """Say which round tells of what was possible (``outer``), where ``seen`` is what looks showed of it.

    What no look showed was there at its end at most: then somebody was seen with the queue, or told again.
    """
    return list(_claims(seen, outer, windows))


def _claims(seen: Intervals, outer: Intervals, windows: Sequence[Window]) -> Iterator[Claim]:
    for low, high in outer:
        begin = low
        for began, ended in seen:
            if low <= began < high:
                end = min(ended, high)
                yield Claim(_owner(began, windows, is_exact=began == begin), begin, end, began)
                begin = end
        if begin < high:
            yield Claim(_owner(high, windows, is_exact=False), begin, high, high)


def _owner(at: int, windows: Sequence[Window], *, is_exact: bool) -> int | None:
    """Find the round of an instant: what is exact may be of one that was seen to begin later."""
    for window in reversed(windows):
        since = window.low if is_exact and window.low is not None else window.since
        if since <= at < window.until + window.has_last:
            return window.number
    return None


def reach_of(window: Window, claims: Iterable[Claim], within: tuple[int, int], until: int) -> tuple[int, int]:
    """Give from when to when a round tells of a queue, if it does of all that is in its own time, or that it claims."""
    since, end = within
    own = [claim for claim in claims if claim.round == window.number and claim.low != EVER]
    return min([since, *(claim.low for claim in own)]), min(until, max([end, *(claim.high for claim in own)]))


def others(window: Window, claims: Sequence[Claim], within: tuple[int, int]) -> tuple[Claim, ...]:
    """Give the times within some of which a round does not tell: another one does, or none."""
    told = [claim for claim in claims if claim.round is not None and claim.round != window.number]
    own = [(claim.low, claim.high) for claim in claims if claim.round == window.number]
    outside = without([within], [(window.since, window.until), *own, *((claim.low, claim.high) for claim in told)])
    found = [*told, *(Claim(None, low, high, low) for low, high in outside)]
    return tuple(claim for claim in found if claim.low < within[1] and claim.high > within[0])
