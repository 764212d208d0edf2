"""Rounds as facts, and what is told of their queues when they end: handoffs, time without owner and with two."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Q

from dashboard.groups.handoffs import Bounds, Instant, Span, Story, tell
from dashboard.groups.models import Handoff, Holding, Round
from rebalance_engine.events import (
    EXACT,
    Cause,
    Exactness,
    Fact,
    Origin,
    Overlap,
    RoundClosed,
    RoundNotConverged,
    RoundOpened,
    RoundSuperseded,
    Source,
    Unowned,
)
from rebalance_engine.events import (
    Handoff as HandoffFact,
)
from rebalance_engine.model import MessageQueue

DERIVED = Source(origin=Origin.DERIVED)


def fact_of_opening(row: Round) -> RoundOpened:
    """Say that a round opened, and why."""
    return RoundOpened(
        at=row.opened_at,
        source=DERIVED,
        exactness=EXACT,
        group=row.group.name,
        round=row.number,
        cause=Cause(row.cause),
        evidence=tuple(row.causes.order_by("at", "pk").values_list("evidence", flat=True)),
        members_before=tuple(row.members_before),
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


def end_round(row: Round) -> list[Fact]:
    """Keep the handoffs of a round that has ended, and tell everything about its end."""
    assert row.closed_at is not None
    stories = stories_of(row)
    Handoff.objects.bulk_create([_handoff(row, story) for story in stories], ignore_conflicts=True, batch_size=2_000)
    return [_fact_of_end(row, row.closed_at), *(fact for story in stories for fact in _facts_of(row, story))]


def stories_of(row: Round) -> list[Story]:
    """Tell the handoffs of a round, also of one that is open."""
    window = Q(at__gte=row.opened_at) | Q(until__gte=row.opened_at)
    if row.superseded_by is not None and row.closed_at is not None:
        window &= Q(at__lt=row.closed_at)
    columns = ("queue__topic__name", "queue__broker", "queue__queue_id", "member__client_id", "at", "at_low", "at_high")
    ends = ("until", "until_low", "until_high", "first_pull_at")
    rows = Holding.objects.filter(window, group=row.group_id).values_list(*columns, *ends)
    spans = (
        Span(
            MessageQueue(topic, broker, number),
            client,
            Instant(at, low, high if high is not None else at),
            None if until is None else Instant(until, until_low, until_high),
            pull,
        )
        for topic, broker, number, client, at, low, high, until, until_low, until_high, pull in rows
    )
    return tell(spans, since=row.opened_at, before=row.closed_at if row.superseded_by is not None else None)


def _handoff(row: Round, story: Story) -> Handoff:
    dropped, taken = story.dropped, story.taken
    pull = story.first_pull_at
    if pull is not None and taken is not None and taken.low is not None and pull < taken.low:
        pull = None  # of an earlier life of the same span
    return Handoff(
        round=row,
        topic=story.queue.topic,
        broker=story.queue.broker,
        queue_id=story.queue.queue_id,
        from_client=story.from_client or "",
        to_client=story.to_client or "",
        dropped_at=dropped.at if dropped else None,
        dropped_low=dropped.low if dropped else None,
        dropped_high=dropped.high if dropped else None,
        taken_at=taken.at if taken else None,
        taken_low=taken.low if taken else None,
        taken_high=taken.high if taken else None,
        first_pull_at=pull,
        unowned_low=story.unowned.low if story.unowned else None,
        unowned_high=story.unowned.high if story.unowned else None,
        overlap_low=story.overlap.low if story.overlap else None,
        overlap_high=story.overlap.high if story.overlap else None,
    )


def _fact_of_end(row: Round, at: int) -> Fact:
    if row.superseded_by is not None:
        return RoundSuperseded(
            at=at, source=DERIVED, exactness=EXACT, group=row.group.name, round=row.number, by=row.superseded_by
        )
    return RoundClosed(
        at=at,
        source=DERIVED,
        exactness=EXACT,
        group=row.group.name,
        round=row.number,
        members_after=tuple(row.members_after or ()),
        moves=row.move_count,
    )


def _facts_of(row: Round, story: Story) -> Iterator[Fact]:
    if story.from_client is None or story.to_client is None or story.dropped is None or story.taken is None:
        return
    first = min(story.dropped.at, story.taken.at)
    yield HandoffFact(
        at=first,
        source=DERIVED,
        exactness=_within(story.dropped, story.taken, first),
        group=row.group.name,
        queue=story.queue,
        from_client=story.from_client,
        to_client=story.to_client,
        dropped_at=story.dropped.at,
        added_at=story.taken.at,
        first_pull_at=story.first_pull_at if (story.first_pull_at or 0) >= story.taken.at else None,
        round=row.number,
    )
    gap = story.taken.at - story.dropped.at
    if story.unowned is not None and story.unowned.high != 0:
        exactness = _of_duration(story.unowned, max(gap, 0))
        yield Unowned(
            at=story.dropped.at,
            source=DERIVED,
            exactness=exactness,
            group=row.group.name,
            queue=story.queue,
            duration_ms=max(gap, 0),
            has_ended=True,
            round=row.number,
        )
    if story.overlap is not None and story.overlap.high != 0:
        exactness = _of_duration(story.overlap, max(-gap, 0))
        yield Overlap(
            at=story.taken.at,
            source=DERIVED,
            exactness=exactness,
            group=row.group.name,
            queue=story.queue,
            duration_ms=max(-gap, 0),
            has_ended=True,
            round=row.number,
            clients=(story.from_client, story.to_client),
        )


def _within(dropped: Instant, taken: Instant, at: int) -> Exactness:
    first = dropped if dropped.at == at else taken
    if first.low == first.high == at:
        return EXACT
    if first.low is None:
        return Exactness.at_most(first.high if first.high is not None else at)
    return Exactness.between(first.low, max(at, first.high if first.high is not None else at))


def _of_duration(bounds: Bounds, duration_ms: int) -> Exactness:
    if bounds.low == bounds.high == duration_ms:
        return EXACT
    if bounds.high is None:
        return Exactness.at_least(min(bounds.low, duration_ms))
    return Exactness.between(min(bounds.low, duration_ms), max(bounds.high, duration_ms))


def _queue_of(spelled: str) -> MessageQueue:
    topic, broker, number = spelled.rsplit("/", 2)
    return MessageQueue(topic, broker, int(number))
