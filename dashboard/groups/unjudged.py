"""What a finding says that a look cannot judge: what the last one saw that could, of when, and why it is unknown now.

Its first sentence says that all members answered, which is true no longer once one of them does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.common.fields import printable
from dashboard.groups.models import Finding, Group
from dashboard.groups.partly import told_in_part
from dashboard.groups.queries import Look
from dashboard.groups.silences import doubts_of, told_until_of
from rebalance_engine.findings import clock
from rebalance_engine.findings.finding import first_rows

FIELDS = ("sentence", "proof")


def say_unjudged(*, group: Group, look: Look, rows: Sequence[Finding]) -> None:
    """Let findings of queues that nobody is seen with say what is known of it still; write those that change."""
    if not rows:
        return
    since = min(row.suspected_at for row in rows)
    known, why, proof = _judged_at(group, look, since), _why(look), _proof(look)
    changed = []
    for row in rows:
        at = clock(max(known, row.suspected_at, row.confirmed_at or 0))
        sentence = printable(f"No member consumed {row.subject} at {at}; whether one does now is unknown: {why}.")
        if (row.sentence, row.proof) != (sentence, proof):
            row.sentence, row.proof = sentence, proof
            changed.append(row)
    Finding.objects.bulk_update(changed, FIELDS, batch_size=200)


def _judged_at(group: Group, look: Look, since: int) -> int:
    """Say when all was told last, of every member and by every broker, not before ``since``."""
    known = told_until_of(group.pk)
    if known is None:
        known = min((member.held_seen_at or 0 for member in look.members), default=0)
    for begin, end in reversed(doubts_of(group=group.pk, since=since)):
        if begin < known <= end:
            known = begin  # one fell silent before another one told again
    return known


def _why(look: Look) -> str:
    view, silent = look.view, sorted(member.client_id for member in look.members if member.is_silent)
    if len(silent) > 1:
        return f"{len(silent)} of {len(view.clients.distinct)} members do not tell what they hold"
    if silent:
        return f"{silent[0]} does not tell what it holds"
    if partial := [member for member in look.members if member.is_partial]:
        return told_in_part(partial)
    if view.untold:
        return _untold(", ".join(sorted(view.untold)))
    return "NameServers disagree whether it is there" if len(view.clients) else "no broker told who is a member"


def _proof(look: Look) -> list[str]:
    """Give a row for each broker and member by which it is unknown, and then for those that answer."""
    brokers = [_untold(broker) for broker in sorted(look.untold)]
    silent = [_last_word(member.client_id, member.held_seen_at) for member in look.members if member.is_silent]
    partial = [told_in_part([member]) for member in look.members if member.is_partial]
    others = [member.client_id for member in look.members if member.client_id not in look.view.silent]
    told = [f"{client_id} answered, and does not hold it" for client_id in others]
    rows = first_rows([*brokers, *silent, *partial, *told])
    return [printable(row) for row in rows] or ["nobody is known to be a member"]


def _untold(broker: str) -> str:
    return f"{broker} did not tell who is a member"


def _last_word(client: str, at: int | None) -> str:
    if at is None:
        return f"{client} has not told what it holds"
    return f"{client} does not tell what it holds; it told last at {clock(at)}"
