"""Whose a time without an owner is: of the round in which the queue was let go, until somebody takes it.

What a round left unowned is taken in the time of a later one: that one tells nothing of it but which round does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from django.db.models import F, Q
from django.db.models.functions import Coalesce, Least
from django.utils.translation import ngettext

from dashboard.groups.bands import FOREVER, Intervals, without
from dashboard.groups.claims import Claim
from dashboard.groups.lane import Lane
from dashboard.groups.lasting import lasting_handoffs
from dashboard.groups.models import Group, Handoff, Round
from dashboard.groups.owned import MOST_SPANS, NEAR, places_of
from dashboard.groups.shares import Share, Window

Place = tuple[str, str, int]
MOST_TOLD = 5  # rounds that a paragraph names


class LetGo(NamedTuple):
    """A queue that was let go in a round, and was anybody's again, each within bounds: from ``low`` to ``high``.

    ``at``: when it was seen to be let go.
    """

    round: int
    low: int
    high: int
    at: int = FOREVER


class Own(NamedTuple):
    """What a round tells itself of its queues, and by which ``rounds`` others were let go, which tell of those."""

    shares: Mapping[int, Share]
    rounds: Sequence[int] = ()
    queues: int = 0

    @property
    def figures(self) -> dict[str, object]:
        """Give what its paragraph says of the others."""
        return {"elsewhere_queues": self.queues, "elsewhere_rounds": self.rounds}


def own_of(*, row: Round, shares: Mapping[int, Share], lanes: Sequence[Lane], now: int) -> Own:
    """Leave out of a round the time without owner, or perhaps with two, of which another one tells.

    An earlier one let the queue go; or a later one tells since when that may have been so. What ``lanes`` tell, the
    round's own handoffs, stays. That nobody is known ever to have had a queue each round tells.
    """
    places = places_of(pk for pk, share in shares.items() if share.unowned.high and not share.is_unheld)
    handed = _handed_in_others(row, shares, places, now)
    mine: dict[Place, list[tuple[int, int]]] = {}
    perhaps: dict[Place, list[tuple[int, int]]] = {}
    for lane in lanes:
        if lane.dropped_at is not None and not lane.is_older:
            mine.setdefault(lane.place, []).append(_time_of(lane, now))
            perhaps.setdefault(lane.place, []).extend([] if lane.is_gap else [_time_of(lane, now)])
    own, told, queues = dict[int, Share](), set[int](), 0
    for pk, share in shares.items():
        place = places.get(pk)
        others = [] if place is None else [*share.gaps_elsewhere, *handed.get(place, ())]
        rest = share.without_gaps(_told_only_there(others, mine.get(place, ()) if place else ()))
        own[pk] = _own_twos(rest.less_certain(perhaps.get(place, ()) if place else ()), row.number)
        if rest.unowned != share.unowned:
            by = _earlier(others, share, row.number)
            told |= by
            queues += bool(by)
    return Own(own, sorted(told), queues)


def _own_twos(share: Share, number: int) -> Share:
    """Leave out when perhaps two had a queue of which another round tells."""
    others = [claim for claim in share.twos_elsewhere if claim.low < share.within[1] and claim.high > share.within[0]]
    is_older = any(claim.round is not None and claim.round < number for claim in others)
    return share.without_twos([(claim.low, claim.high) for claim in others], is_older=is_older)


def _told_only_there(others: Sequence[Claim], mine: Intervals) -> list[tuple[int, int]]:
    return without([(claim.low, claim.high) for claim in others], mine)


def _earlier(others: Sequence[Claim], share: Share, number: int) -> set[int]:
    """Name the earlier rounds that tell of a time in which nobody had a queue, or perhaps nobody."""
    parts = [part for each in share.parts for part in each]
    return {
        claim.round
        for claim in others
        if claim.round is not None
        and claim.round < number
        and any(claim.low < high and claim.high > low for low, high in parts)
    }


def _time_of(lane: Lane, now: int) -> tuple[int, int]:
    """Give the time in which nobody had a queue, or perhaps nobody, as a handoff tells it."""
    assert lane.dropped_at is not None
    since = lane.dropped_at if lane.dropped[0] is None else lane.dropped[0]
    if lane.taken_at is not None:
        return since, max(since, lane.taken_at, lane.taken[1] or 0)
    return since, now if lane.unowned[1] is None else max(lane.dropped_at, since + lane.unowned[1])


def _handed_in_others(
    row: Round, shares: Mapping[int, Share], places: Mapping[int, Place], now: int
) -> dict[Place, list[Claim]]:
    """Give of queues the times of which handoffs of others tell: of later ones not what began in this one by itself."""
    if not places:
        return {}
    last, every = row.number + NEAR, set(places.values())
    found = let_go(group=row.group, first=row.number, last=last, now=now, places=every, but=row.number)
    told: dict[Place, list[Claim]] = {}
    for pk, place in places.items():
        for each in found.get(place, ()):
            own = [] if each.round < row.number else shares[pk].own_gaps
            kept = [(claim.low, claim.high) for claim in own if claim.began != each.at]
            times = without([(each.low, each.high)], kept)
            told.setdefault(place, []).extend(Claim(each.round, low, high, each.at) for low, high in times)
    return told


def told_by_others(found: Mapping[str, object]) -> Iterator[str]:
    """Say which rounds tell of queues that had no owner in this one's time: they were let go in those."""
    told, queues = found.get("elsewhere_rounds"), found.get("elsewhere_queues")
    if isinstance(told, Sequence) and isinstance(queues, int) and queues:
        yield (
            ngettext(
                "%(n)s queue had no owner since an earlier round, which tells for how long: %(rounds)s.",
                "%(n)s queues had no owner since earlier rounds, which tell for how long: %(rounds)s.",
                queues,
            )
            % {"n": queues, "rounds": ", ".join(map(str, told[-MOST_TOLD:]))}
        )


def told_elsewhere(*, row: Round, places: Mapping[int, Place], now: int) -> dict[int, int]:
    """Say of queues, by their rows, which earlier round tells how long nobody had them in the time of this one."""
    if not places or row.number == 1:
        return {}
    found = let_go(group=row.group, first=row.number, last=row.number - 1, now=now, places=set(places.values()))
    within = time_of(row, now)
    told = {pk: told_by(found.get(place, ()), row.number, within) for pk, place in places.items()}
    return {pk: number for pk, number in told.items() if number is not None}


def begun_before(shares: Mapping[int, Share], number: int, windows: Mapping[int, Window]) -> dict[int, int]:
    """Say of queues of a round which earlier one tells how long nobody had them, though no handoff of that does.

    There its own member let it go, who took it again in this one. That nobody ever had a queue each round tells.
    """
    found: dict[int, int] = {}
    for pk, share in shares.items():
        begin = max((low for low, _ in share.times.perhaps_nobody), default=None)
        if begin is None or share.is_unheld or number not in windows or begin >= windows[number].since:
            continue
        earlier = next((each for each, window in windows.items() if each < number and window.has(begin)), None)
        if earlier is not None:
            found[pk] = earlier
    return found


def time_of(row: Round, now: int) -> tuple[int, int]:
    """Give the time of a round as it is stated, with its bounds."""
    return row.opened_low or row.opened_at, now if row.closed_at is None else row.closed_at


def told_by(found: Sequence[LetGo], number: int, within: tuple[int, int]) -> int | None:
    """Say which earlier round let go a queue that nobody had taken when a round began; None: none."""
    since, until = within
    fitting = [each.round for each in found if each.round < number and each.low <= until and each.high > since]
    return max(fitting, default=None)


def let_go(
    *, group: Group, first: int, last: int, now: int, places: set[Place] | None = None, but: int | None = None
) -> dict[Place, list[LetGo]]:
    """Give when queues were let go in rounds, or shortly before the first, and somebody's again; leave out ``but``."""
    rows = Handoff.objects.filter(
        Q(taken_at=None) | Q(unowned_high__gt=0) | Q(unowned_high=None),
        round__group=group,
        round__number__gte=first - NEAR,
        round__number__lte=last,
        dropped_at__isnull=False,
    )
    if but is not None:
        rows = rows.exclude(round__number=but)
    if places is not None:
        rows = rows.filter(queue_id__in={place[2] for place in places}, topic__in={place[0] for place in places})
    times = rows.annotate(
        first=Coalesce("dropped_low", "dropped_at"), end=Coalesce("taken_high", "taken_at"), of=F("round__number")
    ).exclude(taken_at__lt=Least("dropped_at", Coalesce("round__opened_low", "round__opened_at")))  # two had it since
    columns = ("pk", "round_id", "of", "topic", "broker", "queue_id", "first", "end", "dropped_at")
    told = times.order_by("-round__number").values_list(*columns)[:MOST_SPANS]
    open_rounds = {pk for _, pk, *_, end, _ in told if end is None}
    lasting = lasting_handoffs(rounds=open_rounds, now=now) if open_rounds else {}
    found: dict[Place, list[LetGo]] = {}
    for pk, _, number, topic, broker, queue, low, end, at in told:
        open_end = low + lasting[pk].high if pk in lasting else FOREVER
        found.setdefault((topic, broker, queue), []).append(LetGo(number, low, open_end if end is None else end, at))
    return found
