from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine import MessageQueue
from rebalance_engine.group import ALL, GroupView, Member, only_subscribed
from rebalance_engine.model import MessageModel
from rebalance_engine.ownership import Ownership
from rebalance_engine.tables import ClientTable, QueueTable
from tests.rebalance_engine.generators import (
    TOPICS,
    message_queues,
    names,
    owners_by_queue,
    ownerships,
)

ORDERS = [MessageQueue("orders", "east", 0), MessageQueue("orders", "west", 0)]
PAYMENTS = [MessageQueue("payments", "east", 0)]
BOTH = frozenset({"orders", "payments"})


def held_of(view: GroupView) -> dict[str, list[MessageQueue]]:
    assert view.held is not None
    return view.held.as_lists()


def test_a_view_tells_who_holds_what() -> None:
    members = [Member(client_id="B", held=tuple(ORDERS)), Member(client_id="A", held=tuple(PAYMENTS))]

    view = GroupView.of("g", ORDERS + PAYMENTS, members)

    assert held_of(view) == {"A": PAYMENTS, "B": ORDERS}
    assert view.clients.ids == ("A", "B")
    assert view.model is MessageModel.CLUSTERING
    assert view.everybody_answered
    assert view.strays == ()


def test_an_empty_group_is_a_view_too() -> None:
    view = GroupView.of("g", [], [])

    assert held_of(view) == {}
    assert view.everybody_answered
    assert view.subscribed is None


def test_a_member_that_did_not_answer_is_silent_not_empty_handed() -> None:
    view = GroupView.of("g", ORDERS, [Member(client_id="A", held=()), Member(client_id="B")])

    assert view.silent == {"B"}
    assert not view.everybody_answered


def test_who_asked_nobody_knows_nothing() -> None:
    view = GroupView("g", QueueTable.of(ORDERS), ClientTable.of(["A"]))

    assert not view.everybody_answered


def test_a_held_queue_without_a_route_is_a_stray() -> None:
    foreign = MessageQueue("orders", "north", 0)

    view = GroupView.of("g", ORDERS, [Member(client_id="A", held=(foreign, ORDERS[0], foreign))])

    assert view.strays == (("A", foreign),)
    assert held_of(view) == {"A": ORDERS[:1]}


def test_several_processes_of_one_id_add_up() -> None:
    members = [
        Member(client_id="A", topics=frozenset({"orders"}), held=(ORDERS[0],), strategy="AVG"),
        Member(client_id="A", topics=frozenset({"payments"}), held=(ORDERS[1],), strategy="AVG"),
        Member(client_id="B", held=()),
    ]

    view = GroupView.of("g", ORDERS + PAYMENTS, members)

    assert view.clients.ids == ("A", "A", "B")
    assert held_of(view) == {"A": ORDERS, "B": []}
    assert view.topics_of == {"A": BOTH}
    assert view.strategies == {"A": "AVG"}


def test_one_silent_process_makes_its_id_silent() -> None:
    view = GroupView.of("g", ORDERS, [Member(client_id="A", held=tuple(ORDERS)), Member(client_id="A")])

    assert view.silent == {"A"}
    assert held_of(view) == {"A": ORDERS}


def test_an_unknown_subscription_counts_as_every_topic() -> None:
    members = [Member(client_id="A"), Member(client_id="B", topics=frozenset({"orders"}))]

    view = GroupView.of("g", ORDERS + PAYMENTS, members)

    assert view.subscribes("A", "payments")
    assert not view.subscribes("B", "payments")
    assert view.subscribed is not None
    assert view.subscribed.tolist() == [[True, True], [True, False]]


def test_no_subscription_at_all_is_not_an_unknown_one() -> None:
    view = GroupView.of("g", ORDERS, [Member(client_id="A", topics=frozenset())])

    assert not view.subscribes("A", "orders")
    assert view.topics_of == {"A": frozenset()}


def test_a_strategy_that_nobody_told_is_not_in_the_view() -> None:
    view = GroupView.of("g", ORDERS, [Member(client_id="A", strategy="AVG"), Member(client_id="B")])

    assert view.strategies == {"A": "AVG"}


@pytest.mark.parametrize("topics", [None, BOTH, BOTH | {"refunds"}])
def test_where_everybody_subscribes_to_everything_there_is_no_table_of_it(topics: frozenset[str] | None) -> None:
    view = GroupView.of("g", ORDERS + PAYMENTS, [Member(client_id="A", topics=topics), Member(client_id="B")])

    assert view.subscribed is None


def test_subscribers_are_listed_topic_by_topic() -> None:
    members = [
        Member(client_id="A", topics=frozenset({"orders"})),
        Member(client_id="B", topics=frozenset({"payments"})),
        Member(client_id="C"),
    ]

    view = GroupView.of("g", ORDERS + PAYMENTS, members)

    assert view.subscribed is not None
    assert view.subscribed.tolist() == [[True, False, True], [False, True, True]]


def test_former_members_subscribe_to_nothing() -> None:
    clients = ClientTable.of(["A", "B", "C"]).left("C")

    view = GroupView("g", QueueTable.of(ORDERS), clients, topics_of={"B": frozenset()})

    assert view.subscribed is not None
    assert view.subscribed.tolist() == [[True, False, False]]


def test_every_topic_contains_all_others() -> None:
    topics = {"anything", "else"}

    assert "anything" in ALL
    assert ALL >= topics  # noqa: SIM300 - the other way round it is the set that is asked


@given(st.lists(message_queues, max_size=10), st.lists(names, min_size=1, max_size=4), st.data())
def test_only_queues_of_subscribed_topics_are_kept(
    queues: list[MessageQueue], ids: list[str], data: st.DataObject
) -> None:
    topics = st.none() | st.frozensets(st.sampled_from(TOPICS))
    view = GroupView.of("g", queues, [Member(client_id=name, topics=data.draw(topics)) for name in ids])
    ownership = data.draw(ownerships(view.queues, view.clients, 3))

    kept = only_subscribed(view, ownership)

    assert owners_by_queue(kept) == {
        queue: {owner for owner in owners if view.subscribes(owner, queue.topic)}
        for queue, owners in owners_by_queue(ownership).items()
    }


@given(
    st.lists(message_queues, max_size=8),
    st.lists(st.tuples(names, st.none() | st.lists(message_queues, max_size=6).map(tuple)), max_size=5),
)
def test_everything_held_is_in_the_view_or_a_stray(
    queues: list[MessageQueue], held: list[tuple[str, tuple[MessageQueue, ...] | None]]
) -> None:
    members = [Member(client_id=name, held=its) for name, its in held]

    view = GroupView.of("g", queues, members)

    told = {(name, queue) for name, its in held for queue in its or ()}
    shown = {(name, queue) for name, its in held_of(view).items() for queue in its}
    assert shown | set(view.strays) == told
    assert all(queue in set(queues) for _, queue in shown)
    assert not any(queue in set(queues) for _, queue in view.strays)


def test_a_view_takes_a_table_as_it_is() -> None:
    table = QueueTable.of(ORDERS)

    view = GroupView.of("g", table, [Member(client_id="A", held=())], MessageModel.BROADCASTING)

    assert view.queues is table
    assert view.model is MessageModel.BROADCASTING
    assert isinstance(view.held, Ownership)
