from __future__ import annotations

import random

import pytest

from rebalance_engine import eventlog
from rebalance_engine.events import EXACT, BrokerLatency, LatencyCount, Origin, SendOutcome, SendTally, Source
from rebalance_engine.events.producers import MOST_COUNTS
from rebalance_engine.network import tallies
from rebalance_engine.network.tallies import Tallied

OWN = Source(origin=Origin.AGENT_REPORT, client="A")


def sent(at: int, latency_ms: int) -> BrokerLatency:
    return BrokerLatency(
        at=at, source=OWN, exactness=EXACT, client="A", broker="east", latency_ms=latency_ms, outcome=SendOutcome.OK
    )


def tallied(*sends: BrokerLatency) -> BrokerLatency:
    first, *others = sends
    tally = Tallied(first)
    for each in others:
        tally.add(each)
    return tally.fact()


def test_all_are_counted_beside_the_slowest() -> None:
    fact = tallied(sent(10, 3), sent(11, 90), sent(20, 3))

    counts = (LatencyCount(latency_ms=3, count=2), LatencyCount(latency_ms=90, count=1))
    assert fact == BrokerLatency(
        at=11,
        source=OWN,
        exactness=EXACT,
        client="A",
        broker="east",
        latency_ms=90,
        outcome=SendOutcome.OK,
        tally=SendTally(since=13, until=101, counts=counts),
    )
    assert eventlog.read(eventlog.write(fact)) == fact


@pytest.mark.parametrize("most_apart", [tallies.MOST_APART, 40])
def test_of_very_many_neighbours_are_counted_together_and_none_is_lost(
    most_apart: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "MOST_APART", most_apart)
    luck = random.Random(4)
    latencies = sorted(luck.randrange(3_000) for _ in range(2_000))

    fact = tallied(*(sent(0, each) for each in luck.sample(latencies, len(latencies))))

    assert fact.tally is not None and fact.latency_ms == latencies[-1]
    counts = fact.tally.counts
    assert len(counts) <= MOST_COUNTS and sum(each.count for each in counts) == 2_000
    lows = [each.latency_ms for each in counts for _ in range(each.count)]
    highs = sorted(each.up_to_ms or each.latency_ms for each in counts for _ in range(each.count))
    assert all(low <= true <= high for low, true, high in zip(lows, latencies, highs, strict=True))
    assert len(eventlog.write(fact)) < 2_000 + 400
