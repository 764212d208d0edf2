from dataclasses import replace

import pytest

from rebalance_engine.model import MessageQueue
from rebalance_engine.producer import CPP, GO, Profile, java
from rebalance_engine.producer.index import Index
from rebalance_engine.producer.publish_info import (
    BadRoute,
    PublishInfo,
    differs,
    narrowed,
    publish_list,
)
from rebalance_engine.remoting.bodies.routes import BrokerData, QueueData, TopicQueueMappingInfo, TopicRouteData
from tests.rebalance_engine.producer.luck import TOPIC, WrittenLuck, route, short

J5, J4 = java("5.3.0"), java("4.9.7")
READ_ONLY = 4


def listed(given: TopicRouteData, profile: Profile = J5) -> str:
    return short(publish_list(TOPIC, given, profile))


def test_brokers_come_in_the_order_of_their_names_and_ids_ascend() -> None:
    assert listed(route("west:2", "east:3")) == "east/0 east/1 east/2 west/0 west/1"


def test_cpp_keeps_the_order_of_the_route_and_go_sorts() -> None:
    assert listed(route("west:1", "east:1"), CPP) == "west/0 east/0"
    assert listed(route("west:1", "east:1"), GO) == "east/0 west/0"


def test_java_sorts_by_utf_16_units_and_go_by_bytes() -> None:
    given = route("\N{FULLWIDTH TILDE}:1", "\N{GRINNING FACE}:1")

    assert [listed(given, J5)[0], listed(given, GO)[0]] == ["\N{GRINNING FACE}", "\N{FULLWIDTH TILDE}"]


def test_read_only_brokers_are_left_out() -> None:
    given = route("east", "west")
    given = replace(given, queue_datas=(replace(given.queue_datas[0], perm=READ_ONLY), given.queue_datas[1]))

    assert listed(given) == "west/0 west/1"


def test_brokers_without_an_address_entry_or_without_a_master_are_left_out() -> None:
    given = route("east", "south", "west")
    slave_only = BrokerData(broker_name="south", broker_addrs={1: "south:10911"})

    assert listed(replace(given, broker_datas=(slave_only, given.broker_datas[2]))) == "west/0 west/1"


def test_only_write_queues_count() -> None:
    data = QueueData(broker_name="east", read_queue_nums=8, write_queue_nums=2, perm=6)

    assert listed(replace(route("east"), queue_datas=(data,))) == "east/0 east/1"


@pytest.mark.parametrize("profile", [J5, J4, CPP, GO], ids=str)
def test_an_order_configuration_replaces_everything_in_its_own_order(profile: Profile) -> None:
    given = replace(route("east"), order_topic_conf="west:2;east:1", queue_datas=())

    info = PublishInfo.from_route(TOPIC, given, Index(profile.index, WrittenLuck()), profile, at=5)

    assert short(info.queues) == "west/0 west/1 east/0"
    assert info.is_ordered and info.made_at == 5


@pytest.mark.parametrize("text", ["west", "west:", "west:many", ";"])
def test_java_cannot_read_a_malformed_order_configuration(text: str) -> None:
    with pytest.raises(BadRoute, match="the order configuration is"):
        listed(route("east", order_topic_conf=text))


def test_cpp_and_go_read_what_they_can_of_it() -> None:
    assert listed(route("east", order_topic_conf="west;south: 1x;east:1"), CPP) == "south/0 east/0"
    assert listed(route("east", order_topic_conf="west:many;east:1"), GO) == "east/0"


def test_an_empty_order_configuration_is_none() -> None:
    assert listed(route("east:1", order_topic_conf="")) == "east/0"


def mapping(broker: str, epoch: int, *ids: int, scope: str | None = "__global__") -> TopicQueueMappingInfo:
    hosted = dict.fromkeys(ids, 0)
    return TopicQueueMappingInfo(scope=scope, total_queues=3, bname=broker, epoch=epoch, curr_id_map=hosted)


def test_a_static_topic_has_logical_queues_and_the_later_epoch_hosts_them() -> None:
    given = route(
        "east", topic_queue_mapping_by_broker={"west": mapping("west", 2, 1), "east": mapping("east", 1, 0, 1)}
    )

    info = PublishInfo.from_route(TOPIC, given, Index(J5.index, WrittenLuck()), J5, at=0)

    assert short(info.queues) == "__syslo__global__/0 __syslo__global__/1 __syslo__global__/2"
    assert [info.broker_of(queue) for queue in info.queues] == ["east", "west", "__syslo__none__"]
    assert info.broker_of(MessageQueue(TOPIC, "east", 0)) is None


def test_static_topics_are_unknown_to_4_x_and_give_way_to_any_order_configuration() -> None:
    mappings = {"east": mapping("east", 1, 0)}

    assert listed(route("east:1", topic_queue_mapping_by_broker=mappings), J4) == "east/0"
    assert listed(route("east:1", topic_queue_mapping_by_broker=mappings, order_topic_conf="")) == "east/0"


@pytest.mark.parametrize(
    ("profile", "counts"),
    [(J5, [(3, 3), (4, 4)]), (CPP, [(3, 3), (4, 4)]), (GO, [(3, 8), (4, 4)])],
    ids=str,
)
def test_the_default_topic_is_narrowed(profile: Profile, counts: list[tuple[int, int]]) -> None:
    given = TopicRouteData(
        queue_datas=(
            QueueData(broker_name="east", read_queue_nums=3, write_queue_nums=8, perm=6),
            QueueData(broker_name="west", read_queue_nums=8, write_queue_nums=8, perm=6),
        )
    )

    datas = narrowed(given, profile, default_queues=4).queue_datas

    assert [(data.read_queue_nums, data.write_queue_nums) for data in datas] == counts


def test_the_number_of_default_queues_is_a_setting_except_in_cpp() -> None:
    counts = [narrowed(route("east:8"), profile, 2).queue_datas[0].write_queue_nums for profile in (J5, CPP, GO)]

    assert counts == [2, 4, 2]


def test_the_order_of_its_parts_does_not_make_a_route_another() -> None:
    given = route("east", "west")
    turned = replace(given, queue_datas=given.queue_datas[::-1], broker_datas=given.broker_datas[::-1])

    assert not differs(turned, given)
    assert differs(route("east", "west:3"), given)
    assert differs(given, None)


def test_write_queues_are_those_of_the_route_whoever_may_be_written_to() -> None:
    read_only = replace(route("east:3").queue_datas[0], perm=READ_ONLY)
    info = PublishInfo(TOPIC, Index(J4.index, WrittenLuck()), replace(route("east"), queue_datas=(read_only,)))

    assert [info.write_queues(broker) for broker in ("east", "west", None)] == [3, -1, -1]
    assert PublishInfo(TOPIC, Index(J4.index, WrittenLuck())).write_queues("east") == -1


def test_an_entry_is_known_once_a_route_came_even_without_queues() -> None:
    index = Index(J5.index, WrittenLuck())

    assert not PublishInfo(TOPIC, index).is_known
    empty = PublishInfo.from_route(TOPIC, TopicRouteData(), index, J5, at=0)
    assert empty.is_known and not empty.has_queues
