"""Groups that are no more: every broker said which groups it has, none named them, and nobody is a member.

A broker names a group as long as its subscription table has it, with members or without; who deletes the group there
(``mqadmin deleteSubGroup``) ends it. A group of a broker that is away is not gone: the broker may come back with it.
What is gone has no figures and no row in the overview any more; its page stays, until retention deletes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from dashboard.clusters.models import Broker, Cluster
from dashboard.common.names import known_as
from dashboard.groups.models import Group, Member, MemberList
from dashboard.groups.showing import row_of
from dashboard.push.publish import publish_rows

SETTLED_MS = 5_000  # from the first word of a group until its brokers name it, at most
AWAY_MS = 24 * 60 * 60 * 1000  # a broker that is away for longer is not waited for


def publish_row(*, group: Group, at: int, is_behind: bool | None = None) -> None:
    """Store and send a group's row of the overview; one that is gone has none."""
    put = (row_of(group, is_behind=is_behind),) if group.gone_at is None else ()
    publish_rows(cluster=group.cluster_id, put=put, gone=() if put else (group.pk,), at=at)


def note_gone(
    *, cluster: str, named: Iterable[str], brokers: Set[str], asked_at: int, now: int, lease_epoch: int
) -> int:
    """Store which groups are gone since now, and which are there again. Give how many that are.

    Args:
        cluster: its name.
        named: every group that some broker names, or that has members.
        brokers: names of all that were asked, and told.
        asked_at: they were asked then or later; ms since 1970.
        now: ms since 1970.
        lease_epoch: of the watcher that asked; where another one has the lease, nothing is stored.
    """
    names = frozenset(map(known_as, named))
    if not _differing(cluster, names, brokers, asked_at):
        return 0
    with transaction.atomic():
        row = Cluster.objects.select_for_update(no_key=True).filter(name=cluster, lease_epoch=lease_epoch).first()
        differing = [] if row is None else _differing(cluster, names, brokers, asked_at)
        if row is None or not differing:
            return 0
        gone = [group for group in differing if group.gone_at is None]
        back = [group for group in differing if group.gone_at is not None]
        Group.objects.filter(pk__in=[group.pk for group in gone]).update(gone_at=now, due_at=now)  # its findings end
        Group.objects.filter(pk__in=[group.pk for group in back]).update(gone_at=None)
        publish_rows(
            cluster=row.pk, put=tuple(map(row_of, back)), gone=tuple(group.pk for group in gone), at=now
        )  # last: all groups of the cluster wait for it
    return len(differing)


def _differing(cluster: str, named: frozenset[str], brokers: Set[str], asked_at: int) -> list[Group]:
    """Give the groups of which is stored that they are there, and they are gone, or the other way round."""
    groups = Group.objects.filter(cluster__name=cluster)
    is_gone = {group.pk for group in _unnamed(groups, named, brokers, asked_at)}
    return [group for group in groups.order_by("pk") if group.pk in is_gone or (group.gone_at and group.name in named)]


def _unnamed(groups: QuerySet[Group], named: frozenset[str], brokers: Set[str], asked_at: int) -> list[Group]:
    """Give those that are not known to be gone, and that no broker names that could."""
    stored = groups.filter(gone_at=None, added_at__lt=asked_at - SETTLED_MS).values_list("pk", "name")
    unnamed = [pk for pk, name in stored if name not in named]
    if not unnamed:
        return []
    here = Member.objects.filter(group=OuterRef("pk"), left_at=None)
    waits = set(MemberList.objects.filter(group__in=unnamed).exclude(broker__in=brokers).values_list("group", "broker"))
    for_ever = Broker.objects.filter(cluster__groups__in=unnamed, broker_id=0, gone_at__lt=asked_at - AWAY_MS)
    lost = set(for_ever.values_list("name", flat=True))
    waiting = {group for group, broker in waits if broker not in lost}
    return list(groups.filter(pk__in=set(unnamed) - waiting).filter(~Exists(here)))
