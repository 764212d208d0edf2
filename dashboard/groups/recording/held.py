"""What facts about held queues change: spans that begin, end, or get exact ends. Each method tells whether."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from django.db import connection
from django.db.models import Q

from dashboard.clusters.recording.routes import Key, RouteBook
from dashboard.common import bulk
from dashboard.common.fields import observed_at, source_columns
from dashboard.common.names import known_as, known_queue
from dashboard.common.rows import replace_rows
from dashboard.groups.models import Group, Holding, Member
from dashboard.groups.recording import silences
from dashboard.groups.recording.book import GroupAndClient, GroupBook, member_key
from rebalance_engine.events import (
    Departure,
    DropReason,
    Fact,
    HeldSeen,
    MemberLeft,
    Origin,
    QueueDropped,
    QueuePulled,
    QueueTaken,
)
from rebalance_engine.events.fact import MemberFact

Fits = Callable[[Holding], bool]
HeldFact = HeldSeen | QueueTaken | QueueDropped | QueuePulled
REASON_OF = {Departure.UNREGISTERED: DropReason.STOPPED, Departure.HEARTBEAT_EXPIRED: DropReason.LOST}
ANSWERED_WITHIN_MS = 16_000  # a look (307), at the latest: five seconds in the broker's queue, ten of the client
LATE_MS = 300_000  # a report may arrive this much later than the look that saw the same
SOURCE = ("at", "at_low", "at_high", "origin", "observed_at", "observed_by", "detail")
END = ("until", "until_low", "until_high", "until_origin", "reason", "committed_offset")
COLUMNS = (*SOURCE, *END, "first_pull_at", "start_offset")
OPEN_SPANS = "SELECT id, member_id, queue_id, at, at_low, at_high FROM groups_holding WHERE until IS NULL"


@dataclass(slots=True)
class New:
    """A holding that has no row yet, with the columns that it will have."""

    member: Member
    queue: Key
    columns: dict[str, bulk.Value]


@dataclass(slots=True)
class Span:
    """One holding that is open: stored under ``pk``, or ``new``. ``at_*`` are its bounds."""

    pk: int
    at: int
    at_low: int | None
    at_high: int | None
    new: New | None = None


@dataclass
class HeldBook:
    """The open spans of the members that a batch of facts is about; ``lately`` has when those were that it ended.

    ``back`` are members who told again what they hold, or said good-bye, by when; ``clean`` those of whom it is known
    only now that they left cleanly, each with when looks had seen it.
    """

    book: GroupBook
    routes: RouteBook
    spans: dict[GroupAndClient, dict[Key, Span]]
    ended: dict[tuple[int, Key], list[Holding]]
    new: list[New] = field(default_factory=list)
    endings: list[bulk.Values] = field(default_factory=list)
    refined: dict[int, Holding] = field(default_factory=dict)
    lately: dict[tuple[GroupAndClient, Key], list[tuple[int, int]]] = field(default_factory=dict)
    back: dict[int, int] = field(default_factory=dict)
    clean: list[tuple[int, int, MemberLeft]] = field(default_factory=list)

    @classmethod
    def open(cls, book: GroupBook, routes: RouteBook, facts: Sequence[Fact]) -> HeldBook:
        """Read the open spans of these facts' members, and the lately ended ones that a report may make exact."""
        named = {
            (known_as(fact.group), known_as(fact.client)) for fact in facts if isinstance(fact, HeldFact | MemberLeft)
        }
        members = {row.pk: row for row in book.members if member_key(row) in named and not row._state.adding}
        spans: dict[GroupAndClient, dict[Key, Span]] = {member_key(row): {} for row in members.values()}
        of_member = {pk: spans[member_key(row)] for pk, row in members.items()}
        for pk, member, queue, at, low, high in _open_spans(list(members)):
            of_member[member][queue] = Span(pk, at, low, high)
        ended: dict[tuple[int, Key], list[Holding]] = {}
        for row in _lately_ended(list(members.values()), facts):
            ended.setdefault((row.member_id, row.queue_id), []).append(row)
        return cls(book, routes, spans, ended)

    def write(self) -> None:
        """Write what ended, became exact, or began."""
        bulk.update(Holding, END, self.endings)
        self._bound_what_was_lost()
        if self.refined:
            replace_rows(Holding, list(self.refined.values()), COLUMNS)
        rows = self.routes.rows_of(new.queue for new in self.new)
        bulk.insert(  # last: a queue is taken again after it was dropped
            Holding,
            ("group", "member", "queue", *COLUMNS),
            [_row(new, rows[new.queue]) for new in self.new],
        )

    def of(self, member: Member) -> dict[Key, Span]:
        """Give a member's open spans."""
        return self.spans.setdefault(member_key(member), {})

    # ---- one method for each kind of fact ----

    def seen(self, fact: HeldSeen, member: Member) -> bool:
        """All that a member held at one look: what is new began since the look before, what is gone ended since.

        It is of some moment between the question and the answer: what a report says of that time holds.
        """
        when, before = observed_at(fact), member.held_seen_at
        if before is not None and when <= before:
            return False
        was_silent = member.is_silent
        mine = self.of(member)
        if before is None and not member._state.adding:
            self.back[member.pk] = fact.at  # what it had when it was lost it has no longer than it tells now
        held = dict.fromkeys(self.routes.key(known_queue(queue), fact.at) for queue in fact.queues)
        gone = [queue for queue in mine if queue not in held and mine[queue].at <= when]
        came = [queue for queue in held if queue not in mine and not self._was_had(member, queue, when, fact.at)]
        self._end(fact, member, gone, DropReason.UNKNOWN, low=before, high=fact.at)
        low = before if before is not None else member.at_low
        self._begin(fact, member, came, low=min(low, fact.at) if low is not None else None)
        over = silences.of_answer(member, when)
        self.book.members.update(member, held_seen_at=when, missing=None, missing_at=None, **over)
        if gone or came:
            self.book.touch(fact.group)
        elif was_silent or _waits_for_looks(member.group):
            self.book.touch(fact.group)  # nothing moved, and that is news: it may close a round
        return bool(gone or came or was_silent)

    def taken(self, fact: QueueTaken, member: Member) -> bool:
        """A member's own word that it took a queue replaces the bounds of a look."""
        if fact.is_shared:
            return False  # it pops it: others may too, and nobody owns it
        queue, mine = self.routes.key(known_queue(fact.queue), fact.at), self.of(member)
        span = mine.get(queue)
        if span is None:
            ended = self._ended(member, queue, lambda row: _within(fact.at, row.at_low, row.at_high or row.at))
            if ended is not None:
                return self._refine(fact, ended, **_told(fact))
            self._begin(fact, member, [queue], low=fact.at, start=fact.start_offset)
            self.book.touch(fact.group)
            return True
        if _within(fact.at, span.at_low, span.at_high):
            return self._refine(fact, self._row_of(span), **_told(fact))
        if fact.at <= span.at:
            return False
        seen = member.held_seen_at  # when the last look was asked: whoever answered it before this take had the queue
        low = seen if seen is not None and seen + ANSWERED_WITHIN_MS <= fact.at else span.at
        self._end(fact, member, [queue], DropReason.UNKNOWN, low=low, high=fact.at)
        self._begin(fact, member, [queue], low=fact.at, start=fact.start_offset)
        self.book.touch(fact.group)
        return True

    def dropped(self, fact: QueueDropped, member: Member) -> bool:
        """A member's own word that it dropped a queue.

        Where it was lost before, it is no owner since, and may have had it until then.
        """
        queue, mine = self.routes.key(known_queue(fact.queue), fact.at), self.of(member)
        span = mine.get(queue)
        if span is not None and fact.at >= span.at:
            self._end(fact, member, [queue], fact.reason, low=fact.at, high=fact.at, committed=fact.committed_offset)
            self.book.touch(fact.group)
            return True
        ended = self._ended(member, queue, lambda row: _within(fact.at, row.until_low, row.until_high))
        if ended is None or fact.at < ended.at:
            return False
        is_late = ended.until is not None and ended.until < fact.at
        closer: dict[str, bulk.Value] = {} if is_late else {"until": fact.at, "until_low": fact.at}
        return self._refine(
            fact,
            ended,
            **closer,
            until_high=fact.at,
            until_origin=fact.source.origin.value,
            reason=fact.reason.value,
            committed_offset=fact.committed_offset,
        )

    def pulled(self, fact: QueuePulled, member: Member) -> bool:
        """The first pull of a queue that was taken."""
        queue = self.routes.key(known_queue(fact.queue), fact.at)
        span = self.of(member).get(queue)
        row: Holding | New | None
        if span is None:
            row = self._ended(member, queue, lambda row: row.at <= fact.at <= (row.until or row.at))
        else:
            row = self._row_of(span)
        if row is None:
            return False
        began, first = _column(row, "at"), _column(row, "first_pull_at")
        if (isinstance(began, int) and fact.at < began) or (isinstance(first, int) and first <= fact.at):
            return False
        self.book.touch(fact.group)
        return self._refine(fact, row, first_pull_at=fact.at)

    def late(self, fact: QueueTaken | QueueDropped | QueuePulled, member: Member) -> bool:
        """A member's own word that came after it was seen to leave: it makes exact what ended then, and begins nothing.

        Until then a look had told when it held what; that it took a queue which no look saw stays untold.
        """
        match fact:
            case QueueDropped():
                return self.dropped(fact, member)
            case QueuePulled():
                return self.pulled(fact, member)
        queue = self.routes.key(known_queue(fact.queue), fact.at)
        ended = self._ended(member, queue, lambda row: _within(fact.at, row.at_low, row.at_high or row.at))
        return ended is not None and self._refine(fact, ended, **_told(fact))

    def left(self, fact: MemberLeft, member: Member) -> None:
        """Who left holds nothing any more as a member; when it let go is known only to lie after the last look.

        Whoever said good-bye, or was killed by an order of this room, had let go by then. Who is listed no more for
        want of a heartbeat or a connection, or nobody knows why, may be stopped, or cut off, and have its queues still:
        that has no upper bound.
        """
        mine = self.of(member)
        reason = REASON_OF.get(fact.departure, DropReason.UNKNOWN)
        high = fact.at if _is_over(fact) else None
        if high is not None:
            self._let_go_of_all(member, high)
        self._end(fact, member, list(mine), reason, low=member.held_seen_at, high=high)

    def left_cleanly(self, fact: MemberLeft, member: Member, seen_at: int) -> None:
        """Looks saw at ``seen_at`` that somebody was gone; it is told now that it had said good-bye, or was killed."""
        if _is_over(fact) and not member._state.adding:
            self.clean.append((member.pk, seen_at, fact))
            self._let_go_of_all(member, fact.at)

    def _let_go_of_all(self, member: Member, at: int) -> None:
        """Who said good-bye has let go of what it had when it was lost before too, though it told nothing since."""
        if member.held_seen_at is None and not member._state.adding:
            self.back[member.pk] = at

    def _bound_what_was_lost(self) -> None:
        """Give an upper bound to the ends of what was held by who was lost, as far as one is known now."""
        open_ended = Holding.objects.filter(until_high=None, until__isnull=False)
        for member, seen_at, fact in self.clean:
            last = Q(until_low=None) | Q(until_low__lte=fact.at)
            open_ended.filter(last, member=member, until=seen_at, at__lte=fact.at).update(
                until=fact.at, until_high=fact.at, reason=REASON_OF.get(fact.departure, DropReason.UNKNOWN).value
            )
        for member, at in self.back.items():
            open_ended.filter(member=member, until__lte=at).update(until_high=at)

    # ---- spans ----

    def _begin(
        self, fact: MemberFact, member: Member, queues: Iterable[Key], *, low: int | None, start: int | None = None
    ) -> None:
        mine, columns = self.of(member), source_columns(fact)
        columns |= {"at_low": low, "start_offset": start}
        for queue in queues:
            new = New(member, queue, dict(columns))
            self.new.append(new)
            mine[queue] = Span(0, fact.at, low, fact.at, new)

    def _end(
        self,
        fact: MemberFact,
        member: Member,
        queues: Iterable[Key],
        reason: DropReason,
        *,
        low: int | None,
        high: int | None,
        committed: int | None = None,
    ) -> None:
        origin, mine, whose = fact.source.origin.value, self.of(member), member_key(member)
        for queue in queues:
            span = mine.pop(queue)
            at_least = max(span.at, min(low, fact.at) if low is not None else span.at)
            until = max(fact.at, at_least)
            at_most = None if high is None else max(until, high)
            end: bulk.Values = (until, at_least, at_most, origin, reason.value, committed)
            self.lately.setdefault((whose, queue), []).append((span.at, until))
            if span.new is not None:
                span.new.columns.update(zip(END, end, strict=True))
            elif span.pk in self.refined:
                for name, value in zip(END, end, strict=True):
                    setattr(self.refined[span.pk], name, value)
            else:
                self.endings.append((*end, span.pk))

    def _ended(self, member: Member, queue: Key, fits: Fits) -> Holding | None:
        return next((row for row in self.ended.get((member.pk, queue), ()) if fits(row)), None)

    def _was_had(self, member: Member, queue: Key, asked: int, answered: int) -> bool:
        """Whether a member said itself that it had a queue at some moment of a look, and let it go after that began."""
        lately = self.lately.get((member_key(member), queue), ())
        if any(at <= answered and asked < until for at, until in lately):
            return True
        return self._ended(member, queue, lambda row: row.at <= answered and asked < (row.until or asked)) is not None

    def _row_of(self, span: Span) -> Holding | New:
        return span.new or self.refined.get(span.pk) or Holding.objects.get(pk=span.pk)

    def _refine(self, fact: MemberFact, row: Holding | New, **columns: bulk.Value) -> bool:
        began, first = columns.get("at"), _column(row, "first_pull_at")
        if isinstance(began, int) and isinstance(first, int) and first < began:
            columns["first_pull_at"] = None  # of an earlier life
        different = any(_column(row, name) != value for name, value in columns.items())
        if isinstance(row, New):
            row.columns.update(columns)
        elif different:
            for name, value in columns.items():
                setattr(row, name, value)
            self.refined[row.pk] = row
            self.book.touch(fact.group)
        return different


def _is_over(fact: MemberLeft) -> bool:
    """Whether who left has stopped for certain: by its own word, or because an order of this room killed it."""
    return fact.departure is Departure.UNREGISTERED or fact.source.origin is Origin.OPERATOR


def _told(fact: QueueTaken) -> dict[str, bulk.Value]:
    return {**source_columns(fact), "start_offset": fact.start_offset}


def _waits_for_looks(group: Group) -> bool:
    """Whether a look tells something though nothing moved: a round is open, or two may have the same queue."""
    has_open_round = group.round_number is not None and group.round_closed_at is None
    return has_open_round or bool(group.perhaps_twice_count)


def _row(new: New, queue: int) -> bulk.Values:
    return (new.member.group.pk, new.member.pk, queue, *map(new.columns.get, COLUMNS))


def _column(row: Holding | New, name: str) -> object:
    return row.columns.get(name) if isinstance(row, New) else getattr(row, name)


def _open_spans(members: Sequence[int]) -> Iterator[tuple[int, int, int, int, int | None, int | None]]:
    """Read what members hold: ten thousand rows a second look, hence as the database gives them."""
    with connection.cursor() as cursor:
        for start in range(0, len(members), 1_000):
            some = members[start : start + 1_000]
            cursor.execute(f"{OPEN_SPANS} AND member_id IN ({', '.join(['%s'] * len(some))})", some)
            yield from cursor.fetchall()


def _within(at: int, low: int | None, high: int | None) -> bool:
    return (low is None or low <= at) and (high is None or at <= high)


def _lately_ended(members: list[Member], facts: Sequence[Fact]) -> list[Holding]:
    """Read the ended spans that a report may make exact, or that lasted at the time of a look."""
    if not members:
        return []
    of_members = Holding.objects.filter(group__in={row.group_id for row in members}, member__in=members)
    reports = [fact for fact in facts if isinstance(fact, QueueTaken | QueueDropped | QueuePulled)]
    looks = [observed_at(fact) for fact in facts if isinstance(fact, HeldSeen)]
    wanted = Q(until__gt=min(looks)) if looks else Q()
    if reports:
        numbers = {fact.queue.queue_id for fact in reports}
        since = min(fact.at for fact in reports) - LATE_MS
        wanted |= Q(until__gte=since, queue__queue_id__in=numbers)
    return list(of_members.filter(wanted).order_by("-until")) if wanted else []
