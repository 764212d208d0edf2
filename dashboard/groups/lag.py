"""How far a group is behind, queue by queue, and of when that is known."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from django.db.models import Sum

from dashboard.groups.models import Group, Progress

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
    def lag(self) -> int | None:
        """Count what was not consumed yet; a consumer may be ahead of an answer that was put together slowly.

        Nobody is behind in a queue that never had a message, though nobody ever committed an offset of it either.
        """
        if self.end == 0:
            return 0
        return None if self.committed is None else max(0, self.end - self.committed)


@dataclass(frozen=True, slots=True)
class GroupLag:
    """All queues of a group, and the brokers that never told."""

    queues: tuple[QueueLag, ...]
    untold: tuple[str, ...]

    @property
    def total(self) -> int | None:
        """Add all up; None while anything is unknown."""
        lags = [each.lag for each in self.queues]
        known = [lag for lag in lags if lag is not None]
        return sum(known) if lags and len(known) == len(lags) and not self.untold else None

    @property
    def observed_at(self) -> int | None:
        """Give when the oldest part of it was told."""
        return min((each.observed_at for each in self.queues), default=None)


def lag_of(*, group: Group) -> GroupLag:
    """Give what is known of how far a group is behind, sorted by topic, broker and queue id."""
    rows = list(Progress.objects.filter(group=group).order_by("broker"))
    queues = sorted(
        (each for row in rows for each in queues_of(row)), key=lambda each: (each.topic, each.broker, each.queue_id)
    )
    return GroupLag(tuple(queues), tuple(row.broker for row in rows if row.missing is not None and not row.queues))


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
    rows = Progress.objects.filter(group__in=groups).values_list(
        "group", "lag", "unknown_lags", "waits_since", "observed_at", "missing"
    )
    found: dict[int, Waiting] = {}
    for group, told, unknown, since, at, missing in rows:
        lag = told if missing is None else None  # it may have become less since
        mine = Waiting(lag, missing is None and not unknown, since if lag else at, at)
        found[group] = _together(found[group], mine) if group in found else mine
    return {pk: each if each.lag else replace(each, waits_since=None) for pk, each in found.items()}


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
    rows = Progress.objects.filter(group__cluster__in=clusters, missing=None, lag__isnull=False)
    return dict(rows.values_list("group").annotate(Sum("lag")))


def queues_of(row: Progress) -> Iterator[QueueLag]:
    """Give the queues of one broker's answer."""
    for topic, queue_id, end, committed, consumed_up_to in row.queues:
        yield QueueLag(topic, row.broker, queue_id, end, committed, consumed_up_to, row.observed_at, row.missing)


def told_plainly(*, group: Group) -> list[dict[str, object]]:
    """Give what brokers told last, and in the minute before, as plain values for the browser: null is unknown.

    Each queue is a topic, an id, how many messages wait, and when the last one that was consumed had been stored.
    """
    rows = list(Progress.objects.filter(group=group).order_by("broker"))
    if sum(len(row.queues) for row in rows) > MOST_LOOKED_AT:
        return []
    return [
        {
            "broker": row.broker,
            "at": row.observed_at,
            "missing": row.missing,
            "queues": [[each.topic, each.queue_id, each.lag, each.consumed_up_to] for each in queues_of(row)],
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
