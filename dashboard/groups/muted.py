"""Groups whose members no broker notifies of who comes and goes, as brokers' subscription tables say.

They rebalance each 20 s only, and nothing can have them do it now: a recompute of them is not ordered.
"""

from __future__ import annotations

from collections.abc import Set

from django.db import transaction

from dashboard.clusters.models import Cluster
from dashboard.common.names import known_as
from dashboard.groups.models import Group

AT_ONCE = 500


def note_muted(*, cluster: str, muted: Set[str], lease_epoch: int) -> bool:
    """Store of which groups of a cluster nobody is notified, as all its brokers have told.

    Args:
        lease_epoch: of the watcher that asked; where another one has the lease, nothing is stored.

    Returns:
        whether all of them are stored; a group that nobody knows yet is not.
    """
    names = frozenset(map(known_as, muted))
    with transaction.atomic():
        row = Cluster.objects.select_for_update(no_key=True).filter(name=cluster, lease_epoch=lease_epoch).first()
        if row is None:
            return False
        known = dict(Group.objects.filter(cluster=row, is_notified=False).values_list("name", "pk"))
        again = [pk for name, pk in known.items() if name not in names]
        new = sorted(names - known.keys())
        for start in range(0, len(again), AT_ONCE):
            Group.objects.filter(pk__in=again[start : start + AT_ONCE]).update(is_notified=None)
        stored = sum(
            Group.objects.filter(cluster=row, name__in=new[start : start + AT_ONCE]).update(is_notified=False)
            for start in range(0, len(new), AT_ONCE)
        )
    return stored == len(new)
