"""What brokers tell of how far groups are: one row for each group and broker, replaced as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.common.fields import observed_at, printable, source_columns
from dashboard.common.names import known_as
from dashboard.common.rows import Rows
from dashboard.groups.lag import queues_of, standing
from dashboard.groups.models import Progress
from dashboard.groups.recording.book import GroupBook
from dashboard.groups.recording.lag import Behind, LagBook
from rebalance_engine.events import AnswerMissed, Fact, ProgressSeen
from rebalance_engine.remoting.codes import RequestCode

ASKS_FOR_PROGRESS = str(int(RequestCode.GET_CONSUME_STATS))


@dataclass
class ProgressBook:
    """The rows of the groups that a batch of facts is about."""

    book: GroupBook
    rows: Rows[tuple[str, str], Progress]
    lag: LagBook

    @classmethod
    def open(cls, book: GroupBook, facts: Sequence[Fact]) -> ProgressBook:
        """Read the rows that these facts are about."""
        told = [fact for fact in facts if isinstance(fact, ProgressSeen) or is_about(fact)]
        names = {known_as(_group_of(fact)) for fact in told}
        groups = {row.pk: row for row in book.groups if row.name in names and row.pk is not None}
        rows = list(Progress.objects.filter(group__in=groups)) if groups else []
        for row in rows:
            row.group = groups[row.group_id]
        steps = LagBook.open(groups, min((observed_at(fact) for fact in told), default=0))
        return cls(book, Rows(Progress, lambda row: (row.group.name, row.broker), rows), steps)

    def write(self) -> None:
        """Write what changed, after the groups."""
        self.rows.write()
        self.lag.write()

    def seen(self, fact: ProgressSeen) -> None:
        """Take in how far a group is on a broker. Offsets grow all the time: that is no line of the history."""
        row = self._row(fact.group, fact.broker)
        queues = [
            [printable(each.queue.topic), each.queue.queue_id, each.end, each.committed, each.consumed_up_to]
            for each in fact.queues
        ]
        told: dict[str, object] = {"queues": queues, "missing": None, "missing_at": None, **source_columns(fact)}
        told |= standing(queues, at=observed_at(fact), before=row)
        if row is None:
            row = self._add(fact.group, fact.broker, told)
            self.lag.told(row, behind(row), before=None)
        elif observed_at(fact) >= row.observed_at:
            before = behind(row)
            self.rows.update(row, **told)
            self.lag.told(row, behind(row), before=before)

    def missed(self, fact: AnswerMissed) -> bool:
        """A broker did not say how far a group is: what it said last becomes older."""
        assert fact.broker is not None
        row = self._row(_group_of(fact), fact.broker)
        missing = {"missing": fact.missing.value, "missing_at": fact.at}
        if row is None:
            row = self._add(_group_of(fact), fact.broker, {**missing, **source_columns(fact)})
            self.lag.told(row, Behind(), before=None)
            return True
        if row.missing is not None or fact.at < row.observed_at:
            return False
        before = behind(row)
        self.rows.update(row, **missing)
        self.lag.told(row, Behind(), before=before)
        return True

    def _row(self, group: str, broker: str) -> Progress | None:
        return self.rows.get((known_as(group), known_as(broker)))

    def _add(self, group: str, broker: str, columns: dict[str, object]) -> Progress:
        row = Progress(group=self.book.group(group), broker=known_as(broker))
        for name, value in columns.items():
            setattr(row, name, value)
        return self.rows.add(row)


def behind(row: Progress) -> Behind:
    """Add up how far a group is behind at a broker; unknown while the broker does not answer."""
    return Behind() if row.missing is not None else Behind.of(queues_of(row))


def is_about(fact: Fact) -> bool:
    """Ask whether a fact says that a broker did not tell how far a group is."""
    return (
        isinstance(fact, AnswerMissed) and fact.request == ASKS_FOR_PROGRESS and None not in {fact.group, fact.broker}
    )


def _group_of(fact: Fact) -> str:
    group = getattr(fact, "group", None)
    return group if isinstance(group, str) else ""
