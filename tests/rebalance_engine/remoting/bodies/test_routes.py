import pytest

from rebalance_engine.remoting.binding import read_fields
from rebalance_engine.remoting.bodies.routes import MOST_QUEUES, BrokerData, QueueData, TopicRouteData
from rebalance_engine.remoting.errors import BrokenContent


@pytest.mark.parametrize(("perm", "is_readable", "is_writable"), [(6, True, True), (4, True, False), (2, False, True)])
def test_permission_bits_say_who_may_use_the_queues(perm: int, is_readable: bool, is_writable: bool) -> None:
    queues = QueueData(broker_name="east", read_queue_nums=4, write_queue_nums=4, perm=perm)

    assert (queues.is_readable, queues.is_writable) == (is_readable, is_writable)


def test_the_master_is_the_broker_with_id_zero() -> None:
    assert BrokerData(broker_name="east", broker_addrs={0: "10.0.0.1:10911", 1: "10.0.0.2:10911"}).master_address
    assert BrokerData(broker_name="east", broker_addrs={1: "10.0.0.2:10911"}).master_address is None


def queues(**numbers: object) -> dict[str, object]:
    return {"brokerName": "east", "readQueueNums": 4, "writeQueueNums": 4, "perm": 6, **numbers}


@pytest.mark.parametrize(
    ("route", "reason"),
    [
        ({"queueDatas": [queues(readQueueNums=2**31 - 1)]}, "2147483647 readable queues; it needs to be 1048576 at"),
        ({"queueDatas": [queues(writeQueueNums=2**31 - 1)]}, "2147483647 writable queues"),
        (
            {"queueDatas": [queues(writeQueueNums=2**62)]},
            "write_queue_nums: 4611686018427387904; it needs to be an int32",
        ),
        ({"queueDatas": [queues(readQueueNums=2**19), queues(readQueueNums=2**19 + 1)]}, "1048577 readable queues"),
        ({"orderTopicConf": "a:999999999"}, "999999999 ordered queues"),
        ({"orderTopicConf": "a: +99999999999x;b:1"}, "1000000000 ordered queues"),
        ({"topicQueueMappingByBroker": {"east": {"totalQueues": 2**31 - 1}}}, "2147483647 logical queues"),
        (
            {"topicQueueMappingByBroker": {"east": {"totalQueues": 2**31}}},
            "total_queues: 2147483648; it needs to be an",
        ),
        (
            {"topicQueueMappingByBroker": {name: {"scope": name, "totalQueues": 2**19 + 1} for name in "ab"}},
            "1048578 logical queues",
        ),
    ],
)
def test_a_route_of_more_queues_than_can_be_listed_is_broken(route: dict[str, object], reason: str) -> None:
    with pytest.raises(BrokenContent, match=reason):
        read_fields(TopicRouteData, route)


def test_a_route_may_have_as_many_queues_as_the_limit_says() -> None:
    half = MOST_QUEUES // 2
    mappings = {name: {"totalQueues": MOST_QUEUES, "bname": name} for name in ("east", "west")}
    datas = [queues(readQueueNums=half, writeQueueNums=half), queues(readQueueNums=half), queues(readQueueNums=-7)]

    read = read_fields(TopicRouteData, {"queueDatas": datas, "topicQueueMappingByBroker": mappings})

    assert sum(data.read_queue_nums for data in read.queue_datas) == MOST_QUEUES - 7
