"""Which producers back away from which brokers, as the overview says it. A stock producer reports nothing of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.clusters.models import Cluster, ProducerBroker
from dashboard.people.roles import Access, Role

MOST = 20
SHOWN_FOR_MS = 60_000  # after its announced end, where the producer has not said that it ended


@dataclass(frozen=True, slots=True)
class Backing:
    """One producer that leaves one broker alone; ``left_ms`` 0: its announced end is over."""

    cluster: str
    client: str
    broker: str
    announced_ms: int
    until: int
    left_ms: int
    latency_ms: int | None


def backing_away(*, clusters: Sequence[Cluster], access: Access, now: int) -> tuple[list[Backing], bool]:
    """Give the backoffs of now, longest first, and whether any producer of these clusters reports at all.

    Producers belong to no group: they are for whoever may see all groups of their cluster.
    """
    mine = [each for each in clusters if access.may_everywhere(Role.VIEWER, cluster=each.name)]
    reports = ProducerBroker.objects.filter(cluster__in=mine)
    rows = reports.filter(backoff_until__gte=now - SHOWN_FOR_MS).order_by("-backoff_until").select_related("cluster")
    found = [_backing(row, now) for row in rows[:MOST]]
    return found, bool(found) or reports.exists()


def _backing(row: ProducerBroker, now: int) -> Backing:
    until = row.backoff_until or now
    return Backing(
        row.cluster.name, row.client_id, row.broker, row.backoff_ms or 0, until, max(0, until - now), row.latency_ms
    )
