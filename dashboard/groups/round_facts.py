"""Stored rounds as facts: that one opened and why, that it does not come to its end, and how it ended."""

from __future__ import annotations

from dashboard.groups.models import Round
from rebalance_engine.events import (
    EXACT,
    Cause,
    Exactness,
    Fact,
    Origin,
    RoundClosed,
    RoundNotConverged,
    RoundOpened,
    RoundSuperseded,
    Source,
)
from rebalance_engine.model import MessageQueue

DERIVED = Source(origin=Origin.DERIVED)


def fact_of_opening(row: Round) -> RoundOpened:
    """Say that a round opened, and why."""
    return RoundOpened(
        at=row.opened_at,
        source=DERIVED,
        exactness=_began(row),
        group=row.group.name,
        round=row.number,
        cause=Cause(row.cause),
        evidence=tuple(row.causes.order_by("at", "pk").values_list("evidence", flat=True)),
        members_before=tuple(row.members_before or ()),
    )


def _began(row: Round) -> Exactness:
    if row.opened_low == row.opened_at:
        return EXACT
    return (
        Exactness.at_most(row.opened_at) if row.opened_low is None else Exactness.between(row.opened_low, row.opened_at)
    )


def fact_of_not_converging(row: Round) -> RoundNotConverged:
    """Say that a round is open for too long."""
    return RoundNotConverged(
        at=row.not_converged_at or row.opened_at,
        source=DERIVED,
        exactness=EXACT,
        group=row.group.name,
        round=row.number,
        unsettled=tuple(_queue_of(spelled) for spelled in row.unsettled),
        unknown_members=tuple(row.unknown_members),
    )


def fact_of_end(row: Round) -> Fact:
    """Say how a round ended."""
    assert row.closed_at is not None
    if row.superseded_by is not None:
        return RoundSuperseded(
            at=row.closed_at,
            source=DERIVED,
            exactness=EXACT,
            group=row.group.name,
            round=row.number,
            by=row.superseded_by,
        )
    return RoundClosed(
        at=row.closed_at,
        source=DERIVED,
        exactness=EXACT,
        group=row.group.name,
        round=row.number,
        members_after=tuple(row.members_after or ()),
        moves=row.changed_count,
    )


def _queue_of(spelled: str) -> MessageQueue:
    topic, broker, number = spelled.rsplit("/", 2)
    return MessageQueue(topic, broker, int(number))
