"""The sends of the cast on their way to whoever follows: of each second one fact a broker, which counts all of them.

Pure; times are those of the facts, in ms.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rebalance_engine.events import BrokerLatency, Fact, SendOutcome
from rebalance_engine.network.tallies import Tallied

EVERY_MS = 1_000


@dataclass(slots=True)
class Sends:
    """Counts of sends that went well and were not told yet, by client and broker.

    Whatever else a client states lets its counts go first: up to when it spoke last, all that it sent is told.
    """

    _counted: dict[str | None, dict[str, Tallied]] = field(default_factory=dict)
    _since: dict[str | None, int] = field(default_factory=dict)

    def put(self, fact: Fact) -> list[Fact]:
        """Take a fact in; give what is to be told now, in its order."""
        client = fact.source.client
        if not isinstance(fact, BrokerLatency) or fact.outcome is not SendOutcome.OK:
            return [*self.take(client), fact]
        ended_at = fact.at + fact.latency_ms
        told = self.take(client) if ended_at - self._since.get(client, ended_at) >= EVERY_MS else []
        self._since.setdefault(client, ended_at)
        brokers = self._counted.setdefault(client, {})
        if fact.broker in brokers:
            brokers[fact.broker].add(fact)
        else:
            brokers[fact.broker] = Tallied(fact)
        return told

    def take(self, client: str | None) -> list[Fact]:
        """Give what was counted of a client, and begin anew."""
        self._since.pop(client, None)
        return [tallied.fact() for tallied in self._counted.pop(client, {}).values()]
