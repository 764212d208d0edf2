import pytest

from rebalance_engine.events import BrokerBackedOff, BrokerLatency, Exactness, SendOutcome
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
