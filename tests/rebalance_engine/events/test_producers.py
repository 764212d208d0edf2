import pytest

from rebalance_engine.events import (
    BrokerBackedOff,
    BrokerLatency,
    Exactness,
    LatencyCount,
    SendOutcome,
    SendTally,
)
from rebalance_engine.events.producers import MOST_A_MS, MOST_COUNTS
from tests.rebalance_engine.facts import AT, plain


def test_the_bounds_of_a_latency_are_those_of_its_length() -> None:
    assert plain(BrokerLatency, latency_ms=600, exactness=Exactness.at_most(600)).latency_ms == 600
    with pytest.raises(ValueError, match="BrokerLatency: latency_ms is 600, outside of its own bounds"):
        plain(BrokerLatency, latency_ms=600, exactness=Exactness.at_most(599))


def test_a_latency_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match=r"BrokerLatency\.latency_ms is -1; it needs int from 0"):
        plain(BrokerLatency, latency_ms=-1)


def test_a_failed_attempt_has_its_latency_too() -> None:
    assert plain(BrokerLatency, latency_ms=3000, outcome=SendOutcome.REMOTING_ERROR).outcome.value == "remoting error"


def test_what_led_to_a_backoff_may_be_unknown() -> None:
    backoff = plain(BrokerBackedOff, broker="east", backoff_ms=30_000, is_isolated=True)

    assert backoff.latency_ms is None


def tallied(*counts: LatencyCount, since: int = AT, until: int = AT + 9, latency_ms: int = 3) -> BrokerLatency:
    return plain(BrokerLatency, latency_ms=latency_ms, tally=SendTally(since=since, until=until, counts=counts))


def test_a_tally_is_bounded_and_counts_something() -> None:
    one = LatencyCount(latency_ms=3, count=1)
    assert tallied(one).tally is not None
    for counts in ((), (one,) * (MOST_COUNTS + 1)):
        with pytest.raises(ValueError, match=r"the tally has \d+ counts; it needs 1 to 32"):
            tallied(*counts)
    with pytest.raises(ValueError, match="since must not be above until"):
        tallied(one, since=AT + 3, until=AT + 2)
    none = LatencyCount(latency_ms=3, count=1, up_to_ms=3)
    with pytest.raises(ValueError, match="it needs more than latency_ms, 3"):
        tallied(none)


def test_a_tally_has_its_own_attempt_among_those_that_it_counts() -> None:
    assert tallied(LatencyCount(latency_ms=1, count=1, up_to_ms=5)).latency_ms == 3

    with pytest.raises(ValueError, match="the tally counts no attempt of 3 ms; it needs this one among them"):
        tallied(LatencyCount(latency_ms=1, count=20), LatencyCount(latency_ms=4, count=1, up_to_ms=9))
    for since, until in ((AT, AT + 2), (AT + 4, AT + 9)):
        with pytest.raises(ValueError, match=f"it needs {AT + 3}, this one's end"):
            tallied(LatencyCount(latency_ms=3, count=1), since=since, until=until)


def test_a_tally_counts_no_more_than_its_time_can_hold() -> None:
    assert tallied(LatencyCount(latency_ms=3, count=10 * MOST_A_MS)).tally is not None

    with pytest.raises(
        ValueError, match="the tally counts 10001 attempts; its time needs to hold them, and holds 1000"
    ):
        tallied(LatencyCount(latency_ms=3, count=10 * MOST_A_MS), LatencyCount(latency_ms=4, count=1))
