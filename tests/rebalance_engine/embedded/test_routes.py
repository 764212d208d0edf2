from collections.abc import Mapping

from rebalance_engine.embedded.routes import RouteTable
from rebalance_engine.remoting.bodies.settings import TopicConfig

TOPICS = {name: TopicConfig(topic_name=name, read_queue_nums=4, write_queue_nums=2) for name in ("orders", "pay")}


def register(
    table: RouteTable,
    broker: str = "east",
    broker_id: int = 0,
    *,
    topics: Mapping[str, TopicConfig] = TOPICS,
    channel: int | None = None,
    at: int = 0,
) -> None:
    address = f"10.0.0.1:{len(broker)}{broker_id}"
    table.register(broker, broker_id, address=address, cluster="C", topics=topics, channel=channel, at=at)


def test_a_route_names_queues_and_addresses() -> None:
    table = RouteTable()
    register(table)
    register(table, "western")

    route = table.route("orders")

    assert route is not None
    assert [(data.broker_name, data.read_queue_nums, data.write_queue_nums) for data in route.queue_datas] == [
        ("east", 4, 2),
        ("western", 4, 2),
    ]
    assert [data.broker_addrs for data in route.broker_datas] == [{0: "10.0.0.1:40"}, {0: "10.0.0.1:70"}]
    assert table.route("unknown") is None


def test_brokers_form_clusters() -> None:
    table = RouteTable()
    register(table)

    info = table.clusters()

    assert (dict(info.cluster_addr_table), info.broker_addr_table["east"].cluster) == ({"C": ("east",)}, "C")
    assert (table.topics(), table.topics("C"), table.topics("D")) == (("orders", "pay"), ("orders", "pay"), ())
    assert table.system_topics().topic_list == ("C", "east")


def test_a_slave_adds_an_address_and_no_topics() -> None:
    table = RouteTable()
    register(table)

    register(table, broker_id=1, topics={})

    route = table.route("orders")
    assert route is not None
    assert dict(route.broker_datas[0].broker_addrs) == {0: "10.0.0.1:40", 1: "10.0.0.1:41"}


def test_a_broker_whose_connection_closed_is_forgotten() -> None:
    table = RouteTable()
    register(table, channel=5)
    register(table, "western", channel=6)

    table.closed(5)

    assert [table.master_of(name) for name in ("east", "western")] == [None, "10.0.0.1:70"]


def test_a_silent_broker_is_forgotten_but_not_one_of_this_process() -> None:
    table = RouteTable()
    register(table, channel=5, at=0)
    register(table, "western", at=0)

    table.expire(120_000)
    both = set(table.clusters().broker_addr_table)
    table.expire(120_001)

    assert (both, set(table.clusters().broker_addr_table)) == ({"east", "western"}, {"western"})


def test_a_permission_that_was_wiped_stays_so_until_something_new_is_registered() -> None:
    table = RouteTable()
    register(table)

    count = table.wipe_write("east")
    register(table)
    wiped = table.route("orders")
    register(table, topics={**TOPICS, "new": TopicConfig(topic_name="new")})
    again = table.route("orders")

    assert wiped is not None and again is not None
    assert (count, wiped.queue_datas[0].perm, again.queue_datas[0].perm) == (2, 4, 6)


def test_a_permission_that_is_given_back_is_given_to_all() -> None:
    table = RouteTable()
    register(table, topics={"orders": TopicConfig(topic_name="orders", perm=4)})

    count = table.add_write("east")

    route = table.route("orders")
    assert route is not None
    assert (count, route.queue_datas[0].perm, table.add_write("nobody")) == (1, 6, 0)


def test_a_deleted_topic_is_nowhere_until_it_is_registered_again() -> None:
    table = RouteTable()
    register(table)

    table.delete_topic("orders", "D")
    kept = table.route("orders")
    table.delete_topic("orders")

    assert kept is not None
    assert table.route("orders") is None
