"""The streams that a browser may ask for: who may follow them, and their snapshot."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from django.db.models import F, QuerySet

from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from dashboard.groups.models import Group, Member
from dashboard.groups.showing import row_of
from dashboard.people.roles import Access, Role
from dashboard.push.messages import (
    VERSION,
    Message,
    OverviewDiff,
    OverviewSnapshot,
    Pulse,
    Row,
    Seen,
    Standing,
    decode,
    encode,
)
from dashboard.push.publish import (
    CatchUp,
    catch_up,
    current_seq,
    group_snapshot,
    group_stream,
    overview_stream,
    standing_stream,
)

MOST_LOOKS = 500  # members in one pulse
MOST_BEHIND = 1_000  # groups in one pulse
_NAME = re.compile(r"(group|overview)-([1-9][0-9]{0,17})")


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream that somebody may follow.

    ``cluster`` is set where its rows are to be filtered for that person; ``shows`` is the group that it shows, by the
    cluster's row number and the group's name.
    """

    name: str
    number: int
    is_overview: bool
    cluster: str | None
    shows: tuple[int, str] | None = None

    @property
    def standing(self) -> str:
        """Name the stream that says when its cluster stands otherwise."""
        return standing_stream(self.number if self.shows is None else self.shows[0])


def find_stream(*, name: str, access: Access) -> Stream | None:
    """Give a stream by its name; None where there is none, or not for this person."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    number = int(found[2])
    return _overview(number, access) if found[1] == "overview" else _group(number, access)


def bring_up_to_date(*, stream: Stream, last_seq: int | None, access: Access) -> CatchUp:
    """Give what a browser lacks."""
    if not stream.is_overview:
        return catch_up(stream=stream.name, last_seq=last_seq, snapshot=lambda: group_snapshot(group=stream.number))
    missing = catch_up(stream=stream.name, last_seq=last_seq, snapshot=lambda: overview_snapshot(cluster=stream.number))
    return CatchUp(missing.seq, tuple(for_person(body, stream=stream, access=access) for body in missing.bodies))


def overview_snapshot(*, cluster: int) -> OverviewSnapshot:
    """Give all groups of a cluster. The number is read first: rows may be newer than it, never older."""
    name = overview_stream(cluster)
    seq = current_seq(stream=name)
    rows = tuple(row_of(group) for group in Group.objects.filter(cluster=cluster, gone_at=None).order_by("name"))
    return OverviewSnapshot(VERSION, "overview.snapshot", name, seq, now_ms(), rows)


def pulse_of(*, stream: Stream, at: int, access: Access) -> bytes:
    """Give what tells a browser, though nothing changes, that it is up to date, or is not."""
    looks: tuple[Seen, ...] = ()
    if stream.is_overview:
        cluster = Cluster.objects.filter(pk=stream.number).first()
        behind = _behind(Group.objects.filter(cluster=stream.number), stream.cluster, access)
    else:
        behind = _behind(Group.objects.filter(pk=stream.number), None, access)
        cluster = Cluster.objects.filter(groups=stream.number).first()
        members = Member.objects.filter(group=stream.number, left_at=None).order_by("pk")
        looks = tuple(Seen(*row) for row in members.values_list("client_id", "held_seen_at")[:MOST_LOOKS])
    seq = current_seq(stream=stream.name)
    watched = cluster.watched_at if cluster is not None else None
    return encode(Pulse(VERSION, "pulse", stream.name, seq, at, watched, looks, behind, _standing_of(cluster)))


def gone_pulse(*, name: str, at: int) -> bytes | None:
    """Give what tells a browser that a stream is there no more, or not for this person; None: none is called so."""
    if _NAME.fullmatch(name) is None:
        return None
    return encode(Pulse(VERSION, "pulse", name, 0, at, None, (), (), "gone"))


def _standing_of(cluster: Cluster | None) -> Standing:
    if cluster is None:
        return "gone"
    return "aside" if cluster.is_aside else "watched"


def _behind(groups: QuerySet[Group], cluster: str | None, access: Access) -> tuple[int, ...]:
    """Give the groups of which something changed that no rebalance has seen yet; only those that this person sees."""
    waiting = groups.filter(inputs_version__gt=F("done_version")).order_by("pk").values_list("pk", "name")[:MOST_BEHIND]
    return tuple(pk for pk, name in waiting if cluster is None or access.may(Role.VIEWER, cluster=cluster, group=name))


def for_person(body: bytes, *, stream: Stream, access: Access) -> bytes:
    """Give a message with the rows that this person may see; the same bytes to whoever may see all."""
    if stream.cluster is None:
        return body
    message = decode(body)
    return encode(_filtered(message, stream.cluster, access))


def _filtered(message: Message, cluster: str, access: Access) -> Message:
    if isinstance(message, OverviewSnapshot):
        return replace(message, rows=_visible(message.rows, cluster, access))
    if isinstance(message, OverviewDiff):
        return replace(message, put=_visible(message.put, cluster, access))
    return message


def _visible(rows: tuple[Row, ...], cluster: str, access: Access) -> tuple[Row, ...]:
    return tuple(row for row in rows if access.may(Role.VIEWER, cluster=cluster, group=row.group))


def _overview(number: int, access: Access) -> Stream | None:
    cluster = Cluster.objects.filter(pk=number).values_list("name", flat=True).first()
    if cluster is None or not access.may_see_cluster(cluster):
        return None
    sees_all = access.may_everywhere(Role.VIEWER, cluster=cluster)
    return Stream(overview_stream(number), number, is_overview=True, cluster=None if sees_all else cluster)


def _group(number: int, access: Access) -> Stream | None:
    group = Group.objects.filter(pk=number).select_related("cluster").first()
    if group is None or not access.may(Role.VIEWER, cluster=group.cluster.name, group=group.name):
        return None
    return Stream(group_stream(number), number, is_overview=False, cluster=None, shows=(group.cluster_id, group.name))
