"""What the API gives of a past instant: a group, its members and faults, as its page shows them with ``?at=``."""

from __future__ import annotations

from ninja import Schema
from pydantic import Field

from dashboard.api.clusters import FindingOut
from dashboard.api.errors import Problem
from dashboard.api.fared import why_no_lag
from dashboard.api.group_shapes import GroupOut, MemberOut, row_out
from dashboard.api.shapes import Paging
from dashboard.api.unknown import NO_PAST_LAG, NOT_KEPT, PROXIED, in_part
from dashboard.groups import past_story
from dashboard.groups.listing import Listed
from dashboard.groups.models import Group
from dashboard.groups.past import LONGEST, BadInstant, Shown, instant_of, shown_at
from dashboard.groups.past_lag import lags_by_queue
from dashboard.groups.past_silent import as_answered
from dashboard.groups.showing import is_cell_proxied, row_shown
from dashboard.groups.words import state_of
from dashboard.push.messages import Fault, GroupState
from dashboard.push.runs import count, unpack

SILENT = "it did not answer then: held_seen_at is when it had told last"
NO_TARGET = "what it should have had could not be computed"


class Instantly(Schema):
    """Now, or with ``at`` at a past instant: ms since 1970, or ISO 8601."""

    at: str = Field(default="", max_length=LONGEST)


class Then(Paging, Instantly):
    """A part of a list, of now or of a past instant."""


def instant_asked(asked: str, now: int) -> int:
    """Read the instant that is asked for; empty is now.

    Raises:
        Problem: 400 where it is none, or still to come.
    """
    try:
        return instant_of(asked, now=now) if asked else now
    except BadInstant as bad:
        raise Problem(400, str(bad)) from bad


def shown_then(group: Group, asked: str, now: int) -> Shown:
    """Give what was shown of a group at an instant.

    Raises:
        Problem: 400 where it is none or to come, 404 where nothing is kept of it.
    """
    at = instant_asked(asked, now)
    shown = shown_at(group=group, at=at)
    if shown is None:
        raise Problem(404, f"nothing that was seen of this group at {asked} is kept")
    return as_answered(shown, group=group, at=at)


def group_then(group: Group, shown: Shown, at: int) -> GroupOut:
    """Shape a group as it was shown at an instant."""
    state, head = shown.state, shown.state.head
    row = row_shown(state, group=group, at=shown.since)
    out = row_out(Listed(group.cluster, row, state_of(row)), None)
    lag, why_no_lag = _lag_then(group, state, at)
    reasons = {name: why for name, why in out.unknown.items() if name not in lag}
    reasons |= why_no_lag | dict.fromkeys(("seq", "dead_letters", "dead_letters_at"), NOT_KEPT)
    return GroupOut(
        **{**out.model_dump(), **lag, "unknown": reasons},
        at=at,
        state_at=shown.since,
        seq=None,
        are_members_known=head.are_members_known,
        untold_brokers=list(head.untold),
        is_target_known=head.is_target_known,
        waits_for=(head.round.waits_for or None) if head.round is not None else None,
        findings=head.fault_count,
        strays=[f"{each.client}: {each.topic}/{each.broker}/{each.queue_id}" for each in state.strays[:500]],
    )


def _lag_then(group: Group, state: GroupState, at: int) -> tuple[dict[str, int | None], dict[str, str]]:
    """Add up how far the group was behind by its queues then; and say why of what is unknown."""
    places = {(part.topic, part.broker, number) for part in state.queues for number in unpack(part.ids).tolist()}
    told = {place: lag for place, lag in lags_by_queue(group=group, at=at).items() if place in places}
    low = sum(lag for lag, _ in told.values()) if told else None
    is_whole = bool(told) and len(told) == len(places)
    figures = {
        "lag": low if is_whole else None,
        "lag_low": low,
        "lag_at": min((told_at for _, told_at in told.values()), default=None),
        "waits_since": None,
    }
    why = {name: why_no_lag(name, low, NO_PAST_LAG) for name, figure in figures.items() if figure is None}
    if low == 0:
        why.pop("waits_since")
    return figures, why


def members_then(group: Group, shown: Shown, at: int) -> list[MemberOut]:
    """Shape the members of then."""
    known = past_story.members_at(group=group, shown=shown, at=at)
    return [_member(each, is_target_known=shown.state.head.is_target_known) for each in known]


def finding_then(fault: Fault, group: Group) -> FindingOut:
    """Shape a fault that was shown then."""
    return FindingOut(
        cluster=group.cluster.name,
        group_id=group.pk,
        group=group.name,
        kind=fault.kind,
        subject=fault.subject,
        sentence=fault.sentence,
        proof=list(fault.proof),
        origin="shown then",
        suspected_at=fault.suspected_at,
        confirmed_at=fault.confirmed_at,
        seen_at=None,
        ends_at=fault.ends_at,
    )


def _member(each: past_story.PastMember, *, is_target_known: bool) -> MemberOut:
    cell = each.member
    told = ("language", "version", "strategy", "is_orderly")
    reasons = {name: "it had not told, and no broker either" for name in told if getattr(cell, name) in {None, ""}}
    reasons |= dict.fromkeys(("consume_type", "started_at", "held_seen_at", "missing_at", "joined_high"), NOT_KEPT)
    if each.told_at is not None:
        reasons["held"] = SILENT
        del reasons["held_seen_at"]
    elif cell.held is None:
        told_nothing = f"it did not answer: {cell.missing}" if cell.missing else "it had not told what it held"
        reasons["held"] = PROXIED if is_cell_proxied(cell) else told_nothing
    elif cell.is_partial:
        reasons["held"] = in_part(cell.registrations)
    if not is_target_known:
        reasons["target"] = NO_TARGET
    return MemberOut(
        client_id=cell.client,
        registrations=cell.registrations,
        language=cell.language or None,
        version=cell.version or None,
        strategy=cell.strategy or None,
        consume_type=None,
        is_orderly=cell.is_orderly,
        addresses=list(each.addresses),
        joined_at=cell.since,
        joined_low=cell.since_low,
        joined_high=None,
        started_at=None,
        held=None if cell.held is None or cell.is_partial else count(cell.held),
        target=count(cell.target) if is_target_known else None,
        held_seen_at=each.told_at,
        missing=cell.missing,
        missing_at=None,
        origin="shown then",
        unknown=reasons,
    )
