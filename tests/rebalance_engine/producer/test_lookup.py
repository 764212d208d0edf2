import pytest

from tests.rebalance_engine.producer.world import World, happened

ASKS = ["asks where orders is", "asks where TBW102 is"]


@pytest.mark.parametrize("client", ["java 5.3.0", "java 4.2.0", "cpp", "go"])
def test_an_unknown_topic_borrows_the_default_topics_brokers(client: str) -> None:
    said = happened(f"client {client}", "route TBW102 east:8", "send orders")

    assert said[:2] == ASKS
    assert said[-1].startswith("sent to east/")


@pytest.mark.parametrize("client", ["java 5.3.0", "cpp", "go"])
def test_a_known_topic_is_not_asked_for_again(client: str) -> None:
    said = happened(f"client {client}", "route orders east:1", "send orders", "send orders")

    assert not any(text.startswith("asks") for text in said)


def test_a_route_without_queues_is_no_reason_for_the_default_topic_in_java() -> None:
    said = happened("client java 5.3.0", "route orders east perm=4", "route TBW102 east:8", "send orders")

    assert said == [ASKS[0], "MQClientException 10005: No route info of this topic: orders"]


def test_cpp_takes_the_default_topic_then_and_go_asks_no_more() -> None:
    lines = ("route orders east perm=4", "route TBW102 east:8", "send orders")

    assert happened("client cpp", *lines)[:2] == ASKS
    assert happened("client go", *lines)[:-1] == ASKS[:1]


@pytest.mark.parametrize(
    ("client", "last"),
    [
        ("java 4.5.2", "MQClientException 10005"),
        ("java 4.6.0", "IllegalStateException"),
        ("cpp", "MQClientException -1"),
        ("go", "MQClientException -1"),
    ],
)
def test_a_name_server_that_gives_no_answer_fails_java_from_4_6_on(client: str, last: str) -> None:
    assert happened(f"client {client}", "broker names down", "send orders")[-1].startswith(last)


@pytest.mark.parametrize(("version", "error"), [("4.5.2", "MQClientException 10005"), ("4.6.0", "IllegalState")])
def test_a_route_that_java_cannot_read_fails_the_send_from_4_6_on(version: str, error: str) -> None:
    said = happened(f"client java {version}", "route orders east order_topic_conf=east", "send orders")

    assert said[-1].startswith(error)


def test_the_refresh_comes_every_30_s_and_takes_in_what_changed() -> None:
    lines = ("client java 5.3.0", "start", "route orders east:1", "send orders", "wait 29999", "route orders west:1")

    assert happened(*lines, "wait 9", "queues orders") == ["east/0"]
    assert happened(*lines, "wait 11", "queues orders") == ["west/0"]


def test_a_failure_ends_the_round_in_java_and_not_in_go() -> None:
    known = ("start", "route a east:1", "route b east:1", "wait 11", "send a", "send b")
    lines = (*known, "broker names silent", "wait 50000")

    assert sum(text.startswith("asks") for text in happened("client java 5.3.0", *lines)) == 1
    assert sum(text.startswith("asks") for text in happened("client go", *lines)) == 2


def test_the_next_name_server_is_asked_where_there_is_no_connection() -> None:
    world = World()
    for line in ("client java 5.3.0 name_servers=one:9876,two:9876", "route orders east:1", "broker one down"):
        world.do(line)

    assert sum("asks" in text for text in world.do("send orders")) == 2


def test_a_silent_name_server_is_left_for_the_next_lookup() -> None:
    lines = ("client java 5.3.0 name_servers=one:9876,two:9876", "route orders east:1", "broker one silent")

    assert happened(*lines, "send orders")[-1].startswith("IllegalStateException")
    assert happened(*lines, "send orders", "send orders")[-1] == "sent to east/0"


def test_without_a_name_server_java_says_so() -> None:
    said = happened("client java 5.3.0 name_servers=", "send orders")

    assert said == ["MQClientException 10004: No name server address, please set it."]


def test_an_address_that_no_route_names_is_forgotten_with_the_refresh() -> None:
    lines = ("client java 5.3.0", "start", "route orders east:1", "send orders", "route orders west:1", "wait 31000")

    assert happened(*lines, "send orders queue=east/0")[-1] == "MQClientException -1: The broker[east] not exist"
