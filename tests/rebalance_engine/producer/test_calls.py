import pytest

from tests.rebalance_engine.producer.world import happened

ON_FOUR = "route orders east:2 west:2"


@pytest.mark.parametrize("client", ["java 5.3.0", "java 4.9.7", "cpp", "go"])
@pytest.mark.parametrize("mode", ["sync", "async", "oneway"])
def test_every_client_sends_in_every_mode_to_any_kind_of_target(client: str, mode: str) -> None:
    lines = (f"client {client}", ON_FOUR, "send orders")

    assert happened(*lines, f"send orders mode={mode}")[-1].startswith("sent to ")
    assert happened(*lines, f"send orders mode={mode} queue=west/1")[-1] == "sent to west/1"
    assert happened(*lines, f"send orders mode={mode} key=7")[-1] == "sent to west/1"  # 7 of 4 is position 3


@pytest.mark.parametrize("client", ["java 5.3.0", "cpp"])
def test_a_selector_needs_a_route(client: str) -> None:
    said = happened(f"client {client}", "send orders key=7")

    assert said[-1].endswith("No route info for this topic, orders")


def test_time_that_the_route_took_counts_for_a_selector() -> None:
    said = happened("client java 5.3.0", ON_FOUR, "broker names takes 2000", "send orders key=7 timeout_ms=1999")

    assert said[-1] == "RemotingTooMuchRequestException -1: sendSelectImpl call timeout"


def test_a_lookup_that_fails_is_an_illegal_state_for_a_selector_too() -> None:
    said = happened("client java 5.3.0", "broker names down", "send orders key=7")

    assert said[-1].startswith("IllegalStateException")
