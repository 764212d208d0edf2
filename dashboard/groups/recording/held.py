"""What facts about held queues change: spans that begin, end, or get exact ends. Each method tells whether."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from dashboard.clusters.recording.routes import RouteBook
from dashboard.common.fields import observed_at, source_columns
from dashboard.common.names import known_as, known_queue
from dashboard.common.rows import replace_rows
from dashboard.groups.models import Holding, Member
from dashboard.groups.recording.book import GroupAndClient, GroupBook, member_key
from rebalance_engine.events import (
    Departure,
    DropReason,
    Fact,
    HeldSeen,
    MemberLeft,
    QueueDropped,
    QueuePulled,
    QueueTaken,
)
from rebalance_engine.events.fact import MemberFact
from rebalance_engine.model import MessageQueue

Fits = Callable[[Holding], bool]
HeldFact = HeldSeen | QueueTaken | QueueDropped | QueuePulled
REASON_OF = {Departure.UNREGISTERED: DropReason.STOPPED, Departure.HEARTBEAT_EXPIRED: DropReason.LOST}
LATE_MS = 300_000  # a report may arrive this much later than the look that saw the same


@dataclass(slots=True)
class Span:
    """One stored or new holding that is open. ``row`` is there while it has no number, ``at_*`` are its bounds."""

    pk: int | None
    at: int
    at_low: int | None
    at_high: int | None
    row: Holding | None = None


@dataclass
class HeldBook:
    """The open spans of the members that a batch of facts is about."""

    book: GroupBook
    routes: RouteBook
    spans: dict[GroupAndClient, dict[MessageQueue, Span]]
    ended: list[Holding]
    new: list[Holding] = field(default_factory=list)
    endings: list[tuple[list[int], dict[str, object]]] = field(default_factory=list)
    refined: dict[int, Holding] = field(default_factory=dict)

    @classmethod
    def open(cls, book: GroupBook, routes: RouteBook, facts: Sequence[Fact]) -> HeldBook:
        """Read the open spans of these facts' members, and the lately ended ones that a report may make exact."""
        named = {
            (known_as(fact.group), known_as(fact.client)) for fact in facts if isinstance(fact, HeldFact | MemberLeft)
        }
        members = [row for row in book.members if member_key(row) in named and row.pk is not None]
        spans: dict[GroupAndClient, dict[MessageQueue, Span]] = {member_key(row): {} for row in members}
        keys = {row.pk: member_key(row) for row in members}
        columns = ("pk", "member_id", "at", "at_low", "at_high")
        names = ("queue__topic__name", "queue__broker", "queue__queue_id")
        stored = Holding.objects.filter(member__in=members, until__isnull=True).values_list(*columns, *names)
        for pk, member, at, low, high, topic, broker, queue_id in stored if members else ():
            spans[keys[member]][MessageQueue(topic, broker, queue_id)] = Span(pk, at, low, high)
        return cls(book, routes, spans, _lately_ended(members, facts))

    def write(self) -> None:
        """Write what ended, became exact, or began."""
        for pks, columns in self.endings:
            Holding.objects.filter(pk__in=pks).update(**columns)
        if self.refined:
            replace_rows(Holding, list(self.refined.values()))
        Holding.objects.bulk_create(self.new, batch_size=2_000)  # last: a queue is taken again after it was dropped

    def of(self, member: Member) -> dict[MessageQueue, Span]:
        """Give a member's open spans."""
        return self.spans.setdefault(member_key(member), {})

    # ---- one method for each kind of fact ----

    def seen(self, fact: HeldSeen, member: Member) -> bool:
        """All that a member held at one look: what is new began since the look before, what is gone ended since."""
        when, before = observed_at(fact), member.held_seen_at
        if before is not None and when <= before:
            return False
        was_silent = member.is_silent
        mine, held = self.of(member), {known_queue(queue) for queue in fact.queues}
        gone = [queue for queue in mine if queue not in held]
        self._end(fact, mine, gone, DropReason.UNKNOWN, low=before, high=fact.at)
        came = sorted(held - mine.keys())
        low = before if before is not None else member.at_low
        self._begin(fact, member, came, low=min(low, fact.at) if low is not None else None)
        self.book.members.update(member, held_seen_at=when, missing=None, missing_at=None)
        if gone or came:
            self.book.touch(fact.group)
        elif was_silent or (member.group.round_closed_at is None and member.group.round_number is not None):
            self.book.touch(fact.group)  # nothing moved, and that is news: it may close a round
        return bool(gone or came or was_silent)

    def taken(self, fact: QueueTaken, member: Member) -> bool:
        """A member's own word that it took a queue replaces the bounds of a look."""
        queue, mine = known_queue(fact.queue), self.of(member)
        span = mine.get(queue)
        if span is None:
            ended = self._ended(member, queue, lambda row: _within(fact.at, row.at_low, row.at_high or row.at))
            if ended is not None:
                return self._refine(ended, **source_columns(fact))
            self._begin(fact, member, [queue], low=fact.at)
            self.book.touch(fact.group)
            return True
        if _within(fact.at, span.at_low, span.at_high):
            span_row = self._row_of(span)
            return self._refine(span_row, **source_columns(fact))
        if fact.at <= span.at:
            return False
        self._end(fact, mine, [queue], DropReason.UNKNOWN, low=span.at, high=fact.at)
        self._begin(fact, member, [queue], low=fact.at)
        self.book.touch(fact.group)
        return True

    def dropped(self, fact: QueueDropped, member: Member) -> bool:
        """A member's own word that it dropped a queue."""
        queue, mine = known_queue(fact.queue), self.of(member)
        span = mine.get(queue)
        if span is not None and fact.at >= span.at:
            self._end(fact, mine, [queue], fact.reason, low=fact.at, high=fact.at)
            self.book.touch(fact.group)
            return True
        ended = self._ended(member, queue, lambda row: _within(fact.at, row.until_low, row.until_high))
        if ended is None or fact.at < ended.at:
            return False
        return self._refine(
            ended,
            until=fact.at,
            until_low=fact.at,
            until_high=fact.at,
            until_origin=fact.source.origin.value,
            reason=fact.reason.value,
        )

    def pulled(self, fact: QueuePulled, member: Member) -> bool:
        """The first pull of a queue that was taken."""
        queue = known_queue(fact.queue)
        span = self.of(member).get(queue)
        row: Holding | None
        if span is None:
            row = self._ended(member, queue, lambda row: row.at <= fact.at <= (row.until or row.at))
        else:
            row = self._row_of(span)
        if row is None or fact.at < row.at or (row.first_pull_at is not None and row.first_pull_at <= fact.at):
            return False
        self.book.touch(fact.group)
        return self._refine(row, first_pull_at=fact.at)

    def left(self, fact: MemberLeft, member: Member) -> None:
        """Who left holds nothing any more; when it let go is known only to lie after the last look."""
        mine = self.of(member)
        reason = REASON_OF.get(fact.departure, DropReason.UNKNOWN)
        self._end(fact, mine, list(mine), reason, low=member.held_seen_at, high=fact.at)

    # ---- spans ----

    def _begin(self, fact: MemberFact, member: Member, queues: Iterable[MessageQueue], *, low: int | None) -> None:
        mine, columns = self.of(member), source_columns(fact)
        columns["at_low"] = low
        for queue in queues:
            row = Holding(group=member.group, member=member, queue=self.routes.queue(queue, fact.at), **columns)
            self.new.append(row)
            mine[queue] = Span(None, fact.at, low, fact.at, row)

    def _end(
        self,
        fact: MemberFact,
        mine: dict[MessageQueue, Span],
        queues: Iterable[MessageQueue],
        reason: DropReason,
        *,
        low: int | None,
        high: int,
    ) -> None:
        by_low: dict[int, list[int]] = {}
        origin = fact.source.origin.value
        for queue in queues:
            span = mine.pop(queue)
            at_least = max(span.at, min(low, high) if low is not None else span.at)
            until = max(fact.at, at_least)
            if span.row is not None:
                span.row.until, span.row.until_low, span.row.until_high = until, at_least, max(until, high)
                span.row.until_origin, span.row.reason = origin, reason.value
            else:
                assert span.pk is not None
                if span.pk in self.refined:
                    refined = self.refined[span.pk]
                    refined.until, refined.until_low, refined.until_high = until, at_least, max(until, high)
                    refined.until_origin, refined.reason = origin, reason.value
                else:
                    by_low.setdefault(at_least, []).append(span.pk)
        for at_least, pks in by_low.items():
            until = max(fact.at, at_least)
            columns: dict[str, object] = {"until": until, "until_low": at_least, "until_high": max(until, high)}
            self.endings.append((pks, {**columns, "until_origin": origin, "reason": reason.value}))

    def _ended(self, member: Member, queue: MessageQueue, fits: Fits) -> Holding | None:
        rows = (row for row in self.ended if row.member_id == member.pk and row.queue.message_queue == queue)
        return next((row for row in rows if fits(row)), None)

    def _row_of(self, span: Span) -> Holding:
        if span.row is not None:
            return span.row
        assert span.pk is not None
        return self.refined.get(span.pk) or Holding.objects.select_related("group").get(pk=span.pk)

    def _refine(self, row: Holding, **columns: object) -> bool:
        different = False
        for name, value in columns.items():
            different |= getattr(row, name) != value
            setattr(row, name, value)
        if different and row.pk is not None:
            self.refined[row.pk] = row
            self.book.touch(row.group.name)
        return different


def _within(at: int, low: int | None, high: int | None) -> bool:
    return (low is None or low <= at) and (high is None or at <= high)


def _lately_ended(members: list[Member], facts: Sequence[Fact]) -> list[Holding]:
    reports = [fact for fact in facts if isinstance(fact, QueueTaken | QueueDropped | QueuePulled)]
    if not reports or not members:
        return []
    queues = {known_queue(fact.queue) for fact in reports}
    since = min(fact.at for fact in reports) - LATE_MS
    rows = Holding.objects.filter(
        member__in=members, until__gte=since, queue__queue_id__in={queue.queue_id for queue in queues}
    ).select_related("queue__topic", "group")
    return [row for row in rows.order_by("-until") if row.queue.message_queue in queues]
