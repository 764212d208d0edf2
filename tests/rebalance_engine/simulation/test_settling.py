from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

import pytest

from rebalance_engine.consumer import CPP, java
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.clients import SubscriptionData
from rebalance_engine.remoting.bodies.routes import QueueData, TopicRouteData
from rebalance_engine.simulation.breach import Breach
from rebalance_engine.simulation.settling import NEXT_HEARTBEAT, check_held, check_versions, queues_of, targets

QUEUES = tuple(MessageQueue("orders", "east", number) for number in range(4))
OTHER = MessageQueue("payments", "east", 0)
Stub = Any  # has what is looked at, and nothing else


def member(
    name: str,
    *held: MessageQueue,
    profile: object = None,
    strategy: str = "AVG",
    stated: Collection[MessageQueue] | None = None,
) -> Stub:
    return SimpleNamespace(
        name=name,
        client_id=name,
        profile=profile or java("5.5.0"),
        strategies={"g": strategy},
        held=lambda _group: held,
        stated=frozenset(held if stated is None else stated),
        changed_at={("g", "orders"): 0, ("h", "orders"): 10**9},
    )


LEDGER: Any = SimpleNamespace(held=lambda process: process.stated)


def check(*members: Any) -> None:
    wanted = targets("g", QUEUES, members)
    check_held(LEDGER, "g", wanted, members, frozenset({"orders"}))


def test_a_route_says_which_queues_there_are() -> None:
    data = QueueData(broker_name="east", read_queue_nums=2, write_queue_nums=8, perm=6)

    assert queues_of("orders", TopicRouteData(queue_datas=(data,))) == QUEUES[:2]


def test_everybody_holds_what_the_strategy_gives_him() -> None:
    check(member("A", *QUEUES[:2]), member("B", *QUEUES[2:]))


def test_a_second_process_of_one_id_leaves_the_share_of_the_second_to_nobody() -> None:
    twins = member("A", *QUEUES[:2]), member("A", *QUEUES[:2])

    check(*twins)

    assert targets("g", QUEUES, twins) == {"A": frozenset(QUEUES[:2])}


def test_members_that_disagree_on_the_strategy_hold_what_their_own_says() -> None:
    check(member("A", *QUEUES[:2]), member("B", *QUEUES[1::2], strategy="AVG_BY_CIRCLE"))


def test_too_much_and_too_little_are_named() -> None:
    with pytest.raises(Breach, match="A holds orders/east/2 too much, and orders/east/0 is missing"):
        check(member("A", *QUEUES[1:3]), member("B", *QUEUES[2:]))


def test_a_queue_of_a_topic_that_was_given_up() -> None:
    with pytest.raises(Breach, match="A holds payments/east/0 too much"):
        check(member("A", *QUEUES, OTHER))


def test_a_cpp_client_never_truncates() -> None:
    check(member("A", *QUEUES, OTHER, profile=CPP))


def test_who_states_something_else_than_he_has() -> None:
    with pytest.raises(Breach, match="it stated orders/east/0"):
        check(member("A", *QUEUES, stated=QUEUES[:1]))


def broker(version: int) -> Stub:
    group = SimpleNamespace(subscriptions={"orders": SubscriptionData(topic="orders", sub_version=version)})
    registry = SimpleNamespace(find=lambda _group: group)
    return SimpleNamespace(name="east", machine=SimpleNamespace(registry=registry))


def test_a_broker_that_never_heard_of_a_newer_version() -> None:
    late = NEXT_HEARTBEAT + 1
    check_versions("g", [broker(0)], [member("A")], late)
    check_versions("g", [broker(-1)], [member("A")], NEXT_HEARTBEAT)

    with pytest.raises(Breach, match="east filters orders in version -1; A changed at 0"):
        check_versions("g", [broker(-1)], [member("A")], late)
