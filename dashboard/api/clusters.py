"""Clusters with their brokers, and what is wrong now."""

from __future__ import annotations

from typing import Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Schema
from pydantic import Field

from dashboard.api.errors import Problem
from dashboard.api.lists import Form, page_read
from dashboard.api.shapes import Instant, Page, Paging, Text, Unknown
from dashboard.api.site import reads
from dashboard.clusters.models import Broker, Cluster
from dashboard.clusters.shell import all_clusters, visible_clusters
from dashboard.clusters.silences import Answering, answering
from dashboard.common.clock import now_ms
from dashboard.common.shown import shown
from dashboard.groups.found import KINDS, Sought, found
from dashboard.groups.models import Finding
from dashboard.groups.proofs import proven_at, seen_at_of
from dashboard.groups.views import access_in

MOST_BROKERS = 2_000


class BrokerOut(Schema):
    """One broker process; ``gone_at`` is set while it is away."""

    name: Text
    broker_id: int
    address: Text
    version: Text | None
    seen_at: Instant
    gone_at: Instant | None


class SilentOut(Schema):
    """A server that does not answer; without a broker it is a NameServer."""

    server: Text
    broker: Text | None
    since: Instant
    answered_at: Instant | None
    why: Text


class ClusterOut(Schema):
    """One cluster. ``answered_at`` is when anything of it answered last, null: never."""

    id: int
    name: Text
    namesrv: Text
    is_demo: bool
    is_read_only: bool
    is_watched: bool
    answered_at: Instant | None
    silent: list[SilentOut]
    more_silent: int
    brokers: list[BrokerOut]
    unknown: Unknown


class ClustersOut(Schema):
    """The clusters of which somebody may see anything."""

    at: Instant
    rows: list[ClusterOut]


class FindingOut(Schema):
    """A fault; ``confirmed_at`` null: suspected so far. ``ends_at``: when it must end by itself, where known.

    ``seen_at``: of all members of its group the longest ago that one told what it holds: so old is its proof, though no
    older than ``suspected_at``. Null: it rests on something else, or is told of a past instant.
    """

    cluster: Text
    group_id: int | None
    group: Text | None
    kind: Text
    subject: Text
    sentence: Text
    proof: list[Text]
    origin: str
    suspected_at: Instant
    confirmed_at: Instant | None
    seen_at: Instant | None
    ends_at: Instant | None


class FindingsAsked(Paging):
    """Findings of one cluster, or of all; of a kind; confirmed or suspected alone; with these words."""

    cluster: str = ""
    kind: str = ""
    state: Literal["", "confirmed", "suspected"] = ""
    q: str = Field(default="", max_length=200)


class ClustersAsked(Schema):
    """In which form: all clusters come at once, as JSON alone."""

    format: str = "json"


@reads("/clusters", name="api clusters", answer=ClustersOut)
def clusters(request: HttpRequest, asked: Query[ClustersAsked]) -> ClustersOut:
    """List the clusters, how they answer, and their brokers."""
    if asked.format not in {"json", "all"}:
        raise Problem(422, "a cluster has lists of brokers and servers, which are no table: needed is format=json")
    now, mine = now_ms(), all_clusters(access=access_in(request))
    brokers: dict[int, list[BrokerOut]] = {}
    for row in Broker.objects.filter(cluster__in=mine).order_by("name", "broker_id")[:MOST_BROKERS]:
        brokers.setdefault(row.cluster_id, []).append(_broker(row))
    answers = answering(clusters=mine, now=now)
    return ClustersOut(at=now, rows=[_cluster(each, brokers.get(each.cluster.pk, [])) for each in answers])


@reads("/findings", name="api findings", answer=Page[FindingOut], is_table=True)
def findings(request: HttpRequest, asked: Query[FindingsAsked]) -> Page[FindingOut] | HttpResponse:
    """List what is wrong now, the gravest first."""
    if asked.kind and asked.kind not in KINDS:
        raise Problem(422, f"there is no kind of findings {shown(asked.kind)!r}; there are {', '.join(KINDS)}")
    access = access_in(request)
    mine = [each for each in visible_clusters(access=access, also=asked.cluster) if asked.cluster in {"", each.name}]
    rows = found(clusters=mine, access=access, sought=Sought(asked.q, asked.kind, asked.state))
    groups = rows.filter(group__isnull=False).order_by().values_list("group", flat=True).distinct()
    told = seen_at_of(groups=set(groups))
    return page_read(
        rows, lambda row: finding_out(row, told.get(row.group_id or 0)), asked, now_ms(), Form(FindingOut, "findings")
    )


def finding_out(row: Finding, seen_at: int | None) -> FindingOut:
    """Shape a finding; ``seen_at`` is when the last of its group's members told what they hold."""
    return FindingOut(
        cluster=row.cluster.name,
        group_id=row.group_id,
        group=row.group.name if row.group is not None else None,
        kind=row.kind,
        subject=row.subject,
        sentence=row.sentence,
        proof=[str(each) for each in row.proof],
        origin=row.origin,
        suspected_at=row.suspected_at,
        confirmed_at=row.confirmed_at,
        seen_at=proven_at(row.kind, seen_at, row.suspected_at),
        ends_at=row.ends_at,
    )


def _broker(row: Broker) -> BrokerOut:
    return BrokerOut(
        name=row.name,
        broker_id=row.broker_id,
        address=row.address,
        version=row.version or None,
        seen_at=row.observed_at,
        gone_at=row.gone_at,
    )


def _cluster(each: Answering, brokers: list[BrokerOut]) -> ClusterOut:
    row: Cluster = each.cluster
    return ClusterOut(
        id=row.pk,
        name=row.name,
        namesrv=row.namesrv,
        is_demo=row.is_demo,
        is_read_only=row.is_read_only,
        is_watched=each.is_watched,
        answered_at=each.answered_at,
        silent=[
            SilentOut(
                server=one.server, broker=one.broker or None, since=one.since, answered_at=one.answered_at, why=one.why
            )
            for one in each.silent
        ],
        more_silent=each.others,
        brokers=brokers,
        unknown={} if each.answered_at is not None else {"answered_at": "nothing of this cluster has answered yet"},
    )
