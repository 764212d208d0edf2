"""Client ids of several connections: a broker asks one of these processes, and what the others hold nobody knows."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q

from dashboard.groups.bands import FOREVER
from dashboard.groups.models import Member
from dashboard.groups.silences import told_last

MOST_NAMED = 20


def asked_in_part(*, group: int, at: int | None = None) -> list[str]:
    """Name the members that are why it is unknown who has what nobody has; none where some do not answer at all.

    ``at`` is a past instant; None is now.
    """
    rows = Member.objects.filter(Q(doubled_at__isnull=False) | Q(doubled__isnull=False), group=group)
    found = [row.client_id for row in rows.order_by("client_id") if _is_doubled(row, at)]
    if not found or told_last(group=group, at=FOREVER if at is None else at):
        return []
    return found[:MOST_NAMED]


def _is_doubled(row: Member, at: int | None) -> bool:
    if at is None:
        return row.doubled_at is not None and row.left_at is None
    times = [(low, high) for low, high in row.doubled or ()]
    if row.doubled_at is not None:
        times.append((row.doubled_at, FOREVER if row.left_at is None else row.left_at))
    return any(low <= at < high for low, high in times)


def told_in_part(members: Sequence[Member]) -> str:
    """Say why it is not known of these members all that they hold."""
    first, rest = members[0], len(members) - 1
    if rest:
        return f"{first.client_id} and {rest} more have several connections each, of which only one can be asked"
    return f"{first.client_id} has {first.registrations} connections, of which only one can be asked"
