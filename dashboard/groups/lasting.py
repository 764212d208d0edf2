"""Pauses of the latest rounds that last: of what was let go and taken by nobody when its round had ended."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from dashboard.clusters.models import Queue
from dashboard.groups.doubts import NO_DOUBTS, Doubts, all_doubts_of, surely
from dashboard.groups.leaving import lows_of
from dashboard.groups.models import Handoff, Holding

COLUMNS = ("is_kept", "came_at", "came_low", "gone_at", "since")


def lasting_pauses(*, rounds: Collection[int], now: int) -> dict[int, int]:
    """Give how long, in ms, the longest of each round (by its row) lasts at least; a round without any is left out."""
    lasting: dict[int, int] = {}
    for each in lasting_handoffs(rounds=rounds, now=now).values():
        if not each.is_waited_for:
            continue
        lasting[each.round] = max(each.low, lasting.get(each.round, 0))
    return lasting


class Lasting(NamedTuple):
    """What was let go and not taken in its round, by its row, and for how long nobody had it, in ms: at least, at most.

    ``is_waited_for``: until now, or until somebody came. Else until it left the route, or not at all, since somebody
    else had it all the time: nobody missed it.
    """

    round: int
    low: int
    high: int
    is_waited_for: bool = True


def lasting_handoffs(*, rounds: Collection[int], now: int) -> dict[int, Lasting]:
    """Give by its row each handoff of rounds that was let go and not taken in its round.

    That is what the lane of the round's page says (``lanes.py``). One that ended since, because somebody came, lasted
    at least until he may have had it, at most until he was seen to; of a queue that left the route before that, until
    then. Who was lost may have his queues still: at least 0. Who does not answer, or did not until he left, may have
    had it since he told last.
    """
    spans = Holding.objects.filter(
        group=OuterRef("round__group"),
        queue__topic__name=OuterRef("topic"),
        queue__broker=OuterRef("broker"),
        queue__queue_id=OuterRef("queue_id"),
    )
    queues = Queue.objects.filter(
        topic__cluster=OuterRef("round__group__cluster"),
        topic__name=OuterRef("topic"),
        broker=OuterRef("broker"),
        queue_id=OuterRef("queue_id"),
    )
    kept = spans.filter(Q(until=None) | Q(until__gt=OuterRef("dropped_at")), at__lte=OuterRef("dropped_at"))
    rows = (
        Handoff.objects.filter(round__in=rounds, dropped_at__isnull=False, taken_at=None)
        .filter(Exists(queues))
        .annotate(is_kept=Exists(kept))
        .annotate(came_at=_first(spans, "at"), came_low=_first(spans, "at_low"))
        .annotate(gone_at=Subquery(queues.values("gone_at")[:1]), since=Subquery(queues.values("since")[:1]))
        .annotate(first_dropped=Coalesce("dropped_low", "dropped_at"))
        .values_list("pk", "round", "round__group", "round__closed_at", "first_dropped", "dropped_high", *COLUMNS)
    )
    found = [_Row(*row) for row in rows]
    groups = {row.group for row in found}
    doubts = all_doubts_of(
        groups=groups, since=min((row.dropped_high for row in found if row.dropped_high), default=now)
    )
    lows = _lows(found)
    return {row.pk: _lasted(row, lows, doubts.get(row.group, NO_DOUBTS), now) for row in found}


class _Row(NamedTuple):
    """A handoff of a queue, and what is known of the queue since; ``since`` and ``gone_at`` are of the route."""

    pk: int
    round: int
    group: int
    closed_at: int | None
    dropped_low: int
    dropped_high: int | None
    is_kept: bool
    came_at: int | None
    came_low: int | None
    gone_at: int | None
    since: int

    @property
    def left_at(self) -> int | None:
        """When it had left the route, as ``leaving.ends_of`` says."""
        return self.since if self.closed_at is not None and self.since > self.closed_at else self.gone_at


def _lasted(row: _Row, lows: Mapping[tuple[int, int], int | None], doubts: Doubts, now: int) -> Lasting:
    if row.is_kept:
        return Lasting(row.round, 0, 0, is_waited_for=False)
    came_at, came_low = (now, now) if row.came_at is None else (row.came_at, row.came_low)
    is_gone = row.left_at is not None and row.left_at <= came_at
    if is_gone and row.left_at is not None:
        came_at, came_low = row.left_at, lows.get((row.group, row.left_at))
    low = 0
    if came_low is not None and row.dropped_high is not None and came_low > row.dropped_high:
        low = surely(row.dropped_high, came_low - row.dropped_high, doubts)
    return Lasting(row.round, low, max(low, came_at - row.dropped_low), is_waited_for=not is_gone)


def _lows(rows: Collection[_Row]) -> dict[tuple[int, int], int | None]:
    """Say since when each queue that left may have been gone, by group and by when that was seen."""
    times: dict[int, set[int]] = {}
    for row in rows:
        if row.gone_at is not None and row.left_at == row.gone_at:
            times.setdefault(row.group, set()).add(row.gone_at)
    return {(group, at): low for group, seen in times.items() for at, low in lows_of(group=group, times=seen).items()}


def _first(spans: QuerySet[Holding], column: str) -> Subquery:
    later = spans.filter(at__gt=OuterRef("dropped_at")).order_by("at", "pk")
    return Subquery(later.values(column)[:1])
