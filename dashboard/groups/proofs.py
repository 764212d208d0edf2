"""How old is what is shown: of when the oldest answer is on which it rests. Read, for it ages every second."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Min, Q

from dashboard.groups.models import Group, Member
from rebalance_engine.findings import FindingKind

BY_HELD = frozenset(  # what members tell that they hold proves these
    kind.value
    for kind in (
        FindingKind.ORPHAN_QUEUE,
        FindingKind.RETRY_UNOWNED,
        FindingKind.DOUBLE_OWNER,
        FindingKind.IDLE_CONSUMER,
        FindingKind.STRATEGY_MISMATCH,
        FindingKind.BY_CONFIG_GAP,
    )
)


def seen_at_of(*, groups: Collection[int]) -> dict[int, int]:
    """Say of groups when the one of its members told what it holds who told it longest ago; one query for all."""
    members = Member.objects.filter(group__in=groups, left_at=None, held_seen_at__isnull=False)
    told = members.values_list("group").annotate(first=Min("held_seen_at")).order_by()
    return {group: at for group, at in told if at is not None}


def answered_at_of(*, groups: Collection[int]) -> dict[int, int]:
    """Say the same of those members alone that answer: what the others hold is shown as unknown, however long ago."""
    members = Member.objects.filter(group__in=groups, left_at=None, held_seen_at__isnull=False, missing=None)
    told = members.values_list("group").annotate(first=Min("held_seen_at")).order_by()
    return {group: at for group, at in told if at is not None}


def sure_until_of(*, groups: Collection[int]) -> dict[int, int]:
    """Say until when it is certain, of each group, that nobody had what nobody said to have: a moment ago.

    Since the oldest answer of a member somebody may have taken it, or have come since the member lists were told.
    """
    of_member = Min("members__held_seen_at", filter=Q(members__left_at=None, members__missing=None))
    rows = Group.objects.filter(pk__in=groups).annotate(first=of_member)
    told = {pk: (first, lists) for pk, first, lists in rows.values_list("pk", "first", "cluster__watch__lists_at")}
    known = {pk: [at for at in times if at is not None] for pk, times in told.items()}
    return {pk: min(times) for pk, times in known.items() if times}


def proven_at(kind: str, seen_at: int | None, suspected_at: int) -> int | None:
    """Say of when the proof of a finding is; None: it rests on something else, or nobody told anything.

    It is no older than the look that said it first, at ``suspected_at``: some of its answers were.
    """
    return max(seen_at, suspected_at) if kind in BY_HELD and seen_at is not None else None
