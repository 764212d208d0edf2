"""How far a group is behind, queue by queue, and of when that is known.

Queues that no route has any more, as those of a broker that is gone, do not count: what was told of them last is old.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import QuerySet

from dashboard.common.fields import MOST_OFFSET
from dashboard.groups.models import Group, Progress
from dashboard.groups.unrouted import Place, brokers_left, places_left, without_any

MINUTE_MS = 60_000
OLD_MS = 2 * MINUTE_MS  # twice as long as a watcher takes to ask again, where it has few groups to ask for
MOST_LOOKED_AT = 4_000  # queues of which the last minute is kept, of one group on one broker


@dataclass(frozen=True, slots=True)
class QueueLag:
    """One queue: where it ends, what is committed (None: unknown), and of when both are known.

    ``lag`` is how many messages lie between; None is unknown. ``missing`` is why the broker did not answer since, where
    it did not: then all of it is only as old as ``observed_at`` says.
    """

    topic: str
    broker: str
    queue_id: int
    end: int
    committed: int | None
    consumed_up_to: int | None
    observed_at: int
    missing: str | None

    @property
    def place(self) -> Place:
        """Its topic, broker and queue id."""
        return self.topic, self.broker, self.queue_id

    @property
    def lag(self) -> int | None:
        """Count what was not consumed yet; a consumer may be ahead of an answer that was put together slowly.

        Nobody is behind in a queue that never had a message, though nobody ever committed an offset of it either.
        What ends where no queue can end tells nothing.
        """
        if self.end == 0:
            return 0
        if self.committed is None or self.end > MOST_OFFSET:
            return None
        return max(0, self.end - self.committed)


@dataclass(frozen=True, slots=True)
class GroupLag:
    """All queues of a group, and the brokers that never told.

    ``last_known`` are queues that no route has any more, as they were told last: they are in no figure of these.
    """

    queues: tuple[QueueLag, ...]
    untold: tuple[str, ...]
    last_known: tuple[QueueLag, ...] = ()

    @property
    def total(self) -> int | None:
        """Add all up; None while anything is unknown."""
        return None if self.untold else _sum(self.queues)

    @property
    def observed_at(self) -> int | None:
        """Give when the oldest part of it was told."""
        return min((each.observed_at for each in self.queues), default=None)

    @property
    def brokers_left(self) -> list[str]:
        """Name the brokers of the queues that no route has any more."""
        return sorted({each.broker for each in self.last_known})

    @property
    def last_known_total(self) -> int | None:
        """Add up what waited in queues that no route has any more, as told last; None: it is not known of all."""
        return _sum(self.last_known)

    @property
    def last_known_at(self) -> int | None:
        """Give when the oldest part of that was told."""
        return min((each.observed_at for each in self.last_known), default=None)


def _sum(queues: Sequence[QueueLag]) -> int | None:
    lags = [each.lag for each in queues]
    known = [lag for lag in lags if lag is not None]
    return sum(known) if lags and len(known) == len(lags) else None


def lag_of(*, group: Group) -> GroupLag:
    """Give what is known of how far a group is behind, sorted by topic, broker and queue id."""
    rows = list(Progress.objects.filter(group=group).order_by("broker"))
    left = places_left(cluster=group.cluster_id, rows=rows)
    every = sorted((each for row in rows for each in queues_of(row)), key=lambda each: each.place)
    silent = [row.broker for row in rows if row.missing is not None and not row.queues]
    away = without_any(cluster=group.cluster_id, brokers=silent)
    return GroupLag(
        tuple(each for each in every if each.place not in left),
        tuple(broker for broker in silent if broker not in away),
        tuple(each for each in every if each.place in left),
    )


def lags_of(*, group: Group, queues: Collection[tuple[str, str, int]]) -> dict[tuple[str, str, int], QueueLag]:
    """Give what is known of some queues (topic, broker, queue id) alone."""
    rows = Progress.objects.filter(group=group, broker__in={broker for _topic, broker, _queue_id in queues})
    found: dict[tuple[str, str, int], QueueLag] = {}
    for row in rows:
        for topic, queue_id, end, committed, consumed_up_to in row.queues:
            place = (topic, row.broker, queue_id)
            if place in queues:
                found[place] = QueueLag(*place, end, committed, consumed_up_to, row.observed_at, row.missing)
    return found


@dataclass(frozen=True, slots=True)
class Waiting:
    """What all of a group's brokers told together. ``lag`` counts where it is known; None is unknown.

    ``is_whole``: it is known everywhere. Of no message that waits it is known that it came before ``waits_since``
    (None: unknown, or none waits). The oldest answer is as of ``observed_at``.
    """

    lag: int | None
    is_whole: bool
    waits_since: int | None
    observed_at: int


def waiting_of(*, groups: Collection[int]) -> dict[int, Waiting]:
    """Give how far groups are behind, by their numbers; of those that are left out nobody ever told."""
    found: dict[int, Waiting] = {}
    for pk, mine in _answers(Progress.objects.filter(group__in=groups)):
        found[pk] = _together(found[pk], mine) if pk in found else mine
    return {pk: each if each.lag else replace(each, waits_since=None) for pk, each in found.items()}


def _answers(rows: QuerySet[Progress]) -> Iterator[tuple[int, Waiting]]:
    """Give what each broker's answer comes to, with its group's number: without queues that no route has any more."""
    columns = ("pk", "group", "group__cluster", "broker", "lag", "unknown_lags", "waits_since", "observed_at")
    told = list(rows.values_list(*columns, "missing"))
    left = brokers_left(clusters={cluster for _, _, cluster, *_ in told})
    again = _without_what_left({pk: cluster for pk, _, cluster, broker, *_ in told if (cluster, broker) in left})
    for pk, group, _cluster, _broker, lag, unknown, since, at, missing in told:
        figures = again.get(pk, (lag, unknown))
        if figures is not None:
            yield group, _waiting(figures, since, at, missing)


def _without_what_left(rows: Mapping[int, int]) -> dict[int, tuple[int | None, int] | None]:
    """Add answers up anew, by their rows, each with its cluster: how many wait, of how many it is unknown; or None."""
    answers = list(Progress.objects.filter(pk__in=rows)) if rows else []
    by_cluster: dict[int, list[Progress]] = {}
    for row in answers:
        by_cluster.setdefault(rows[row.pk], []).append(row)
    found: dict[int, tuple[int | None, int] | None] = {}
    for cluster, mine in by_cluster.items():
        left = places_left(cluster=cluster, rows=mine)
        away = without_any(cluster=cluster, brokers={row.broker for row in mine if not row.queues})
        found |= {row.pk: None if row.broker in away and not row.queues else _stay(row, left) for row in mine}
    return found


def _stay(row: Progress, left: Mapping[Place, int]) -> tuple[int | None, int] | None:
    """Count what waits in the queues that a route has; None where none of those that were told is in any."""
    lags = [each.lag for each in queues_of(row) if each.place not in left]
    known = [lag for lag in lags if lag is not None]
    return (sum(known) if known else None, len(lags) - len(known)) if lags or not row.queues else None


def _waiting(figures: tuple[int | None, int], since: int | None, at: int, missing: str | None) -> Waiting:
    told, unknown = figures
    lag = told if missing is None else None  # it may have become less since
    return Waiting(lag, missing is None and not unknown, since if lag else at, at)


def _together(one: Waiting, other: Waiting) -> Waiting:
    lags = [lag for lag in (one.lag, other.lag) if lag is not None]
    times = [time for time in (one.waits_since, other.waits_since) if time is not None]
    return Waiting(
        sum(lags) if lags else None,
        one.is_whole and other.is_whole,
        min(times) if len(times) == 2 else None,
        min(one.observed_at, other.observed_at),
    )


def lags_by_group(*, clusters: Collection[int]) -> dict[int, int]:
    """Give how far the groups of clusters are behind, as far as it is known: what a list of all is sorted by."""
    found: dict[int, int] = {}
    for pk, mine in _answers(Progress.objects.filter(group__cluster__in=clusters, missing=None, lag__isnull=False)):
        if mine.lag is not None:
            found[pk] = found.get(pk, 0) + mine.lag
    return found


def queues_of(row: Progress) -> Iterator[QueueLag]:
    """Give the queues of one broker's answer."""
    for topic, queue_id, end, committed, consumed_up_to in row.queues:
        yield QueueLag(topic, row.broker, queue_id, end, committed, consumed_up_to, row.observed_at, row.missing)


def told_plainly(*, group: Group) -> list[dict[str, object]]:
    """Give what brokers told last, and in the minute before, as plain values for the browser: null is unknown.

    Each queue is a topic, an id, how many messages wait, when the last one that was consumed had been stored, and the
    offset that is committed.
    """
    rows = list(Progress.objects.filter(group=group).order_by("broker"))
    if sum(len(row.queues) for row in rows) > MOST_LOOKED_AT:
        return []
    return [
        {
            "broker": row.broker,
            "at": row.observed_at,
            "missing": row.missing,
            "queues": [
                [each.topic, each.queue_id, each.lag, each.consumed_up_to, each.committed] for each in queues_of(row)
            ],
            "looks": row.looks,
        }
        for row in rows
    ]


def standing(queues: Sequence[Sequence[object]], *, at: int, before: Progress | None) -> dict[str, object]:
    """Give what an answer comes to, as the columns that are kept of it; ``before`` is the answer before, if any."""
    row = Progress(broker="", queues=queues, observed_at=at)
    told = [(each.lag, each.consumed_up_to) for each in queues_of(row)]
    lags = [lag for lag, _ in told]
    known = [lag for lag in lags if lag is not None]
    is_whole = len(known) == len(lags)
    empty_at = at if is_whole and not any(known) else before.empty_at if before is not None else None
    return {
        "lag": sum(known) if known else None,
        "unknown_lags": len(lags) - len(known),
        "waits_since": _waits_since([since for lag, since in told if lag != 0], empty_at) if any(known) else None,
        "empty_at": empty_at,
        "looks": _looks(queues, lags, at, before),
    }


def _waits_since(consumed: Sequence[int | None], empty_at: int | None) -> int | None:
    """Give before when no message came that waits: of each queue when the last one that was consumed had come."""
    known = [each for each in consumed if each is not None]
    first = min(known) if len(known) == len(consumed) else None
    return max((each for each in (first, empty_at) if each is not None), default=None)


def _looks(
    queues: Sequence[Sequence[object]], lags: list[int | None], at: int, before: Progress | None
) -> list[list[object]]:
    """Give the looks of the last minute; of other queues than these there are none."""
    if len(queues) > MOST_LOOKED_AT:
        return []
    is_same = before is not None and [each[:2] for each in before.queues] == [list(each[:2]) for each in queues]
    earlier = before.looks if before is not None and is_same else []
    return [*(look for look in earlier if at - MINUTE_MS <= look[0] < at), [at, lags]]
