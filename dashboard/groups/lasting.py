"""Pauses of the latest rounds that last: of what was let go and taken by nobody when its round had ended."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from dashboard.clusters.models import Queue
from dashboard.groups.doubts import NO_DOUBTS, all_doubts_of, surely
from dashboard.groups.models import Handoff, Holding

COLUMNS = ("came_at", "came_low", "gone_at", "since")


def lasting_pauses(*, rounds: Collection[int], now: int) -> dict[int, int]:
    """Give how long, in ms, the longest of each round (by its row) lasts at least; a round without any is left out."""
    lasting: dict[int, int] = {}
    for each in lasting_handoffs(rounds=rounds, now=now).values():
        lasting[each.round] = max(each.low, lasting.get(each.round, 0))
    return lasting


class Lasting(NamedTuple):
    """A handoff that lasts: its round's row, and for how long, in ms, at least and at most."""

    round: int
    low: int
    high: int


def lasting_handoffs(*, rounds: Collection[int], now: int) -> dict[int, Lasting]:
    """Give by its row each handoff of rounds that lasts.

    That is what the lane of the round's page says (``lanes.py``). One that ended since, because somebody came, lasted
    at least until he may have had it, at most until he was seen to; of a queue that left the route before that, or that
    somebody else had all the time, there is none. Who was lost may have his queues still: at least 0. Who does not
    answer, or did not until he left, may have had it since he told last.
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
        .filter(Exists(queues), ~Exists(kept))
        .annotate(came_at=_first(spans, "at"), came_low=_first(spans, "at_low"))
        .annotate(gone_at=Subquery(queues.values("gone_at")[:1]), since=Subquery(queues.values("since")[:1]))
        .annotate(first_dropped=Coalesce("dropped_low", "dropped_at"))
        .values_list("pk", "round", "round__group", "round__closed_at", "first_dropped", "dropped_high", *COLUMNS)
    )
    found = list(rows)
    groups = {group for _, _, group, *_ in found}
    doubts = all_doubts_of(groups=groups, since=min((high for *_, high, _, _, _, _ in found if high), default=now))
    lasting: dict[int, Lasting] = {}
    for pk, number, group, closed_at, dropped_low, dropped_high, came_at, came_low, gone_at, since in found:
        left_at = since if closed_at is not None and since > closed_at else gone_at  # as ``leaving.ends_of`` says
        if left_at is not None and left_at <= (now if came_at is None else came_at):
            continue
        end = now if came_at is None else came_low
        is_known = end is not None and dropped_high is not None and end > dropped_high
        lasted = surely(dropped_high, end - dropped_high, doubts.get(group, NO_DOUBTS)) if is_known else 0
        lasting[pk] = Lasting(number, lasted, max(lasted, (now if came_at is None else came_at) - dropped_low))
    return lasting


def _first(spans: QuerySet[Holding], column: str) -> Subquery:
    later = spans.filter(at__gt=OuterRef("dropped_at")).order_by("at", "pk")
    return Subquery(later.values(column)[:1])
