import pytest

from tests.rebalance_engine.producer.world import happened

ON_TWO = "route orders east:1 west:1"


def sends(said: list[str]) -> list[str]:
    return [text.removeprefix("sends to ").partition(":")[0] for text in said if text.startswith("sends")]


@pytest.mark.parametrize("mood", ["down", "silent", "refuses 13", "refuses 2", "stores 10"])
def test_any_trouble_leads_to_another_broker(mood: str) -> None:
    said = happened("client cpp", ON_TWO, f"broker east {mood}", "send orders")

    assert sends(said) == ["east", "west"]
    assert said[-1] == "sent to west/0"


def test_five_attempts_in_all_and_the_last_text() -> None:
    said = happened("client cpp", ON_TWO, "broker east down", "broker west refuses 13", "send orders")

    assert sends(said) == ["east", "west", "east", "west", "east"]
    assert said[-1] == "MQClientException -1: the connection could not be made"


def test_each_attempt_has_the_whole_timeout() -> None:
    said = happened("client cpp", ON_TWO, "broker east silent", "broker west silent", "send orders")

    assert sum("3000 ms" in text for text in said if text.startswith("sends")) == 5


def test_on_one_broker_the_attempts_1_3_and_5_send() -> None:
    said = happened("client cpp", "route orders east:2", "broker east down", "send orders")

    assert sends(said) == ["east"] * 3


def test_a_message_that_was_never_stored_well_enough_has_no_route() -> None:
    said = happened("client cpp", ON_TWO, "broker east stores 10", "broker west stores 10", "send orders")

    assert said[-1] == "MQClientException -1: No route info of this topic: orders"


def test_an_unknown_topic_is_asked_for_in_each_attempt() -> None:
    said = happened("client cpp", "send orders")

    assert said[:-1] == ["asks where orders is", "asks where TBW102 is"] * 5
    assert said[-1] == "MQClientException -1: No route info of this topic: orders"


def test_an_asynchronous_send_is_not_retried() -> None:
    said = happened("client cpp", ON_TWO, "broker east refuses 1", "send orders mode=async")

    assert sends(said) == ["east"]
    assert said[-1] == "MQBrokerException 1: no"


@pytest.mark.parametrize(("mood", "count"), [("refuses 1", 3), ("down", 3), ("silent", 1)])
def test_asynchronous_retries_stay_on_the_broker_and_not_after_silence(mood: str, count: int) -> None:
    said = happened("client cpp async_retries=2", ON_TWO, f"broker east {mood}", "send orders mode=async")

    assert sends(said) == ["east"] * count


def test_a_one_way_send_looks_for_a_broker_with_an_address() -> None:
    lines = ("client cpp", "route orders east:1 order_topic_conf=gone:1;east:1")

    assert happened(*lines, "send orders mode=oneway")[-1] == "sent to east/0"


def test_a_named_queue_gets_one_attempt() -> None:
    said = happened("client cpp", ON_TWO, "send orders", "broker east down", "send orders queue=east/0")

    assert sends(said) == ["east"]
    assert said[-1] == "RemotingException -1: the connection could not be made"
    said = happened("client cpp", ON_TWO, "send orders mode=oneway queue=gone/0")
    assert said[-1] == "MQClientException -1: The broker[gone] not exist"


def test_only_the_active_mode_parks_what_failed() -> None:
    lines = (ON_TWO, "broker east down", "send orders", "send orders", "explain orders")

    assert happened("client cpp", *lines)[-1] == "would take east/0: next in turn"
    assert happened("client cpp avoids_faults", *lines)[0] == "skipped east/0: it is parked"
