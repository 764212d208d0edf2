"""What is known to have been taken or dropped since a group's last round ended: what a round must come from.

Whatever became known in which order, and however often the group was rebalanced in between, the same rows give the
same answer. To let go of a queue is always a change. To have one is a change only where it is known not to have been
had before: what is first known of a member may have been so all the time; and that somebody takes a queue which has
come just now is no change but of routes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from django.conf import settings
from django.db.models import F, Max, Min, OuterRef, Q, Subquery

from dashboard.clusters.columns import Pks
from dashboard.clusters.models import Queue
from dashboard.groups.models import Group, Holding, Member, Round
from rebalance_engine.events import Cause
from rebalance_engine.model import MessageQueue
from rebalance_engine.rounds import SAME_CAUSE_MS

NEVER = 2**62
DAY_MS = 24 * 60 * 60 * 1000
FIRST_TAKEN_WITHIN_MS = 60_000  # clients ask for routes every 30 s, and divide every 20 s
# A span began after its member was there: a look before did not show it, or it said so itself.
IS_MOVE = Q(at_low__lt=F("at"), at_low__gt=0, at_low__gte=F("member__at")) | Q(
    at_low=F("at"), at__gt=F("member__at") + SAME_CAUSE_MS
)


@dataclass(frozen=True, eq=False)
class Taken:
    """Who holds which queue: rows of members and queues, since when, and when at the earliest (0: unknown)."""

    member: Pks
    queue: Pks
    at: Pks
    low: Pks


@dataclass(frozen=True, slots=True)
class Moves:
    """When the first queue was taken or dropped, at ``at``, not before ``low`` (0: unknown); of how many ``queues``."""

    at: int
    low: int
    queues: int


NO_MOVES = Moves(0, 0, 0)


def moves_since_the_last_round(group: Group, members: Sequence[Member], taken: Taken) -> Moves:
    """Find what moved since the end of the last round that nothing superseded; ``NO_MOVES`` where nothing did.

    A queue that has no route any more is none: that is a change of routes.
    """
    closed = Round.objects.filter(group=group, superseded_by=None)
    ended = closed.aggregate(closed=Max("closed_at"), settled=Max("settled_at"))
    since = max(ended["closed"] or 0, ended["settled"] or 0)
    dropped = Holding.objects.filter(group=group, until__gt=since, queue__gone_at=None)
    ends = dropped.aggregate(at=Min("until"), low=Min("until_low"))
    is_old = Q(at__gt=F("queue__since") + FIRST_TAKEN_WITHIN_MS)
    begins = dropped.filter(IS_MOVE, is_old, at__gt=since).aggregate(at=Min("at"), low=Min("at_low"))
    moved = _are_old(group, taken, _is_move(members, taken) & (taken.at > since))
    at = min(int(taken.at[moved].min(initial=NEVER)), ends["at"] or NEVER, begins["at"] or NEVER)
    if at == NEVER:
        return NO_MOVES
    low = min(int(taken.low[moved].min(initial=NEVER)), ends["low"] or NEVER, begins["low"] or NEVER)
    queues = set(taken.queue[moved].tolist())
    is_explained = group.round_closed_at is None and group.round_cause not in (None, Cause.HELD_CHANGED.value)
    if not is_explained:  # nobody asks of how many, else
        queues.update(dropped.values_list("queue_id", flat=True))
    return Moves(at, low if low <= at else 0, len(queues))


def first_taken(group: Group, takes: Iterable[tuple[MessageQueue, int]]) -> set[MessageQueue]:
    """Give the queues, of those that nobody had when they were taken, that nobody ever had: who has them is no move.

    That is known of what came after the group was known, and of which nothing is forgotten yet: it got its first owner,
    however long that took. A queue that came back is not new by that.

    Args:
        takes: queues, each with when it was taken.
    """
    taken = dict[MessageQueue, int]()
    for queue, at in takes:
        taken[queue] = min(at, taken.get(queue, at))
    if not taken:
        return set()
    topics, brokers = {queue.topic for queue in taken}, {queue.broker for queue in taken}
    spans = Holding.objects.filter(group=group, queue=OuterRef("pk")).order_by("at", "pk")
    rows = Queue.objects.filter(topic__cluster=group.cluster_id, topic__name__in=topics, broker__in=brokers)
    columns = ("topic__name", "broker", "queue_id", "came_at", "first")
    new = set[MessageQueue]()
    for topic, broker, number, came, first in rows.annotate(first=Subquery(spans.values("at")[:1])).values_list(
        *columns
    ):
        queue = MessageQueue(topic, broker, number)
        if queue not in taken or came is None or (first is not None and first < taken[queue]):
            continue
        if came > max(group.added_at, taken[queue] - settings.RETENTION_DAYS * DAY_MS):
            new.add(queue)
    return new


def _is_move(members: Sequence[Member], taken: Taken) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Ask the same of spans that last, which were read before."""
    since = {member.pk: member.at for member in members}
    came = np.array([since.get(pk, NEVER) for pk in taken.member.tolist()], dtype=np.int64)
    was_said = taken.low == taken.at
    return np.where(was_said, taken.at > came + SAME_CAUSE_MS, (taken.low > 0) & (taken.low >= came))


def _are_old(
    group: Group, taken: Taken, moved: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Leave out the first takes of queues that have come just now."""
    if not moved.any():
        return moved
    young_since = int(taken.at[moved].min()) - FIRST_TAKEN_WITHIN_MS
    young = Queue.objects.filter(topic__cluster=group.cluster_id, since__gte=young_since)
    since = dict(young.values_list("pk", "since"))
    came = np.array([since.get(pk, 0) for pk in taken.queue[moved].tolist()], dtype=np.int64)
    old = moved.copy()
    old[moved] = taken.at[moved] > came + FIRST_TAKEN_WITHIN_MS
    return old
