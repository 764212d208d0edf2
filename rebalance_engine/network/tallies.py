"""How long the sends of one producer to one broker took, counted between two reports: exact as long as they are few.

Pure. A report is bounded: of more latencies than ``MOST_COUNTS`` neighbours are counted together, from the least to the
greatest of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from rebalance_engine.events import BrokerLatency, LatencyCount, SendTally
from rebalance_engine.events.producers import MOST_COUNTS

MOST_APART = 4_096  # latencies that are counted each by itself while no report goes out
Span = tuple[int, int]


class Tallied:
    """Sends that went well since the last report, at least one."""

    def __init__(self, fact: BrokerLatency) -> None:
        self._slowest = fact
        self._since = self._until = _end(fact)
        self._counts: Counter[Span] = Counter()
        self._count(fact)

    def add(self, fact: BrokerLatency) -> None:
        """Count one more."""
        if fact.latency_ms >= self._slowest.latency_ms:
            self._slowest = fact
        self._since, self._until = min(self._since, _end(fact)), max(self._until, _end(fact))
        self._count(fact)

    def fact(self) -> BrokerLatency:
        """Give the slowest, with the tally of all."""
        counts = tuple(
            LatencyCount(latency_ms=low, count=count, up_to_ms=high if high > low else None)
            for (low, high), count in sorted(_folded(self._counts).items())
        )
        return replace(self._slowest, tally=SendTally(since=self._since, until=self._until, counts=counts))

    def _count(self, fact: BrokerLatency) -> None:
        self._counts[fact.latency_ms, fact.latency_ms] += 1
        if len(self._counts) > MOST_APART:
            self._counts = _folded(self._counts)


def _end(fact: BrokerLatency) -> int:
    return fact.at + fact.latency_ms


def _folded(counts: Counter[Span]) -> Counter[Span]:
    """Count neighbours together until there are few enough."""
    spans, size = sorted(counts), -(-len(counts) // MOST_COUNTS)
    if size <= 1:
        return counts
    folded: Counter[Span] = Counter()
    for first in range(0, len(spans), size):
        part = spans[first : first + size]
        folded[part[0][0], max(high for _low, high in part)] += sum(counts[span] for span in part)
    return folded
