"""Groups: the list, one of them, its members, its queues with who holds and who should hold them, its findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Schema
from pydantic import Field

from dashboard.api.clusters import FindingOut, finding_out
from dashboard.api.errors import Problem
from dashboard.api.group_shapes import GroupOut, GroupRow, MemberOut, QueueOut, member_out, row_out
from dashboard.api.shapes import Page, Paging, cut, page_of
from dashboard.api.site import reads
from dashboard.api.unknown import why_no_owner
from dashboard.clusters.shell import visible_clusters
from dashboard.common.clock import now_ms
from dashboard.common.tables import attached, write_csv
from dashboard.groups import listing, story
from dashboard.groups.lag import QueueLag, lag_of
from dashboard.groups.models import Finding, Group
from dashboard.groups.past import LONGEST, BadInstant, instant_of, shown_at
from dashboard.groups.views import access_in, find_group
from dashboard.push.messages import GroupState
from dashboard.push.publish import group_snapshot, state_in, stored_state
from dashboard.push.runs import unpack

NO_LAG = "the broker has not told its offsets"
NO_PAST_LAG = "only who held what is kept of the past here"
NO_COMMIT = "nothing is known to be committed there"


class GroupsAsked(Paging):
    """Which groups: of one cluster, with these words in what their row says, of a kind, of one exact name."""

    cluster: str = ""
    name: str = ""
    q: str = Field(default="", max_length=200)
    only: Literal["all", "findings", "moving", "unknown"] = "all"
    sort: Literal["state", "name", "members", "queues", "round"] = "state"


class QueuesAsked(Paging):
    """Which queues of a group, now or at a past instant: ms since 1970, or ISO 8601."""

    topic: str = ""
    broker: str = ""
    at: str = Field(default="", max_length=LONGEST)


class NoParts(Schema):
    """Nothing besides."""


@reads("/groups", name="api groups", answer=Page[GroupRow], is_table=True)
def groups(request: HttpRequest, asked: Query[GroupsAsked]) -> Page[GroupRow] | HttpResponse:
    """List groups as the overview does."""
    access, now = access_in(request), now_ms()
    mine = [each for each in visible_clusters(access=access) if asked.cluster in {"", each.name}]
    wish = listing.Wish(search=asked.q, only=asked.only, sort=asked.sort)
    found = [
        each for each in listing.chosen(clusters=mine, access=access, wish=wish) if asked.name in {"", each.row.group}
    ]
    rows = [row_out(each) for each in found[asked.span]]
    if asked.format == "csv":
        return attached(write_csv(list(GroupRow.model_fields)[:-1], (_fields(row) for row in rows)), "groups")
    return cut(rows, len(found), asked, now)


@reads("/groups/{int:pk}", name="api group", answer=GroupOut)
def group(request: HttpRequest, pk: int) -> GroupOut:
    """Give one group: its figures, the round that is under way, how far it is behind."""
    found = find_group(request, pk)
    snapshot, lag = group_snapshot(group=pk), lag_of(group=found)
    row = row_out(listing.listed(group=found))
    head = snapshot.state.head if snapshot is not None else None
    reasons = dict(row.unknown)
    if lag.total is None:
        reasons["lag"] = f"{', '.join(lag.untold)} did not tell its offsets" if lag.untold else NO_LAG
    if head is None:
        reasons["state_at"] = "no state of it is kept yet"
    return GroupOut(
        **{**row.model_dump(), "unknown": reasons},
        at=now_ms(),
        state_at=snapshot.at if snapshot is not None else None,
        seq=snapshot.seq if snapshot is not None else None,
        are_members_known=head.are_members_known if head is not None else False,
        untold_brokers=list(head.untold) if head is not None else [],
        is_target_known=head.is_target_known if head is not None else False,
        waits_for=head.round.waits_for or None if head is not None and head.round is not None else None,
        findings=head.fault_count if head is not None else 0,
        duplicate_messages=found.duplicate_messages,
        lag=lag.total,
        lag_at=lag.observed_at,
        strays=[f"{each.client}: {each.topic}/{each.broker}/{each.queue_id}" for each in snapshot.state.strays[:500]]
        if snapshot is not None
        else [],
    )


@reads("/groups/{int:pk}/members", name="api members", answer=Page[MemberOut], is_table=True)
def members(request: HttpRequest, pk: int, asked: Query[Paging]) -> Page[MemberOut] | HttpResponse:
    """List who is a member now, with what brokers and they themselves told."""
    found, now = find_group(request, pk), now_ms()
    state = state_in(stored_state(group=pk))
    cells = {cell.client: cell for cell in state.members} if state is not None else {}
    everybody = story.members_of(group=found)
    is_target_known = state is not None and state.head.is_target_known
    rows = [member_out(each, cells, is_target_known=is_target_known) for each in everybody[asked.span]]
    if asked.format == "csv":
        table = write_csv(list(MemberOut.model_fields)[:-1], (_fields(row) for row in rows))
        return attached(table, f"members-{found.name}")
    return cut(rows, len(everybody), asked, now)


@reads("/groups/{int:pk}/queues", name="api queues", answer=Page[QueueOut], is_table=True)
def queues(request: HttpRequest, pk: int, asked: Query[QueuesAsked]) -> Page[QueueOut] | HttpResponse:
    """List the queues: who holds each, who should, and how far the group is behind there.

    With ``at`` it lists who was shown to hold each then, and who should have; how far it was behind is not told.
    """
    found, now = find_group(request, pk), now_ms()
    state = _past(found, asked.at, now) if asked.at else state_in(stored_state(group=pk))
    everything = list(_queues(found, state, asked)) if state is not None else []
    rows = everything[asked.span]
    if asked.format == "csv":
        table = write_csv(list(QueueOut.model_fields)[:-1], (_fields(row) for row in rows))
        return attached(table, f"queues-{found.name}")
    return cut(rows, len(everything), asked, now)


@reads("/groups/{int:pk}/findings", name="api findings of group", answer=Page[FindingOut])
def findings_of_group(request: HttpRequest, pk: int, asked: Query[Paging]) -> Page[FindingOut]:
    """List what is wrong with a group now."""
    found = find_group(request, pk)
    rows = Finding.objects.filter(group=found, cleared_at=None).select_related("group", "cluster")
    return page_of(rows.order_by("suspected_at", "pk"), finding_out, asked, now_ms())


def _past(group: Group, asked: str, now: int) -> GroupState:
    """Give the state that was shown at an instant.

    Raises:
        Problem: 400 where it is none or to come, 404 where nothing is kept of it.
    """
    try:
        shown = shown_at(group=group, at=instant_of(asked, now=now))
    except BadInstant as bad:
        raise Problem(400, str(bad)) from bad
    if shown is None:
        raise Problem(404, f"nothing that was seen of this group at {asked} is kept")
    return shown.state


def _queues(group: Group, state: GroupState, asked: QueuesAsked) -> Iterator[QueueOut]:
    """Walk the queues of a state that are asked for, in its order."""
    held, target = _owners(state, is_target=False), _owners(state, is_target=True)
    known = () if asked.at else lag_of(group=group).queues
    lags = {(each.topic, each.broker, each.queue_id): each for each in known}
    silent = sum(cell.held is None for cell in state.members)
    is_known = not silent and state.head.are_members_known
    why = "" if is_known else why_no_owner(silent, state.head)
    number = 0
    for part in state.queues:
        for queue_id in unpack(part.ids).tolist():
            if asked.topic in {"", part.topic} and asked.broker in {"", part.broker}:
                owners, wanted = held.get(number, []), target.get(number, [])
                lag = lags.get((part.topic, part.broker, queue_id))
                reasons = _reasons(lag, NO_PAST_LAG if asked.at else NO_LAG)
                if not owners and not is_known:
                    reasons["held_by"] = why
                if not state.head.is_target_known:
                    reasons["target"] = "what members should have cannot be computed"
                yield QueueOut(
                    topic=part.topic,
                    broker=part.broker,
                    queue_id=queue_id,
                    held_by=owners if owners or is_known else None,
                    are_all_owners_known=is_known,
                    target=wanted if state.head.is_target_known else None,
                    end=lag.end if lag is not None else None,
                    committed=lag.committed if lag is not None else None,
                    lag=lag.lag if lag is not None else None,
                    consumed_up_to=lag.consumed_up_to if lag is not None else None,
                    lag_at=lag.observed_at if lag is not None else None,
                    unknown=reasons,
                )
            number += 1


def _owners(state: GroupState, *, is_target: bool) -> dict[int, list[str]]:
    owners: dict[int, list[str]] = {}
    for cell in state.members:
        for number in unpack(cell.target if is_target else cell.held or ()).tolist():
            owners.setdefault(number, []).append(cell.client)
    return owners


def _reasons(lag: QueueLag | None, why: str) -> dict[str, str]:
    if lag is None:
        return dict.fromkeys(("end", "committed", "lag", "consumed_up_to", "lag_at"), why)
    reasons = dict.fromkeys(("committed", "lag"), NO_COMMIT) if lag.committed is None else {}
    if lag.consumed_up_to is None:
        reasons["consumed_up_to"] = "no message is known to have been consumed there"
    return reasons


def _fields(row: Schema) -> list[object]:
    """Give a row of a table: all of it but why something is unknown."""
    return list(row.model_dump().values())[:-1]
