from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.allocation.contract import BadParameter
from rebalance_engine.allocation.starting_point import (
    eligible_members,
    members_once,
    owners_before,
    subscribers_of,
)
from rebalance_engine.ownership import UNOWNED, Ownership
from rebalance_engine.tables import ClientTable, QueueTable
from tests.rebalance_engine.generators import client_tables, ownerships, queue_tables

ORDERS_AND_PAYMENTS = QueueTable.from_routes([("orders", "east", 2), ("payments", "east", 1)])
ABC = ClientTable.of(["A", "B", "C"])


@given(client_tables())
def test_an_id_that_is_registered_twice_is_one_member(clients: ClientTable) -> None:
    members = members_once(clients)

    assert [clients.names[number] for number in members.tolist()] == list(clients.distinct)


@given(ownerships(), queue_tables, client_tables())
def test_owners_before_are_said_in_the_new_numbers(
    previous: Ownership, queues: QueueTable, clients: ClientTable
) -> None:
    owner = owners_before(queues, clients, previous)

    first = {queue: previous.owners_of(number)[:1] for number, queue in enumerate(previous.queues)}
    for number, queue in enumerate(queues):
        known = [name for name in first.get(queue, ()) if name in clients.names]
        assert [clients.names[i] for i in owner[[number]] if i != UNOWNED] == known


@given(ownerships(), st.booleans())
def test_what_comes_back_may_be_changed(previous: Ownership, renumbered: bool) -> None:
    clients = ClientTable.of(reversed(previous.clients.ids)) if renumbered else previous.clients
    before = previous.owner.copy()

    owners_before(previous.queues, clients, previous)[:] = -7

    assert previous.owner.tolist() == before.tolist()


def test_nobody_owned_anything_before_the_first_plan() -> None:
    assert owners_before(ORDERS_AND_PAYMENTS, ABC, None).tolist() == [UNOWNED] * 3


def test_topics_of_clients_become_clients_of_topics() -> None:
    subscribers = subscribers_of(
        ORDERS_AND_PAYMENTS, ABC, {"C": ["orders", "payments", "payments"], "A": ["orders", "gone"], "B": []}
    )

    assert [sorted(numbers.tolist()) for numbers in subscribers] == [[0, 2], [2]]


def test_a_subscription_of_an_unknown_client_is_refused() -> None:
    with pytest.raises(BadParameter, match="'D' subscribes, but is none of the 3 known clients"):
        subscribers_of(ORDERS_AND_PAYMENTS, ABC, {"D": ["orders"]})


def test_former_members_are_not_eligible() -> None:
    subscribers = subscribers_of(ORDERS_AND_PAYMENTS, ABC, {"A": ["orders"], "B": ["orders"], "C": ["payments"]})

    eligible = eligible_members(ORDERS_AND_PAYMENTS, ABC.left("B"), subscribers)

    assert [members.tolist() for members in eligible] == [[0], [2]]


def test_subscribers_of_too_few_topics_are_refused() -> None:
    with pytest.raises(BadParameter, match="subscribers of 1 topics were given, but there are 2"):
        eligible_members(ORDERS_AND_PAYMENTS, ABC, [ABC.members])


@pytest.mark.parametrize("number", [-1, 3])
def test_a_subscriber_without_a_name_is_refused(number: int) -> None:
    subscribers = [ABC.members, np.array([0, number], dtype=np.int32)]

    with pytest.raises(BadParameter, match=f"client number {number} subscribes, but the numbers go from 0 to 2"):
        eligible_members(ORDERS_AND_PAYMENTS, ABC, subscribers)
