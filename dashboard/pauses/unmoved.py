"""Reads the queues that had no owner in rounds and of which no handoff tells: sums of handoffs leave them out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dashboard.groups.elsewhere import LetGo, Place, begun_before, time_of, told_by
from dashboard.groups.models import Group, Round
from dashboard.groups.owned import NEAR, places_of, shares_both_ways, windows_of
from dashboard.groups.shares import Share
from dashboard.pauses.costs import Between, Told, Unmoved


def unmoved_in(
    *, group: Group, rounds: Sequence[Round], handoffs: Iterable[Told], let: Mapping[Place, Sequence[LetGo]], now: int
) -> tuple[dict[int, list[Unmoved]], bool]:
    """Give such queues by the number of the round, and whether all that is known of queues was read.

    A queue that an earlier round let go is that one's, until somebody takes it. Where nobody has a queue in several
    rounds, each time is told by one of them, and of the others it is left open how long.

    Args:
        rounds: in order, without a gap.
        handoffs: of all of them.
        let: as ``elsewhere.let_go`` gives them, of the rounds and those before.
    """
    if not rounds:
        return {}, True
    first, last = rounds[0].number, rounds[-1].number
    own = {(each.round, each.queue) for each in handoffs}
    shares, every, is_whole = shares_both_ways(group=group, first=first, last=last, now=now)
    counted = _gaps(rounds, shares)
    if counted:
        counted = dict.fromkeys(_gaps(rounds, every, only_certain=True)) | counted
    places = _places(counted)
    times = {row.number: time_of(row, now) for row in rounds}
    windows = windows_of(group=group, first=first - NEAR, last=last, now=now) if counted else {}
    again = {number: begun_before(every.get(number, {}), number, windows) for number, _ in counted}
    found: dict[int, list[Unmoved]] = {}
    for (number, pk), share in counted.items():
        place = places.get(pk)
        whole = every[number][pk].unowned.low if pk in every.get(number, ()) else 0
        if place is None or (number, name_of(place)) in own or pk in again[number]:
            continue
        if told_by(let.get(place, ()), number, times[number]) is None:
            unowned = Between(0) if share is None else _between(share)
            found.setdefault(number, []).append(Unmoved(name_of(place), unowned, whole))
    return found, is_whole


def name_of(place: Place) -> str:
    """Name a queue as handoffs do."""
    topic, broker, number = place
    return f"{topic}/{broker}/{number}"


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


def _places(counted: Iterable[tuple[int, int]]) -> dict[int, Place]:
    return places_of({pk for _, pk in counted})


def _between(share: Share) -> Between:
    """Bound how long nobody had a queue; what began before the round or goes on beyond it has no upper bound."""
    is_open = share.is_older or share.is_unheld or share.is_lasting
    return Between(share.unowned.low, None if is_open else share.unowned.high)
