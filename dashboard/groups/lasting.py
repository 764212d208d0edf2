"""Pauses of the latest rounds that last: of what was let go and taken by nobody when its round had ended."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from django.db.models import BigIntegerField, Exists, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from dashboard.clusters.models import Queue
from dashboard.groups.bands import FOREVER
from dashboard.groups.doubts import NO_DOUBTS, Doubts, all_doubts_of
from dashboard.groups.leaving import End, Left, lefts_of_each
from dashboard.groups.models import Handoff, Holding, Round
from dashboard.groups.pairing import Instant
from dashboard.groups.proofs import sure_until_of
from rebalance_engine.model import MessageQueue

QUEUE = ("topic", "broker", "queue_id")
COLUMNS = (
    "pk",
    "round",
    "dropped_at",
    "first_dropped",
    "dropped_high",
    "is_kept",
    "came_at",
    "came_low",
    "lost_until",
    *QUEUE,
)


def lasting_pauses(*, rounds: Collection[int], now: int) -> dict[int, int]:
    """Give how long, in ms, the longest of each round (by its row) lasts at least; a round without any is left out."""
    lasting: dict[int, int] = {}
    for each in lasting_handoffs(rounds=rounds, now=now).values():
        if not each.is_waited_for:
            continue
        lasting[each.round] = max(each.low, lasting.get(each.round, 0))
    return lasting


class Lasting(NamedTuple):
    """What was let go and not taken in its round, by its row, and for how long nobody had it, in ms: at least, at most.

    ``is_waited_for``: until now, or until somebody came. Else until it left the route, which is its ``end``, or not at
    all, since somebody else had it all the time: nobody missed it.
    """

    round: int
    low: int
    high: int
    is_waited_for: bool = True
    end: End | None = None


def lasting_handoffs(*, rounds: Collection[int], now: int) -> dict[int, Lasting]:
    """Give by its row each handoff of rounds that was let go and not taken in its round.

    That is what the lane of the round's page says (``lanes.py``). One that ended since, because somebody came, lasted
    at least until he may have had it, at most until he was seen to; of a queue that left the route before that, until
    then. Who was lost may have his queues still: at least 0. Who does not answer, or did not until he left, may have
    had it since he told last.
    """
    spans = Holding.objects.filter(
        group=OuterRef("round__group"),
        queue__topic__name=OuterRef("topic"),
        queue__broker=OuterRef("broker"),
        queue__queue_id=OuterRef("queue_id"),
    )
    queues = Queue.objects.filter(
        topic__cluster=OuterRef("round__group__cluster"),
        topic__name=OuterRef("topic"),
        broker=OuterRef("broker"),
        queue_id=OuterRef("queue_id"),
    )
    kept = spans.filter(Q(until=None) | Q(until__gt=OuterRef("dropped_at")), at__lte=OuterRef("dropped_at"))
    rows = (
        Handoff.objects.filter(round__in=rounds, dropped_at__isnull=False, taken_at=None)
        .filter(Exists(queues))
        .annotate(is_kept=Exists(kept))
        .annotate(came_at=_first(spans, "at"), came_low=_first(spans, "first_low"))
        .annotate(first_dropped=Coalesce("dropped_low", "dropped_at"))
        .annotate(lost_until=_lost_until(spans))
    )
    found: list[_Open] = [
        _Open(pk, number, MessageQueue(*queue), dropped, low, high, is_kept, came, came_low, lost)
        for pk, number, dropped, low, high, is_kept, came, came_low, lost, *queue in rows.values_list(*COLUMNS)
    ]
    of = Round.objects.filter(pk__in={each.round for each in found}).select_related("group").defer("before", "after")
    in_rounds = {row.pk: row for row in of}
    group_of = {pk: row.group_id for pk, row in in_rounds.items()}
    groups = set(group_of.values())
    doubts = all_doubts_of(groups=groups, since=min((each.high for each in found if each.high), default=now))
    sure = sure_until_of(groups=groups) if found else {}
    lefts = lefts_of_each([(in_rounds[each.round], each.queue, each.dropped_at) for each in found])
    lasting: dict[int, Lasting] = {}
    for each, left in zip(found, lefts, strict=True):
        group = group_of[each.round]
        looked = min(now, sure.get(group, now))
        lasting[each.pk] = _lasted(each, left, doubts.get(group, NO_DOUBTS), looked=looked, now=now)
    return lasting


def _lasted(each: _Open, left: Left, doubts: Doubts, *, looked: int, now: int) -> Lasting:
    if each.is_kept:
        return Lasting(each.round, 0, 0, is_waited_for=False)
    last, least = (now, looked) if each.came_at is None else (each.came_at, each.came_low)
    is_gone = left.end is not None and left.end.at <= last
    if left.end is not None and is_gone:
        last, least = left.end.at, None if left.end.low is None else min(left.end.low, looked)
    if each.lost_until is not None:
        doubts = [*doubts, (each.low, each.lost_until)]
    low, high = left.lasted(Instant(each.dropped_at, each.low, each.high), least, last, doubts)
    end = left.end if is_gone else None
    return Lasting(each.round, low, high, is_waited_for=not is_gone, end=end)


class _Open(NamedTuple):
    """A handoff that nobody took: its row and its round's, when it was let go, and when somebody was seen with it.

    ``is_kept``: somebody else had it all the time. ``lost_until``: until when one may have had it who was lost beside.
    """

    pk: int
    round: int
    queue: MessageQueue
    dropped_at: int
    low: int
    high: int | None
    is_kept: bool
    came_at: int | None
    came_low: int | None
    lost_until: int | None


def _lost_until(spans: QuerySet[Holding]) -> Subquery:
    """Say until when one may have had it who was lost when it was let go, or after it: others passed it on."""
    beside = Q(until__gt=OuterRef("first_dropped"), at__lte=OuterRef("dropped_at"))
    own = Q(until=OuterRef("dropped_at"), member__client_id=OuterRef("from_client"))
    lost = (
        spans.filter(beside)
        .exclude(own)
        .annotate(most=Coalesce("until_high", Value(FOREVER, output_field=BigIntegerField())))
    )
    return Subquery(lost.order_by("-most").values("most")[:1])


def _first(spans: QuerySet[Holding], column: str) -> Subquery:
    """Give when somebody came first, or may have: who was seen to later may have come before. 0: at any time."""
    later = spans.filter(at__gt=OuterRef("dropped_at")).annotate(first_low=Coalesce("at_low", 0))
    return Subquery(later.order_by(column, "pk").values(column)[:1])
