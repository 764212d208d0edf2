"""Which producers back away from which brokers, as the overview says it. A stock producer reports nothing of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from dashboard.clusters.models import Cluster, ProducerBroker
from dashboard.clusters.senders import gone_of
from dashboard.people.roles import Access, Role

MOST = 20
MOST_LOOKED_AT = 200
TOLD = ("cluster_id", "client_id", "observed_at")
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
    shown = _of_those_there(list(rows[: 2 * MOST]), now)
    return [_backing(row, now) for row in shown[:MOST]], bool(shown) or _has_any(reports, now)


def _of_those_there(rows: list[ProducerBroker], now: int) -> list[ProducerBroker]:
    """Leave out what producers told that are gone since."""
    words: dict[tuple[int, str], int] = {}
    for row in rows:
        sender = row.cluster_id, row.client_id
        words[sender] = max(row.observed_at, words.get(sender, 0))
    gone = gone_of(last_words=words, now=now) if words else set()
    return [row for row in rows if (row.cluster_id, row.client_id) not in gone]


def _has_any(reports: QuerySet[ProducerBroker], now: int) -> bool:
    """Ask whether a producer that reports is there; of many those that told anything last are looked at."""
    return bool(_of_those_there(list(reports.order_by("-observed_at").only(*TOLD)[:MOST_LOOKED_AT]), now))


def _backing(row: ProducerBroker, now: int) -> Backing:
    until = row.backoff_until or now
    return Backing(
        row.cluster.name, row.client_id, row.broker, row.backoff_ms or 0, until, max(0, until - now), row.latency_ms
    )
