import pytest

from rebalance_engine.events import BrokerQueues, BrokerSeen, RouteSeen
from tests.rebalance_engine.facts import plain


def queues(broker: str, permission: int = 6, count: int = 4) -> BrokerQueues:
    return BrokerQueues(broker=broker, read_queues=count, write_queues=count, permission=permission, has_master=True)


def test_a_route_names_each_broker_once() -> None:
    assert len(plain(RouteSeen, brokers=(queues("east"), queues("west"))).brokers) == 2
    with pytest.raises(ValueError, match=r"has \['east'\] more than once; each broker may be there once"):
        plain(RouteSeen, brokers=(queues("east"), queues("east", count=8)))


def test_a_route_may_be_without_brokers() -> None:
    assert plain(RouteSeen, brokers=()).brokers == ()


@pytest.mark.parametrize("permission", [-1, 16])
def test_a_permission_that_rocketmq_does_not_have_is_refused(permission: int) -> None:
    with pytest.raises(ValueError, match=rf"BrokerQueues\.permission is {permission}; it needs int from 0 to 15"):
        queues("east", permission)


def test_a_queue_count_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match=r"BrokerQueues\.read_queues is -1; it needs int from 0 to 2147483647"):
        queues("east", count=-1)


def test_the_master_is_broker_id_0() -> None:
    assert plain(BrokerSeen, broker="east", broker_id=0).broker_id == 0
