from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.binding import read_fields
from rebalance_engine.remoting.bodies.routes import TopicQueueMappingInfo, TopicRouteData
from rebalance_engine.remoting.static_topics import static_endpoints


def mapping(broker: str, epoch: int, *ids: int, total: int = 3, scope: str = "__global__") -> TopicQueueMappingInfo:
    hosted = dict.fromkeys(ids, 0)
    return TopicQueueMappingInfo(scope=scope, total_queues=total, bname=broker, epoch=epoch, curr_id_map=hosted)


def endpoints(*mappings: TopicQueueMappingInfo) -> dict[str, str]:
    given = TopicRouteData(topic_queue_mapping_by_broker={str(number): each for number, each in enumerate(mappings)})
    return {f"{mq.broker}/{mq.queue_id}": host for mq, host in static_endpoints("orders", given).items()}


def test_the_later_epoch_hosts_a_queue_and_what_nobody_hosts_is_there_too() -> None:
    assert endpoints(mapping("west", 2, 1), mapping("east", 1, 0, 1)) == {
        "__syslo__global__/0": "east",
        "__syslo__global__/1": "west",
        "__syslo__global__/2": "__syslo__none__",
    }


def test_there_are_as_many_queues_as_the_largest_mapping_says() -> None:
    assert len(endpoints(mapping("west", 2, 1, total=2), mapping("east", 1, 0, total=5))) == 5


def test_other_scopes_keep_their_name() -> None:
    given = endpoints(mapping("a", 1, 0, scope="x", total=1), mapping("c", 1, 0, total=1))

    assert given == {"__syslo__x/0": "a", "__syslo__global__/0": "c"}


def test_a_topic_without_mappings_is_not_static() -> None:
    assert static_endpoints("orders", TopicRouteData()) == {}
    assert static_endpoints("orders", TopicRouteData(topic_queue_mapping_by_broker={})) == {}


def test_a_scope_that_is_left_out_is_the_global_one() -> None:
    read = read_fields(TopicQueueMappingInfo, {"totalQueues": 1, "bname": "east", "currIdMap": {"0": 0}})
    given = TopicRouteData(topic_queue_mapping_by_broker={"east": read})

    assert static_endpoints("orders", given) == {MessageQueue("orders", "__syslo__global__", 0): "east"}
