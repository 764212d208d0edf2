"""What looks at offsets show one after the other: queues in which nothing is committed, and failed messages.

Offsets change at every look. A group is rebalanced anew only when a queue gets stuck or goes on, a retry topic begins
or ends to grow, or messages were given up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.common.fields import observed_at, printable
from dashboard.common.names import known_as
from dashboard.common.rows import Rows
from dashboard.groups.models import Flow
from dashboard.groups.recording.book import GroupBook
from dashboard.groups.recording.progress import is_about
from rebalance_engine.events import AnswerMissed, DeadLettersSeen, Fact, ProgressSeen
from rebalance_engine.findings import Returned, Standing, given_up, is_growing, is_stuck, retry_topic
from rebalance_engine.findings.flow import WINDOW_MS
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.codes import RequestCode

ASKS_FOR_DEAD_LETTERS = str(int(RequestCode.GET_TOPIC_STATS_INFO))
Look = list[int | None]
Place = tuple[str, int, int]  # topic, queue id, and what is committed there
MOST_STANDINGS = 2_000  # of a broker: of more it is told of the first
MOST_LOOKS = 40  # in five minutes, one each ten seconds


@dataclass
class FlowBook:
    """The rows of the groups whose offsets a batch of facts is about."""

    book: GroupBook
    rows: Rows[tuple[str, str], Flow]

    @classmethod
    def open(cls, book: GroupBook, facts: Sequence[Fact]) -> FlowBook:
        """Read the rows that these facts are about."""
        told = (fact for fact in facts if isinstance(fact, ProgressSeen | DeadLettersSeen | AnswerMissed))
        names = {
            known_as(fact.group or "")
            for fact in told
            if not isinstance(fact, AnswerMissed) or is_about(fact) or is_about_dead_letters(fact)
        }
        groups = {row.pk: row for row in book.groups if row.name in names and row.pk is not None}
        rows = list(Flow.objects.filter(group__in=groups)) if groups else []
        for row in rows:
            row.group = groups[row.group_id]
        return cls(book, Rows(Flow, lambda row: (row.group.name, row.broker), rows))

    def write(self) -> None:
        """Write what changed, after the groups."""
        self.rows.write()

    def seen(self, fact: ProgressSeen) -> None:
        """Compare a look with those before it."""
        at, group, broker = observed_at(fact), known_as(fact.group), known_as(fact.broker)
        row = self.rows.get((group, broker))
        if row is not None and at <= row.at:
            return
        standings = _standings(fact, {} if row is None else _since(row), at)
        retried = _retried(fact, [] if row is None else row.retried, at)
        if row is None:
            group_row = self.book.group(fact.group)
            self.rows.add(Flow(group=group_row, broker=broker, at=at, standings=standings, retried=retried))
            return
        before = troubles_of(row)
        self.rows.update(row, at=at, standings=standings, retried=retried)
        self._tell(row, before)

    def missed(self, fact: AnswerMissed) -> None:
        """A broker did not answer: what happened in between is unknown."""
        row = self.rows.get((known_as(fact.group or ""), known_as(fact.broker or "")))
        if row is None or fact.at <= row.at:
            return
        before = troubles_of(row)
        self.rows.update(row, at=fact.at, standings=[], retried=[])
        self._tell(row, before)

    def dead_seen(self, fact: DeadLettersSeen) -> bool:
        """Compare how many messages were given up with the looks before; tell whether it is another number."""
        at, broker = observed_at(fact), known_as(fact.broker)
        row = self.rows.get((known_as(fact.group), broker))
        if row is None:
            self.rows.add(
                Flow(group=self.book.group(fact.group), broker=broker, at=at, dead=[[at, fact.put, fact.kept]])
            )
            return True
        last = row.dead[-1] if row.dead else None
        if last is not None and at <= last[0]:
            return False
        before = troubles_of(row)
        self.rows.update(row, dead=_kept_looks(row.dead, [at, fact.put, fact.kept], at))
        self._tell(row, before)
        return last is None or last[1:] != [fact.put, fact.kept]

    def dead_missed(self, fact: AnswerMissed) -> bool:
        """A broker did not say how many messages were given up; tell whether that was known before."""
        row = self.rows.get((known_as(fact.group or ""), known_as(fact.broker or "")))
        if row is None or not row.dead or fact.at < row.dead[-1][0]:
            return False
        before = troubles_of(row)
        self.rows.update(row, dead=[])
        self._tell(row, before)
        return True

    def _tell(self, row: Flow, before: object) -> None:
        if troubles_of(row) != before:
            self.book.touch(row.group.name)


def standings_of(row: Flow) -> list[Standing]:
    """Give the queues in which messages wait, as the engine has them."""
    return [
        Standing(MessageQueue(topic, row.broker, number), committed, waiting, since, row.at, *waited)
        for topic, number, committed, waiting, since, *waited in row.standings
    ]


def returned_of(row: Flow) -> tuple[Returned, ...]:
    """Give the looks at the retry topic, as the engine has them."""
    return tuple(Returned(*look) for look in row.retried)


def dead_of(row: Flow) -> tuple[Returned, ...]:
    """Give the looks at the dead-letter topic, as the engine has them."""
    return tuple(Returned(at, put) for at, put, _ in row.dead)


def troubles_of(row: Flow) -> tuple[tuple[tuple[str, int, int, bool], ...], bool, int]:
    """Give what can be found here: stuck queues, since when, and if more came; if the retry topic grows; deaths."""
    stuck = (each for each in standings_of(row) if is_stuck(each))
    told = tuple((each.queue.topic, each.queue.queue_id, each.since, each.more > 0) for each in stuck)
    return told, is_growing(returned_of(row)), given_up(dead_of(row))


def is_about_dead_letters(fact: Fact) -> bool:
    """Ask whether a fact says that a broker did not tell how many messages of a group were given up."""
    return (
        isinstance(fact, AnswerMissed)
        and fact.request == ASKS_FOR_DEAD_LETTERS
        and None not in {fact.group, fact.broker}
    )


def _since(row: Flow) -> dict[Place, list[int]]:
    return {(topic, number, committed): since for topic, number, committed, _, *since in row.standings}


def _standings(fact: ProgressSeen, since: dict[Place, list[int]], at: int) -> list[list[object]]:
    """List the queues in which messages wait; one of which nothing was committed is unknown, and left out."""
    told: list[list[object]] = []
    for each in fact.queues:
        if each.committed is None or each.end <= each.committed:
            continue
        key = (printable(each.queue.topic), each.queue.queue_id, each.committed)
        waiting = each.end - each.committed
        told.append([*key, waiting, *since.get(key, [at, waiting])])
    return told[:MOST_STANDINGS]


def _retried(fact: ProgressSeen, before: Sequence[Look], at: int) -> list[Look]:
    """Add a look at the retry topic to those before."""
    topic = retry_topic(fact.group)
    ends = [each.end for each in fact.queues if each.queue.topic == topic]
    if not ends:
        return []
    committed = [each.committed for each in fact.queues if each.queue.topic != topic and each.committed is not None]
    return _kept_looks(before, [at, sum(ends), sum(committed) if committed else None], at)


def _kept_looks(before: Sequence[Look], now: Look, at: int) -> list[Look]:
    """Add a look to those of the last minutes; at least one of those before stays."""
    recent = [look for look in before if at - (look[0] or 0) <= WINDOW_MS] or list(before[-1:])
    return [*recent[-(MOST_LOOKS - 1) :], now]
