"""What people order of a cluster: a row of the command table, and an entry of the audit log, in one transaction.

The cluster's watcher takes it from there (``orders``), carries it out before its deadline, and writes a receipt.
``dashboard.demo.orders`` has the demo's verbs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.db import transaction

from dashboard.audit.operations import append
from dashboard.clusters.models import Cluster, Command
from dashboard.common.fields import printable

WITHIN_MS = 30_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody wants: the columns of an order."""

    verb: str
    group: str = ""
    target: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    reason: str = ""
    within_ms: int = WITHIN_MS


class ReadOnly(Exception):
    """The cluster may only be looked at."""


@transaction.atomic
def order(*, cluster: Cluster, wish: Wish, author: str, now: int, author_id: int | None = None) -> Command:
    """Order something of a cluster, and say so in the audit log.

    Args:
        author: who orders it; ``author_id`` is that person's row, where it is a person.
        now: UTC epoch ms.

    Raises:
        ReadOnly: nothing may be ordered of this cluster.
    """
    if cluster.is_read_only:
        seen = f"the cluster {cluster.name!r} was added to be looked at only"
        raise ReadOnly(f"{seen}; start Evenkeel with --writable to change it")
    ordered = Command.objects.create(
        cluster=cluster,
        verb=wish.verb,
        group_name=wish.group or None,
        target=wish.target,
        parameters=dict(wish.parameters),
        author_id=author_id,
        author_name=author,
        reason=printable(wish.reason),
        ordered_at=now,
        deadline=now + wish.within_ms,
    )
    detail = {
        "command": ordered.pk,
        "group": wish.group,
        "target": wish.target,
        "parameters": dict(wish.parameters),
        "reason": wish.reason,
    }
    append(at=now, author=author, verb=wish.verb, subject=f"{cluster.name} {wish.group or wish.target}", detail=detail)
    return ordered


def recent(*, cluster: Cluster, verbs: Iterable[str] | None = None, most: int = 20) -> list[Command]:
    """Give the newest orders of a cluster, with who ordered them and what became of them."""
    rows = Command.objects.filter(cluster=cluster).order_by("-pk")
    if verbs is not None:
        rows = rows.filter(verb__in=list(verbs))
    return list(rows.prefetch_related("receipts")[:most])
