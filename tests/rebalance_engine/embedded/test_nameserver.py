from rebalance_engine.effects import Closed, Received, Respond, WakeAt, Woken
from rebalance_engine.embedded.nameserver import MOST_TEXTS, SCAN, NameServer
from rebalance_engine.remoting.bodies.settings import RegisterBrokerBody, TopicConfig, TopicConfigSerializeWrapper
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.brokers import GetBrokerConfig
from rebalance_engine.remoting.requests.contract import Refused, Request, Response
from rebalance_engine.remoting.requests.nameserver import (
    ORDER_TOPIC_CONFIG,
    AddWritePermOfBroker,
    AddWritePermOfBrokerResponse,
    DeleteKvConfig,
    DeleteTopicInNamesrv,
    GetAllTopicListFromNameserver,
    GetBrokerClusterInfo,
    GetBrokerClusterInfoResponse,
    GetKvConfig,
    GetKvConfigResponse,
    GetKvlistByNamespace,
    GetKvlistByNamespaceResponse,
    GetNamesrvConfig,
    GetNamesrvConfigResponse,
    GetRouteInfoByTopic,
    GetRouteInfoByTopicResponse,
    GetSystemTopicListFromNs,
    GetTopicsByCluster,
    PutKvConfig,
    RegisterBroker,
    RegisterBrokerResponse,
    TopicListResponse,
    UnregisterBroker,
    WipeWritePermOfBroker,
    WipeWritePermOfBrokerResponse,
)


def ask(server: NameServer, request: Request[Response], *, channel: int = 1, at: int = 0) -> Response:
    (respond,) = server.handle(Received(channel=channel, request=request, token=9), at)
    assert isinstance(respond, Respond) and isinstance(respond.response, Response)
    assert (respond.channel, respond.token) == (channel, 9)
    return respond.response


def registering(broker_id: int = 0) -> RegisterBroker:
    topics = {"orders": TopicConfig(topic_name="orders")}
    return RegisterBroker(
        broker_name="east",
        broker_addr=f"10.0.0.1:1091{broker_id}",
        cluster_name="C",
        broker_id=broker_id,
        body=RegisterBrokerBody(topic_config_serialize_wrapper=TopicConfigSerializeWrapper(topic_config_table=topics)),
    )


def server(version: str = "5.5.0", *, orders_topics: bool = False) -> NameServer:
    made = NameServer(version, orders_topics=orders_topics)
    made.register(registering(), 0)
    return made


def test_clients_find_their_topics() -> None:
    east = server()

    route = ask(east, GetRouteInfoByTopic(topic="orders"))
    clusters = ask(east, GetBrokerClusterInfo())

    assert isinstance(route, GetRouteInfoByTopicResponse) and isinstance(clusters, GetBrokerClusterInfoResponse)
    assert route.body.queue_datas[0].broker_name == "east"
    assert clusters.body.broker_addr_table["east"].master_address == "10.0.0.1:10910"


def test_an_unknown_topic_is_refused_in_the_words_of_the_version() -> None:
    remarks = [ask(server(version), GetRouteInfoByTopic(topic="x")).remark for version in ("4.9.7", "5.5.0")]

    no_route = "No topic route info in name server for the topic: x\nSee {} for further details."
    assert remarks == [
        no_route.format("http://rocketmq.apache.org/docs/faq/"),
        no_route.format("https://rocketmq.apache.org/docs/bestPractice/06FAQ"),
    ]


def test_topics_are_listed() -> None:
    lists = [
        ask(server(), request)
        for request in (GetAllTopicListFromNameserver(), GetTopicsByCluster(cluster="C"), GetSystemTopicListFromNs())
    ]

    assert [one.body.topic_list for one in lists if isinstance(one, TopicListResponse)] == [
        ("orders",),
        ("orders",),
        ("C", "east"),
    ]


def test_a_broker_may_register_over_a_connection_and_goes_with_it() -> None:
    east = NameServer("5.5.0")
    ask(east, registering(), channel=7)

    answer = ask(east, registering(1), channel=8)
    east.handle(Closed(channel=7), 0)
    east.handle(Closed(channel=8), 0)

    assert isinstance(answer, RegisterBrokerResponse)
    assert answer.master_addr == "10.0.0.1:10910"
    assert ask(east, GetRouteInfoByTopic(topic="orders")).code == ResponseCode.TOPIC_NOT_EXIST


def test_a_broker_may_say_that_it_goes() -> None:
    east = server()

    ask(east, UnregisterBroker(broker_name="east", broker_addr="10.0.0.1:10910", cluster_name="C", broker_id=0))

    assert ask(east, GetRouteInfoByTopic(topic="orders")).code == ResponseCode.TOPIC_NOT_EXIST


def test_silent_brokers_are_looked_for_every_five_seconds() -> None:
    east = NameServer("5.5.0")
    ask(east, registering(), channel=7)

    first = east.start(0)
    again = east.handle(Woken(timer=SCAN), 125_000)

    assert (first, again) == ((WakeAt(at=5_000, timer=SCAN),), (WakeAt(at=130_000, timer=SCAN),))
    assert isinstance(ask(east, GetRouteInfoByTopic(topic="orders")), Refused)


def test_operators_steer_producers() -> None:
    east = server()

    wiped = ask(east, WipeWritePermOfBroker(broker_name="east"))
    added = ask(east, AddWritePermOfBroker(broker_name="east"))

    assert isinstance(wiped, WipeWritePermOfBrokerResponse) and isinstance(added, AddWritePermOfBrokerResponse)
    assert (wiped.wipe_topic_count, added.add_topic_count) == (1, 1)


def test_a_topic_can_be_deleted() -> None:
    east = server()

    ask(east, DeleteTopicInNamesrv(topic="orders"))

    assert ask(east, GetRouteInfoByTopic(topic="orders")).code == ResponseCode.TOPIC_NOT_EXIST


def test_texts_are_kept_by_namespace() -> None:
    east = server()
    ask(east, PutKvConfig(namespace="N", key="k", value="v"))

    one, table = ask(east, GetKvConfig(namespace="N", key="k")), ask(east, GetKvlistByNamespace(namespace="N"))
    ask(east, DeleteKvConfig(namespace="N", key="k"))

    assert isinstance(one, GetKvConfigResponse) and isinstance(table, GetKvlistByNamespaceResponse)
    assert (one.value, dict(table.body.table)) == ("v", {"k": "v"})
    assert ask(east, GetKvConfig(namespace="N", key="k")).code == ResponseCode.QUERY_NOT_FOUND
    assert ask(east, GetKvlistByNamespace(namespace="N")).code == ResponseCode.QUERY_NOT_FOUND


def test_there_is_no_room_for_any_number_of_texts() -> None:
    east = server()
    for number in range(MOST_TEXTS):
        ask(east, PutKvConfig(namespace="N", key=str(number), value=""))

    assert isinstance(ask(east, PutKvConfig(namespace="N", key="more", value="")), Refused)


def test_the_order_of_a_topic_is_in_its_route_where_that_is_on() -> None:
    orders = []
    for orders_topics in (False, True):
        east = server(orders_topics=orders_topics)
        ask(east, PutKvConfig(namespace=ORDER_TOPIC_CONFIG, key="orders", value="east:4"))
        route = ask(east, GetRouteInfoByTopic(topic="orders"))
        assert isinstance(route, GetRouteInfoByTopicResponse)
        orders.append(route.body.order_topic_conf)

    assert orders == [None, "east:4"]


def test_its_settings_are_told_and_what_is_for_brokers_is_refused() -> None:
    settings = ask(server(), GetNamesrvConfig())

    assert isinstance(settings, GetNamesrvConfigResponse)
    assert "orderMessageEnable=false" in settings.body.splitlines()
    assert ask(server(), GetBrokerConfig()).remark == " request type 26 not supported"


def test_nobody_is_answered_who_wants_no_answer() -> None:
    assert server().handle(Received(channel=1, request=GetBrokerClusterInfo()), 0) == ()
