from rebalance_engine.network.homes import MOST, Homes, writable
from rebalance_engine.remoting.bodies.routes import PERM_READ, PERM_WRITE, BrokerData, QueueData, TopicRouteData


def route(*addresses: str) -> TopicRouteData:
    datas = (BrokerData(broker_name=address, broker_addrs={0: address}) for address in addresses)
    return TopicRouteData(broker_datas=tuple(datas))


def test_an_address_is_left_with_the_last_route_that_names_it() -> None:
    homes = Homes()
    homes.learn("orders", route("east:1", "west:1"))
    homes.learn("bills", route("west:1"))

    assert homes.learn("orders", route("east:1")) == frozenset()
    assert homes.learn("bills", route()) == {"west:1"}
    assert (homes.were_left("west:1"), homes.were_left("east:1"), homes.were_left("names:1")) == (True, False, False)
    homes.learn("bills", route("west:1"))
    assert not homes.were_left("west:1")


def test_a_forgotten_topic_leaves_its_addresses() -> None:
    homes = Homes()
    homes.learn("orders", route("east:1"))

    assert homes.forget("orders") == {"east:1"}
    assert homes.forget("orders") == frozenset()


def test_what_is_kept_is_bounded() -> None:
    homes = Homes()
    for number in range(MOST + 1):
        homes.learn("orders", route(f"h:{number}"))
    for number in range(MOST):
        homes.learn(f"t{number}", route("east:1"))

    assert [homes.were_left(f"h:{number}") for number in (0, MOST - 1)] == [True, True]
    homes.learn("orders", route())
    assert [homes.were_left(f"h:{number}") for number in (0, MOST)] == [False, True]
    assert homes.learn("one more", route("west:1")) == frozenset()
    assert homes.forget("one more") == frozenset()


def test_messages_are_sent_to_masters_with_queues_that_may_be_written() -> None:
    rows = [
        QueueData(broker_name="a", read_queue_nums=1, write_queue_nums=1, perm=PERM_READ | PERM_WRITE),
        QueueData(broker_name="b", read_queue_nums=1, write_queue_nums=1, perm=PERM_READ),
        QueueData(broker_name="c", read_queue_nums=1, write_queue_nums=0, perm=PERM_WRITE),
        QueueData(broker_name="d", read_queue_nums=1, write_queue_nums=1, perm=PERM_WRITE),
    ]
    datas = [BrokerData(broker_name=name, broker_addrs={0: f"{name}:1", 1: f"{name}:2"}) for name in "abc"]
    datas.append(BrokerData(broker_name="d", broker_addrs={1: "d:2"}))

    assert writable(TopicRouteData(queue_datas=tuple(rows), broker_datas=tuple(datas))) == {"a:1"}
