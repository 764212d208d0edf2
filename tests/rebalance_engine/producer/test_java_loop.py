import pytest

from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.routes import TopicRouteData
from tests.rebalance_engine.producer.world import World, happened

ON_TWO = "route orders east:1 west:1"


def test_a_stored_message_is_a_result() -> None:
    assert happened("client java 5.3.0", ON_TWO, "send orders")[-1] == "sent to west/0"


@pytest.mark.parametrize("mood", ["down", *(f"refuses {code}" for code in (1, 2, 14, 16, 17, 204, 205))])
def test_trouble_leads_to_another_broker(mood: str) -> None:
    assert happened("client java 5.3.0", ON_TWO, f"broker west {mood}", "send orders")[-1] == "sent to east/0"


@pytest.mark.parametrize("code", [2, 3, 13, 15, 29, 1500])
def test_other_refusals_are_final_in_4_x(code: int) -> None:
    said = happened("client java 4.9.7", ON_TWO, f"broker west refuses {code}", "send orders")

    assert said[-1] == f"MQBrokerException {code}: no"


def test_after_three_attempts_the_last_exception_gives_the_code() -> None:
    said = happened("client java 5.3.0", ON_TWO, "broker west down", "broker east refuses 14", "send orders")

    text = "Send [3] times, still failed, cost [2]ms, Topic: orders, BrokersSent: [west, east, west]"
    assert said[-1] == f"MQClientException 10001: {text}"


def test_the_number_of_retries_is_a_setting() -> None:
    said = happened("client java 5.3.0 retries=0", ON_TWO, "broker west refuses 14", "send orders")

    assert said[-1].startswith("MQClientException 14: Send [1] times") and said[-1].endswith("BrokersSent: [west]")


def test_a_silent_broker_uses_up_the_time_of_all() -> None:
    said = happened("client java 5.3.0", ON_TWO, "broker west silent", "send orders")

    assert [text for text in said if text.startswith("sends")] == [
        "sends to west:10911 queue 0, 2999 ms",
        "sends to east:10911 queue 0, 0 ms",
        "sends to west:10911 queue 0, 0 ms",
    ]
    assert said[-1].startswith("MQClientException 10002")


def test_a_limit_for_each_request_is_known_from_5_3_3_on_and_spares_the_last_attempt() -> None:
    lines = (ON_TWO, "broker west silent", "broker east silent", "send orders")

    for version, first_ms, last_ms in (("5.3.2", 2999, 0), ("5.3.3", 100, 2799)):
        said = happened(f"client java {version} timeout_per_request_ms=100", *lines)
        sends = [text for text in said if text.startswith("sends")]
        assert (f"{first_ms} ms" in sends[0], f"{last_ms} ms" in sends[-1]) == (True, True)


def test_a_result_that_is_not_ok_is_a_result_all_the_same() -> None:
    said = happened("client java 5.3.0", ON_TWO, "broker west stores 11", "send orders")

    assert said[-1] == "sent to west/0, status 11"


def test_an_earlier_result_is_better_than_a_later_error() -> None:
    lines = ("client java 5.3.0 retries_when_not_stored", ON_TWO, "broker west stores 11")

    for trouble in ("refuses 13", "refuses 14", "down", "silent"):
        assert happened(*lines, f"broker east {trouble}", "send orders")[-1] == "sent to west/0, status 11"


def test_a_topic_without_queues_has_no_route() -> None:
    said = happened("client java 5.3.0", ON_TWO + " order_topic_conf=west:0", "send orders")

    assert said[-1] == "MQClientException 10005: No route info of this topic: orders"


def test_a_broker_whose_address_is_unknown_is_a_client_error() -> None:
    order = "route orders east:1 order_topic_conf=gone:1"

    assert happened("client java 5.3.0 retries=0", order, "send orders")[-1].startswith("MQClientException 10003")
    old = happened("client java 4.9.7 retries=0 avoids_faults", order, "send orders")
    new = happened("client java 5.3.0 retries=0 avoids_faults", order, "send orders")
    assert "fact: backs off from gone for 600000 ms, isolated" in old
    assert not any("backs off" in text for text in new)


def test_a_queue_that_the_application_names_gets_one_attempt() -> None:
    lines = ("client java 5.3.0 avoids_faults", ON_TWO, "send orders", "broker east down")

    assert happened(*lines, "send orders queue=east/0")[-1] == "RemotingException -1: the connection could not be made"
    assert happened(*lines, "send orders queue=east/0", "faults") == ["west: 1 ms, available from 0"]


def test_a_named_queue_needs_no_route_but_an_address() -> None:
    said = happened("client java 5.3.0", "send orders queue=east/0")

    assert said == [
        "asks where orders is",
        "asks where TBW102 is",
        "fact: east took 2 ms, client error",
        "MQClientException -1: The broker[east] not exist",
    ]


@pytest.mark.parametrize("version", ["4.6.0", "4.9.0", "5.5.0"])
@pytest.mark.parametrize("mode", ["sync", "oneway"])
def test_an_attempt_ends_with_the_lookup_that_fails_under_it(version: str, mode: str) -> None:
    lines = (f"client java {version} avoids_faults", "broker names silent", f"send orders mode={mode} queue=east/0")

    assert happened(*lines) == [
        "asks where orders is",
        "fact: east took 3000 ms, client error",
        "IllegalStateException -1: the name server gave no answer",
    ]
    assert happened(*lines, "faults") == []


def test_a_broker_that_lost_its_address_ends_a_call_where_the_name_server_is_silent_too() -> None:
    world = World()
    for line in ("client java 5.5.0", ON_TWO, "broker west silent", "begin orders", "wait 1", "broker names silent"):
        world.do(line)
    assert world.producer is not None

    world.producer.desk.book.accept("orders", TopicRouteData(), world.producer.desk.at)  # as the refresh does
    world.producer.desk.book.forget_offline()
    said = world.do("wait 9000")

    assert said[-1].endswith("IllegalStateException -1: the name server gave no answer")
    assert [text.split(": ")[1] for text in said if "fact" in text] == [
        "west took 2999 ms, remoting error",
        "east took 3000 ms, client error",
    ]


def test_a_one_way_send_is_over_at_once() -> None:
    lines = ("client java 5.3.0", "route orders east:1", "send orders", "broker east silent")

    assert happened(*lines, "begin orders mode=oneway")[-1] == "sent to east/0"
    assert happened(*lines, "begin orders mode=oneway queue=east/0")[-1] == "sent to east/0"


@pytest.mark.parametrize(("version", "blamed"), [("4.9.7", "east"), ("5.3.0", "west")])
def test_in_4_x_an_element_that_another_thread_rewrote_meanwhile_gets_the_blame(version: str, blamed: str) -> None:
    world = World()
    for line in (
        f"client java {version} avoids_faults retries=0",
        ON_TWO,
        "broker west silent",
        "begin orders",
        "wait 1",
    ):
        world.do(line)
    assert world.producer is not None
    info = world.producer.desk.book.info("orders")
    assert info is not None

    if world.producer.desk.profile.mutates_queues:
        info.queues[1] = MessageQueue("orders", "east", 0)  # as the selection of another thread does
    world.do("wait 3000")

    assert [text.split(":")[0] for text in world.do("faults")] == [blamed]
