"""One watcher a cluster: a lease with an end, and a number that grows with every holder.

A watcher that sleeps past the end of its lease may wake up and go on; what it states then carries an old number, and is
refused. Times are ms since 1970.
"""

from __future__ import annotations

from collections.abc import Callable

from django.db import transaction
from django.db.models import F, QuerySet

from dashboard.clusters.models import ASIDE, Cluster

LEASE_MS = 15_000
RENEW_EVERY_MS = 4_000
NOBODY_YET = "nobody yet"


def take(*, cluster: str, holder: str, now: int, is_dead: Callable[[str], bool] = lambda _holder: False) -> int | None:
    """Take the lease if it is free, or has ended; give its number, None where another has it, or it was put aside.

    Args:
        holder: who takes it; its own lease of before is nobody else's.
        is_dead: tells of a holder whether it is known to be gone, so that nobody needs to wait for the end.

    Raises:
        Cluster.DoesNotExist: nobody added the cluster.
    """
    with transaction.atomic():
        row = Cluster.objects.select_for_update(no_key=True).get(name=cluster)
        if row.is_aside:
            return None
        if row.lease_until > now and row.lease_holder != holder and not is_dead(row.lease_holder):
            return None
        epoch = row.lease_epoch + 1
        Cluster.objects.filter(pk=row.pk).update(lease_holder=holder, lease_epoch=epoch, lease_until=now + LEASE_MS)
    return epoch


def renew(*, cluster: str, epoch: int, now: int) -> bool:
    """Hold the lease for longer; False: it is another one's by now."""
    held = Cluster.objects.filter(name=cluster, lease_epoch=epoch)
    return bool(held.update(lease_until=now + LEASE_MS))


def give_back(*, cluster: str, epoch: int, now: int) -> None:
    """Let the next one take it at once."""
    Cluster.objects.filter(name=cluster, lease_epoch=epoch, lease_until__gt=now).update(lease_until=now)


def begin_anew(*, clusters: QuerySet[Cluster], now: int) -> None:
    """Let the watchers of these begin anew, with what is stored of them now: those that have them are late."""
    watched = clusters.filter(lease_until__gt=now)
    watched.update(lease_holder=NOBODY_YET, lease_until=0, lease_epoch=F("lease_epoch") + 1)


def put_aside(*, clusters: QuerySet[Cluster]) -> None:
    """Let nobody watch these, until somebody expects that (``expect``); a watcher that still does is late."""
    clusters.exclude(ASIDE).update(lease_holder="", lease_until=0, lease_epoch=F("lease_epoch") + 1)


def expect(*, clusters: QuerySet[Cluster]) -> None:
    """Say that these will be watched soon: they are put aside no more."""
    clusters.filter(ASIDE).update(lease_holder=NOBODY_YET)
