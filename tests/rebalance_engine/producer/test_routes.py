from dataclasses import replace

import pytest

from rebalance_engine.producer import GO, Profile, java
from rebalance_engine.producer.publish_info import BadRoute
from rebalance_engine.producer.routes import RouteBook
from rebalance_engine.remoting.bodies.routes import TopicRouteData
from tests.rebalance_engine.producer.luck import TOPIC, WrittenLuck, route, settings, short

J5 = java("5.3.0")


def book(profile: Profile = J5, *luck: int) -> RouteBook:
    return RouteBook(profile, settings(), WrittenLuck(*luck))


def test_a_topic_is_unknown_until_it_is_expected() -> None:
    given = book()

    assert given.info(TOPIC) is None
    assert given.expect(TOPIC) is given.info(TOPIC)
    assert given.topics() == [TOPIC]


def test_a_new_route_makes_a_new_publish_info_with_a_new_index() -> None:
    given = book(J5, 10, 20)
    first = given.accept(TOPIC, route("east"), at=1)
    assert first is not None and first.index.advance("A") == 11

    second = given.accept(TOPIC, route("east", "west"), at=2)

    assert second is not None and second is given.info(TOPIC)
    assert second.index.advance("A") == 21
    assert second.made_at == 2


def test_the_same_route_leaves_everything_as_it_is() -> None:
    given = book()
    first = given.accept(TOPIC, route("east"), at=1)

    assert given.accept(TOPIC, route("east"), at=2) is None
    assert given.info(TOPIC) is first


def test_the_same_route_is_taken_in_where_no_queue_is_known() -> None:
    given = book()
    empty = TopicRouteData()
    given.accept(TOPIC, empty, at=1)

    assert given.accept(TOPIC, empty, at=2) is not None


def test_go_keeps_its_index_when_the_route_changes() -> None:
    given = book(GO)
    first = given.accept(TOPIC, route("east"), at=1)
    assert first is not None and first.index.advance("A") == 1

    second = given.accept(TOPIC, route("west"), at=2)

    assert second is not None and second.index.advance("A") == 2


def test_the_default_topic_lends_its_brokers_under_the_topics_own_name() -> None:
    given = book()

    lent = given.accept_default(TOPIC, route("east:8"), at=1)

    assert lent is not None and short(lent.queues) == "east/0 east/1 east/2 east/3"
    assert {queue.topic for queue in lent.queues} == {TOPIC}


def test_the_real_route_then_replaces_the_lent_one_unless_it_is_the_same() -> None:
    given = book()
    given.accept_default(TOPIC, route("east:8"), at=1)

    assert given.accept(TOPIC, route("east:4"), at=2) is None
    assert given.accept(TOPIC, route("east:8"), at=3) is not None


def test_a_malformed_route_changes_nothing() -> None:
    given = book()
    first = given.accept(TOPIC, route("east"), at=1)

    with pytest.raises(BadRoute):
        given.accept(TOPIC, route("west", order_topic_conf="west"), at=2)

    assert given.info(TOPIC) is first
    assert given.master_of("west") is None


def test_addresses_are_those_of_the_masters() -> None:
    given = book()
    slave = replace(route("west").broker_datas[0], broker_addrs={1: "west:10911"})
    given.accept(TOPIC, replace(route("east", "west"), broker_datas=(route("east").broker_datas[0], slave)), at=1)

    assert [given.master_of(broker) for broker in ("east", "west", "south", None)] == ["east:10911", None, None, None]


def test_an_address_is_forgotten_when_no_route_names_it() -> None:
    given = book()
    given.accept(TOPIC, route("east", "west"), at=1)
    given.accept("payments", route("west"), at=1)
    given.accept(TOPIC, route("south"), at=2)
    assert given.master_of("east") == "east:10911"

    given.forget_offline()

    assert [given.master_of(broker) for broker in ("east", "south", "west")] == [None, "south:10911", "west:10911"]


def test_the_book_is_walked_info_by_info() -> None:
    given = book()
    given.expect("payments")
    given.expect(TOPIC)

    assert {info.topic for info in given} == set(given.topics()) == {TOPIC, "payments"}


def test_the_masters_are_those_of_all_routes() -> None:
    given = book()
    assert given.masters() == ()

    given.accept(TOPIC, route("east:2", "west:2"), 0)

    assert [given.master_of(broker) for broker in ("east", "west")] == list(given.masters())
