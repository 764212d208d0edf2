from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine import MessageQueue
from rebalance_engine.allocation import STRATEGIES, allocate
from rebalance_engine.allocation.contract import AllocationError, MissingParameter, UnknownParameter, UnknownStrategy
from rebalance_engine.group import GroupView, Member
from rebalance_engine.model import MessageModel, Order
from rebalance_engine.plan import Plan, target
from rebalance_engine.tables import ClientTable, QueueTable
from tests.rebalance_engine.generators import NAMES, TOPICS, message_queues, names, owning

ORDERS = [MessageQueue("orders", "east", i) for i in range(4)]
PAYMENTS = [MessageQueue("payments", "west", i) for i in range(3)]
PLAIN = ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "CPP_AVG", "GO_AVG", "GO_AVG_BY_CIRCLE"]
ASTRAL = ["\uff5e", "\U0001f600", "A"]


def view_of(ids: Iterable[str], queues: list[MessageQueue], model: MessageModel = MessageModel.CLUSTERING) -> GroupView:
    return GroupView.of("g", queues, [Member(client_id=name) for name in ids], model)


def ids_of(lists: dict[str, list[MessageQueue]], topic: str = "orders") -> dict[str, list[int]]:
    return {name: [queue.queue_id for queue in its if queue.topic == topic] for name, its in lists.items()}


def test_every_topic_is_divided_by_itself() -> None:
    view = view_of("ABC", ORDERS + PAYMENTS)

    lists = target(view, Plan()).as_lists()

    assert ids_of(lists) == {"A": [0, 1], "B": [2], "C": [3]}
    assert ids_of(lists, "payments") == {"A": [0], "B": [1], "C": [2]}


def test_the_extra_queues_of_several_topics_pile_up_at_the_first_member() -> None:
    queues = [MessageQueue(topic, "east", i) for topic in ("orders", "payments", "%RETRY%g") for i in range(4)]

    lists = target(view_of("ABC", queues), Plan()).as_lists()

    assert {name: len(its) for name, its in lists.items()} == {"A": 6, "B": 3, "C": 3}


@pytest.mark.parametrize("strategy", PLAIN)
def test_the_share_of_a_member_that_does_not_subscribe_stays_unowned(strategy: str) -> None:
    members = [
        Member(client_id="A", topics=frozenset({"orders", "payments"})),
        Member(client_id="B", topics=frozenset({"payments"})),
    ]

    result = target(GroupView.of("g", ORDERS + PAYMENTS, members), Plan(strategy=strategy, params=params_of(strategy)))

    everybody = allocate(strategy, ORDERS + PAYMENTS, "AB", **params_of(strategy))
    assert result.as_lists()["A"] == everybody["A"]
    assert result.as_lists()["B"] == [queue for queue in everybody["B"] if queue.topic == "payments"]
    unowned = result.queues.take(result.unowned())
    assert unowned == [queue for queue in everybody["B"] if queue.topic == "orders"]


def params_of(strategy: str) -> dict[str, int]:
    return {"virtual_nodes": 10} if strategy == "GO_CONSISTENT_HASH" else {}


@given(
    st.sampled_from([*PLAIN, "GO_CONSISTENT_HASH"]),
    st.lists(message_queues, min_size=1, max_size=12),
    st.lists(names, min_size=1, max_size=5),
    st.data(),
)
def test_a_target_is_what_members_end_up_with_who_compute_alone(
    strategy: str, queues: list[MessageQueue], ids: list[str], data: st.DataObject
) -> None:
    topics = st.none() | st.frozensets(st.sampled_from(TOPICS))
    if strategy.startswith(("GO", "CPP")):  # other languages have no lone surrogates
        ids = [name for name in ids if name != "\ud800"] or ["A"]
    view = GroupView.of("g", queues, [Member(client_id=name, topics=data.draw(topics)) for name in ids])

    lists = target(view, Plan(strategy=strategy, params=params_of(strategy))).as_lists()

    expected = {
        name: [queue for queue in its if view.subscribes(name, queue.topic)]
        for name, its in allocate(strategy, queues, ids, **params_of(strategy)).items()
    }
    assert {name: sorted(its) for name, its in lists.items()} == {name: sorted(its) for name, its in expected.items()}


@pytest.mark.parametrize("clients_order", Order)
@pytest.mark.parametrize("queues_order", Order)
@pytest.mark.parametrize("strategy", PLAIN)
def test_names_sort_as_the_strategys_own_language_sorts_them(
    strategy: str, queues_order: Order, clients_order: Order
) -> None:
    queues = [MessageQueue("orders", broker, i) for broker in ASTRAL for i in range(2)]
    view = GroupView("g", QueueTable.of(queues, queues_order), ClientTable.of(ASTRAL, clients_order))

    lists = target(view, Plan(strategy=strategy)).as_lists()

    expected = allocate(strategy, queues, ASTRAL)
    assert {name: set(its) for name, its in lists.items()} == {name: set(its) for name, its in expected.items()}


def test_go_and_java_part_ways_over_astral_names() -> None:
    view = view_of(ASTRAL, ORDERS[:3])

    java, go = (target(view, Plan(strategy=name)) for name in ("AVG", "GO_AVG"))

    assert ids_of(java.as_lists()) == {"A": [0], "\U0001f600": [1], "\uff5e": [2]}
    assert ids_of(go.as_lists()) == {"A": [0], "\uff5e": [1], "\U0001f600": [2]}


def test_duplicate_ids_leave_the_share_of_the_second_one_unowned() -> None:
    result = target(view_of("AAB", ORDERS[:3]), Plan())

    assert ids_of(result.as_lists()) == {"A": [0], "B": [2]}
    assert result.unowned().tolist() == [1]


def test_every_member_of_a_broadcasting_group_has_every_queue() -> None:
    members = [
        Member(client_id="A"),
        Member(client_id="B", topics=frozenset({"payments"})),
        Member(client_id="B", topics=frozenset({"payments"})),
    ]

    lists = target(GroupView.of("g", ORDERS + PAYMENTS, members, MessageModel.BROADCASTING), Plan()).as_lists()

    assert lists == {"A": ORDERS + PAYMENTS, "B": PAYMENTS}


def test_a_config_may_overlap_leave_gaps_and_name_foreign_queues() -> None:
    foreign = MessageQueue("orders", "north", 9)
    config = {"A": [ORDERS[1], ORDERS[0], foreign], "B": [ORDERS[1], ORDERS[1]], "gone": [ORDERS[3]]}

    result = target(view_of("ABC", ORDERS), Plan(strategy="CONFIG", params={"config": config}))

    assert ids_of(result.as_lists()) == {"A": [0, 1], "B": [1], "C": []}
    assert result.owners_of(1) == ("A", "B")
    assert result.unowned().tolist() == [2, 3]


def test_a_config_is_followed_only_for_subscribed_topics() -> None:
    members = [Member(client_id="A", topics=frozenset({"payments"}))]
    plan = Plan(strategy="CONFIG", params={"config": {"A": ORDERS + PAYMENTS}})

    lists = target(GroupView.of("g", ORDERS + PAYMENTS, members), plan).as_lists()

    assert lists == {"A": PAYMENTS}


@pytest.mark.parametrize("model", MessageModel)
@pytest.mark.parametrize("strategy", [*PLAIN, "CONFIG"])
def test_without_members_or_queues_nobody_has_anything(strategy: str, model: MessageModel) -> None:
    plan = Plan(strategy=strategy)

    assert target(view_of("", ORDERS, model), plan).unowned().tolist() == [0, 1, 2, 3]
    assert target(view_of("AB", [], model), plan).as_lists() == {"A": [], "B": []}
    assert target(view_of("", [], model), plan).as_lists() == {}


@pytest.mark.parametrize("ids", ["", "AB"])
@pytest.mark.parametrize(
    ("plan", "error"),
    [
        (Plan(strategy="FAIR"), UnknownStrategy),
        (Plan(params={"virtual_nodes": 3}), UnknownParameter),
        (Plan(strategy="MACHINE_ROOM"), MissingParameter),
        (Plan(strategy="CONFIG", params={"config": ["A"]}), AllocationError),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused_even_of_an_empty_group(
    ids: str, plan: Plan, error: type[AllocationError]
) -> None:
    with pytest.raises(error):
        target(view_of(ids, ORDERS), plan)


def test_rooms_are_a_plan_for_the_group_too() -> None:
    queues = [MessageQueue("orders", f"{room}@{broker}", 0) for room in ("r1", "r2") for broker in ("east", "west")]
    plan = Plan(strategy="MACHINE_ROOM", params={"consumer_idcs": {"r1"}})

    result = target(view_of("AB", queues), plan)

    assert {name: [q.broker for q in its] for name, its in result.as_lists().items()} == {
        "A": ["r1@east"],
        "B": ["r1@west"],
    }
    assert len(result.unowned()) == 2


def test_nearby_takes_its_full_name() -> None:
    room = str.casefold
    plan = Plan(
        strategy="MACHINE_ROOM_NEARBY-AVG",
        params={
            "broker_room": lambda queue: queue.broker,
            "client_room": lambda name: {"A": "east", "B": "west"}[name],
        },
    )

    lists = target(view_of("AB", [MessageQueue("orders", room(b), i) for b in ("EAST", "WEST") for i in (0, 1)]), plan)

    assert {name: {q.broker for q in its} for name, its in lists.as_lists().items()} == {"A": {"east"}, "B": {"west"}}


@pytest.mark.skipif("STICKY" not in STRATEGIES, reason="the strategy has not arrived")
def test_a_strategy_that_remembers_starts_at_what_is_held_or_at_what_it_is_told() -> None:
    members = [Member(client_id="A", held=(ORDERS[0], ORDERS[2])), Member(client_id="B", held=(ORDERS[1], ORDERS[3]))]
    view = GroupView.of("g", ORDERS, members)

    from_held = target(view, Plan(strategy="STICKY"))
    from_told = target(view, Plan(strategy="STICKY"), owning("ABBA"))

    assert ids_of(from_held.as_lists()) == {"A": [0, 2], "B": [1, 3]}
    assert ids_of(from_told.as_lists()) == {"A": [0, 3], "B": [1, 2]}


@given(st.lists(message_queues, max_size=8), st.lists(st.sampled_from(NAMES), max_size=4))
def test_the_view_and_its_tables_are_those_of_the_target(queues: list[MessageQueue], ids: list[str]) -> None:
    view = view_of(ids, queues)

    result = target(view, Plan())

    assert result.queues is view.queues
    assert result.clients is view.clients
