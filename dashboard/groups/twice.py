"""Messages that were consumed twice in a round's handoffs, by the offsets that members report of themselves.

The new owner goes on at one offset, the old one had consumed up to another: what lies between was consumed by both. It
is a lower bound, since the old owner may have consumed messages beyond that out of order, or have had some under way.
Stock clients report no offsets, and no broker keeps them: of their handoffs it is unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import F, Q
from django.db.models.functions import Coalesce

from dashboard.common import bulk
from dashboard.groups.lane import Lane
from dashboard.groups.models import Group, Handoff, Holding, Round
from dashboard.groups.owned import MOST_SPANS
from dashboard.groups.whose import words_of

Place = tuple[str, str, int]  # topic, broker, queue id
MOST_SHOWN = 50
REPORTED = Q(start_offset__isnull=False) | Q(committed_offset__isnull=False)


@dataclass(frozen=True, slots=True)
class Twice:
    """What is known of one handoff: at least the messages from ``first`` until before ``until`` were consumed twice.

    Both the same: none of those that the old owner had committed. ``holding`` is the row of the new owner.
    """

    lane: Lane
    first: int
    until: int
    holding: int | None = None

    @property
    def count(self) -> int:
        """How many messages, at least."""
        return self.until - self.first

    @property
    def apart_low(self) -> int | None:
        """How far apart, in ms, at least: from letting go, all committed, to the first pull of what comes again.

        None: unknown, as where both had the queue at that time.
        """
        dropped, pulled = self.lane.dropped_at, self.lane.first_pull_at
        return None if dropped is None or pulled is None or pulled <= dropped else pulled - dropped

    @property
    def last(self) -> int:
        """The offset of the last of them."""
        return self.until - 1


@dataclass(frozen=True, slots=True)
class Totals:
    """What is known of all handoffs of a round: those with such messages, the most first, and of how many nothing is.

    ``known`` counts the handoffs of which it is known, also that none of the committed messages came twice. ``awaited``
    are those of the unknown ones whose old owner reports, and has not let go: it tells how far it got when it does.
    """

    rows: tuple[Twice, ...]
    known: int
    unknown: int
    awaited: tuple[Lane, ...] = ()

    @property
    def count(self) -> int | None:
        """How many messages were consumed twice, at least; None: unknown of each handoff."""
        return sum(each.count for each in self.rows) if self.known else None

    @property
    def unreported(self) -> int:
        """Of how many handoffs it is unknown for good, since not both members report."""
        return self.unknown - len(self.awaited)

    @property
    def keepers(self) -> str:
        """Name who has yet to let go."""
        return words_of(sorted({lane.from_client for lane in self.awaited}))

    @property
    def shown(self) -> tuple[Twice, ...]:
        """Give those that a page has room for."""
        return self.rows[:MOST_SHOWN]


@dataclass(frozen=True, slots=True)
class _Span:
    pk: int
    client: str
    at: int
    start: int | None
    committed: int | None


def twice_in(*, row: Round, lanes: Sequence[Lane]) -> dict[Lane, Twice]:
    """Find what was consumed twice in each handoff of which both members told; the others are left out."""
    moved = [lane for lane in lanes if lane.from_client and lane.to_client and lane.taken_at is not None]
    if not moved:
        return {}
    spans = _spans(row, moved)
    found = (_between(lane, spans.get((lane.topic, lane.broker, lane.queue_id), ())) for lane in moved)
    return {each.lane: each for each in found if each is not None}


def totals_in(*, row: Round, lanes: Sequence[Lane], known: Mapping[Lane, Twice]) -> Totals:
    """Add up what is ``known`` of a round's handoffs, and say of which it will be known when they end."""
    return add_up(lanes=lanes, known=known.values(), awaited=awaited_in(row=row, lanes=lanes, known=known))


def awaited_in(*, row: Round, lanes: Sequence[Lane], known: Mapping[Lane, Twice]) -> list[Lane]:
    """Give the handoffs of which nothing is known until the old owner lets go, since both members report."""
    shared = [lane for lane in lanes if lane.is_shared and lane.from_client and lane.to_client and lane not in known]
    if not shared:
        return []
    clients = {client for lane in shared for client in (lane.from_client, lane.to_client)}
    spans = Holding.objects.filter(REPORTED, group=row.group_id, member__client_id__in=clients)
    reporters = set(spans.values_list("member__client_id", flat=True).distinct())
    return [lane for lane in shared if {lane.from_client, lane.to_client} <= reporters]


def add_up(*, lanes: Sequence[Lane], known: Collection[Twice], awaited: Sequence[Lane] = ()) -> Totals:
    """Add up what is known of a round's handoffs from one member to another."""
    moved = sum(bool(lane.from_client and lane.to_client) for lane in lanes)
    rows = sorted((each for each in known if each.count), key=lambda each: each.count, reverse=True)
    return Totals(tuple(rows), len(known), moved - len(known), tuple(awaited))


def count_told(row: Round) -> None:
    """Count what was consumed twice in a round that was told; its group has the sum, which never grows less.

    The group counts each offset of a queue once. What was taken long ago is told again in each round in which another
    one lets it go, or takes it back; and a round is told again where more was reported of it.
    """
    reports = Holding.objects.filter(group=row.group_id, committed_offset__isnull=False)
    if not row.handoffs.exists() or not reports.exists():
        return
    lanes = [lane_of(each) for each in row.handoffs.all()]
    totals = add_up(lanes=lanes, known=twice_in(row=row, lanes=lanes).values())
    if totals.count is None:
        return
    more = _count_new(row.group_id, totals.rows)
    if row.twice is None or totals.count > row.twice:
        Round.objects.filter(pk=row.pk).update(twice=totals.count)
    if more or row.twice is None:
        Group.objects.filter(pk=row.group_id).update(duplicate_messages=Coalesce(F("duplicate_messages"), 0) + more)


def _count_new(group: int, rows: Sequence[Twice]) -> int:
    """Count the messages that were not counted yet, and note that they are."""
    if not rows:
        return 0
    columns = ("pk", "queue__topic__name", "queue__broker", "queue__queue_id", "start_offset", "twice_until")
    spans = Holding.objects.filter(group=group, start_offset__isnull=False, twice_until__isnull=False)
    counted: dict[Place, list[tuple[int, int]]] = {}
    ends: dict[int | None, int] = {}
    for pk, topic, broker, number, start, until in spans.values_list(*columns):
        counted.setdefault((topic, broker, number), []).append((start, until))
        ends[pk] = until
    more, news = 0, dict[int | None, int]()
    for each in rows:
        known = counted.setdefault(each.lane.place, [])
        more += _beyond(each, known)
        known.append((each.first, each.until))
        if each.until > max(ends.get(each.holding, 0), news.get(each.holding, 0)):
            news[each.holding] = each.until
    bulk.update(Holding, ("twice_until",), [(until, pk) for pk, until in news.items()])
    return more


def _beyond(twice: Twice, counted: Sequence[tuple[int, int]]) -> int:
    """Count its offsets that lie in none of some spans."""
    found, at = 0, twice.first
    for first, until in sorted(counted):
        found += max(0, min(first, twice.until) - at)
        at = max(at, until)
    return found + max(0, twice.until - at)


def lane_of(row: Handoff) -> Lane:
    """Give a stored handoff as the lane that it is, for its owners and times."""
    unknown = (None, None)
    return Lane(
        row.topic,
        row.broker,
        row.queue_id,
        row.from_client,
        row.to_client,
        row.dropped_at,
        row.taken_at,
        row.first_pull_at,
        unknown,
        unknown,
        is_waiting=False,
    )


def _spans(row: Round, lanes: Sequence[Lane]) -> dict[Place, list[_Span]]:
    """Read what members reported of these queues; the latest first."""
    since = min(min(lane.taken_at or 0, lane.dropped_at or lane.taken_at or 0) for lane in lanes)
    last = max(lane.taken_at or 0 for lane in lanes)
    rows = Holding.objects.filter(REPORTED, Q(until=None) | Q(until__gte=since), group=row.group_id, at__lte=last)
    columns = ("pk", "queue__topic__name", "queue__broker", "queue__queue_id", "member__client_id", "at")
    found: dict[Place, list[_Span]] = {}
    values = rows.order_by("-at").values_list(*columns, "start_offset", "committed_offset")
    for pk, topic, broker, number, client, at, start, committed in values[:MOST_SPANS]:
        found.setdefault((topic, broker, number), []).append(_Span(pk, client, at, start, committed))
    return found


def _between(lane: Lane, spans: Sequence[_Span]) -> Twice | None:
    taken = lane.taken_at or 0
    new = next((each for each in spans if each.client == lane.to_client and each.at == taken), None)
    old = next((each for each in spans if each.client == lane.from_client and each.at <= taken), None)
    if new is None or old is None or new.start is None or old.committed is None:
        return None
    return Twice(lane, new.start, max(new.start, old.committed), new.pk)
