"""Strategies for plans, called as operators and the database call them: by names."""

from __future__ import annotations

import re

import pytest

from rebalance_engine import MessageQueue
from rebalance_engine.allocation import allocate, allocate_mixed
from rebalance_engine.allocation.contract import BadParameter, BadQueue, UnknownParameter, UnknownStrategy
from rebalance_engine.allocation.mixed import MixedMember
from rebalance_engine.ownership import Ownership
from rebalance_engine.tables import ClientTable, QueueTable

QUEUES = [MessageQueue("orders", broker, number) for broker in ("east", "west") for number in range(4)]


def test_a_newcomer_takes_one_queue_from_each() -> None:
    previous = {"A": QUEUES[:4], "B": QUEUES[4:]}

    allocated = allocate("STICKY", QUEUES, ["C", "B", "A"], previous=previous)

    assert allocated == {"A": QUEUES[:3], "B": QUEUES[4:7], "C": [QUEUES[3], QUEUES[7]]}


def test_an_ownership_says_the_same_as_a_mapping() -> None:
    lists = {"A": QUEUES[2:], "B": QUEUES[:2]}
    columns = Ownership.from_lists(QueueTable.of(QUEUES), ClientTable.of("AB"), lists)

    assert allocate("STICKY", QUEUES, "ABC", previous=columns) == allocate("STICKY", QUEUES, "ABC", previous=lists)


def test_many_small_topics_leave_nobody_idle() -> None:
    queues = [MessageQueue(topic, "east", 0) for topic in ("orders", "payments", "refunds")]

    per_topic = allocate("STICKY", queues, "ABC")
    across = allocate("STICKY_ACROSS_TOPICS", queues, "ABC")

    assert [len(per_topic[client]) for client in "ABC"] == [3, 0, 0]
    assert [len(across[client]) for client in "ABC"] == [1, 1, 1]


def test_a_client_without_a_subscription_subscribes_to_everything() -> None:
    queues = [MessageQueue(topic, "east", 0) for topic in ("orders", "payments", "refunds")]

    allocated = allocate("STICKY_ACROSS_TOPICS", queues, "ABC", subscriptions={"A": ["payments"], "B": ["payments"]})

    assert set(allocated["C"]) >= {queues[0], queues[2]}


def test_heavy_queues_are_kept_apart() -> None:
    weights = {queue: 100.0 if queue.queue_id == 0 else 1.0 for queue in QUEUES}

    allocated = allocate("WEIGHTED", QUEUES, "AB", weights=weights, previous={"A": QUEUES})

    assert {sum(queue.queue_id == 0 for queue in queues) for queues in allocated.values()} == {1}


def test_no_more_queues_move_than_the_budget_allows() -> None:
    allocated = allocate("WEIGHTED", QUEUES, "AB", previous={"A": QUEUES}, budget=2)

    assert [len(allocated[client]) for client in "AB"] == [6, 2]


def test_a_queue_without_a_weight_is_named() -> None:
    with pytest.raises(BadParameter, match=re.escape("8 are missing, such as MessageQueue [topic=orders")):
        allocate("WEIGHTED", QUEUES, "AB", weights={})


@pytest.mark.parametrize("parameter", ["previous", "subscriptions"])
def test_what_is_neither_names_nor_columns_is_refused(parameter: str) -> None:
    with pytest.raises(BadParameter, match=f"{parameter} must be .*, not 7"):
        allocate("STICKY", QUEUES, "AB", **{parameter: 7})


def test_sticky_has_no_weights() -> None:
    with pytest.raises(UnknownParameter, match="no parameter 'weights'; allowed: previous, subscriptions"):
        allocate("STICKY", QUEUES, "AB", weights={})


def test_no_member_can_compute_a_plan_alone() -> None:
    with pytest.raises(UnknownStrategy, match="STICKY is a plan for a whole group"):
        allocate_mixed(QUEUES, [MixedMember("A", "STICKY")])


@pytest.mark.parametrize(
    ("parameter", "given", "message"),
    [
        ("previous", {"A": "x"}, "previous must give each client id a list of queues, not 'A' 'x'"),
        ("previous", {5: QUEUES}, "previous must give each client id a list of queues, not 5"),
        ("subscriptions", {"A": [["orders"]]}, "subscriptions must give 'A' a list of topics, not [['orders']]"),
        ("subscriptions", [[0.5]], "subscriptions must hold a column of client numbers for each topic, not [0.5]"),
        ("weights", dict.fromkeys(QUEUES, 10**400), "must be a number that a float can hold, not 1000"),
        ("capacities", {"A": 10**400, "B": 1}, "'A' has the capacity 1000"),
        ("capacities", 5, "capacities must be a mapping of client ids to numbers, not 5"),
        (
            "subscriptions",
            "orders",
            "subscriptions must be a mapping of client ids to topics, or columns, not 'orders'",
        ),
        ("subscriptions", {"A": "orders"}, "subscriptions must give 'A' a list of topics, not 'orders'"),
        ("subscriptions", {"A": None}, "subscriptions must give 'A' a list of topics, not None"),
        ("weights", dict.fromkeys(QUEUES, "x"), "must be a number that a float can hold, not 'x'"),
        ("weights", ["x"] * 8, "weights must be a column of numbers"),
        ("capacities", {"A": "1", "B": 1}, "'A' has the capacity '1'"),
        ("budget", 1.5, "the budget is 1.5 moves"),
        ("budget", float("nan"), "the budget is nan moves"),
        ("tolerance", None, "the tolerance is None"),
    ],
)
def test_bad_parameters_are_named(parameter: str, given: object, message: str) -> None:
    with pytest.raises(BadParameter, match=re.escape(message)):
        allocate("WEIGHTED", QUEUES, "AB", **{parameter: given})


def test_a_previous_queue_that_is_none_is_refused() -> None:
    with pytest.raises(BadQueue, match="a queue must be a MessageQueue, not 1"):
        allocate("STICKY", QUEUES, "AB", previous={"A": [1]})
