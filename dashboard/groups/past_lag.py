"""How far a group was behind at a past instant, queue by queue: from the steps that are kept where that changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from django.db.models import Max, Q, QuerySet

from dashboard.groups.lag import MINUTE_MS
from dashboard.groups.models import Group, LagStep

MOST_BROKERS = 200


def lag_at(*, group: Group, at: int) -> list[dict[str, object]]:
    """Give what brokers had told by an instant, and in the minute before, as ``lag.told_plainly`` does of now.

    Brokers that did not answer then are left out, and those of which it is not kept: of their queues it is unknown.
    """
    rows = _told_by(group, at)
    wanted = rows.filter(Q(told_at__gt=at - MINUTE_MS) | _last_by(rows, at - MINUTE_MS))
    told: dict[str, list[LagStep]] = {}
    for row in wanted.order_by("told_at"):
        told.setdefault(row.broker, []).append(row)
    return [_plainly(steps, at) for _broker, steps in sorted(told.items()) if steps[-1].queues]


def lags_by_queue(*, group: Group, at: int) -> dict[tuple[str, str, int], tuple[int, int]]:
    """Give by topic, broker and queue id how far the group was behind, where that was known, and when it was told."""
    rows = _told_by(group, at)
    return {
        (topic, step.broker, number): (lag, step.told_at or 0)
        for step in rows.filter(_last_by(rows, at))
        for topic, lags in step.queues.items()
        for number, lag in enumerate(lags)
        if lag is not None
    }


def _told_by(group: Group, at: int) -> QuerySet[LagStep]:
    return LagStep.objects.filter(group=group, told_at__lte=at)


def _last_by(rows: QuerySet[LagStep], at: int) -> Q:
    """Find the last step of each broker by an instant."""
    last = rows.filter(told_at__lte=at).values_list("broker").annotate(Max("told_at"))[:MOST_BROKERS]
    return reduce(or_, (Q(broker=broker, told_at=told_at) for broker, told_at in last), Q(pk__in=()))


def _plainly(steps: Sequence[LagStep], at: int) -> dict[str, object]:
    last = steps[-1]
    places = [(topic, number) for topic, lags in sorted(last.queues.items()) for number in range(len(lags))]
    looks = [[max(step.told_at or 0, at - MINUTE_MS), [_lag(step, *place) for place in places]] for step in steps]
    return {
        "broker": last.broker,
        "at": last.told_at,
        "missing": None,
        "queues": [[*place, _lag(last, *place), None] for place in places],
        "looks": [*looks, [at, looks[-1][1]]],
        "is_kept": True,
    }


def _lag(step: LagStep, topic: str, number: int) -> int | None:
    lags = step.queues.get(topic, ())
    return lags[number] if number < len(lags) else None
