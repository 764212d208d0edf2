import pytest

from tests.rebalance_engine.producer.world import happened

ON_TWO = "route orders east:1 west:1"
ASYNC = "send orders mode=async"


def sends(said: list[str]) -> list[str]:
    return [text.removeprefix("sends to ").partition(":")[0] for text in said if text.startswith("sends")]


def test_an_answer_is_the_result() -> None:
    assert happened("client java 5.3.3", ON_TWO, ASYNC)[-1] == "sent to west/0"


@pytest.mark.parametrize("code", [1, 2, 14, 16, 17])
def test_a_refusal_is_never_retried(code: int) -> None:
    said = happened("client java 5.3.3", ON_TWO, f"broker west refuses {code}", ASYNC)

    assert sends(said) == ["west"]
    assert said[-1] == f"MQBrokerException {code}: no"


def test_a_failed_connection_is_retried_twice_at_most() -> None:
    said = happened("client java 5.3.3", ON_TWO, "broker west down", "broker east down", ASYNC)

    assert sends(said) == ["west", "east", "west"]
    assert said[-1] == "MQClientException -1: unknown reason"


def test_the_number_of_retries_is_a_setting() -> None:
    said = happened("client java 5.3.3 async_retries=0", ON_TWO, "broker west down", ASYNC)

    assert sends(said) == ["west"]


@pytest.mark.parametrize(("version", "brokers"), [("5.3.1", ["west", "east", "west"]), ("5.3.2", ["west"])])
def test_without_time_nothing_is_retried_from_5_3_2_on(version: str, brokers: list[str]) -> None:
    said = happened(f"client java {version}", ON_TWO, "broker west silent", ASYNC)

    assert sends(said) == brokers
    assert said[-1] == "MQClientException -1: wait response timeout"


def test_a_retry_has_what_is_left_of_the_time_and_to_4_6_a_second() -> None:
    new = happened("client java 5.3.3", ON_TWO, "broker west down", ASYNC)
    old = happened("client java 4.6.0", ON_TWO, "broker west silent", ASYNC)

    assert "sends to east:10911 queue 0, 2999 ms" in new
    assert "sends to east:10911 queue 0, 1000 ms" in old


@pytest.mark.parametrize(
    ("version", "brokers", "last"),
    [
        ("4.9.2", ["west"], "MQClientException 10001: Send [1] times, still failed"),
        ("4.9.3", ["west", "east"], "sent to east/0"),
        ("5.3.0", ["west", "east"], "sent to east/0"),
    ],
)
def test_a_first_attempt_without_connection_is_retried_from_4_9_3_on(
    version: str, brokers: list[str], last: str
) -> None:
    said = happened(f"client java {version}", ON_TWO, "broker west down", ASYNC)

    assert sends(said) == brokers
    assert said[-1].startswith(last)


def test_to_4_9_2_a_retry_without_connection_blames_the_broker_before() -> None:
    said = happened(
        "client java 4.8.0 avoids_faults async_retries=1",
        ON_TWO,
        "broker west silent",
        "broker east down",
        ASYNC,
        "faults",
    )

    assert said == ["west: 3000 ms, available from 603000"]


def test_the_return_of_the_call_is_learned_before_the_answer() -> None:
    lines = ("client java 5.3.3 avoids_faults", ON_TWO, "broker west takes 600")

    assert happened(*lines, "begin orders mode=async", "wait 1", "faults") == ["west: 0 ms, available from 0"]
    assert happened(*lines, ASYNC, "faults") == ["west: 600 ms, available from 2601"]


def test_to_5_2_a_failed_connection_is_inside_the_call_that_then_returned() -> None:
    lines = (ON_TWO, "broker west down", ASYNC, "faults")

    assert "west: 0 ms, available from 1" in happened("client java 4.9.7 avoids_faults", *lines)
    assert "west: 0 ms, available from 10001" in happened("client java 5.2.0 avoids_faults", *lines)
    assert "west: 0 ms, available from 10001" in happened("client java 5.3.3 avoids_faults", *lines)


def test_before_5_3_a_retry_that_is_too_late_still_blames_its_broker() -> None:
    said = happened(
        "client java 5.2.0 avoids_faults", ON_TWO, "broker west silent", "broker east silent", ASYNC, "faults"
    )

    assert [text.split(":")[0] for text in said] == ["east", "west"]


def test_a_named_queue_is_retried_on_its_broker() -> None:
    said = happened("client java 5.3.3", ON_TWO, "broker west down", "send orders mode=async queue=west/0")

    assert sends(said) == ["west"] * 3


def test_a_named_queue_without_an_address_fails() -> None:
    said = happened("client java 5.3.3", "send orders mode=async queue=west/0")

    assert said[-1] == "MQClientException -1: The broker[west] not exist"


def test_a_chosen_queue_without_an_address_fails_wrapped() -> None:
    said = happened("client java 5.3.3", "route orders east:1 order_topic_conf=gone:1", ASYNC)

    assert said[-1].startswith("MQClientException 10003: Send [1] times")


def test_without_a_route_there_is_nothing_to_send_to() -> None:
    assert happened("client java 5.3.3", ASYNC)[-1] == "MQClientException 10005: No route info of this topic: orders"


def test_time_that_the_route_took_counts() -> None:
    said = happened("client java 5.3.3", ON_TWO, "broker names takes 2000", "send orders mode=async timeout_ms=1999")

    assert said[-1] == "RemotingTooMuchRequestException -1: sendDefaultImpl call timeout"
