"""The canary of a cluster: what it estimates, and switching it."""

from __future__ import annotations

from django.http import Http404, HttpRequest
from ninja import Schema
from pydantic import Field

from dashboard.api.errors import Problem
from dashboard.api.shapes import Body, Instant, Text, Unknown
from dashboard.api.site import does, reads
from dashboard.clusters.shell import visible_cluster
from dashboard.common.clock import now_ms
from dashboard.groups.views import access_in
from dashboard.people.roles import Access, Role
from dashboard.producers.canaries import LONGEST_REASON, Refused, Seen, Wish, canaries_of, switch
from rebalance_engine.network.canary import TOPIC

ADDRESS = "/clusters/{int:pk}/canary"
NONE_LATELY = "none of its messages had an end in the last minute"


class CanaryIn(Body):
    """How the canary is to be. ``may_create``: whether its topic is made on brokers that lack it."""

    is_on: bool
    may_create: bool = False
    reason: str = Field(max_length=10 * LONGEST_REASON)


class EstimateOut(Schema):
    """What the canary tells of one broker. ``median_ms`` is of the last minute.

    ``trouble`` is why nothing is known of it, or why it is no good news: no topic, not made, refused, no answer or not
    asked; null: nothing is in its way.
    """

    broker: Text
    told_at: Instant | None
    median_ms: int | None
    failed: int | None
    trouble: str | None
    detail: Text
    unknown: Unknown


class CanaryOut(Schema):
    """The canary of a cluster: messages of Evenkeel's own that estimate how long producers wait for its brokers.

    It is off unless an admin switched it on. ``told_at`` null: it was not heard of since it was switched.
    """

    cluster: Text
    topic: str
    is_on: bool
    may_create: bool
    reason: Text | None
    changed_by: Text | None
    changed_at: Instant | None
    told_at: Instant | None
    brokers: list[EstimateOut]


@reads(ADDRESS, name="api canary", answer=CanaryOut)
def canary(request: HttpRequest, pk: int) -> CanaryOut:
    """Give the canary of a cluster, for who may see all groups of it: estimates by it, not by producers."""
    return _out(_find(pk, access_in(request)), now_ms())


@does(Role.ADMIN, ADDRESS, name="api canary", status=200, answer=CanaryOut)
def switch_canary(request: HttpRequest, pk: int, wanted: CanaryIn) -> CanaryOut:
    """Switch it on or off, with a reason. On sends a message to each broker every ten seconds, read-only or not."""
    access, now = access_in(request), now_ms()
    seen = _find(pk, access)
    try:
        wish = Wish(is_on=wanted.is_on, may_create=wanted.may_create, reason=wanted.reason)
        switch(cluster=seen.cluster, wish=wish, access=access, now=now)
    except Refused as refusal:
        raise Problem(403 if refusal.is_forbidden else 422, str(refusal)) from refusal
    return _out(_find(pk, access), now)


def _find(pk: int, access: Access) -> Seen:
    """Give the canary of a cluster.

    Raises:
        Http404: there is no such cluster, or not for this person.
    """
    for seen in canaries_of(clusters=[visible_cluster(pk=pk, access=access)], access=access):
        return seen
    raise Http404("there is no such cluster, or you may not see all groups of it")


def _out(seen: Seen, now: int) -> CanaryOut:
    row = seen.row
    return CanaryOut(
        cluster=seen.cluster.name,
        topic=TOPIC,
        is_on=seen.is_on,
        may_create=row is not None and row.may_create,
        reason=row.reason if row is not None else None,
        changed_by=row.changed_by if row is not None else None,
        changed_at=row.changed_at if row is not None else None,
        told_at=row.told_at if row is not None else None,
        brokers=_brokers(seen, now),
    )


def _brokers(seen: Seen, now: int) -> list[EstimateOut]:
    standings = {each.broker: each for each in seen.standings}
    troubles = {broker: (trouble.value, detail) for broker, trouble, detail in seen.troubles}
    rows = []
    for broker in sorted(standings.keys() | troubles.keys()):
        standing, (trouble, detail) = standings.get(broker), troubles.get(broker, (None, ""))
        median = standing.median_ms(now) if standing is not None else None
        row = EstimateOut(
            broker=broker,
            told_at=standing.told_at if standing is not None else None,
            median_ms=median,
            failed=standing.failed(now) if standing is not None and median is not None else None,
            trouble=trouble,
            detail=detail,
            unknown={},
        )
        names = ("told_at", "median_ms", "failed")
        row.unknown = {name: NONE_LATELY for name in names if getattr(row, name) is None}
        rows.append(row)
    return rows
