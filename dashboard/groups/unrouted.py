"""Queues that brokers told offsets of, and that no route has any more: what they held back says nothing of now.

A broker that is gone answers no more. What it told last stays in its rows, so that it can be said as what it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from dashboard.clusters.models import Queue
from dashboard.groups.models import Group, Progress

Place = tuple[str, str, int]  # topic, broker, queue id


def places_left(*, cluster: int, rows: Iterable[Progress]) -> dict[Place, int]:
    """Give the queues of brokers' answers that are in no route now, each with since when (ms).

    Of a topic of which no route was ever told it is unknown whether any has it: it is none of these.
    """
    told = {(topic, row.broker, queue_id) for row in rows for topic, queue_id, *_ in row.queues}
    topics, brokers = {topic for topic, _, _ in told}, {broker for _, broker, _ in told}
    found = Queue.objects.filter(
        topic__cluster=cluster, topic__name__in=topics, broker__in=brokers, gone_at__isnull=False
    ).exclude(topic__division="")
    columns = ("topic__name", "broker", "queue_id", "gone_at")
    rows_of = found.values_list(*columns) if told else ()
    return {(topic, broker, number): at for topic, broker, number, at in rows_of if (topic, broker, number) in told}


def ends_of_brokers(*, group: Group) -> dict[str, int]:
    """Give the brokers of which every queue that they told a group's offsets of is in no route now, since when (ms)."""
    rows = list(Progress.objects.filter(group=group))
    left = places_left(cluster=group.cluster_id, rows=rows)
    ends: dict[str, int] = {}
    for row in rows:
        since = [left.get((topic, row.broker, queue_id)) for topic, queue_id, *_ in row.queues]
        known = [at for at in since if at is not None]
        if since and len(known) == len(since):
            ends[row.broker] = max(known)
    return ends


def brokers_left(*, clusters: Collection[int]) -> set[tuple[int, str]]:
    """Give the brokers, by their clusters' numbers and names, of which any queue is in no route now."""
    gone = Queue.objects.filter(topic__cluster__in=clusters, gone_at__isnull=False).exclude(topic__division="")
    return set(gone.values_list("topic__cluster", "broker").distinct())


def without_any(*, cluster: int, brokers: Collection[str]) -> set[str]:
    """Give those of some brokers that had queues, and have none in any route now."""
    if not brokers:
        return set()
    rows = Queue.objects.filter(topic__cluster=cluster, broker__in=brokers).exclude(topic__division="")
    had, has = (
        set(rows.filter(gone_at__isnull=is_there).values_list("broker", flat=True)) for is_there in (False, True)
    )
    return had - has
