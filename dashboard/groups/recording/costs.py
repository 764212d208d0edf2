"""What logs and reports tell of locks that were refused, and of messages that were consumed twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import F
from django.db.models.functions import Coalesce

from dashboard.common.fields import observed_at, source_columns
from dashboard.common.names import known_as, known_queue
from dashboard.common.rows import Rows
from dashboard.groups.models import Group, LockRefusal
from dashboard.groups.recording.book import GroupBook
from rebalance_engine.events import Duplicates, Fact, LockExpired, LockGranted, LockRefused, LockReleased

LockFact = LockGranted | LockRefused | LockReleased | LockExpired
CostFact = LockFact | Duplicates
Key = tuple[str, str, str, str, int]


@dataclass
class CostBook:
    """The refused locks of the groups that a batch of facts is about, and the duplicates that it adds."""

    book: GroupBook
    refusals: Rows[Key, LockRefusal]
    duplicates: dict[str, int] = field(default_factory=dict)

    @classmethod
    def open(cls, book: GroupBook, facts: Sequence[Fact]) -> CostBook:
        """Read the rows that these facts are about."""
        groups = {known_as(fact.group) for fact in facts if isinstance(fact, LockFact)}
        rows = [row for row in book.groups if row.name in groups and row.pk is not None]
        by_pk = {row.pk: row for row in rows}
        refusals = list(LockRefusal.objects.filter(group__in=rows)) if rows else []
        for refusal in refusals:
            refusal.group = by_pk[refusal.group_id]
        return cls(book, Rows(LockRefusal, _key, refusals))

    def write(self) -> None:
        """Write what changed, after the groups."""
        self.refusals.write()
        for name, count in self.duplicates.items():
            rows = Group.objects.filter(cluster=self.book.cluster, name=name)
            rows.update(duplicate_messages=Coalesce(F("duplicate_messages"), 0) + count)

    def apply(self, fact: CostFact) -> bool:
        """Store what one fact tells."""
        return self.consumed_twice(fact) if isinstance(fact, Duplicates) else self.lock(fact)

    def lock(self, fact: LockFact) -> bool:
        """Keep a refusal until the member has the lock, gave it back or lost it. Its line is kept in any case."""
        group, queue = self.book.group(fact.group), known_queue(fact.queue)
        key = (group.name, known_as(fact.client), *queue)
        row = self.refusals.get(key)
        if row is not None and observed_at(fact) < row.observed_at:
            return True
        if not isinstance(fact, LockRefused):
            if row is not None:
                self.refusals.remove(row)
                self.book.touch(fact.group)
            return True
        self.book.touch(fact.group)
        holder = known_as(fact.holder or "")
        if row is None:
            client, topic, broker, number = key[1:]
            new = LockRefusal(group=group, client_id=client, topic=topic, broker=broker, queue_id=number, holder=holder)
            for name, value in source_columns(fact).items():
                setattr(new, name, value)
            self.refusals.add(new)
        else:
            self.refusals.update(row, count=row.count + 1, holder=holder or row.holder, **source_columns(fact))
        return True

    def consumed_twice(self, fact: Duplicates) -> bool:
        """Count messages that were consumed twice; what was told before has its line, and is not told again."""
        group = self.book.group(fact.group)
        self.duplicates[group.name] = self.duplicates.get(group.name, 0) + fact.count
        return True


def _key(row: LockRefusal) -> Key:
    return row.group.name, row.client_id, row.topic, row.broker, int(row.queue_id)
