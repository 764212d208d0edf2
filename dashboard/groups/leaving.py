"""When queues were in no route: nobody waits for what a round tells that nobody has taken, once it has left."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Q

from dashboard.clusters.models import Queue
from dashboard.groups.bands import EVER, FOREVER, Away, without
from dashboard.groups.handoffs import Bounds, Story
from dashboard.groups.models import Group, Round
from rebalance_engine.model import MessageQueue

Aways = Mapping[int, Sequence[Away]]  # by a queue's row
COLUMNS = ("gone_low", "gone_at", "absences")
MOST_NAMED = 500  # queues that are named in a query; of more, all of their clusters are read


@dataclass(frozen=True, slots=True)
class End:
    """A queue left the route between ``low`` (None: unknown) and ``at``, in ms.

    ``gone_at`` is when that was seen; None: it is back, and nobody kept when it had left.
    """

    low: int | None
    at: int
    gone_at: int | None


def ends_of(row: Round, drops: Iterable[tuple[MessageQueue, int]]) -> dict[tuple[MessageQueue, int], End]:
    """Say when each of a round's queues, that was let go at an instant, was in no route first from then on.

    That it comes back later changes nothing of it. Those that have been in a route ever since are left out.
    """
    wanted = sorted(set(drops))
    return {
        drop: end
        for drop, end in zip(wanted, ends_of_each([(row, *drop) for drop in wanted]), strict=True)
        if end is not None
    }


def ends_of_each(wanted: Sequence[tuple[Round, MessageQueue, int]]) -> list[End | None]:
    """Say the same of queues of several rounds, with one query; None: it has been in a route ever since."""
    stored = _stored({(row.group.cluster_id, queue) for row, queue, _ in wanted})
    ends: list[End | None] = []
    for row, queue, dropped in wanted:
        since, away = stored.get((row.group.cluster_id, queue), (0, []))
        ends.append(_end(row, dropped, since, _disputed(away, _disputes(row.group))))
    return ends


def without_absences(group: Group, stories: Iterable[Story]) -> list[Story]:
    """Count as time without owner no time in which a queue was in no route: then there was none to have."""
    told = list(stories)
    handed = {each.queue for each in told if _has_gap(each)}
    stored, times = _stored({(group.cluster_id, queue) for queue in handed}), _disputes(group)
    away = {queue: _disputed(_routed(own, since), times) for (_, queue), (since, own) in stored.items()}
    return [_less(each, away[each.queue]) if away.get(each.queue) and _has_gap(each) else each for each in told]


def _routed(away: Sequence[Away], since: int) -> list[Away]:
    """Leave out what is no absence: of a queue that somebody said to have before its route was known."""
    return [each for each in away if each.low is not None or each.at != since]


def _has_gap(story: Story) -> bool:
    """Whether somebody took a queue that another one had let go, and nobody may have had it in between."""
    return bool(story.dropped and story.taken and story.unowned and story.unowned.high != 0)


def away_since(*, clusters: Collection[int], queues: Collection[int], since: int) -> dict[int, list[Away]]:
    """Say when queues of clusters were in no route, by their rows: of such as are in none now, or were after ``since``.

    Since when one is in none does not matter: who had it may have let it go long after that.
    """
    if not queues:
        return {}
    lately = Q(gone_at__isnull=False) | Q(absences__isnull=False, since__gt=since)
    rows = Queue.objects.filter(lately, topic__cluster__in=clusters)
    if len(queues) <= MOST_NAMED:
        rows = rows.filter(pk__in=queues)
    told = "topic__cluster__watch__routes_at"
    return {pk: times_away(*away, told_at=told_at) for pk, told_at, *away in rows.values_list("pk", told, *COLUMNS)}


def times_away(
    gone_low: int | None,
    gone_at: int | None,
    absences: Sequence[Sequence[int | None]] | None,
    *,
    told_at: int | None = None,
) -> list[Away]:
    """Give when a queue was in no route by the columns of its row, in order, as all routes told last at an instant."""
    ended = [Away(low, at, back_low, back) for low, at, back_low, back in absences or () if at is not None]
    return ended if gone_at is None else [*ended, Away(gone_low, gone_at, told_at=told_at)]


def disputed(away: Aways, group: Group) -> Aways:
    """Let queues that went while NameServers disagreed be gone perhaps since the first of them may have told it."""
    times = _disputes(group)
    return {pk: _disputed(own, times) for pk, own in away.items()} if times else away


def _disputes(group: Group) -> list[tuple[int, int]]:
    ended = [(begin, end) for begin, end, _ in group.disputes or ()]
    return ended if group.disputed_since is None else [*ended, (group.disputed_since, FOREVER)]


def _disputed(away: Sequence[Away], times: Sequence[tuple[int, int]]) -> list[Away]:
    return [
        each
        if each.low is None
        else replace(each, low=min([each.low, *(begin for begin, end in times if begin <= each.at <= end)]))
        for each in away
    ]


def _stored(wanted: Collection[tuple[int, MessageQueue]]) -> dict[tuple[int, MessageQueue], tuple[int, list[Away]]]:
    """Give since when queues of clusters are in their routes, and when they were in none."""
    if not wanted:
        return {}
    topics, brokers = {queue.topic for _, queue in wanted}, {queue.broker for _, queue in wanted}
    clusters = {cluster for cluster, _ in wanted}
    rows = Queue.objects.filter(topic__cluster__in=clusters, topic__name__in=topics, broker__in=brokers)
    told = "topic__cluster__watch__routes_at"
    columns = ("topic__cluster", "topic__name", "broker", "queue_id", "since", told, *COLUMNS)
    found: dict[tuple[int, MessageQueue], tuple[int, list[Away]]] = {}
    for cluster, topic, broker, number, since, told_at, *away in rows.values_list(*columns):
        key = cluster, MessageQueue(topic, broker, number)
        if key in wanted:
            found[key] = since, times_away(*away, told_at=told_at)
    return found


def _end(row: Round, dropped: int, since: int, away: Sequence[Away]) -> End | None:
    for each in away:
        if each.back_at is None or each.back_at > dropped:
            return End(each.low, each.at, each.at)
    if not away and row.closed_at is not None and since > row.closed_at:
        return End(None, since, None)
    return None


def _less(story: Story, away: Sequence[Away]) -> Story:
    dropped, taken, unowned = story.dropped, story.taken, story.unowned
    assert dropped is not None
    assert taken is not None
    assert unowned is not None
    widest = [(EVER if each.low is None else each.low, each.seen[1]) for each in away]
    low = 0
    if dropped.high is not None and taken.low is not None:
        low = _length(without([(dropped.high, taken.low)], widest))
    high = unowned.high
    if high is not None and dropped.low is not None and taken.high is not None:
        high = _length(without([(dropped.low, taken.high)], [each.surely for each in away]))
    low = min(unowned.low, low)
    return replace(story, unowned=Bounds(low, None if high is None else max(low, high)))


def _length(intervals: Iterable[tuple[int, int]]) -> int:
    return sum(max(0, high - low) for low, high in intervals)
