"""Changes of brokers and routes lie between the last look that showed the old and the first that showed the new."""

from dataclasses import replace

from rebalance_engine.events import BrokerGone, BrokerSeen, Exactness, RouteMissing
from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.watcher.servers import Servers
from tests.rebalance_engine.network.watcher.seeing import brokers, by, route


def name_server(at: int, name: str = "n1") -> Answerer:
    return replace(by(at, None), address=f"{name}:9876")


def test_a_route_that_is_seen_first_may_have_been_so_for_any_time() -> None:
    first = Servers(1, {}).route_heard("orders", route(2, "east"), name_server(10))

    assert first is not None
    assert first.exactness == Exactness.at_most(10)


def test_a_route_changed_since_the_last_look_that_said_what_was_said_before() -> None:
    servers = Servers(1, {})
    servers.route_heard("orders", route(2, "east"), name_server(10))
    same = servers.route_heard("orders", route(2, "east"), name_server(15))
    more = servers.route_heard("orders", route(3, "east"), name_server(20))
    none = servers.route_heard("orders", None, name_server(27))

    assert same is None
    assert more is not None
    assert more.exactness == Exactness.between(15, 20)
    assert isinstance(none, RouteMissing)
    assert none.exactness == Exactness.between(20, 27)


def test_the_route_of_a_topic_that_was_not_asked_for_meanwhile_is_news_again() -> None:
    servers = Servers(1, {})
    for topic in ("orders", "payments"):
        servers.route_heard(topic, route(2, "east"), name_server(10))

    servers.keep_routes({"payments"})

    assert servers.route_heard("payments", route(2, "east"), name_server(20)) is None
    again = servers.route_heard("orders", route(2, "east"), name_server(20))
    assert again is not None
    assert again.exactness == Exactness.at_most(20)


def test_an_answer_that_was_long_under_way_is_of_no_later_time_than_its_question() -> None:
    servers = Servers(1, {})
    late = replace(name_server(50), asked_at=10)
    list(servers.cluster_heard(brokers("east", "west"), late))
    servers.route_heard("orders", route(2, "east"), late)

    [gone] = servers.cluster_heard(brokers("east"), name_server(60))
    changed = servers.route_heard("orders", route(3, "east"), name_server(60))

    assert gone.exactness == Exactness.between(10, 60)
    assert changed is not None
    assert changed.exactness == Exactness.between(10, 60)


def test_each_name_server_has_looks_of_its_own() -> None:
    servers = Servers(2, {})
    servers.route_heard("orders", route(2, "east"), name_server(10, "n1"))
    servers.route_heard("orders", route(2, "east"), name_server(18, "n2"))

    changed = servers.route_heard("orders", route(3, "east"), name_server(20, "n1"))

    assert changed is not None
    assert changed.exactness == Exactness.between(10, 20)


def test_a_broker_is_gone_since_the_last_look_that_listed_it() -> None:
    servers = Servers(2, {})
    for at, name in ((10, "n1"), (11, "n2"), (20, "n1")):
        list(servers.cluster_heard(brokers("east", "west"), name_server(at, name)))
    one = list(servers.cluster_heard(brokers("east"), name_server(30, "n1")))

    [gone] = servers.cluster_heard(brokers("east"), name_server(31, "n2"))

    assert one == []
    assert isinstance(gone, BrokerGone)
    assert (gone.broker, gone.exactness) == ("west", Exactness.between(20, 31))


def test_a_broker_is_back_since_some_name_server_last_did_not_list_it() -> None:
    servers = Servers(2, {})
    seen = list(servers.cluster_heard(brokers("east"), name_server(10, "n1")))
    list(servers.cluster_heard(brokers("east"), name_server(11, "n2")))
    list(servers.cluster_heard(brokers("east"), name_server(20, "n1")))

    [back] = servers.cluster_heard(brokers("east", "west"), name_server(30, "n1"))

    assert [fact.exactness for fact in seen] == [Exactness.at_most(10)]
    assert isinstance(back, BrokerSeen)
    assert (back.broker, back.exactness) == ("west", Exactness.between(11, 30))


def test_a_broker_of_which_the_one_before_knew_is_gone_since_nobody_knows_when() -> None:
    [gone] = Servers(1, {("east", 0): "east:1"}).cluster_heard(brokers(), name_server(30))

    assert gone.exactness == Exactness.at_most(30)


def test_routes_are_as_old_as_the_oldest_answer_and_unknown_while_one_was_never_told() -> None:
    servers, names = Servers(2, {}), ("n1:9876", "n2:9876")
    servers.route_heard("orders", route(2, "east"), name_server(10))
    one = servers.routes_at(["orders"], names)
    servers.route_heard("orders", None, name_server(14, "n2"))
    both = servers.routes_at(["orders"], names)
    servers.route_heard("orders", route(2, "east"), name_server(20))

    assert (one, both, servers.routes_at(["orders"], names)) == (None, 10, 14)
    assert servers.routes_at(["orders", "payments"], names) is None
    assert servers.routes_at([], names) is None
