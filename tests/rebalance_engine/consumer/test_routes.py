import random
from dataclasses import replace

import pytest

from rebalance_engine.consumer import CPP, GO, Profile, java
from rebalance_engine.consumer.routes import RouteBook
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.routes import BrokerData, QueueData, TopicQueueMappingInfo, TopicRouteData
from tests.rebalance_engine.consumer.world import World

EAST = MessageQueue("orders", "east", 0)
LUCK = random.Random(1)


def broker(name: str, *numbers: int) -> BrokerData:
    return BrokerData(broker_name=name, broker_addrs={number: f"{name}-{number}:10911" for number in numbers})


def queues(name: str, count: int, perm: int = 6) -> QueueData:
    return QueueData(broker_name=name, read_queue_nums=count, write_queue_nums=count, perm=perm)


def book(*brokers: BrokerData, datas: tuple[QueueData, ...] = ()) -> RouteBook:
    routes = RouteBook()
    routes.learn("orders", TopicRouteData(queue_datas=datas, broker_datas=brokers))
    return routes


def test_readable_queues_are_divided_whether_or_not_a_master_lives() -> None:
    routes = book(broker("east", 1), datas=(queues("east", 2), queues("west", 1, perm=2)))

    assert routes.queues("orders") == frozenset({EAST, MessageQueue("orders", "east", 1)})
    assert routes.queues("bills") is None
    assert routes.knows("orders") and not routes.knows("bills")


def test_any_broker_answers_with_its_master_first() -> None:
    routes = book(broker("east", 0, 1), broker("west", 2))

    seen = {routes.any_broker_of("orders", LUCK) for _ in range(50)}

    assert seen == {"east-0:10911", "west-2:10911"}
    assert routes.any_broker_of("bills", LUCK) is None
    assert book().any_broker_of("orders", LUCK) is None


def test_a_pull_goes_where_the_broker_suggested() -> None:
    routes = book(broker("east", 0, 1))
    assert routes.for_pull(EAST) == ("east-0:10911", True)

    routes.prefer(EAST, 1)
    assert routes.for_pull(EAST) == ("east-1:10911", False)
    routes.prefer(EAST, 7)
    assert routes.for_pull(EAST) == ("east-0:10911", True)
    assert routes.for_pull(MessageQueue("orders", "west", 0)) is None


def test_brokers_in_no_route_are_forgotten() -> None:
    routes = book(broker("east", 0))
    routes.learn("orders", TopicRouteData(broker_datas=(broker("west", 0, 1),)))
    assert list(routes.addresses()) == ["east-0:10911", "west-0:10911", "west-1:10911"]

    routes.forget_offline()

    assert list(routes.addresses()) == ["west-0:10911", "west-1:10911"]
    assert list(routes.addresses(masters_only=True)) == ["west-0:10911"]
    assert routes.master("east") is None
    assert routes.is_broker("west-1:10911") and not routes.is_broker("east-0:10911")


@pytest.mark.parametrize(
    ("profile", "knows"), [(java("4.9.7"), False), (java("5.0.0"), True), (GO, False), (CPP, False)]
)
def test_static_topics_came_with_5_0(profile: Profile, knows: bool) -> None:
    world = World()
    world.static_topic("orders", 1, "east=0")
    route = replace(
        world.routes["orders"],
        queue_datas=(queues("east", 2),),
    )
    routes = world.make_client("A", profile).desk.routes

    routes.learn("orders", route)

    physical = {EAST, MessageQueue("orders", "east", 1)}
    logical = {MessageQueue("orders", "__syslo__global__", 0)}
    assert set(routes.queues("orders") or ()) == (logical if knows else physical)


def test_a_static_topic_has_logical_queues() -> None:
    routes = RouteBook()
    mapping = TopicQueueMappingInfo(topic="orders", total_queues=3, bname="east", curr_id_map={0: 5, 2: 6})
    route = TopicRouteData(broker_datas=(broker("east", 0),), topic_queue_mapping_by_broker={"east": mapping})
    routes.learn("orders", route)

    logical = [MessageQueue("orders", "__syslo__global__", number) for number in range(3)]

    assert routes.queues("orders") == frozenset(logical)
    assert [routes.broker_of(mq) for mq in logical] == ["east", "__syslo__none__", "east"]
    assert routes.for_pull(logical[2]) == ("east-0:10911", True)


def test_an_equal_route_changes_nothing() -> None:
    routes = book(broker("east", 0), datas=(queues("east", 1),))
    routes.learn("orders", TopicRouteData(queue_datas=(queues("east", 1),), broker_datas=(broker("east", 0),)))

    assert routes.queues("orders") == frozenset({EAST})
