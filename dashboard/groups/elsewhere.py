"""Whose a time without an owner is: of the round in which the queue was let go, until somebody takes it.

What a round left unowned is taken in the time of a later one: that one tells nothing of it but which round does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils.translation import ngettext

from dashboard.groups.bands import FOREVER
from dashboard.groups.lasting import lasting_handoffs
from dashboard.groups.models import Group, Handoff, Round
from dashboard.groups.owned import MOST_SPANS, places_of, windows_of
from dashboard.groups.shares import Lasted, Share, Window

Place = tuple[str, str, int]
MOST_TOLD = 5  # rounds that a paragraph names
NEAR = 100  # rounds: what nobody took for longer is told by each
NOTHING = Lasted()


class LetGo(NamedTuple):
    """A queue that was let go in a round, and was anybody's again, each within bounds: from ``low`` to ``high``."""

    round: int
    low: int
    high: int


class Own(NamedTuple):
    """What a round tells itself of its queues, and by which ``rounds`` others were let go, which tell of those."""

    shares: Mapping[int, Share]
    rounds: Sequence[int] = ()
    queues: int = 0

    @property
    def figures(self) -> dict[str, object]:
        """Give what its paragraph says of the others."""
        return {"elsewhere_queues": self.queues, "elsewhere_rounds": self.rounds}


def own_of(*, row: Round, shares: Mapping[int, Share], here: Collection[Place], now: int) -> Own:
    """Leave out of a round the time without owner of queues that an earlier one let go; ``here``: this one did."""
    gaps = [pk for pk, share in shares.items() if share.unowned.high] if row.number > 1 else ()
    places = {pk: place for pk, place in places_of(gaps).items() if place not in here}
    told = told_elsewhere(row=row, places=places, now=now)
    rest = {pk: shares[pk] for pk in places.keys() - told.keys()}
    if rest:
        windows = windows_of(group=row.group, first=row.number - NEAR, last=row.number, now=now)
        told |= begun_before(rest, row.number, windows)
    own = {pk: replace(share, unowned=NOTHING, is_older=False) if pk in told else share for pk, share in shares.items()}
    return Own(own, sorted(set(told.values())), len(told))


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
    *, group: Group, first: int, last: int, now: int, places: set[Place] | None = None
) -> dict[Place, list[LetGo]]:
    """Give when queues were let go in rounds, and somebody's again; also in those shortly before the first."""
    rows = Handoff.objects.filter(
        Q(taken_at=None) | Q(unowned_high__gt=0) | Q(unowned_high=None),
        round__group=group,
        round__number__gte=first - NEAR,
        round__number__lte=last,
        dropped_at__isnull=False,
    )
    if places is not None:
        rows = rows.filter(queue_id__in={place[2] for place in places}, topic__in={place[0] for place in places})
    times = rows.annotate(
        first=Coalesce("dropped_low", "dropped_at"), end=Coalesce("taken_high", "taken_at"), of=F("round__number")
    )
    columns = ("pk", "round_id", "of", "topic", "broker", "queue_id", "first", "end")
    told = times.order_by("-round__number").values_list(*columns)[:MOST_SPANS]
    open_rounds = {pk for _, pk, *_, end in told if end is None}
    lasting = lasting_handoffs(rounds=open_rounds, now=now) if open_rounds else {}
    found: dict[Place, list[LetGo]] = {}
    for pk, _, number, topic, broker, queue, low, end in told:
        open_end = low + lasting[pk].high if pk in lasting else FOREVER
        found.setdefault((topic, broker, queue), []).append(LetGo(number, low, open_end if end is None else end))
    return found
