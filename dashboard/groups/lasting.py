"""Pauses of the latest rounds that last: of what was let go and taken by nobody when its round had ended."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from dashboard.clusters.models import Queue
from dashboard.groups.models import Handoff, Holding
from dashboard.groups.owned import told_until_of_each


def lasting_pauses(*, rounds: Collection[int], now: int) -> dict[int, int]:
    """Give how long, in ms, the longest of each round (by its row) lasts at least; a round without any is left out."""
    lasting: dict[int, int] = {}
    for number, lasted in lasting_handoffs(rounds=rounds, now=now).values():
        lasting[number] = max(lasted, lasting.get(number, 0))
    return lasting


def lasting_handoffs(*, rounds: Collection[int], now: int) -> dict[int, tuple[int, int]]:
    """Give by its row each handoff of rounds that lasts: its round's row, and for how long, in ms, at least.

    One that ended since, because somebody came, lasted at least until he may have had it; of a queue that is gone, or
    that somebody else had all the time, there is none. Who does not answer may have taken it since he told last.
    """
    spans = Holding.objects.filter(
        group=OuterRef("round__group"),
        queue__topic__name=OuterRef("topic"),
        queue__broker=OuterRef("broker"),
        queue__queue_id=OuterRef("queue_id"),
    )
    there = Queue.objects.filter(
        topic__cluster=OuterRef("round__group__cluster"),
        topic__name=OuterRef("topic"),
        broker=OuterRef("broker"),
        queue_id=OuterRef("queue_id"),
        gone_at=None,
    )
    kept = spans.filter(Q(until=None) | Q(until__gt=OuterRef("dropped_at")), at__lte=OuterRef("dropped_at"))
    rows = (
        Handoff.objects.filter(round__in=rounds, dropped_at__isnull=False, taken_at=None)
        .filter(Exists(there), ~Exists(kept))
        .annotate(came_at=_first(spans, "at"), came_low=_first(spans, "at_low"))
        .values_list("pk", "round", "round__group", "dropped_at", "dropped_high", "came_at", "came_low")
    )
    found = list(rows)
    told_until = told_until_of_each(groups=sorted({group for _, _, group, *_ in found}))
    lasting: dict[int, tuple[int, int]] = {}
    for pk, number, group, dropped_at, dropped_high, came_at, came_low in found:
        end = min(now, told_until.get(group, now)) if came_at is None else came_low
        if end is not None and dropped_at is not None:
            lasting[pk] = number, max(0, end - (dropped_high or dropped_at))
    return lasting


def _first(spans: QuerySet[Holding], column: str) -> Subquery:
    later = spans.filter(at__gt=OuterRef("dropped_at")).order_by("at", "pk")
    return Subquery(later.values(column)[:1])
