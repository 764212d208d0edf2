"""What was known of a group before a round."""

from __future__ import annotations

from django.db.models import Q

from dashboard.groups.models import Holding, Round
from dashboard.groups.queries import Look
from dashboard.push.messages import GroupSnapshot, GroupState, decode
from rebalance_engine.events import Cause
from rebalance_engine.rounds import MEMBERS_CHANGE, OpenRound


def knew_all_before(row: Round) -> bool:
    """Whether a queue that nobody is known to have had before a round had nobody: every member had answered then."""
    stored = bytes(row.before)
    state = decode(stored) if stored else None
    return isinstance(state, GroupSnapshot) and state.state.head.orphans is not None


def known_before(look: Look, state: GroupState | None, opened: OpenRound) -> list[str] | None:
    """Give who was a member before a round, also where nothing had been shown of its group yet; None is unknown.

    That is who is there now and did not come in the round, if each was there when it opened; and who went in it.
    """
    if state is not None:
        return [cell.client for cell in state.members]
    changed = [(each.cause, each.client) for each in opened.happenings if each.client is not None]
    came = {client for cause, client in changed if cause is Cause.MEMBER_JOINED}
    went = {client for cause, client in changed if cause in MEMBERS_CHANGE - {Cause.MEMBER_JOINED}}
    stayed = [member for member in look.members if member.client_id not in came]
    if look.untold or any(member.at > opened.opened_at for member in stayed):
        return None
    return sorted({member.client_id for member in stayed} | (went - came)) or None


def held_before(row: Round) -> dict[str, int]:
    """Count what each member is known to have held when a round opened; who is not there is unknown."""
    here = Q(until=None) | Q(until__gte=row.opened_low or row.opened_at)
    spans = Holding.objects.filter(here, group=row.group_id, at__lt=row.opened_at)
    counts: dict[str, int] = {}
    for client in spans.values_list("member__client_id", flat=True).iterator():
        counts[client] = counts.get(client, 0) + 1
    return counts
