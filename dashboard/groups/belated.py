"""Stored rounds as the engine has them; and changes that become known after the round had ended that they belong to.

Such a round stays ended, and keeps its number. It gets the cause with its evidence, which says when it was observed,
the right names of its members before and after, and is told anew.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dashboard.groups.deciding import Past
from dashboard.groups.models import Group, Handoff, Round, RoundCause
from dashboard.push.publish import state_in
from rebalance_engine.events import Cause, Origin
from rebalance_engine.rounds import MEMBERS_CHANGE, Happening, OpenRound

KINDS = [cause.value for cause in MEMBERS_CHANGE]


def past_of(*, group: Group, causes: Collection[RoundCause], stored: bytes) -> Past:
    """Read what was before a rebalance; ``causes`` wait for a round, ``stored`` is the state that was shown."""
    latest = Round.objects.filter(group=group).order_by("-number").defer("before", "after").first()
    if latest is None:
        return Past(state_in(stored), stored, None, 0)
    current = round_of(latest) if latest.closed_at is None else None
    ended, ended_at = tuple[OpenRound, ...](), 0
    first_at = min((happening(row).earliest for row in causes), default=None)
    if first_at is not None and (current is None or first_at < current.opened_at):
        ended, ended_at = _ended_before(group, first_at)
    return Past(state_in(stored), stored, current, latest.number, ended, ended_at)


def _ended_before(group: Group, first_at: int) -> tuple[tuple[OpenRound, ...], int]:
    """Give the latest wave of which any has ended, if that was not before the first of the changes may have come."""
    rows = Round.objects.filter(group=group, closed_at__isnull=False).order_by("number").defer("before", "after")
    last = rows.last()
    if last is None or last.closed_at is None or last.closed_at < first_at:
        return (), 0
    return tuple(round_of(row) for row in rows.filter(wave=last.wave)), last.closed_at


def round_of(row: Round) -> OpenRound:
    """Give a round as the engine has it."""
    happenings = tuple(happening(cause) for cause in row.causes.order_by("at", "pk"))
    return OpenRound(row.number, row.opened_at, row.last_cause_at, happenings, row.wave, row.not_converged_at)


def happening(row: RoundCause) -> Happening:
    """Give a cause as the engine has it; one that nobody saw coming may have come at any time before."""
    return Happening(row.at, Cause(row.cause), row.client_id, row.pk, row.at_low or 0)


def keep_belated(*, group: Group, belated: Sequence[tuple[int, int]]) -> None:
    """Give changes to the rounds that they belong to, which have ended; within the transaction of the rebalance.

    Args:
        group: the group, its row locked.
        belated: rows of causes, each with the number of its round.
    """
    for key, number in belated:
        later = list(Round.objects.filter(group=group, number__gte=number).order_by("number").defer("before", "after"))
        cause = RoundCause.objects.get(pk=key, group=group)
        RoundCause.objects.filter(pk=key).update(round=later[0])
        told = round_of(later[0])
        if not told.is_unexplained:  # that only what is held changed proves nothing any more
            later[0].causes.filter(cause=Cause.HELD_CHANGED.value, origin=Origin.DERIVED.value).delete()
        later[0].cause = told.cause.value
        seen_at = min(cause.at, later[0].closed_at or cause.at)  # it came before the end, though it was seen after it
        later[0].last_cause_at = max(later[0].last_cause_at, seen_at)
        if cause.client_id is not None and Cause(cause.cause) in MEMBERS_CHANGE:
            _name_members(later, cause)
        Handoff.objects.filter(round=later[0]).delete()
        later[0].told_at = None
        for row in later:
            row.save(update_fields=["cause", "last_cause_at", "members_before", "members_after", "told_at"])


def _name_members(later: Sequence[Round], cause: RoundCause) -> None:
    """Let somebody be a member, or none, from the end of the first of these rounds on, until told otherwise."""
    again = RoundCause.objects.filter(round__in=later[1:], client_id=cause.client_id, cause__in=KINDS)
    others = set(again.values_list("round__number", flat=True))
    for row in later:
        if row is not later[0] and row.members_before is not None:
            row.members_before = _with(row.members_before, cause)
        if row.number in others:
            return
        if row.members_after is not None:
            row.members_after = _with(row.members_after, cause)


def _with(members: Sequence[str], cause: RoundCause) -> list[str]:
    assert cause.client_id is not None
    others = set(members) - {cause.client_id}
    return sorted(others | {cause.client_id} if cause.cause == Cause.MEMBER_JOINED.value else others)
