import pytest

from tests.rebalance_engine.producer.world import happened

ON_TWO = "route orders east:1 west:1"


def sends(said: list[str]) -> list[str]:
    return [text.removeprefix("sends to ").partition(":")[0] for text in said if text.startswith("sends")]


@pytest.mark.parametrize("mood", ["down", "silent", "refuses 17", "refuses 14", "refuses 1", "refuses 16"])
def test_trouble_leads_to_another_broker(mood: str) -> None:
    said = happened("client go", ON_TWO, f"broker west {mood}", "send orders")

    assert sends(said) == ["west", "east"]
    assert said[-1] == "sent to east/0"


@pytest.mark.parametrize("code", [2, 13, 204, 205, 1500])
def test_other_refusals_are_final(code: int) -> None:
    said = happened("client go", ON_TWO, f"broker west refuses {code}", "send orders")

    assert sends(said) == ["west"]
    assert said[-1] == f"MQBrokerException {code}: no"


def test_four_attempts_and_a_refusal_of_the_last_is_the_callers() -> None:
    said = happened("client go", ON_TWO, "broker west down", "broker east refuses 14", "send orders")

    assert sends(said) == ["west", "east", "west", "east"]
    assert said[-1] == "MQBrokerException 14: no"


def test_the_last_failure_of_the_transport_is_the_error() -> None:
    said = happened("client go", ON_TWO, "broker west refuses 14", "broker east down", "send orders")

    assert said[-1] == "RemotingException -1: the connection could not be made"


def test_a_result_that_is_not_ok_is_a_result() -> None:
    assert happened("client go", ON_TWO, "broker west stores 10", "send orders")[-1] == "sent to west/0, status 10"


def test_an_asynchronous_send_is_not_retried() -> None:
    assert sends(happened("client go", ON_TWO, "broker west down", "send orders mode=async")) == ["west"]


def test_a_one_way_send_is_over_at_once() -> None:
    assert happened("client go", ON_TWO, "broker west silent", "send orders mode=oneway")[-1] == "sent to west/0"


def test_a_queue_set_by_hand_is_taken_in_every_attempt() -> None:
    said = happened("client go", ON_TWO, "broker east down", "send orders queue=east/0")

    assert sends(said) == ["east"] * 4


def test_an_unknown_topic_is_asked_for_in_each_attempt() -> None:
    said = happened("client go", "send orders")

    assert said[:-1] == ["asks where orders is", "asks where TBW102 is"] * 4
    assert said[-1] == "MQClientException -1: the topic=orders route info not found"


def test_a_broker_without_an_address_is_the_end() -> None:
    said = happened("client go", "route orders east:1 order_topic_conf=gone:2", "send orders")

    assert sends(said) == []
    assert said[-1] == "MQClientException -1: the topic=orders route info not found"
