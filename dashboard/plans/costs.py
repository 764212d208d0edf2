"""What a move is likely to cost: what this group's earlier handoffs took that came about in the same way."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from django.db.models import Exists, OuterRef, Q, QuerySet

from dashboard.groups.doubts import doubted
from dashboard.groups.models import Group, Handoff, RoundCause
from rebalance_engine.diff import MoveCause
from rebalance_engine.events import Cause

MOST_HANDOFFS = 200  # of each way
MOST_ROUNDS = 200
WAYS = (MoveCause.OWNER_LEFT, MoveCause.OWNER_JOINED, MoveCause.RESHUFFLED)


@dataclass(frozen=True, slots=True)
class Expected:
    """The median of what earlier handoffs took, in ms: by the bounds of each it lies between these two.

    Attributes:
        high: None where half of them or more are known to no upper bound.
        is_pause: from the drop to the first pull, as members reported it; otherwise the time without an owner.
        handoffs: of how many that is known.
    """

    low: int
    high: int | None
    is_pause: bool
    handoffs: int


Costs = Mapping[MoveCause, Expected]  # what is missing is unknown
NO_COSTS: Costs = MappingProxyType({})


def expected_costs(*, group: Group) -> Costs:
    """Say what the last handoffs between two members took, by why their queues moved.

    A member that died pauses its queues until its heartbeat expires. Nobody asks a dry run for that, so that such
    handoffs count nowhere.
    """
    read = {way: _known(rows) for way, rows in _by_way(group).items()}
    doubted([row for rows in read.values() for row in rows], group=group.pk)
    return {way: _expected(rows) for way, rows in read.items() if rows}


def _by_way(group: Group) -> dict[MoveCause, QuerySet[Handoff]]:
    since = (group.round_number or 0) - MOST_ROUNDS
    rows = Handoff.objects.filter(round__group=group, round__number__gt=since).order_by("-pk")
    rows = rows.exclude(from_client="").exclude(to_client="")
    died = Exists(_of_round(Cause.HEARTBEAT_EXPIRED))
    left = Exists(_of_round(Cause.MEMBER_LEFT).filter(client_id=OuterRef("from_client")))
    joined = Exists(_of_round(Cause.MEMBER_JOINED).filter(client_id=OuterRef("to_client")))
    rows = rows.filter(~died)
    return {
        MoveCause.OWNER_LEFT: rows.filter(left),
        MoveCause.OWNER_JOINED: rows.filter(~left, joined),
        MoveCause.RESHUFFLED: rows.filter(~left, ~joined),
    }


def _of_round(cause: Cause) -> QuerySet[RoundCause]:
    return RoundCause.objects.filter(round=OuterRef("round"), cause=cause.value)


def _known(rows: QuerySet[Handoff]) -> list[Handoff]:
    return list(rows.filter(Q(pause_low__isnull=False) | Q(unowned_low__isnull=False))[:MOST_HANDOFFS])


def _expected(rows: Sequence[Handoff]) -> Expected:
    """Take pauses where members reported any, otherwise the times without an owner."""
    pauses = [(row.pause_low, row.pause_high) for row in rows if row.pause_low is not None]
    unowned = [(row.unowned_low, row.unowned_high) for row in rows if row.unowned_low is not None]
    return _median(pauses or unowned, is_pause=bool(pauses))


def _median(bounds: Sequence[tuple[int, int | None]], *, is_pause: bool) -> Expected:
    """Take the middle of the lower bounds and that of the upper ones: the true median lies between them."""
    lows = sorted(low for low, _ in bounds)
    highs = sorted(math.inf if high is None else high for _, high in bounds)
    high = highs[len(highs) // 2]
    return Expected(
        lows[(len(lows) - 1) // 2], None if math.isinf(high) else int(high), is_pause=is_pause, handoffs=len(bounds)
    )
