"""What logs and reports tell of locks that were granted and refused, and of messages that were consumed twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import F
from django.db.models.functions import Coalesce

from dashboard.common.fields import observed_at, source_columns
from dashboard.common.names import known_as, known_queue
from dashboard.common.rows import Rows
from dashboard.groups.models import Group, LockGrant, LockRefusal
from dashboard.groups.recording.book import GroupBook
from dashboard.groups.recording.pulls import was_counted
from rebalance_engine.events import Duplicates, Fact, LockExpired, LockGranted, LockRefused, LockReleased

LockFact = LockGranted | LockRefused | LockReleased | LockExpired
CostFact = LockFact | Duplicates
Key = tuple[str, str, str, str, int]
Place = tuple[str, str, str, int]  # group, topic, broker, id


@dataclass
class CostBook:
    """The refused and granted locks that a batch of facts is about, and the duplicates that it adds."""

    book: GroupBook
    refusals: Rows[Key, LockRefusal]
    grants: Rows[Place, LockGrant]
    duplicates: dict[str, int] = field(default_factory=dict)

    @classmethod
    def open(cls, book: GroupBook, facts: Sequence[Fact]) -> CostBook:
        """Read the rows that these facts are about."""
        locks = [fact for fact in facts if isinstance(fact, LockFact)]
        groups = {known_as(fact.group) for fact in locks}
        rows = [row for row in book.groups if row.name in groups and row.pk is not None]
        by_pk = {row.pk: row for row in rows}
        refusals = list(LockRefusal.objects.filter(group__in=rows)) if rows else []
        for refusal in refusals:
            refusal.group = by_pk[refusal.group_id]
        return cls(book, Rows(LockRefusal, _key, refusals), Rows(LockGrant, _place, _granted(by_pk, locks)))

    def write(self) -> None:
        """Write what changed, after the groups."""
        self.refusals.write()
        self.grants.write()
        for name, count in self.duplicates.items():
            rows = Group.objects.filter(cluster=self.book.cluster, name=name)
            rows.update(duplicate_messages=Coalesce(F("duplicate_messages"), 0) + count)

    def apply(self, fact: CostFact) -> bool:
        """Store what one fact tells."""
        return self.consumed_twice(fact) if isinstance(fact, Duplicates) else self.lock(fact)

    def lock(self, fact: LockFact) -> bool:
        """Keep a refusal until the member has the lock, gave it back or lost it. Its line is kept in any case."""
        self._keep_grant(fact)
        group, queue = self.book.group(fact.group), known_queue(fact.queue)
        key = (group.name, known_as(fact.client), *queue)
        row = self.refusals.get(key)
        if row is not None and observed_at(fact) < row.observed_at:
            return True
        if isinstance(fact, LockRefused) and row is not None and was_counted(fact, row):
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

    def _keep_grant(self, fact: LockFact) -> None:
        """Keep who has the lock of a queue, until it is told to have it no more."""
        group, (topic, broker, number) = self.book.group(fact.group), known_queue(fact.queue)
        row, client = self.grants.get((group.name, topic, broker, number)), known_as(fact.client)
        if isinstance(fact, LockRefused) or (row is not None and observed_at(fact) < row.observed_at):
            return
        if row is not None and row.client_id != client and not isinstance(fact, LockGranted):
            return  # its own it gave back before
        if row is not None:
            self.grants.remove(row)
        if isinstance(fact, LockGranted):
            new = LockGrant(group=group, client_id=client, topic=topic, broker=broker, queue_id=number)
            for name, value in source_columns(fact).items():
                setattr(new, name, value)
            self.grants.add(new)

    def consumed_twice(self, fact: Duplicates) -> bool:
        """Count messages that were consumed twice; what was told before has its line, and is not told again."""
        group = self.book.group(fact.group)
        self.duplicates[group.name] = self.duplicates.get(group.name, 0) + fact.count
        return True


def _granted(groups: Mapping[int, Group], facts: Sequence[LockFact]) -> list[LockGrant]:
    """Read who has the locks that these facts are of; a few more at most."""
    if not groups:
        return []
    queues = {known_queue(fact.queue) for fact in facts}
    topics, brokers = {queue.topic for queue in queues}, {queue.broker for queue in queues}
    rows = LockGrant.objects.filter(group__in=groups, topic__in=topics, broker__in=brokers)
    found = [row for row in rows if (row.topic, row.broker, row.queue_id) in queues]
    for row in found:
        row.group = groups[row.group_id]
    return found


def _place(row: LockGrant) -> Place:
    return row.group.name, row.topic, row.broker, int(row.queue_id)


def _key(row: LockRefusal) -> Key:
    return row.group.name, row.client_id, row.topic, row.broker, int(row.queue_id)
