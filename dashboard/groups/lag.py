"""How far a group is behind, queue by queue, and of when that is known."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from dashboard.groups.models import Group, Progress


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


def queues_of(row: Progress) -> Iterator[QueueLag]:
    """Give the queues of one broker's answer."""
    for topic, queue_id, end, committed, consumed_up_to in row.queues:
        yield QueueLag(topic, row.broker, queue_id, end, committed, consumed_up_to, row.observed_at, row.missing)
