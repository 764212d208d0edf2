from rebalance_engine.effects import Closed, Opened, Received, Respond
from rebalance_engine.remoting.bodies.settings import RegisterBrokerBody, TopicConfig, TopicConfigSerializeWrapper
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.nameserver import (
    GetBrokerClusterInfo,
    GetRouteInfoByTopic,
    GetRouteInfoByTopicResponse,
    RegisterBroker,
)
from rebalance_engine.simulation.nameserver import ADDRESS, BROKER_EXPIRES, NameServer, place_in_java
from rebalance_engine.simulation.process import Place
from tests.rebalance_engine.simulation.small import network


def server() -> NameServer:
    return NameServer(Place(network(), "name server", ADDRESS, lambda _process, _fact: None))


def register(to: NameServer, broker: str, channel: int, at: int = 0) -> None:
    topic = TopicConfig(topic_name="orders", read_queue_nums=4, write_queue_nums=4)
    body = RegisterBrokerBody(
        topic_config_serialize_wrapper=TopicConfigSerializeWrapper(topic_config_table={"orders": topic})
    )
    request = RegisterBroker(
        broker_name=broker, broker_addr=f"{broker}:1", cluster_name="simulated", broker_id=0, body=body
    )
    answer(to, request, channel, at)


def answer(of: NameServer, request: object, channel: int = 9, at: int = 0) -> Response:
    [effect] = of.react(Received(channel=channel, request=request, token=1), at)
    assert isinstance(effect, Respond) and isinstance(effect.response, Response)
    return effect.response


def brokers(of: NameServer, at: int = 0) -> list[str]:
    return [broker.broker_name for broker in of.route("orders", at).broker_datas]


def test_a_route_names_the_brokers_that_registered_in_order() -> None:
    names = server()
    register(names, "west", channel=2)
    register(names, "east", channel=1)

    response = answer(names, GetRouteInfoByTopic(topic="orders"))

    assert isinstance(response, GetRouteInfoByTopicResponse)
    assert [queues.read_queue_nums for queues in response.body.queue_datas] == [4, 4]
    assert [broker.master_address for broker in response.body.broker_datas] == ["east:1", "west:1"]


def test_an_unknown_topic_is_refused() -> None:
    response = answer(server(), GetRouteInfoByTopic(topic="orders"))

    assert isinstance(response, Refused) and response.code == ResponseCode.TOPIC_NOT_EXIST


def test_a_broker_whose_connection_closes_is_forgotten_at_once() -> None:
    names = server()
    register(names, "east", channel=1)
    register(names, "west", channel=2)

    told = (names.react(Opened(channel=3, address="A:1"), 0), names.react(Closed(channel=1), 0))

    assert told == ((), ())
    assert brokers(names) == ["west"]


def test_a_silent_broker_is_forgotten_after_two_minutes() -> None:
    names = server()
    register(names, "east", channel=1, at=0)

    assert brokers(names, BROKER_EXPIRES) == ["east"]
    assert brokers(names, BROKER_EXPIRES + 1) == []


def test_other_questions_are_not_known() -> None:
    names = server()

    response = answer(names, GetBrokerClusterInfo())
    names.check()

    assert isinstance(response, Refused) and response.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED


def test_routes_name_brokers_in_the_order_of_a_java_map() -> None:
    names = server()
    register(names, "broker-a", channel=1)
    register(names, "broker-b", channel=2)

    assert brokers(names) == ["broker-b", "broker-a"]
    assert [place_in_java(name, of) for name, of in (("broker-a", 12), ("broker-a", 13))] == [
        (11, "broker-a"),
        (27, "broker-a"),
    ]
