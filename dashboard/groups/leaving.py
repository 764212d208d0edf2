"""When queues were in no route: nobody waits for what a round tells that nobody has taken, once it has left."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from django.db.models import Q

from dashboard.clusters.absences import unkept_return
from dashboard.clusters.models import Broker, Queue
from dashboard.groups.bands import EVER, FOREVER, Away, without
from dashboard.groups.handoffs import Bounds, Story
from dashboard.groups.models import Group, Round
from dashboard.groups.pairing import Instant
from rebalance_engine.model import MessageQueue

Aways = Mapping[int, Sequence[Away]]  # by a queue's row
COLUMNS = ("since", "came_at", "gone_low", "gone_at", "absences")
MOST_NAMED = 500  # queues that are named in a query; of more, all of their clusters are read


@dataclass(frozen=True, slots=True)
class End:
    """A queue left the route between ``low`` (None: unknown) and ``at``, in ms.

    ``gone_at`` is when that was seen; None: it is back, and nobody kept when it had left. ``is_back``: in one now.
    """

    low: int | None
    at: int
    gone_at: int | None
    is_back: bool = False


@dataclass(frozen=True, slots=True)
class Left:
    """How a queue that was let go left the route: for good, as far as its round goes (``end``), or for a while."""

    end: End | None
    away: tuple[Away, ...] = ()

    def lasted(
        self, dropped: Instant, least: int | None, most: int, doubts: Iterable[tuple[int, int]] = ()
    ) -> tuple[int, int]:
        """Bound how long nobody had it while it was in a route, until ``least`` for certain (None: unknown).

        Nothing is certain of ``doubts``, when not everybody answered.
        """
        others = [*map(_widest, self.away), *doubts]
        low = 0 if dropped.high is None or least is None else _length(dropped.high, least, others)
        first = dropped.at if dropped.low is None else dropped.low
        return low, max(low, _length(first, most, (each.surely for each in self.away)))


class _Stored(NamedTuple):
    """Since when a queue is in a route, or was, when it was back of what nobody kept, and when it was in none."""

    since: int
    back_at: int | None
    away: list[Away]


NOT_STORED = _Stored(0, None, [])
Drop = tuple[MessageQueue, int]
STAYED = Left(None)


def lefts_of(row: Round, drops: Iterable[Drop]) -> dict[Drop, Left]:
    """Say how each of a round's queues, that was let go at an instant, left the route from then on.

    One that comes back after the round had ended had left for good: that changes nothing of what is told of the round.
    """
    wanted = sorted(set(drops))
    return dict(zip(wanted, lefts_of_each([(row, *drop) for drop in wanted]), strict=True))


def lefts_of_each(wanted: Sequence[tuple[Round, MessageQueue, int]]) -> list[Left]:
    """Say the same of queues of several rounds, with one query, or two."""
    stored = _stored({(row.group.cluster_id, queue) for row, queue, _ in wanted})
    ends = _ends_of_waves({row.pk: row for row, _, _ in wanted}.values())
    lefts: list[Left] = []
    for row, queue, dropped in wanted:
        _, back_at, away = stored.get((row.group.cluster_id, queue), NOT_STORED)
        lefts.append(_left(ends[row.pk], dropped, back_at, _disputed(away, _disputes(row.group))))
    return lefts


def _ends_of_waves(rows: Iterable[Round]) -> dict[int, int | None]:
    """Say when each round was over, with those that superseded it: what it left to nobody they tell to the end."""
    ends = {row.pk: row.closed_at for row in rows}
    chained = [row for row in rows if row.superseded_by is not None]
    if chained:
        waves = Round.objects.filter(
            group__in={row.group_id for row in chained}, wave__in={row.wave for row in chained}
        )
        last = {
            (group, wave): at for group, wave, at in waves.order_by("number").values_list("group", "wave", "closed_at")
        }
        ends |= {row.pk: last[row.group_id, row.wave] for row in chained}
    return ends


def without_absences(group: Group, stories: Iterable[Story]) -> list[Story]:
    """Count as time without owner, or with two, none in which a queue was in no route: then there was none to have."""
    told = list(stories)
    away = _away_of(group, {each.queue for each in told if _has_gap(each) or _has_two(each)})
    return [_less(each, away[each.queue]) if away.get(each.queue) else each for each in told]


def perhaps_away(group: Group, queues: Collection[MessageQueue]) -> dict[MessageQueue, list[tuple[int, int]]]:
    """Say when queues may have been in no route; those that never were are left out."""
    return {queue: list(map(_widest, own)) for queue, own in _away_of(group, queues).items() if own}


def _away_of(group: Group, queues: Collection[MessageQueue]) -> dict[MessageQueue, list[Away]]:
    stored, times = _stored({(group.cluster_id, queue) for queue in queues}), _disputes(group)
    return {queue: _disputed(_routed(own, since), times) for (_, queue), (since, _, own) in stored.items()}


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
    was_away, lost = Q(absences__isnull=False) | Q(came_at=None), _lost_brokers(clusters)
    is_read = Q(gone_at__isnull=False) | was_away & Q(since__gt=since) | Q(broker__in={name for _, name in lost})
    rows = Queue.objects.filter(is_read, topic__cluster__in=clusters)
    if len(queues) <= MOST_NAMED:
        rows = rows.filter(pk__in=queues)
    columns = ("pk", "topic__cluster", "broker", "topic__cluster__watch__routes_at", *COLUMNS)
    return {
        pk: times_away(*away, told_at=told_at, is_lost=(cluster, broker) in lost)
        for pk, cluster, broker, told_at, *away in rows.values_list(*columns)
    }


def _lost_brokers(clusters: Collection[int]) -> set[tuple[int, str]]:
    """Name the brokers of clusters whose masters are gone: their queues leave the route with that."""
    gone = Broker.objects.filter(cluster__in=clusters, broker_id=0, gone_at__isnull=False)
    return set(gone.values_list("cluster", "name"))


def times_away(
    since: int,
    came_at: int | None,
    gone_low: int | None,
    gone_at: int | None,
    absences: Sequence[Sequence[int | None]] | None,
    *,
    told_at: int | None = None,
    is_lost: bool = False,
) -> list[Away]:
    """Give when a queue was in no route by the columns of its row, in order, as all routes told last at an instant.

    One whose broker ``is_lost`` may have left since then: nobody has seen that it did, nor that it did not.

    Of absences that nobody keeps only their end is known: it may have been in none at any time before, and any or all
    of that time in one. They come first, as one that was not seen, and is certain of no instant.
    """
    unkept = unkept_return(since, came_at, absences)
    ended = [] if unkept is None else [Away(EVER, unkept, None, unkept)]
    ended += [Away(low, at, back_low, back) for low, at, back_low, back in absences or () if at is not None]
    if gone_at is not None:
        return [*ended, Away(gone_low, gone_at, told_at=told_at)]
    return [*ended, Away(told_at, FOREVER, FOREVER, FOREVER)] if is_lost and told_at is not None else ended


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


def _stored(wanted: Collection[tuple[int, MessageQueue]]) -> dict[tuple[int, MessageQueue], _Stored]:
    """Read when queues of clusters were in their routes."""
    if not wanted:
        return {}
    topics, brokers = {queue.topic for _, queue in wanted}, {queue.broker for _, queue in wanted}
    clusters = {cluster for cluster, _ in wanted}
    rows = Queue.objects.filter(topic__cluster__in=clusters, topic__name__in=topics, broker__in=brokers)
    told = "topic__cluster__watch__routes_at"
    columns, lost = ("topic__cluster", "topic__name", "broker", "queue_id", told, *COLUMNS), _lost_brokers(clusters)
    found: dict[tuple[int, MessageQueue], _Stored] = {}
    for cluster, topic, broker, number, told_at, *away in rows.values_list(*columns):
        key = cluster, MessageQueue(topic, broker, number)
        if key in wanted:
            since, came_at, *_, absences = away
            back_at = unkept_return(since, came_at, absences)
            own = times_away(*away, told_at=told_at, is_lost=(cluster, broker) in lost)
            found[key] = _Stored(since, back_at, own)
    return found


def _left(closed_at: int | None, dropped: int, back_at: int | None, away: Sequence[Away]) -> Left:
    """Find the first absence that went on after the round; those before it, in which nobody waited, ended in it."""
    if closed_at is not None and back_at is not None and back_at > max(dropped, closed_at):
        return Left(End(None, back_at, None, is_back=not away or away[-1].back_at is not None))
    ended = list[Away]()
    for each in away:
        if each.at == FOREVER:  # nobody has seen that it left
            ended.append(each)
        elif each.back_at is None or (closed_at is not None and each.back_at > max(dropped, closed_at)):
            return Left(End(each.low, each.at, each.at, is_back=away[-1].back_at is not None), tuple(ended))
        elif each.back_at > dropped:
            ended.append(each)
    return Left(None, tuple(ended))


def _has_two(story: Story) -> bool:
    """Whether two had a queue for certain."""
    return bool(story.taken and story.overlap and story.overlap.low)


def _less(story: Story, away: Sequence[Away]) -> Story:
    if _has_two(story):
        return _with_less_of_two(story, away)
    dropped, taken, unowned = story.dropped, story.taken, story.unowned
    if dropped is None or taken is None or unowned is None or not _has_gap(story):
        return story
    most = taken.at if taken.high is None else taken.high
    low, high = Left(None, tuple(away)).lasted(dropped, taken.low, most)
    low = min(unowned.low, low)
    return replace(story, unowned=Bounds(low, None if unowned.high is None else max(low, min(high, unowned.high))))


def _with_less_of_two(story: Story, away: Sequence[Away]) -> Story:
    """Leave out of what is certain all of the times in which the queue may have been in no route meanwhile."""
    taken, overlap = story.taken, story.overlap
    assert taken is not None
    assert overlap is not None
    since = taken.at if taken.high is None else taken.high
    until = FOREVER if overlap.high is None else since + overlap.high
    if story.dropped is not None:
        until = story.dropped.at
    lost = max(0, until - since) - _length(since, until, map(_widest, away))
    return replace(story, overlap=replace(overlap, low=max(0, overlap.low - lost)))


def _widest(away: Away) -> tuple[int, int]:
    return EVER if away.low is None else away.low, away.seen[1]


def _length(since: int, until: int, others: Iterable[tuple[int, int]]) -> int:
    return sum(high - low for low, high in without([(since, until)] if since < until else [], list(others)))
