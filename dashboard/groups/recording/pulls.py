"""What logs and reports tell of pulls that were refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.common.fields import Sourced, observed_at, source_columns
from dashboard.common.names import known_as, known_queue
from dashboard.common.rows import Rows
from dashboard.groups.models import PullRefusal
from dashboard.groups.recording.book import GroupBook
from rebalance_engine.events import Fact, PullRefused, QueueDropped, QueuePulled

PullFact = PullRefused | QueuePulled | QueueDropped
Key = tuple[str, str, str, str, int]


@dataclass
class PullBook:
    """The refused pulls of the groups that a batch of facts is about."""

    book: GroupBook
    refusals: Rows[Key, PullRefusal]

    @classmethod
    def open(cls, book: GroupBook, facts: Sequence[Fact]) -> PullBook:
        """Read the rows that these facts are about."""
        names = {known_as(fact.group) for fact in facts if isinstance(fact, PullFact)}
        groups = {row.pk: row for row in book.groups if row.name in names and row.pk is not None}
        rows = list(PullRefusal.objects.filter(group__in=groups)) if groups else []
        for row in rows:
            row.group = groups[row.group_id]
        return cls(book, Rows(PullRefusal, _key, rows))

    def write(self) -> None:
        """Write what changed, after the groups."""
        self.refusals.write()

    def refused(self, fact: PullRefused) -> None:
        """Keep a refusal until the member pulls from the queue, or lets it go. Its line is kept in any case."""
        group, key = self.book.group(fact.group), _key_of(fact)
        row = self.refusals.get(key)
        if row is not None and was_counted(fact, row):
            return
        self.book.touch(fact.group)
        if row is not None:
            since = min(row.since, fact.at)
            columns = source_columns(fact)
            self.refusals.update(row, code=fact.code, count=row.count + 1, **{**columns, "at": max(fact.at, since)})
            return
        _, client, topic, broker, number = key
        new = PullRefusal(
            group=group, client_id=client, topic=topic, broker=broker, queue_id=number, code=fact.code, since=fact.at
        )
        for name, value in source_columns(fact).items():
            setattr(new, name, value)
        self.refusals.add(new)

    def over(self, fact: QueuePulled | QueueDropped) -> None:
        """A member pulls from a queue again, or has let it go."""
        row = self.refusals.get(_key_of(fact))
        if row is not None and fact.at >= row.at:
            self.refusals.remove(row)
            self.book.touch(fact.group)


def was_counted(fact: Fact, row: Sourced) -> bool:
    """Whether a refusal is no later than the last one that its row counts: it comes again, or came too late to count.

    Its line may have been deleted since, so that nothing else tells.
    """
    return (observed_at(fact), fact.at) <= (row.observed_at, row.at)


def _key_of(fact: PullFact) -> Key:
    return (known_as(fact.group), known_as(fact.client), *known_queue(fact.queue))


def _key(row: PullRefusal) -> Key:
    return row.group.name, row.client_id, row.topic, row.broker, int(row.queue_id)
