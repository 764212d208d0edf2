"""Rounds as facts, and what is told of their queues when they end: handoffs, time without owner and with two."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from django.db import DataError, IntegrityError, transaction
from django.db.models import Q

from dashboard.clusters import outbox
from dashboard.common import bulk
from dashboard.groups.confirming import groups_to_tell, reopen_confirmed
from dashboard.groups.handoffs import Bounds, Part, Story, pause_of, tell
from dashboard.groups.leaving import without_absences
from dashboard.groups.models import BACK_LOW, Group, Handoff, Holding, Round, RoundCause
from dashboard.groups.pairing import Instant, Span, Way
from dashboard.groups.recording.held import LATE_MS
from dashboard.groups.round_facts import fact_of_end, fact_of_opening
from dashboard.groups.settling import count_moved, settle, show_latest
from dashboard.groups.silences import silences_of
from rebalance_engine.events import (
    EXACT,
    Cause,
    Exactness,
    Fact,
    Origin,
    Overlap,
    Pause,
    Source,
    Unowned,
)
from rebalance_engine.events import (
    Handoff as HandoffFact,
)
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.rounds import MEMBERS_CHANGE, SAME_CAUSE_MS

logger = logging.getLogger(__name__)

UNTOLD = Q(closed_at__isnull=False, told_at__isnull=True)
NEVER = (None, None, None)
SETTLED_MS = 30_000  # so long after the end of a round a queue may be pulled for the first time
HANDOFF = (
    "round", "topic", "broker", "queue_id", "from_client", "to_client", "nth",
    "dropped_at", "dropped_low", "dropped_high", "taken_at", "taken_low", "taken_high", "first_pull_at",
    "unowned_low", "unowned_high", "overlap_low", "overlap_high", "pause_low", "pause_high",
)  # fmt: skip


def tell_ended(*, group: int, now: int, then: Callable[[Round], None] | None = None) -> int:
    """Tell the handoffs of a group's rounds that have ended, each once; give how many rounds.

    After the transaction that ended them, in one of its own: browsers do not wait for ten thousand stories. Beat finds
    what nobody came to tell. What a superseded round left unowned is told when it is taken, by a later round's end.

    A wave that the database refuses stays untold, with an error in the log: it keeps nothing else of its group.

    Args:
        group: its row.
        now: the time.
        then: called with each round that was told, in the same transaction.
    """
    if not Round.objects.filter(UNTOLD, group=group).exists() and not groups_to_tell(now=now, group=group).exists():
        return 0
    with transaction.atomic():
        Group.objects.select_for_update(no_key=True).get(pk=group)  # one teller at a time
        reopen_confirmed(group=group, now=now)
        waves = Round.objects.filter(UNTOLD, group=group).order_by("wave").values_list("wave", flat=True).distinct()
        told = sum(_try_wave(group, wave, now, then) for wave in list(waves))
        show_latest(group=group, now=now)
    return told


def _try_wave(group: int, wave: int, now: int, then: Callable[[Round], None] | None) -> int:
    try:
        with transaction.atomic():
            told = _tell_wave(group, wave, now)
            Round.objects.filter(pk__in=[row.pk for row in told]).update(told_at=now)
            if then is not None:
                for row in told:
                    then(row)
    except (DataError, IntegrityError, OverflowError):
        logger.exception("the rounds of wave %d of group %d cannot be told", wave, group)
        return 0
    return len(told)


def _tell_wave(group: int, wave: int, now: int) -> list[Round]:
    """Tell the rounds of a wave that have ended, since the first that may be told otherwise now; give them."""
    rows = Round.objects.filter(group=group, wave=wave).order_by("number")
    half = Q(handoffs__from_client="") | Q(handoffs__to_client="")
    lately = Q(closed_at__gte=now - LATE_MS)  # what was seen of it may have come since
    first = rows.filter(UNTOLD | half | lately).values_list("number", flat=True).first()
    later = list(rows.filter(number__gte=first).select_related("group__cluster").defer("before", "after"))
    stories = _told(later)
    ended = [row for row in later if row.closed_at is not None]
    is_over = later[-1].closed_at is not None and later[-1].superseded_by is None
    for row in ended:
        settle(row, stories[row.number], since=begin_of(row, _earlier(row)), is_over=is_over)
        if row.told_at is not None:
            row.handoffs.all().delete()
        values = (_handoff(row, story, nth) for story, nth in _counted(stories[row.number]))
        bulk.insert(Handoff, HANDOFF, values, on_conflict="DO NOTHING")
        source = Source(origin=Origin.DERIVED, cluster=row.group.cluster.name)
        facts: list[Fact] = [fact_of_opening(row)]  # stored already, where nothing of it is known closer since
        facts += [fact for story in stories[row.number] for fact in _facts_of(row, story, source)]
        facts.append(fact_of_end(row))
        lines = outbox.lines_of(cluster=row.group.cluster, facts=facts)
        outbox.append(cluster=row.group.cluster, lines=lines, now=now)
    return ended


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


def stories_of(row: Round) -> list[Story]:
    """Tell the handoffs of a round, also of one that is open."""
    rows = list(Round.objects.filter(group=row.group_id, wave=row.wave).order_by("number").defer("before", "after"))
    return _told(rows)[row.number]


def moved_so_far(row: Round, *, now: int) -> int | None:
    """Count the queues that were taken by another owner in a round that is open; None: unknown, or it is over."""
    if row.closed_at is not None:
        return None
    taken = [story for story in stories_of(row) if story.taken is not None and story.taken.at <= now]
    return count_moved(row, taken, is_all_told=not row.unknown_members)


def _told(rows: Sequence[Round]) -> dict[int, list[Story]]:
    """Tell the handoffs of rounds of one wave, the numbers of which follow each other.

    Where every member has every queue there are none: who comes takes a copy, and who goes takes his along.
    """
    if rows[0].group.model == MessageModel.BROADCASTING.value:
        return {row.number: [] for row in rows}
    parts = _parts(rows)
    if rows[0].number != rows[0].wave:  # what came before it may have begun is of the rounds before
        parts[0] = replace(parts[0], since=parts[0].low)
    before = _next_since(rows[-1])
    window = Q(at__gte=parts[0].since) | Q(until__gte=parts[0].since)
    if before is not None:
        window &= Q(at__lt=before) | Q(at_low__lt=before) | Q(at_low=None)  # who was seen later may have come before
    columns = ("queue__topic__name", "queue__broker", "queue__queue_id", "member__client_id", "at", "at_low", "at_high")
    ends = ("until", "until_low", "until_high", "first_pull_at", "member__held_seen_at", "member", "back_low")
    silences = silences_of(groups=[rows[0].group_id], since=parts[0].since)
    of_group = Holding.objects.filter(group=rows[0].group_id)
    changed = of_group.filter(window)
    throughout = Q(until=None, at__lt=parts[0].since, queue__in=changed.values("queue"))
    of_wave = of_group.filter(window | throughout).annotate(back_low=BACK_LOW)
    holdings = of_wave.order_by("at", "pk").values_list(*columns, *ends)
    spans = (
        Span(
            MessageQueue(topic, broker, number),
            client,
            Instant(at, low, high if high is not None else at),
            None if until is None else Instant(until, *end),
            pull,
            max(at, seen_at or at),
            silences.get(member, ()),
            back_low,
        )
        for topic, broker, number, client, at, low, high, until, *end, pull, seen_at, member, back_low in holdings
    )
    told = tell(spans, parts, before=before)
    return {row.number: without_absences(row.group, stories) for row, stories in zip(rows, told, strict=True)}


def _parts(rows: Sequence[Round]) -> list[Part]:
    """Say of each round when it may have been under way, and who came and went."""
    clients: dict[int, tuple[set[str], set[str]]] = {row.pk: (set(), set()) for row in rows}
    causes = RoundCause.objects.filter(round__in=clients)
    for number, cause, client in causes.values_list("round_id", "cause", "client_id"):
        if client is not None and Cause(cause) in MEMBERS_CHANGE:
            clients[number][Cause(cause) is not Cause.MEMBER_JOINED].add(client)
    parts, earlier = list[Part](), _earlier(rows[0])
    for row in rows:
        came, went = clients[row.pk]
        parts.append(
            Part(since_of(row, earlier), low_of(row, earlier), row.opened_at, frozenset(came), frozenset(went))
        )
        earlier = row
    return parts


def _earlier(row: Round) -> Round | None:
    return Round.objects.filter(group=row.group_id, number__lt=row.number).order_by("-number").first()


def low_of(row: Round, earlier: Round | None) -> int:
    """Give when a round may have begun: not before the end of the one before, nor with one that it superseded."""
    low = min(row.opened_low or row.opened_at, row.opened_at)
    if earlier is None:
        return low
    bound = earlier.opened_at if earlier.superseded_by is not None else earlier.closed_at or 0
    return min(row.opened_at, max(low, bound + 1))


def since_of(row: Round, earlier: Round | None) -> int:
    """Give when a round may have been under way: a while before it is known to have begun.

    Members let go before they say that they leave; and nothing else explains what they let go of while no round was
    open. Not before the end of the round before; one that this one superseded ended when this one may have begun.
    """
    low = low_of(row, earlier) - SAME_CAUSE_MS
    if earlier is None:
        return low
    bound = earlier.opened_at if earlier.superseded_by is not None else earlier.closed_at or 0
    return min(row.opened_at, max(low, bound + 1))


def begin_of(row: Round, earlier: Round | None) -> int:
    """Say since when a round may have been under way; what may have been before it superseded another is that one's."""
    return since_of(row, earlier) if row.number == row.wave else low_of(row, earlier)


def _next_since(row: Round) -> int | None:
    """Give when the round after a chain may have been under way; None: there is none, or it is of the same chain."""
    later = Round.objects.filter(group=row.group_id, number__gt=row.number).order_by("number").first()
    return None if later is None else since_of(later, row)


def _counted(stories: Sequence[Story]) -> Iterator[tuple[Story, int]]:
    """Count the stories of a queue between the same two: one that goes back and forth is handed over several times."""
    counts: Counter[tuple[MessageQueue, str | None, str | None]] = Counter()
    for story in stories:
        way = (story.queue, story.from_client, story.to_client)
        yield story, counts[way]
        counts[way] += 1


def _handoff(row: Round, story: Story, nth: int) -> bulk.Values:
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
        nth,
        *((dropped.at, dropped.low, dropped.high) if dropped else NEVER),
        *((taken.at, taken.low, taken.high) if taken else NEVER),
        pull,
        *((story.unowned.low, story.unowned.high) if story.unowned else (None, None)),
        *((story.overlap.low, story.overlap.high) if story.overlap else (None, None)),
        *((pause.low, pause.high) if pause else (None, None)),
    )


def _facts_of(row: Round, story: Story, source: Source) -> Iterator[Fact]:
    if story.way is not Way.HANDED:
        yield from _overlap_beside(row, story, source)
        return
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
        most = gap if story.unowned.high is None else story.unowned.high
        length = max(story.unowned.low, min(gap, most))  # less than the gap: the queue was in no route for a while
        exactness = _of_duration(story.unowned, length)
        yield Unowned(
            at=story.dropped.at,
            source=source,
            exactness=exactness,
            group=row.group.name,
            queue=story.queue,
            duration_ms=length,
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


def _overlap_beside(row: Round, story: Story, source: Source) -> Iterator[Fact]:
    """State how long two had a queue that nobody handed over, where that began in the round."""
    both, taken = story.overlap, story.taken
    if story.way is not Way.BESIDE or both is None or both.high == 0 or taken is None:
        return
    length = both.low if both.high is None else both.high
    yield Overlap(
        at=taken.at,
        source=source,
        exactness=_of_duration(both, length),
        group=row.group.name,
        queue=story.queue,
        duration_ms=length,
        has_ended=True,
        round=row.number,
        clients=(story.from_client or "", story.to_client or ""),
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
