"""What a producer that reports would choose next, by topics, and why: the engine's own selection on its reports."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Query, Schema
from pydantic import Field

from dashboard.api.errors import Problem
from dashboard.api.past import Instantly, instant_asked
from dashboard.api.producers import NOT_KEPT, STOCK
from dashboard.api.shapes import Instant, Text, Unknown
from dashboard.api.site import reads
from dashboard.clusters.shell import visible_clusters
from dashboard.common.clock import now_ms
from dashboard.groups.views import access_in
from dashboard.producers.picking import Pick
from dashboard.producers.queries import Seen, avoids_none, picks_of, producers_of

UNHEARD = "nothing of its cluster answers, and it told last some time ago: how it stands now is unknown"
NO_TOPICS = "it has not told to which topics it sends"
NO_SENDS = "no sends of it are known after which fault avoidance leaves a broker alone; the picks suppose that it does"


class TopicPicks(Schema):
    """The next sends to one topic, one for each of its ``queues``: how many go to each broker, and why.

    ``passed_over`` has brokers that some of them are not sent to, with the reason.
    """

    topic: Text
    queues: int
    shares: dict[Text, int]
    why: list[Text]
    passed_over: dict[Text, Text]


class PicksOut(Schema):
    """What one producer would choose; from which queue on it goes by turns only the producer knows.

    ``avoids_faults`` is false where its sends show that it leaves no slow or failing broker alone.
    """

    at: Instant
    cluster: Text
    client_id: Text
    avoids_faults: bool | None
    picks: list[TopicPicks] | None
    unknown: Unknown


class PicksAsked(Instantly):
    """One producer; now, or by what it left alone at a past instant."""

    client: str = Field(min_length=1, max_length=1_000, description="the producer's client id")
    cluster: str = Field(default="", description="needed where several clusters have a client of this id")


@reads("/producers/picks", name="api picks", answer=PicksOut)
def picks(request: HttpRequest, asked: Query[PicksAsked]) -> PicksOut:
    """Work out what a producer would choose next. For who may see all groups of a cluster."""
    now = instant_asked(asked.at, now_ms())
    row = _one(_named(request, asked, now), asked.client)
    has_left_alone = any(each.backoffs or each.backoff_until for each in row.standings)
    found = picks_of(row, now=now)
    out = PicksOut(
        at=now,
        cluster=row.cluster.name,
        client_id=row.client,
        avoids_faults=False if avoids_none(row) else True if has_left_alone else None,
        picks=[_shape(each) for each in found] or None,
        unknown={},
    )
    out.unknown |= {"avoids_faults": NO_SENDS} if out.avoids_faults is None else {}
    out.unknown |= {"picks": _why(row)} if out.picks is None else {}
    return out


def _named(request: HttpRequest, asked: PicksAsked, now: int) -> list[Seen]:
    """Give the producers of that name.

    Raises:
        Problem: 422 where there are more producers than are read, and none of those has the name.
    """
    access = access_in(request)
    mine = [each for each in visible_clusters(access=access) if asked.cluster in {"", each.name}]
    read = producers_of(clusters=mine, access=access, now=now, is_past=bool(asked.at))
    found = [each for each in read.rows if each.client == asked.client]
    if read.is_cut and not found:
        raise Problem(422, f"no producer {asked.client!r} is among those that are read of so many: needed is cluster=")
    return found


def _one(rows: list[Seen], client: str) -> Seen:
    """Give the one producer that is meant.

    Raises:
        Problem: 404 where there is none, 422 where there are several.
    """
    if not rows:
        raise Problem(404, f"no producer {client!r} is known that you may see")
    if len(rows) > 1:
        named = ", ".join(sorted(each.cluster.name for each in rows))
        raise Problem(422, f"several clusters have a producer {client!r}: needed is cluster=, one of {named}")
    return rows[0]


def _shape(pick: Pick) -> TopicPicks:
    return TopicPicks(
        topic=pick.topic,
        queues=pick.looked,
        shares=dict(sorted(pick.shares.items())),
        why=[each.value for each in pick.why],
        passed_over={broker: skip.value for broker, skip in sorted(pick.skipped.items())},
    )


def _why(row: Seen) -> str:
    if not row.has_told:
        return NOT_KEPT if any(each.is_cut for each in row.standings) else STOCK
    return UNHEARD if row.is_unheard else NO_TOPICS
