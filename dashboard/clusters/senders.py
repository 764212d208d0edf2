"""Producers that reported and are there no more. None says that it ends: brokers list it no more.

One is gone once every master has listed its producers after its last word and none has it, or once each connection that
was listed is over since that. Where a master does not tell, whether it is gone is unknown, and it is not taken to be.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dashboard.clusters.models import Broker, Producer, ProducerList

SETTLED_MS = 5_000  # from a producer's first word until its brokers list it, at most

Sender = tuple[int, str]  # the key of its cluster, and its client id


def gone_of(*, last_words: Mapping[Sender, int], now: int) -> set[Sender]:
    """Give those that are gone, of producers with the instant at which each told anything last.

    Args:
        now: ms since 1970; of a past instant what listed connections tell of it.
    """
    ended_at = _ended(last_words, now)
    told_at = _told({cluster for cluster, _client in last_words})
    return {
        sender
        for sender, spoke_at in last_words.items()
        if (end := ended_at.get(sender, 0)) is not None
        and (spoke_at <= end or spoke_at + SETTLED_MS < told_at.get(sender[0], 0) <= now)
    }


def _ended(senders: Collection[Sender], now: int) -> dict[Sender, int | None]:
    """Give when the last connection of each was over; None: one is there. Who was never listed is left out."""
    listed = Producer.objects.filter(
        cluster__in={cluster for cluster, _ in senders}, client_id__in={client for _, client in senders}, at__lte=now
    )
    ends: dict[Sender, int | None] = {}
    for cluster, client, gone_at in listed.values_list("cluster", "client_id", "gone_at"):
        before = ends.get((cluster, client), 0)
        is_there = gone_at is None or gone_at > now or before is None
        ends[cluster, client] = None if is_there else max(before or 0, gone_at or 0)
    return ends


def _told(clusters: Collection[int]) -> dict[int, int]:
    """Give since when every master of a cluster has told its producers; one of which one does not is left out."""
    masters = Broker.objects.filter(cluster__in=clusters, broker_id=0, gone_at=None)
    lists = ProducerList.objects.filter(cluster__in=clusters, missing=None)
    at = {(cluster, broker): at for cluster, broker, at in lists.values_list("cluster", "broker", "observed_at")}
    told: dict[int, list[int]] = {}
    for cluster, name in masters.values_list("cluster", "name"):
        told.setdefault(cluster, []).append(at.get((cluster, name), 0))
    return {cluster: min(times) for cluster, times in told.items()}
