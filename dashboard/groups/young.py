"""Young rounds: what every rebalance brings with it for a while, and is no fault unless it stays."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import F, Q

from dashboard.groups.models import Finding
from dashboard.push.messages import Fault, GroupState

OF_ROUNDS = frozenset({"orphan queue", "retry topic unowned", "double owner", "different member lists"})
YOUNG_MS = 20_000  # a rebalance takes no longer where nothing is wrong
BEFORE_MS = 5_000  # what a round explains may have been seen a look earlier


def is_explained(found: Finding | Fault, *, opened_at: int | None, closed_at: int | None, now: int) -> bool:
    """Whether a young round that is open explains a finding that began with it; one that is confirmed is a fault."""
    if found.kind not in OF_ROUNDS or found.confirmed_at is not None or opened_at is None or closed_at is not None:
        return False
    return now - opened_at < YOUNG_MS and found.suspected_at >= opened_at - BEFORE_MS


def explained(now: int) -> Q:
    """Say the same of rows of findings, for a query of them."""
    is_open = Q(group__round_closed_at=None, group__round_opened_at__gt=now - YOUNG_MS)
    began_with_it = Q(suspected_at__gte=F("group__round_opened_at") - BEFORE_MS)
    return Q(kind__in=sorted(OF_ROUNDS), confirmed_at=None) & is_open & began_with_it


def explained_until(rows: Iterable[Finding], *, opened_at: int | None, closed_at: int | None, now: int) -> int | None:
    """Say when a young round explains findings no more that it explains now; None: it explains none."""
    if opened_at is None or not any(
        is_explained(row, opened_at=opened_at, closed_at=closed_at, now=now) for row in rows
    ):
        return None
    return opened_at + YOUNG_MS


def unexplained(state: GroupState, *, now: int) -> list[Fault]:
    """Give the faults of a group that its round does not explain."""
    latest = state.head.round
    opened_at, closed_at = (latest.opened_at, latest.closed_at) if latest else (None, None)
    return [each for each in state.faults if not is_explained(each, opened_at=opened_at, closed_at=closed_at, now=now)]
