"""What is in ``allocation/__init__.py``: looking strategies up, and asking for a whole group."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine import MessageQueue, allocation
from rebalance_engine.allocation import (
    STRATEGIES,
    AllocationError,
    MixedMember,
    allocate,
    allocate_mixed,
    broadcast,
    strategy,
)
from rebalance_engine.allocation.contract import (
    BadClient,
    BadParameter,
    BadQueue,
    Kind,
    MissingParameter,
    NoClients,
    NoQueues,
    Strategy,
    UnknownParameter,
    UnknownStrategy,
)
from rebalance_engine.model import Order
from rebalance_engine.tables import ClientTable, Int32s, QueueTable
from tests.rebalance_engine.allocation.groups import (
    CHARACTERS,
    Group,
    each_alone,
    groups,
    in_order,
    names,
    on_both_paths,
    queues,
    queues_in_order,
)

ROOMS: dict[str, Any] = {"broker_room": lambda queue: (queue.broker or "?")[0], "client_room": lambda name: name[0]}
ALL: list[tuple[str, dict[str, Any]]] = [
    ("AVG", {}),
    ("AVG_BY_CIRCLE", {}),
    ("CONFIG", {"config": {"A": queues(3, 3, 0), "B": queues(0, topic="A")}}),
    ("MACHINE_ROOM", {"consumer_idcs": {"east", "", "a"}}),
    ("CONSISTENT_HASH", {}),
    ("CONSISTENT_HASH", {"virtual_nodes": 0}),
    ("MACHINE_ROOM_NEARBY-AVG", ROOMS),
    ("MACHINE_ROOM_NEARBY-CONSISTENT_HASH", {**ROOMS, "virtual_nodes": 2}),
    ("CPP_AVG", {}),
    ("GO_AVG", {}),
    ("GO_AVG_BY_CIRCLE", {}),
    ("GO_CONFIG", {"config": {"A": queues(1)}}),
    ("GO_MACHINE_ROOM", {"consumer_idcs": ["east", "", "a"]}),
    ("GO_MACHINE_ROOM_NEARBY", {}),
    ("GO_CONSISTENT_HASH", {"virtual_nodes": 3}),
]
IN_TABLES = [(name, params) for name, params in ALL if strategy(name, **params).owners is not None]


def test_every_strategy_of_rocketmq_and_its_other_clients_is_there() -> None:
    tested = {name.partition("-")[0] for name, _ in ALL}

    assert tested <= STRATEGIES.keys()
    assert tested >= {"AVG", "AVG_BY_CIRCLE", "CONFIG", "MACHINE_ROOM", "CONSISTENT_HASH", "MACHINE_ROOM_NEARBY"}
    assert tested >= {name for name in STRATEGIES if name.startswith(("CPP_", "GO_"))}


# ---- what holds for every strategy ----


@pytest.mark.parametrize(("name", "params"), ALL)
@given(group=groups(), luck=st.integers())
def test_the_order_of_the_input_decides_nothing(name: str, params: dict[str, Any], group: Group, luck: int) -> None:
    before = allocate(name, group.queues, group.clients, **params)

    Random(luck).shuffle(group.queues)
    Random(luck).shuffle(group.clients)

    assert on_both_paths(name, group.queues, group.clients, **params) == [before] * 2


@pytest.mark.parametrize(("name", "params"), ALL)
@given(group=groups())
def test_every_distinct_client_is_a_key_and_nobody_else(name: str, params: dict[str, Any], group: Group) -> None:
    for allocated in on_both_paths(name, group.queues, group.clients, **params):
        assert allocated.keys() == set(group.clients)
        assert list(allocated) == list(dict.fromkeys(in_order(group.clients, strategy(name, **params).order)))


@pytest.mark.parametrize(("name", "params"), IN_TABLES)
@given(group=groups(), luck=st.integers(), passing=st.lists(names(), max_size=4))
def test_the_numbers_of_clients_decide_nothing(
    name: str, params: dict[str, Any], group: Group, luck: int, passing: list[str]
) -> None:
    chosen = strategy(name, **params)
    assert chosen.owners is not None
    table = QueueTable.of(group.queues, chosen.order)
    sorted_clients = ClientTable.of(group.clients, chosen.order)

    grown = _grown(group.clients, passing, chosen.order, luck)
    owner = chosen.owners(table, grown)

    assert grown.ids == sorted_clients.ids
    assert _named(grown, owner) == _named(sorted_clients, chosen.owners(table, sorted_clients))


def _grown(clients: Iterable[str], passing: list[str], order: Order, luck: int) -> ClientTable:
    """Let members join one by one, among others who leave again, so that numbers are in no order."""
    coming = [*clients, *passing]
    Random(luck).shuffle(coming)
    table = ClientTable.of(coming[:1], order)
    for name in coming[1:]:
        table = table.joined(name)
    for name in passing:
        table = table.left(name)
    return table


def _named(clients: ClientTable, owner: Int32s) -> list[str | None]:
    return [None if number < 0 else clients.names[number] for number in owner.tolist()]


def test_large_groups_and_small_ones_agree_at_the_border() -> None:
    for count in (99, 100, 101):  # times ten clients: FEW_QUESTIONS is 1000
        clients = [f"c{number}" for number in range(10)]
        for name, params in ALL:
            allocated = allocate(name, queues(*range(count)), clients, **params)

            assert on_both_paths(name, queues(*range(count)), clients, **params) == [allocated] * 2


@pytest.mark.parametrize("name", ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"])
def test_a_whole_group_of_several_topics_is_asked_topic_by_topic(name: str) -> None:
    given_queues = [queue for topic in ("T", "S", "%RETRY%group") for queue in queues(*range(5), topic=topic)]

    answers = on_both_paths(name, given_queues, ["C", "A", "B"])

    assert answers == [each_alone(name, given_queues, ["A", "B", "C"])] * 2


# ---- the orders ----


def test_client_ids_sort_as_java_sorts_them() -> None:
    clients = ["10.0.0.9@1", "10.0.0.10@1", "10.0.0.100@1", "10.0.0.1@1", "10.0.0.1@1#2", "10.0.0.1@1@u"]

    for allocated in on_both_paths("AVG", queues(*range(6)), clients):
        assert {held[0].queue_id: client_id for client_id, held in allocated.items()} == {
            0: "10.0.0.100@1",
            1: "10.0.0.10@1",
            2: "10.0.0.1@1",
            3: "10.0.0.1@1#2",
            4: "10.0.0.1@1@u",
            5: "10.0.0.9@1",
        }


@pytest.mark.parametrize(("name", "first"), [("AVG", "\U0001f600"), ("CPP_AVG", "\uff5e"), ("GO_AVG", "\uff5e")])
def test_astral_names_sort_by_utf16_in_java_and_by_code_point_elsewhere(name: str, first: str) -> None:
    second = ({"\U0001f600", "\uff5e"} - {first}).pop()
    given_queues = [MessageQueue(topic, broker, 0) for topic in (second, first) for broker in (second, first)]

    for allocated in on_both_paths(name, given_queues, [second, first]):
        assert allocated == {
            first: [MessageQueue(first, first, 0), MessageQueue(second, first, 0)],
            second: [MessageQueue(first, second, 0), MessageQueue(second, second, 0)],
        }


def test_a_lone_surrogate_sorts_among_the_astral_names() -> None:
    in_java_order = ["\ud7ff", "\ud800", "\U0001f600", "\udfff", "\ue000"]

    for allocated in on_both_paths("AVG", queues(*range(5)), in_java_order[::-1]):
        assert list(allocated) == in_java_order
        assert [held[0].queue_id for held in allocated.values()] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", ["AVG", "AVG_BY_CIRCLE", "CPP_AVG"])
def test_queue_minus_one_comes_before_queue_zero(name: str) -> None:
    for allocated in on_both_paths(name, queues(2, 10, 0, -1), ["A", "B", "C", "D"]):
        assert allocated == {"A": queues(-1), "B": queues(0), "C": queues(2), "D": queues(10)}


@given(groups(topics=1))
def test_a_single_client_gets_everything_in_order(group: Group) -> None:
    for allocated in on_both_paths("AVG", group.queues, ["A"]):
        assert allocated == {"A": queues_in_order(group.queues)}


def test_a_queue_that_is_given_twice_counts_once() -> None:
    assert on_both_paths("AVG", queues(1, 0, 1, 1), ["A", "B"]) == [{"A": queues(0), "B": queues(1)}] * 2


def test_any_iterable_will_do_and_nothing_given_is_changed() -> None:
    given_queues, clients = queues(1, 0), ["B", "A"]

    allocated = allocate("AVG", iter(given_queues), (client_id for client_id in clients))
    allocate("AVG", given_queues, clients)

    assert allocated == {"A": queues(0), "B": queues(1)}
    assert (given_queues, clients) == (queues(1, 0), ["B", "A"])


@pytest.mark.parametrize("name", ["AVG", "CONSISTENT_HASH"])
def test_the_lists_are_the_callers_to_change(name: str) -> None:
    for lists in on_both_paths(name, queues(*range(9)), ["A", "B"]):
        before = {client_id: list(held) for client_id, held in lists.items()}
        lists["A"].clear()

        assert lists["B"] == before["B"]
        assert allocate(name, queues(*range(9)), ["A", "B"]) == before


# ---- errors ----


@pytest.mark.parametrize(("name", "params"), ALL)
def test_no_queues_and_no_clients_are_refused_by_every_strategy(name: str, params: dict[str, Any]) -> None:
    with pytest.raises(NoQueues, match="there are no queues to allocate: at least one is needed"):
        allocate(name, [], ["A"], **params)
    with pytest.raises(NoQueues, match="no queues"):
        allocate(name, iter([]), [], **params)
    with pytest.raises(NoClients, match="there are no clients to allocate to: at least one is needed"):
        allocate(name, queues(0), iter([]), **params)


@pytest.mark.parametrize("wrong", ["", None, 5, b"A"])
def test_a_client_id_that_no_broker_could_list_is_refused(wrong: Any) -> None:  # noqa: ANN401 - that is the test
    with pytest.raises(BadClient) as refused:
        on_both_paths("AVG", queues(0), ["A", wrong])

    assert str(refused.value) == f"a client id must be a text that is not empty, not {wrong!r}"


@pytest.mark.parametrize("wrong", ["NOPE", "", "avg", "AVG ", "MACHINE_ROOM_NEARBY_AVG", "AVG-AVG"])
def test_an_unknown_strategy_is_refused_with_those_that_there_are(wrong: str) -> None:
    with pytest.raises(UnknownStrategy) as refused:
        allocate(wrong, queues(0), ["A"])

    assert str(refused.value) == f"there is no strategy {wrong!r}; there are {', '.join(STRATEGIES)}"
    assert "AVG, AVG_BY_CIRCLE, CONFIG, MACHINE_ROOM, " in str(refused.value)


@pytest.mark.parametrize(("name", "params"), ALL)
def test_an_unknown_parameter_is_refused_with_those_that_are_allowed(name: str, params: dict[str, Any]) -> None:
    kind = name.partition("-")[0]

    with pytest.raises(UnknownParameter) as refused:
        allocate(name, queues(0), ["A"], **params, haste=1)

    allowed = ", ".join(sorted(STRATEGIES[kind].takes)) or "none"
    assert str(refused.value) == f"{kind} has no parameter 'haste'; allowed: {allowed}"


def test_each_strategy_takes_only_its_own_parameters() -> None:
    with pytest.raises(
        UnknownParameter, match="CONSISTENT_HASH has no parameter 'consumer_idcs'; allowed: virtual_nodes"
    ):
        allocate("CONSISTENT_HASH", queues(0), ["A"], consumer_idcs={"r1"})
    with pytest.raises(MissingParameter, match="MACHINE_ROOM needs the parameter 'consumer_idcs'; given: none"):
        allocate("MACHINE_ROOM", queues(0), ["A"])


def test_every_refusal_can_be_caught_in_one_place() -> None:
    refused: list[tuple[str, list[MessageQueue], list[str], dict[str, Any]]] = [
        ("NOPE", queues(0), ["A"], {}),
        ("AVG", [], ["A"], {}),
        ("AVG", queues(0), [], {}),
        ("AVG", queues(0), [""], {}),
        ("AVG", queues(0), ["A"], {"haste": 1}),
        ("MACHINE_ROOM", queues(0), ["A"], {}),
        ("CONFIG", queues(0), ["A"], {"config": 5}),
    ]

    for name, given_queues, clients, params in refused:
        with pytest.raises(AllocationError):
            allocate(name, given_queues, clients, **params)


def test_a_plan_for_a_whole_group_has_no_member_that_could_compute_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Strategy("PLAN", Order.JAVA, None, strategy("AVG").owners)
    monkeypatch.setitem(allocation.STRATEGIES, "PLAN", Kind("PLAN", "for tests", lambda: plan))

    assert allocate("PLAN", queues(0, 1), ["B", "A"]) == {"A": queues(0), "B": queues(1)}
    with pytest.raises(UnknownStrategy, match="PLAN is a plan for a whole group: no member can compute it alone"):
        allocate_mixed(queues(0), [MixedMember("A", "PLAN")])


def test_the_random_groups_hold_what_makes_orders_differ() -> None:
    assert in_order(CHARACTERS) != in_order(CHARACTERS, Order.BYTES)


@pytest.mark.parametrize("clients", [1, 2000])
def test_a_queue_id_that_is_no_java_int_is_refused_in_groups_of_any_size(clients: int) -> None:
    queues = [MessageQueue("orders", "east", 2**31)]

    with pytest.raises(BadQueue, match=r"a queue id must be a Java int, .* queueId=2147483648"):
        allocate("AVG", queues, [f"c{number}" for number in range(clients)])


def test_a_parameter_may_not_be_called_name() -> None:
    with pytest.raises(UnknownParameter, match="AVG has no parameter 'name'"):
        allocate("AVG", [MessageQueue("orders", "east", 0)], ["A"], name="AVG")


@pytest.mark.parametrize("queue", [("orders", "east", 0), "orders", 7])
def test_what_is_no_queue_is_refused(queue: object) -> None:
    with pytest.raises(BadQueue, match="a queue must be a MessageQueue, not"):
        allocate("AVG", [queue], ["A"])  # type: ignore[list-item]  # on purpose


@pytest.mark.parametrize("parts", [("orders", "east", "0"), (None, "east", 0), ("orders", "east", 1.0)])
def test_a_queue_of_other_parts_is_refused(parts: tuple[Any, Any, Any]) -> None:
    with pytest.raises(BadQueue, match="a queue has two texts and a whole number, not"):
        broadcast([MessageQueue(*parts)], ["A"])


def test_a_broadcasting_group_needs_queues_and_clients_too() -> None:
    with pytest.raises(NoQueues, match="there are no queues"):
        broadcast([], [])
    with pytest.raises(BadClient, match="not ''"):
        broadcast([MessageQueue("orders", "east", 0)], [""])


@pytest.mark.parametrize("name", [None, ["AVG"], 7])
def test_a_name_that_is_no_text_is_refused(name: object) -> None:
    with pytest.raises(UnknownStrategy, match="a strategy's name must be a text"):
        allocate(name, [MessageQueue("orders", "east", 0)], ["A"])  # type: ignore[arg-type]  # on purpose


def test_numbers_of_numpy_are_numbers() -> None:
    queues = [MessageQueue("orders", "east", np.int32(number)) for number in range(4)]  # type: ignore[arg-type]  # on purpose

    plain = allocate("CONSISTENT_HASH", queues, ["A", "B"], virtual_nodes=5)

    assert allocate("CONSISTENT_HASH", queues, ["A", "B"], virtual_nodes=np.int64(5)) == plain


def test_a_ring_beyond_all_measure_is_refused() -> None:
    with pytest.raises(BadParameter, match="2 clients with 40000000 virtual_nodes are above 50000000 nodes"):
        allocate("CONSISTENT_HASH", [MessageQueue("orders", "east", 0)], ["A", "B"], virtual_nodes=40_000_000)
