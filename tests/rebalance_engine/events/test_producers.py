import pytest

from rebalance_engine.events import (
    BrokerBackedOff,
    BrokerLatency,
    Exactness,
    LatencyCount,
    SendOutcome,
    SendTally,
)
from rebalance_engine.events.producers import MOST_COUNTS
from tests.rebalance_engine.facts import plain


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


def test_a_tally_is_bounded_and_counts_something() -> None:
    one = LatencyCount(latency_ms=3, count=1)
    assert plain(BrokerLatency, tally=SendTally(since=1, until=1, counts=(one,))).tally is not None
    for counts in ((), (one,) * (MOST_COUNTS + 1)):
        with pytest.raises(ValueError, match=r"the tally has \d+ counts; it needs 1 to 32"):
            plain(BrokerLatency, tally=SendTally(since=1, until=1, counts=counts))
    with pytest.raises(ValueError, match="since must not be above until"):
        plain(BrokerLatency, tally=SendTally(since=2, until=1, counts=(one,)))
    none = LatencyCount(latency_ms=3, count=1, up_to_ms=3)
    with pytest.raises(ValueError, match="it needs more than latency_ms, 3"):
        plain(BrokerLatency, tally=SendTally(since=1, until=1, counts=(none,)))
