import pytest

from rebalance_engine.remoting.bodies.routes import BrokerData, QueueData


@pytest.mark.parametrize(("perm", "is_readable", "is_writable"), [(6, True, True), (4, True, False), (2, False, True)])
def test_permission_bits_say_who_may_use_the_queues(perm: int, is_readable: bool, is_writable: bool) -> None:
    queues = QueueData(broker_name="east", read_queue_nums=4, write_queue_nums=4, perm=perm)

    assert (queues.is_readable, queues.is_writable) == (is_readable, is_writable)


def test_the_master_is_the_broker_with_id_zero() -> None:
    assert BrokerData(broker_name="east", broker_addrs={0: "10.0.0.1:10911", 1: "10.0.0.2:10911"}).master_address
    assert BrokerData(broker_name="east", broker_addrs={1: "10.0.0.2:10911"}).master_address is None
