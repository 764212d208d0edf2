"""When brokers were away, as their rows keep it: those absences that ended, the last ones, and the one that lasts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Q

from dashboard.clusters.models import Broker

MOST_ROWS = 4_000
Key = tuple[int, str]  # of a broker: key of its cluster, name


@dataclass(frozen=True, slots=True)
class Absence:
    """A time in which a broker's master was away, as it was seen: UTC epoch ms; ``until`` None: it is away still."""

    at: int
    until: int | None

    def covers(self, at: int) -> bool:
        """Whether the broker was away at an instant."""
        return self.at <= at and (self.until is None or at < self.until)


Absences = Mapping[Key, tuple[Absence, ...]]


def absences_of(*, clusters: Collection[int]) -> Absences:
    """Read when the brokers of some clusters were away, by their keys; those that never were are left out."""
    were = Broker.objects.filter(
        Q(gone_at__isnull=False) | Q(absences__isnull=False), cluster__in=clusters, broker_id=0
    )
    rows = were.order_by("pk").values_list("cluster_id", "name", "gone_at", "absences")[:MOST_ROWS]
    return {(cluster, name): _all(gone_at, ended or ()) for cluster, name, gone_at, ended in rows}


def _all(gone_at: int | None, ended: Collection[tuple[int, int]]) -> tuple[Absence, ...]:
    now = () if gone_at is None else (Absence(gone_at, None),)
    return (*(Absence(at, until) for at, until in ended), *now)
