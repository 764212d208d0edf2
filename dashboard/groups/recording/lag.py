"""How far groups are behind, step by step: what each answer about offsets came to is kept, where it changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dashboard.common.rows import Rows
from dashboard.groups.lag import QueueLag
from dashboard.groups.models import Group, LagStep, Progress
from dashboard.groups.models.lag import STEP_MS

Key = tuple[str, str, int]
MOST_KEPT = 256  # queues of a group at a broker, counted by their ids: of more no step says how far each is


@dataclass(frozen=True, slots=True)
class Behind:
    """How many messages the queues of a group at a broker are behind together, which one is the worst, and each."""

    lag: int | None = None
    worst_queue: str = ""
    worst_lag: int | None = None
    queues: Mapping[str, list[int | None]] = field(default_factory=dict)

    @classmethod
    def of(cls, queues: Iterable[QueueLag]) -> Behind:
        """Add up; unknown while anything is unknown, or where there is nothing."""
        queues = list(queues)
        lags = [(each.lag, f"{each.topic}/{each.queue_id}") for each in queues]
        known = [(lag, name) for lag, name in lags if lag is not None]
        if not lags or len(known) < len(lags):
            return cls(queues=_each(queues))
        worst_lag, worst = max(known, key=lambda each: each[0])
        return cls(sum(lag for lag, _name in known), worst if worst_lag else "", worst_lag, _each(queues))


def _each(queues: Sequence[QueueLag]) -> dict[str, list[int | None]]:
    """List by topic how far each queue is behind, by its id; nothing of too many."""
    sizes: dict[str, int] = {}
    for each in queues:
        sizes[each.topic] = max(sizes.get(each.topic, 0), each.queue_id + 1)
    if sum(sizes.values()) > MOST_KEPT:
        return {}
    found: dict[str, list[int | None]] = {topic: [None] * size for topic, size in sizes.items()}
    for each in queues:
        found[each.topic][each.queue_id] = each.lag
    return found


class LagBook:
    """The steps of the time that a batch of facts is about, of the groups that it is about."""

    def __init__(self, steps: Iterable[LagStep]) -> None:
        self._rows: Rows[Key, LagStep] = Rows(LagStep, _key, steps)

    @classmethod
    def open(cls, groups: Mapping[int, Group], since: int) -> LagBook:
        """Read the steps of groups, by their numbers, since a time."""
        if not groups:
            return cls(())
        steps = list(LagStep.objects.filter(group__in=groups, began_at__gte=_beginning(since)))
        for row in steps:
            row.group = groups[row.group_id]
        return cls(steps)

    def write(self) -> None:
        """Write what changed, after the groups."""
        self._rows.write()

    def told(self, progress: Progress, behind: Behind, *, before: Behind | None) -> None:
        """Take in what an answer comes to, or that there was none; ``before`` is what the one before came to."""
        at = progress.observed_at if progress.missing_at is None else progress.missing_at
        row = self._rows.get((progress.group.name, progress.broker, _beginning(at)))
        if row is not None:
            self._go_on(row, at, behind)
        elif before is None or (before.lag, before.queues) != (behind.lag, behind.queues):
            self._begin(progress, at, behind)

    def _begin(self, progress: Progress, at: int, behind: Behind) -> None:
        row = LagStep(group=progress.group, broker=progress.broker, began_at=_beginning(at), at=at, lag=behind.lag)
        row.most, row.worst_queue, row.worst_lag = behind.lag, behind.worst_queue, behind.worst_lag
        row.told_at, row.queues = at, behind.queues
        self._rows.add(row)

    def _go_on(self, row: LagStep, at: int, behind: Behind) -> None:
        if behind.lag is not None and (row.most is None or behind.lag > row.most):
            worst = {"worst_queue": behind.worst_queue, "worst_lag": behind.worst_lag}
            self._rows.update(row, at=at, most=behind.lag, **worst)
        self._rows.update(row, lag=behind.lag, told_at=at, queues=behind.queues)


def _key(row: LagStep) -> Key:
    return row.group.name, row.broker, row.began_at


def _beginning(at: int) -> int:
    return at - at % STEP_MS
