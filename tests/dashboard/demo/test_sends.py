from __future__ import annotations

from dashboard.demo.sends import Sends
from rebalance_engine.events import EXACT, BrokerBackedOff, BrokerLatency, Fact, Origin, SendOutcome, Source


def sent(at: int, ms: int, broker: str = "east", client: str = "P", outcome: SendOutcome = SendOutcome.OK) -> Fact:
    source = Source(origin=Origin.AGENT_REPORT, client=client)
    return BrokerLatency(
        at=at, source=source, exactness=EXACT, client=client, broker=broker, latency_ms=ms, outcome=outcome
    )


def counted(fact: Fact) -> tuple[str, int, dict[int, int]]:
    """The broker of a fact that counts, its slowest, and how many took how long."""
    assert isinstance(fact, BrokerLatency) and fact.tally is not None
    return fact.broker, fact.latency_ms, {each.latency_ms: each.count for each in fact.tally.counts}


def test_of_each_second_one_fact_a_broker_counts_all_sends() -> None:
    sends = Sends()
    quick = [sent(at, 3) for at in range(1_000, 1_900, 100)]
    assert [told for fact in quick for told in sends.put(fact)] == []
    assert (
        sends.put(sent(1_200, 40, "west")) == sends.put(sent(1_500, 90)) == sends.put(sent(1_000, 1, client="Q")) == []
    )

    told = sends.put(sent(2_001, 5))

    assert [counted(fact) for fact in told] == [("east", 90, {3: 9, 90: 1}), ("west", 40, {40: 1})]
    assert [counted(fact) for fact in sends.put(sent(3_010, 5))] == [("east", 5, {5: 1})]


def test_what_else_a_client_states_lets_its_counts_go_first() -> None:
    sends = Sends()
    failed = sent(1_010, 500, outcome=SendOutcome.REMOTING_ERROR)
    backoff = BrokerBackedOff(
        at=1_600, source=failed.source, exactness=EXACT, client="P", broker="east", backoff_ms=9, is_isolated=True
    )
    sends.put(sent(1_000, 3))
    sends.put(sent(1_000, 3, client="Q"))

    first, second = sends.put(failed)
    assert (counted(first)[2], second) == ({3: 1}, failed)
    assert sends.put(backoff) == [backoff]
    assert [counted(fact)[2] for fact in sends.take("Q")] == [{3: 1}]
    assert sends.take("Q") == []
