"""What a producer's own reports change: latency and backoff, broker by broker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from dashboard.clusters.models import Cluster, ProducerBroker
from dashboard.common.fields import observed_at, source_columns
from dashboard.common.names import escape, known_as
from dashboard.common.rows import Rows
from rebalance_engine.events import (
    BrokerBackedOff,
    BrokerBackoffEnded,
    BrokerLatency,
    BrokerReachable,
    BrokerUnreachable,
    Fact,
    ProducerFact,
)

MOST_SENDS = 240  # a report each second tells the slowest of each broker, and every one that failed
MOST_BACKOFFS = 60


@dataclass
class ProducerBook:
    """The rows of producers while a batch of facts is applied to them."""

    cluster: Cluster
    rows: Rows[tuple[str, str], ProducerBroker]

    @classmethod
    def open(cls, cluster: Cluster, facts: Sequence[Fact]) -> ProducerBook:
        """Read the rows that these facts are about."""
        clients = {known_as(fact.client) for fact in facts if isinstance(fact, ProducerFact)}
        rows = ProducerBroker.objects.filter(cluster=cluster, client_id__in=clients) if clients else []
        return cls(cluster, Rows(ProducerBroker, lambda row: (row.client_id, row.broker), rows))

    def write(self) -> None:
        """Write what changed."""
        self.rows.write()

    def apply(self, fact: ProducerFact) -> bool:
        """Store one report; an older one than the row's is late: of it only a send is kept, in its place.

        A slow send began before it was told that its broker is left alone for it.
        """
        key = (known_as(fact.client), known_as(fact.broker))
        row = self.rows.get(key)
        if row is None:
            row = ProducerBroker(cluster=self.cluster, client_id=key[0], broker=key[1], **source_columns(fact))
            self.rows.add(row)
        elif observed_at(fact) < row.observed_at:
            return isinstance(fact, BrokerLatency) and self.rows.update(row, **_lately(row, fact))
        return self.rows.update(row, **_columns(fact), **_lately(row, fact), **source_columns(fact))


def _lately(row: ProducerBroker, fact: ProducerFact) -> dict[str, object]:
    """Give what a page shows of the last minutes with this fact in it; the history files keep all of it."""
    match fact:
        case BrokerLatency():
            topic = None if fact.queue is None else escape(fact.queue.topic)
            send = [fact.at, fact.latency_ms, fact.outcome.value, topic, *_tally(fact)]
            return {"sends": sorted([*row.sends, send], key=itemgetter(0))[-MOST_SENDS:]}
        case BrokerBackedOff():
            return {"backoffs": [*row.backoffs, [fact.at, fact.backoff_ms, fact.is_isolated, None]][-MOST_BACKOFFS:]}
        case BrokerBackoffEnded() if row.backoffs:
            *before, last = row.backoffs
            return {"backoffs": [*before, [*last[:3], fact.at]]}
        case _:
            return {}


def _tally(fact: BrokerLatency) -> list[object]:
    """Give how many sends a report counts, where it does; of those of others, whose reports do not, nothing."""
    if fact.tally is None:
        return []
    spans = [[each.latency_ms, each.up_to_ms or each.latency_ms, each.count] for each in fact.tally.counts]
    return [[fact.tally.since, fact.tally.until, spans]]


def _columns(fact: ProducerFact) -> dict[str, object]:
    match fact:
        case BrokerLatency():
            return {"latency_ms": fact.latency_ms, "latency_at": fact.at, "outcome": fact.outcome.value}
        case BrokerBackedOff():
            until = fact.at + fact.backoff_ms
            return {"backoff_ms": fact.backoff_ms, "backoff_until": until, "is_isolated": fact.is_isolated}
        case BrokerBackoffEnded():
            return {"backoff_ms": None, "backoff_until": None, "is_isolated": False}
        case BrokerReachable() | BrokerUnreachable():
            return {"is_reachable": isinstance(fact, BrokerReachable)}
        case _:
            raise TypeError(f"{type(fact).__name__} is no fact of a producer that is known here")
