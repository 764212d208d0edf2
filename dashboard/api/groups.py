"""Groups: the list, one of them, its members, its findings; all but the list also of a past instant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query
from pydantic import Field

from dashboard.api.clusters import FindingOut, finding_out
from dashboard.api.group_shapes import GroupOut, GroupRow, MemberOut, member_out, row_out
from dashboard.api.lists import PIECE, Form, page_of, page_read, shown
from dashboard.api.past import (
    Instantly,
    Then,
    finding_then,
    group_then,
    instant_asked,
    members_then,
    shown_then,
)
from dashboard.api.shapes import Page, Paging
from dashboard.api.site import reads
from dashboard.api.unknown import NO_LAG
from dashboard.clusters.shell import visible_clusters
from dashboard.common.clock import now_ms
from dashboard.groups import listing, story
from dashboard.groups.dead import dead_letters_of
from dashboard.groups.found import in_order
from dashboard.groups.lag import GroupLag, lag_of
from dashboard.groups.models import Finding, Group
from dashboard.groups.proofs import seen_at_of
from dashboard.groups.unseen import fared_of
from dashboard.groups.views import access_in, find_group
from dashboard.push.publish import group_snapshot, state_in, stored_state

NO_DEAD_LETTERS = "no broker was asked for them yet"


class GroupsAsked(Paging):
    """Which groups: of one cluster, with these words in what their row says, of a kind, of one exact name."""

    cluster: str = ""
    name: str = ""
    q: str = Field(default="", max_length=200)
    only: Literal["all", "findings", "owners", "moving", "unknown"] = "all"
    sort: Literal["state", "name", "members", "queues", "round", "lag"] = "state"


@reads("/groups", name="api groups", answer=Page[GroupRow], is_table=True)
def groups(request: HttpRequest, asked: Query[GroupsAsked]) -> Page[GroupRow] | HttpResponse:
    """List groups as the overview does."""
    access, now = access_in(request), now_ms()
    mine = [each for each in visible_clusters(access=access, also=asked.cluster) if asked.cluster in {"", each.name}]
    wish = listing.Wish(search=asked.q, only=asked.only, sort=asked.sort)
    found = [
        each
        for each in listing.chosen(clusters=mine, access=access, wish=wish, now=now)
        if asked.name in {"", each.row.group}
    ]
    return shown(_rows(found[asked.span], now), len(found), asked, now, Form(GroupRow, "groups"))


def _rows(found: Sequence[listing.Listed], now: int) -> Iterator[GroupRow]:
    """Shape rows, with how each fared lately: read piece by piece, since all groups may be asked for."""
    for start in range(0, len(found), PIECE):
        piece = found[start : start + PIECE]
        lately = fared_of(groups=[each.row.id for each in piece], now=now)
        yield from (row_out(each, lately.get(each.row.id)) for each in piece)


@reads("/groups/{int:pk}", name="api group", answer=GroupOut)
def group(request: HttpRequest, pk: int, asked: Query[Instantly]) -> GroupOut:
    """Give one group: its figures, the round that is under way, how far it is behind. With ``at`` as it was then."""
    found, now = find_group(request, pk), now_ms()
    if asked.at:
        return group_then(found, shown_then(found, asked.at, now), instant_asked(asked.at, now))
    snapshot, lag, dead = group_snapshot(group=pk), lag_of(group=found), dead_letters_of(group=found)
    row = row_out(listing.listed(group=found), fared_of(groups=[pk], now=now).get(pk))
    head = snapshot.state.head if snapshot is not None else None
    reasons = {name: why for name, why in row.unknown.items() if name not in {"lag", "lag_at"}}
    if row.lag is None:
        reasons["lag"] = _why_no_lag(lag)
    if row.lag_at is None:
        reasons["lag_at"] = _why_no_lag(lag)
    if dead.put is None:
        reasons["dead_letters"] = f"{', '.join(dead.untold)} did not tell them" if dead.untold else NO_DEAD_LETTERS
    if head is None:
        reasons["state_at"] = "no state of it is kept yet"
    return GroupOut(
        **{**row.model_dump(), "unknown": reasons},
        at=now,
        gone_at=found.gone_at,
        state_at=snapshot.at if snapshot is not None else None,
        seq=snapshot.seq if snapshot is not None else None,
        are_members_known=head.are_members_known if head is not None else False,
        untold_brokers=list(head.untold) if head is not None else [],
        is_target_known=head.is_target_known if head is not None else False,
        waits_for=head.round.waits_for or None if head is not None and head.round is not None else None,
        findings=head.fault_count if head is not None else 0,
        dead_letters=dead.put,
        dead_letters_at=dead.observed_at,
        strays=[f"{each.client}: {each.topic}/{each.broker}/{each.queue_id}" for each in snapshot.state.strays[:500]]
        if snapshot is not None
        else [],
    )


def _why_no_lag(lag: GroupLag) -> str:
    if lag.untold:
        return f"{', '.join(lag.untold)} did not tell its offsets"
    if lag.last_known and not lag.queues:
        return f"no route has the queues any more of which {', '.join(lag.brokers_left)} told"
    if silent := sorted({each.broker for each in lag.queues if each.missing is not None}):
        return f"{', '.join(silent)} did not tell its offsets again, and they may have become less since"
    return NO_LAG


@reads("/groups/{int:pk}/members", name="api members", answer=Page[MemberOut], is_table=True)
def members(request: HttpRequest, pk: int, asked: Query[Then]) -> Page[MemberOut] | HttpResponse:
    """List who is a member, with what brokers and they themselves told. With ``at`` who was shown to be one then."""
    found, now = find_group(request, pk), now_ms()
    rows, count = _members_then(found, asked, now) if asked.at else _members(found, asked)
    return shown(rows, count, asked, now, Form(MemberOut, f"members-{found.name}"))


def _members(found: Group, asked: Then) -> tuple[list[MemberOut], int]:
    state = state_in(stored_state(group=found.pk))
    cells = {cell.client: cell for cell in state.members} if state is not None else {}
    everybody = story.members_of(group=found)
    is_target_known = state is not None and state.head.is_target_known
    shaped = [member_out(each, cells, is_target_known=is_target_known) for each in everybody[asked.span]]
    return shaped, len(everybody)


def _members_then(found: Group, asked: Then, now: int) -> tuple[list[MemberOut], int]:
    everybody = members_then(found, shown_then(found, asked.at, now), instant_asked(asked.at, now))
    return everybody[asked.span], len(everybody)


@reads("/groups/{int:pk}/findings", name="api findings of group", answer=Page[FindingOut], is_table=True)
def findings_of_group(request: HttpRequest, pk: int, asked: Query[Then]) -> Page[FindingOut] | HttpResponse:
    """List what is wrong with a group. With ``at`` what was shown to be wrong then."""
    found, now = find_group(request, pk), now_ms()
    form = Form(FindingOut, f"findings-{found.name}")
    if asked.at:
        faults = shown_then(found, asked.at, now).state.faults
        return page_of(faults, lambda fault: finding_then(fault, found), asked, now, form)
    rows = in_order(Finding.objects.filter(group=found, cleared_at=None))
    told = seen_at_of(groups=[found.pk]).get(found.pk)
    return page_read(rows, lambda row: finding_out(row, told), asked, now, form)
