"""Who did not answer at a past instant: what was shown then told his last word as if he still answered.

That an answer is missing is noticed after its time; only then it is known since when. What lies in a silence is shown
as a missing answer is shown now: nobody knows what the member had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from dashboard.groups.models import Group
from dashboard.groups.past import Shown
from dashboard.groups.silences import told_last
from dashboard.push.messages import Cell, Head
from dashboard.push.runs import pack, unpack


def as_answered(shown: Shown, *, group: Group, at: int) -> Shown:
    """Show what members had who did not answer at an instant as unknown, with when they had told it last."""
    since = told_last(group=group.pk, at=at)
    silent = {cell.client for cell in shown.state.members if cell.held is not None and cell.client in since}
    if not silent:
        return shown
    members = tuple(replace(cell, held=None) if cell.client in silent else cell for cell in shown.state.members)
    head = _head(shown.state.head, members, silent)
    told = {client: since[client] for client in silent}
    return replace(shown, state=replace(shown.state, head=head, members=members), told_last=told)


def _head(head: Head, members: Collection[Cell], silent: Collection[str]) -> Head:
    """Say only what is known without those who are silent: nobody knows that a queue has no owner."""
    owners = Counter(number for cell in members for number in unpack(cell.held or ()).tolist())
    twice = {number for number, count in owners.items() if count > 1}
    perhaps = sorted(twice & set(unpack(head.perhaps_twice).tolist()))
    doubles = min(head.doubles or 0, len(twice) - len(perhaps)) or None
    latest = head.round
    if latest is not None and latest.closed_at is None:
        latest = replace(latest, unknown_members=tuple(sorted({*latest.unknown_members, *silent})))
    return replace(head, is_converged=None, orphans=None, doubles=doubles, perhaps_twice=pack(perhaps), round=latest)
