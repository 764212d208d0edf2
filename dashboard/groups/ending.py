"""Rounds as facts, and what is told of their queues when they end: handoffs, time without owner and with two."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import transaction
from django.db.models import Q

from dashboard.clusters import outbox
from dashboard.common import bulk
from dashboard.groups.handoffs import Bounds, Instant, Span, Story, pause_of, tell
from dashboard.groups.models import Group, Handoff, Holding, Round
from dashboard.groups.recording.held import LATE_MS
from rebalance_engine.events import (
    EXACT,
    Cause,
    Exactness,
    Fact,
    Origin,
    Overlap,
    Pause,
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
from rebalance_engine.rounds import SAME_CAUSE_MS

DERIVED = Source(origin=Origin.DERIVED)
UNTOLD = Q(closed_at__isnull=False, told_at__isnull=True)
NEVER = (None, None, None)
SETTLED_MS = 30_000  # so long after the end of a round a queue may be pulled for the first time
HANDOFF = (
    "round", "topic", "broker", "queue_id", "from_client", "to_client",
    "dropped_at", "dropped_low", "dropped_high", "taken_at", "taken_low", "taken_high", "first_pull_at",
    "unowned_low", "unowned_high", "overlap_low", "overlap_high", "pause_low", "pause_high",
)  # fmt: skip


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
        members_before=tuple(row.members_before),
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


def tell_ended(*, group: int, now: int) -> int:
    """Tell the handoffs of a group's rounds that have ended, each once; give how many rounds.

    After the transaction that ended them, in one of its own: browsers do not wait for ten thousand stories. Beat finds
    what nobody came to tell.
    """
    if not Round.objects.filter(UNTOLD, group=group).exists():
        return 0
    with transaction.atomic():
        Group.objects.select_for_update(no_key=True).get(pk=group)  # one teller at a time
        rows = list(Round.objects.filter(UNTOLD, group=group).select_related("group__cluster").order_by("number"))
        for row in rows:
            stories = stories_of(row)
            bulk.insert(Handoff, HANDOFF, (_handoff(row, story) for story in stories), on_conflict="DO NOTHING")
            source = Source(origin=Origin.DERIVED, cluster=row.group.cluster.name)
            facts = [fact for story in stories for fact in _facts_of(row, story, source)]
            lines = outbox.lines_of(cluster=row.group.cluster, facts=facts)
            outbox.append(cluster=row.group.cluster, lines=lines, now=now)
        Round.objects.filter(pk__in=[row.pk for row in rows]).update(told_at=now)
    return len(rows)


def tell_again(*, group: int, since: int, until: int, now: int) -> int:
    """Forget what was told of rounds that ended lately, and may be told closer now; give how many.

    A report of something in ``since`` to ``until`` came after they had ended. The next rebalance tells them.
    """
    began = Q(opened_at__lte=until) | Q(opened_low__lte=until)
    rows = Round.objects.filter(began, group=group, told_at__isnull=False)
    late = rows.filter(closed_at__gte=max(since - SETTLED_MS, now - LATE_MS))
    with transaction.atomic():
        Group.objects.select_for_update(no_key=True).get(pk=group)  # one teller at a time
        found = list(late.values_list("pk", flat=True))
        Handoff.objects.filter(round__in=found).delete()
        return Round.objects.filter(pk__in=found).update(told_at=None)


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
        moves=row.move_count,
    )


def stories_of(row: Round) -> list[Story]:
    """Tell the handoffs of a round, also of one that is open."""
    exactly_since = _exactly_since(row)
    window = Q(at__gte=exactly_since) | Q(until__gte=exactly_since)
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
    before = row.closed_at if row.superseded_by is not None else None
    exactly = (exactly_since, before if before is None else min(before, _exactly_before(row, before)))
    return tell(spans, since=row.opened_at, before=before, exactly=exactly)


def _exactly_since(row: Round) -> int:
    """Give when a round may have been under way: a while before it is known to have begun.

    Members let go before they say that they leave; and nothing else explains what they let go of while no round was
    open. Not before the end of the round before; one that this one superseded ended when this one may have begun.
    """
    low = min(row.opened_low or row.opened_at, row.opened_at)
    earlier = Round.objects.filter(group=row.group_id, number__lt=row.number).order_by("-number").first()
    if earlier is not None and earlier.superseded_by is not None:
        return min(row.opened_at, max(low, earlier.opened_at + 1))
    return min(row.opened_at, max(low - SAME_CAUSE_MS, (earlier.closed_at or 0) + 1 if earlier is not None else 0))


def _exactly_before(row: Round, closed_at: int) -> int:
    """Give when the round that superseded this one may have been under way."""
    later = Round.objects.filter(group=row.group_id, number=row.superseded_by or 0).first()
    return closed_at if later is None else _exactly_since(later)


def _handoff(row: Round, story: Story) -> bulk.Values:
    dropped, taken = story.dropped, story.taken
    pull = story.first_pull_at
    if pull is not None and taken is not None and taken.low is not None and pull < taken.low:
        pull = None  # of an earlier life of the same span
    pause = pause_of(story) if pull is not None else None
    return (
        row.pk,
        *story.queue,
        story.from_client or "",
        story.to_client or "",
        *((dropped.at, dropped.low, dropped.high) if dropped else NEVER),
        *((taken.at, taken.low, taken.high) if taken else NEVER),
        pull,
        *((story.unowned.low, story.unowned.high) if story.unowned else (None, None)),
        *((story.overlap.low, story.overlap.high) if story.overlap else (None, None)),
        *((pause.low, pause.high) if pause else (None, None)),
    )


def _facts_of(row: Round, story: Story, source: Source) -> Iterator[Fact]:
    if story.from_client is None or story.to_client is None or story.dropped is None or story.taken is None:
        return
    first = min(story.dropped.at, story.taken.at)
    yield HandoffFact(
        at=first,
        source=source,
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
            source=source,
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
            source=source,
            exactness=exactness,
            group=row.group.name,
            queue=story.queue,
            duration_ms=max(-gap, 0),
            has_ended=True,
            round=row.number,
            clients=(story.from_client, story.to_client),
        )
    pause = pause_of(story)
    if pause is not None and pause.high is not None and story.first_pull_at is not None:
        length = max(story.first_pull_at - story.dropped.at, pause.low)
        yield Pause(
            at=story.dropped.at,
            source=source,
            exactness=_of_duration(pause, length),
            group=row.group.name,
            queue=story.queue,
            duration_ms=length,
            has_ended=True,
            round=row.number,
            from_client=story.from_client,
            to_client=story.to_client,
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
