"""The canary of a cluster: switching it, and what it estimates of brokers. It is off until an admin switches it on.

It sends to a topic of its own (``rebalance_engine.network.canary``), also to a cluster that is only looked at: that is
what whoever switches it on asks for, with a reason. Its topic is made where a broker lacks it only if that is asked for
too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext as _

from dashboard.audit.operations import append
from dashboard.clusters.models import Canary, Cluster, ProducerBroker
from dashboard.common.fields import printable
from dashboard.common.names import unescape
from dashboard.people.roles import Access, Role
from dashboard.producers.queries import standing_of
from dashboard.producers.standing import Standing
from rebalance_engine.network.canary import CLIENT, Trouble

LONGEST_REASON = 500
ON, OFF = "switch the canary on", "switch the canary off"
MOST_BROKERS = 200


class Refused(Exception):
    """It is not switched; the message says why, for people. ``is_forbidden``: never by this person."""

    def __init__(self, why: str, *, is_forbidden: bool = False) -> None:
        super().__init__(why)
        self.is_forbidden = is_forbidden


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """How somebody wants the canary to be."""

    is_on: bool
    may_create: bool = False
    reason: str


@dataclass(frozen=True, slots=True)
class Seen:
    """A cluster's canary as it stands; ``row`` None: it was never switched on.

    ``standings`` is what its messages told of each broker, as of the instant that was asked for; ``troubles`` has the
    broker, what is in its way there, and what the broker said.
    """

    cluster: Cluster
    row: Canary | None
    standings: tuple[Standing, ...]
    troubles: tuple[tuple[str, Trouble, str], ...]

    @property
    def is_on(self) -> bool:
        """Whether it sends."""
        return self.row is not None and self.row.is_on

    def estimates(self, now: int) -> dict[str, int]:
        """Give the median latency of the last minute, by broker; one of which nothing is known of then is left out."""
        medians = {each.broker: each.median_ms(now) for each in self.standings}
        return {broker: ms for broker, ms in medians.items() if ms is not None}


def obstacle_to_switching(*, cluster: Cluster, access: Access) -> str:
    """Say why a person may not switch the canary of a cluster; empty: may."""
    if access.may_everywhere(Role.ADMIN, cluster=cluster.name):
        return ""
    has = access.role_everywhere(cluster=cluster.name)
    values = {"where": _("for all groups of this cluster"), "has": has.value if has else _("none")}
    return _("This needs the role admin %(where)s; you have %(has)s.") % values


def switch(*, cluster: Cluster, wish: Wish, access: Access, now: int) -> Canary:
    """Switch the canary of a cluster; the audit log has it.

    Raises:
        Refused: not by this person, or not without a reason.
    """
    obstacle = obstacle_to_switching(cluster=cluster, access=access)
    if obstacle:
        raise Refused(obstacle, is_forbidden=True)
    reason = printable(wish.reason).strip()
    if not reason:
        raise Refused(_("It needs a reason: whoever reads the audit log wants to know why."))
    if len(reason) > LONGEST_REASON:
        values = {"n": len(reason), "most": LONGEST_REASON}
        raise Refused(_("The reason has %(n)s characters; it may have %(most)s.") % values)
    return _store(cluster, wish, reason, printable(access.name), now)


@transaction.atomic
def _store(cluster: Cluster, wish: Wish, reason: str, author: str, now: int) -> Canary:
    may_create = wish.is_on and wish.may_create
    columns = {
        "is_on": wish.is_on,
        "may_create": may_create,
        "reason": reason,
        "changed_by": author,
        "changed_at": now,
        "told_at": None,
        "troubles": {},
    }
    row, _is_new = Canary.objects.update_or_create(cluster=cluster, defaults=columns)
    detail = {"reason": reason, "makes its topic": may_create, "read only": cluster.is_read_only}
    append(at=now, author=author, verb=ON if wish.is_on else OFF, subject=cluster.name, detail=detail)
    return row


def canaries_of(*, clusters: Sequence[Cluster], access: Access, at: int | None = None) -> list[Seen]:
    """Read the canaries of clusters, for whoever may see all groups of them; ``at``: as of a past instant."""
    mine = [each for each in clusters if access.may_everywhere(Role.VIEWER, cluster=each.name)]
    switched = {row.cluster_id: row for row in Canary.objects.filter(cluster__in=mine)}
    told: dict[int, list[Standing]] = {}
    rows = ProducerBroker.objects.filter(cluster__in=switched, client_id=CLIENT).order_by("broker")
    for row in rows[: MOST_BROKERS * max(1, len(switched))]:
        standing = standing_of(row)
        told.setdefault(row.cluster_id, []).append(standing if at is None else standing.as_of(at))
    return [_seen(each, switched.get(each.pk), told.get(each.pk, [])) for each in mine]


def estimates_of(canaries: Sequence[Seen], now: int) -> dict[tuple[int, str], int]:
    """Give what the canaries estimate, by key of the cluster and broker."""
    return {(each.cluster.pk, broker): ms for each in canaries for broker, ms in each.estimates(now).items()}


def _seen(cluster: Cluster, row: Canary | None, standings: Sequence[Standing]) -> Seen:
    troubles = row.troubles.items() if row is not None and row.is_on else ()
    return Seen(
        cluster,
        row,
        tuple(each for each in standings if each.told_at is not None),
        tuple((unescape(broker), Trouble(kind), detail) for broker, (kind, detail) in sorted(troubles)),
    )
