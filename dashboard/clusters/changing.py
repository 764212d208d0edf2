"""Clusters as people add, change and remove them: each time with a reason, and in the audit log.

Where NameServers are, and whether orders may be sent, can be changed; the watcher that has it begins anew then.
When it was added, and that it is the demo, are facts. A cluster that is watched is not removed: its watcher would be
started again, and find nothing. Who puts the cluster aside ends it first, and for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.audit.operations import append
from dashboard.clusters.leases import begin_anew, expect, put_aside
from dashboard.clusters.models import Cluster, OutboxLine
from dashboard.common.fields import printable
from dashboard.push.publish import end_streams, group_stream, overview_stream, tell_standing

ADD, CHANGE, REMOVE = "add a cluster", "change a cluster", "remove a cluster"
LONGEST_REASON = 500


class Refused(Exception):
    """It is not removed; the message says why, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who does it, why and when; ms since 1970."""

    name: str
    reason: str
    now: int


@transaction.atomic
def add(*, cluster: Cluster, by: Author) -> None:
    """Store a cluster that is new."""
    cluster.added_at = by.now
    cluster.save(force_insert=True)
    _note(ADD, cluster, by, {"namesrv": cluster.namesrv, "read only": cluster.is_read_only})


@transaction.atomic
def change(*, cluster: int, namesrv: str, is_read_only: bool, by: Author, is_aside: bool | None = None) -> bool:
    """Store where a cluster's NameServers are, whether orders may be sent, and whether it is put aside.

    Nothing is stored where nothing is different: False. Nobody watches what is put aside; ``is_aside`` None leaves
    that.

    Raises:
        Cluster.DoesNotExist: somebody removed it.
    """
    row = Cluster.objects.select_for_update(no_key=True).get(pk=cluster)
    asked: dict[str, tuple[object, object]] = {
        "namesrv": (row.namesrv, namesrv),
        "read only": (row.is_read_only, is_read_only),
    }
    if is_aside is not None:
        asked["put aside"] = (row.is_aside, is_aside)
    different = {name: {"before": was, "after": wish} for name, (was, wish) in asked.items() if was != wish}
    if different:
        here = Cluster.objects.filter(pk=row.pk)
        here.update(namesrv=namesrv, is_read_only=is_read_only)
        begin_anew(clusters=here, now=by.now)
        if different.get("put aside"):
            (put_aside if is_aside else expect)(clusters=here)
            tell_standing(cluster=row.pk)
        _note(CHANGE, row, by, different)
    return bool(different)


def obstacle_to_removing(*, cluster: Cluster, now: int) -> str:
    """Say why a cluster cannot be removed now; empty: it can."""
    if cluster.lease_until > now:
        words = _(
            "%(holder)s watches the cluster %(cluster)s. Put the cluster aside first, in its row here: that ends its"
            " watcher within seconds. Then delete it."
        )
        return words % {"holder": cluster.lease_holder, "cluster": cluster.name}
    waiting = OutboxLine.objects.filter(cluster=cluster, exported_at=None).count()
    if waiting:
        words = ngettext(
            "%(n)s line of its history is not in the history files yet; a worker brings it there within seconds.",
            "%(n)s lines of its history are not in the history files yet; a worker brings them there within seconds.",
            waiting,
        )
        without = _("Where no worker runs, start manage.py up on this home first.")
        return f"{words % {'n': waiting}} {without}"
    return ""


@transaction.atomic
def remove(*, cluster: int, by: Author) -> None:
    """Delete a cluster with all that is stored of it; the history files keep theirs.

    Raises:
        Cluster.DoesNotExist: somebody removed it.
        Refused: there is an obstacle, or no reason.
    """
    row = Cluster.objects.select_for_update(no_key=True).get(pk=cluster)
    if not by.reason.strip():
        raise Refused(_("It needs a reason: whoever reads the audit log wants to know why."))
    if obstacle := obstacle_to_removing(cluster=row, now=by.now):
        raise Refused(obstacle)
    groups = row.groups.select_for_update().order_by("pk").values_list("pk", flat=True)  # first what a rebalance has
    streams = [overview_stream(row.pk), *map(group_stream, groups)]
    _note(REMOVE, row, by, {"namesrv": row.namesrv, "groups": len(streams) - 1})
    end_streams(names=streams)
    tell_standing(cluster=row.pk)
    row.delete()


def _note(verb: str, cluster: Cluster, by: Author, detail: Mapping[str, object]) -> None:
    reason = printable(by.reason).strip()[:LONGEST_REASON]
    append(at=by.now, author=by.name, verb=verb, subject=cluster.name, detail={"reason": reason, **detail})
