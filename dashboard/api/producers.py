"""Producers by brokers: what each reported of each. A stock producer reports nothing: unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from django.http import HttpRequest, HttpResponse
from ninja import Query, Schema
from pydantic import Field

from dashboard.api.errors import Problem
from dashboard.api.lists import Form, shown
from dashboard.api.past import Then, instant_asked
from dashboard.api.shapes import Instant, Page, Text, Unknown
from dashboard.api.site import reads
from dashboard.clusters.shell import visible_clusters
from dashboard.common.clock import now_ms
from dashboard.groups.views import access_in
from dashboard.people.roles import Role
from dashboard.producers.canaries import canaries_of, estimates_of
from dashboard.producers.counting import Counted
from dashboard.producers.present import counted_of
from dashboard.producers.queries import MOST_ROWS, MOST_TOLD, Seen, producers_of, searched
from dashboard.producers.standing import Standing

NO_CANARY = (
    "no canary of Evenkeel's own sent to this broker in the last minute; it is off unless an admin switches it on"
)
NOT_YOURS = "producers belong to no group: needed is that you may see all groups of their cluster"
UNHEARD = "nothing of its cluster answers, and it told last at told_at: how it stands now is unknown"
NOT_KEPT = "what it told of this broker up to then is not kept any more"
UNCOUNTED = "no report counts all its sends to this broker in the last minute: what is told else are bounds"
UNSHARED = "its sends to some other broker are not all counted"
Exact: TypeAlias = Mapping[str, float | None]
EXACT = (
    *("exact_median_low_ms", "exact_median_high_ms", "sends", "failed", "share"),
    *("counted_since", "counted_until"),
)
STOCK = "the producer reports nothing: a stock one tells nobody which brokers it leaves alone"


class ProducerRow(Schema):
    """One producer and one broker. ``state``: backs off, unreachable, available, quiet (told long ago) or unknown.

    ``backoff_ms`` is as announced, null where none runs; ``left_ms`` is what is left of it. ``median_ms`` is of the
    slowest send of each second of the last minute: a bound of the median of all. ``canary_ms`` is an estimate by a
    canary of Evenkeel's own, not by this producer: the median of what that waited for the broker in the last minute.

    What follows is exact, of producers whose reports count all sends: those that ended after ``counted_since`` and up
    to ``counted_until``, ``failed`` among them; the lower median, between low and high where latencies were counted in
    steps; ``share`` (0 to 1) of the producer's sends to all brokers.
    """

    cluster: Text
    client_id: Text
    groups: list[Text]
    language: Text | None
    version: Text | None
    broker: Text
    state: str
    told_at: Instant | None
    backoff_ms: int | None
    backoff_until: Instant | None
    left_ms: int | None
    is_isolated: bool | None
    is_reachable: bool | None
    median_ms: int | None
    canary_ms: int | None
    exact_median_low_ms: int | None
    exact_median_high_ms: int | None
    sends: int | None
    failed: int | None
    share: float | None
    counted_since: Instant | None
    counted_until: Instant | None
    unknown: Unknown


class ProducersAsked(Then):
    """Producers of one cluster, or of all; now, or at a past instant as far as what is kept tells."""

    cluster: str = ""
    q: str = Field(default="", max_length=200, description="words in client, group, version, cluster or broker")


@reads("/producers", name="api producers", answer=Page[ProducerRow], is_table=True)
def producers(request: HttpRequest, asked: Query[ProducersAsked]) -> Page[ProducerRow] | HttpResponse:
    """List producers by brokers, those first that leave one alone. For who may see all groups of a cluster.

    With ``at`` as they stood then: of each producer and broker the last sends and backoffs are kept.
    """
    access, now = access_in(request), instant_asked(asked.at, now_ms())
    mine = [each for each in visible_clusters(access=access) if asked.cluster in {"", each.name}]
    if mine and not any(access.may_everywhere(Role.VIEWER, cluster=each.name) for each in mine):
        raise Problem(403, NOT_YOURS)
    read = producers_of(clusters=mine, access=access, now=now, is_past=bool(asked.at))
    if read.is_cut:
        needed = "which is more than can be read of one cluster" if asked.cluster else "needed is one cluster="
        pairs_read = f"{MOST_TOLD:,} pairs of a producer that reports and a broker, or {MOST_ROWS:,} of any"
        raise Problem(422, f"there are more than {pairs_read}: {needed}")
    read = searched(read, asked.q)
    seen_by_canary = canaries_of(clusters=mine, access=access, at=now if asked.at else None)
    estimates = estimates_of(seen_by_canary, now)
    pairs = [(seen, each) for seen in read.rows for each in seen.standings]
    rows = _rows(pairs[asked.span], estimates, now)
    return shown(rows, len(pairs), asked, now, Form(ProducerRow, "producers"))


def _rows(
    pairs: Iterable[tuple[Seen, Standing]], estimates: Mapping[tuple[int, str], int], now: int
) -> Iterator[ProducerRow]:
    """Shape rows, producer by producer: its sends are counted once."""
    for seen, standings in groupby(pairs, key=itemgetter(0)):
        counted, of_all = counted_of(seen, now)
        for _seen, each in standings:
            yield _row(seen, each, estimates, _exact(counted.get(each.broker), of_all), now)


def _exact(counted: Counted | None, of_all: int | None) -> Exact:
    """Give what is exact of counted sends; nothing where not all are counted."""
    if counted is None:
        return {}
    low, high = counted.median_ms
    return {
        "exact_median_low_ms": low,
        "exact_median_high_ms": high,
        "sends": counted.sends,
        "failed": counted.failed,
        "share": round(counted.sends / of_all, 4) if of_all else None,
        "counted_since": counted.since,
        "counted_until": counted.until,
    }


def _row(seen: Seen, each: Standing, estimates: Mapping[tuple[int, str], int], exact: Exact, now: int) -> ProducerRow:
    row = ProducerRow(
        cluster=seen.cluster.name,
        client_id=seen.client,
        groups=list(seen.groups),
        language=seen.language or None,
        version=seen.version or None,
        broker=each.broker,
        state=each.kind(now),
        told_at=each.told_at,
        backoff_ms=each.backoff_ms,
        backoff_until=each.backoff_until,
        left_ms=None if each.told_at is None or each.is_unheard else each.left_ms(now),
        is_isolated=each.is_isolated,
        is_reachable=each.is_reachable,
        median_ms=each.median_ms(now),
        canary_ms=estimates.get((seen.cluster.pk, each.broker)),
        **{name: exact.get(name) for name in EXACT},  # type: ignore[arg-type] # as ``_exact`` names them
        unknown={},
    )
    names = ("language", "version", "told_at", "left_ms", "is_isolated", "is_reachable", "median_ms", "canary_ms")
    row.unknown = {name: _why(name, each, now) for name in names if getattr(row, name) is None}
    row.unknown |= {name: _why_uncounted(name, each, exact) for name in EXACT if getattr(row, name) is None}
    return row


def _why_uncounted(name: str, each: Standing, exact: Exact) -> str:
    if exact:
        return UNSHARED if name == "share" else UNCOUNTED
    if each.told_at is None:
        return NOT_KEPT if each.is_cut else STOCK
    return UNHEARD if each.is_unheard else UNCOUNTED


def _why(name: str, each: Standing, now: int) -> str:
    if name in {"language", "version"}:
        return "no broker has told it"
    if name == "canary_ms":
        return NO_CANARY
    if each.is_cut and (each.told_at is None or (name == "median_ms" and not each.keeps_sends(now))):
        return NOT_KEPT
    if each.told_at is None:
        return STOCK
    if name == "left_ms":
        return UNHEARD
    return "no send was told in the last minute" if name == "median_ms" else "it has told nothing of this so far"
