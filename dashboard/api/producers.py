"""Producers by brokers: what each reported of each. A stock producer reports nothing: unknown."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse
from ninja import Query, Schema

from dashboard.api.lists import Form, shown
from dashboard.api.past import Then, instant_asked
from dashboard.api.shapes import Instant, Page, Text, Unknown
from dashboard.api.site import reads
from dashboard.clusters.shell import visible_clusters
from dashboard.common.clock import now_ms
from dashboard.groups.views import access_in
from dashboard.producers.canaries import canaries_of, estimates_of
from dashboard.producers.queries import Seen, producers_of
from dashboard.producers.standing import Standing

NO_CANARY = (
    "no canary of Evenkeel's own sent to this broker in the last minute; it is off unless an admin switches it on"
)
UNHEARD = "nothing of its cluster answers, and it told last at told_at: how it stands now is unknown"
NOT_KEPT = "what it told of this broker up to then is not kept any more"
STOCK = "the producer reports nothing: a stock one tells nobody which brokers it leaves alone"


class ProducerRow(Schema):
    """One producer and one broker. ``state``: backs off, unreachable, available, quiet (told long ago) or unknown.

    ``backoff_ms`` is as announced, null where none runs; ``left_ms`` is what is left of it. ``median_ms`` is of the
    slowest send of each second of the last minute: a bound of the median of all. ``canary_ms`` is an estimate by a
    canary of Evenkeel's own, not by this producer: the median of what that waited for the broker in the last minute.
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
    unknown: Unknown


class ProducersAsked(Then):
    """Producers of one cluster, or of all; now, or at a past instant as far as what is kept tells."""

    cluster: str = ""


@reads("/producers", name="api producers", answer=Page[ProducerRow], is_table=True)
def producers(request: HttpRequest, asked: Query[ProducersAsked]) -> Page[ProducerRow] | HttpResponse:
    """List producers by brokers, those first that leave one alone. For who may see all groups of a cluster.

    With ``at`` as they stood then: of each producer and broker the last sends and backoffs are kept.
    """
    access, now = access_in(request), instant_asked(asked.at, now_ms())
    mine = [each for each in visible_clusters(access=access) if asked.cluster in {"", each.name}]
    read = producers_of(clusters=mine, access=access, now=now, is_past=bool(asked.at))
    seen_by_canary = canaries_of(clusters=mine, access=access, at=now if asked.at else None)
    estimates = estimates_of(seen_by_canary, now)
    everything = [_row(seen, each, estimates, now) for seen in read.rows for each in seen.standings]
    return shown(everything[asked.span], len(everything), asked, now, Form(ProducerRow, "producers"))


def _row(seen: Seen, each: Standing, estimates: Mapping[tuple[int, str], int], now: int) -> ProducerRow:
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
        unknown={},
    )
    names = ("language", "version", "told_at", "left_ms", "is_isolated", "is_reachable", "median_ms", "canary_ms")
    row.unknown = {name: _why(name, each, now) for name in names if getattr(row, name) is None}
    return row


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
