"""A producer that reports, and a stock one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from dashboard.clusters.models import Cluster, Producer
from rebalance_engine.events import (
    EXACT,
    BrokerBackedOff,
    BrokerLatency,
    Fact,
    LatencyCount,
    Origin,
    RouteSeen,
    SendOutcome,
    SendTally,
    Source,
)
from rebalance_engine.model import MessageQueue
from tests.dashboard.story import T0, route, told


@dataclass(frozen=True, slots=True)
class Teller:
    """Says what a producer reports, at ms after ``start``."""

    start: int
    client: str = "P"

    def about(self, at: int, broker: str) -> dict[str, object]:
        source = Source(origin=Origin.AGENT_REPORT, client=self.client)
        return {"at": self.start + at, "source": source, "exactness": EXACT, "client": self.client, "broker": broker}

    def sent(self, at: int, ms: int, broker: str = "east", outcome: SendOutcome = SendOutcome.OK) -> Fact:
        queue = MessageQueue("orders", broker, 0)
        return BrokerLatency(**self.about(at, broker), latency_ms=ms, outcome=outcome, queue=queue)  # type: ignore[arg-type]

    def counted(self, since: int, until: int, counts: dict[int, int], broker: str = "east") -> Fact:
        """Sends that ended from ``since`` to ``until``: how many, by latency."""
        tally = SendTally(
            since=self.start + since,
            until=self.start + until,
            counts=tuple(LatencyCount(latency_ms=ms, count=count) for ms, count in sorted(counts.items())),
        )
        sent = self.sent(since - max(counts), max(counts), broker)
        assert isinstance(sent, BrokerLatency)
        return replace(sent, tally=tally)

    def backs_off(self, at: int, ms: int, broker: str = "east") -> Fact:
        return BrokerBackedOff(**self.about(at, broker), backoff_ms=ms, is_isolated=True)  # type: ignore[arg-type]


def stock(cluster: Cluster, client: str, broker: str = "east", version: str = "V5_5_0") -> None:
    """A producer that only a broker tells of."""
    Producer.objects.create(
        cluster=cluster,
        broker=broker,
        group_name="P_G",
        client_id=client,
        address="127.0.0.1:1",
        language="JAVA",
        version=version,
        at=T0,
        observed_at=T0,
        origin="admin answer",
    )


def both() -> RouteSeen:
    """A route of two queues on each of two brokers."""
    return replace(route(2), brokers=(*route(2).brokers, *route(2, broker="west").brokers))


@pytest.fixture
def reported(cluster: Cluster) -> Teller:
    """P sends to east and west; it leaves east alone for 10 s. S reports nothing."""
    p = Teller(T0)
    told(both())
    told(p.sent(1_000, 6), p.sent(2_000, 12, "west"), p.sent(3_000, 900, outcome=SendOutcome.REMOTING_ERROR))
    told(p.backs_off(3_900, 10_000))
    stock(cluster, "S")
    return p
