"""Reads the queues that had no owner in rounds and of which no handoff tells: sums of handoffs leave them out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dashboard.groups.models import Group, Round
from dashboard.groups.owned import places_of, shares_both_ways
from dashboard.groups.shares import Share
from dashboard.pauses.costs import LONGEST_MS, Between, Told, Unmoved

Times = dict[str, list[tuple[int, int]]]


def unmoved_in(
    *, group: Group, rounds: Sequence[Round], handoffs: Iterable[Told], now: int
) -> tuple[dict[int, list[Unmoved]], bool]:
    """Give such queues by the number of the round, and whether all that is known of queues was read.

    A queue of which a handoff of another round tells within this one's time is that one's. Where nobody has a queue in
    several rounds, each time is told by one of them, and of the others it is left open how long.

    Args:
        rounds: in order, without a gap.
        handoffs: of all of them.
    """
    if not rounds:
        return {}, True
    first, last = rounds[0].number, rounds[-1].number
    own, times = set[tuple[int, str]](), Times()
    for each in handoffs:
        own.add((each.round, each.queue))
        times.setdefault(each.queue, []).append(_time_of(each))
    shares, every, is_whole = shares_both_ways(group=group, first=first, last=last, now=now)
    counted = _gaps(rounds, shares)
    if counted:
        counted = dict.fromkeys(_gaps(rounds, every, only_certain=True)) | counted
    names = {pk: f"{topic}/{broker}/{number}" for pk, (topic, broker, number) in _places(counted).items()}
    windows = {row.number: (row.opened_low or row.opened_at, row.closed_at or now) for row in rounds}
    found: dict[int, list[Unmoved]] = {}
    for (number, pk), share in counted.items():
        queue = names.get(pk)
        if queue is None or (number, queue) in own or _is_told(times.get(queue, ()), windows[number]):
            continue
        found.setdefault(number, []).append(Unmoved(queue, Between(0) if share is None else _between(share)))
    return found, is_whole


def _gaps(
    rounds: Iterable[Round], shares: Mapping[int, Mapping[int, Share]], *, only_certain: bool = False
) -> dict[tuple[int, int], Share | None]:
    """Give the queues that had no owner, or perhaps, by round and row."""
    return {
        (row.number, pk): share
        for row in rounds
        for pk, share in shares.get(row.number, {}).items()
        if share.is_gap or (share.is_perhaps_gap and not only_certain)
    }


def _places(counted: Iterable[tuple[int, int]]) -> dict[int, tuple[str, str, int]]:
    return places_of({pk for _, pk in counted})


def _between(share: Share) -> Between:
    """Bound how long nobody had a queue; what began before the round or goes on beyond it has no upper bound."""
    is_open = share.is_older or share.is_unheld or share.is_lasting
    return Between(share.unowned.low, None if is_open else share.unowned.high)


def _time_of(each: Told) -> tuple[int, int]:
    """Say within which time a handoff tells of its queue; of one that is not taken yet to the end."""
    low = each.at if each.dropped.low is None else each.dropped.low
    return min(low, each.at), LONGEST_MS if each.taken.high is None else each.taken.high


def _is_told(times: Iterable[tuple[int, int]], window: tuple[int, int]) -> bool:
    return any(low <= window[1] and high >= window[0] for low, high in times)
