from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine import MessageQueue
from rebalance_engine.ownership import UNOWNED, Ownership
from rebalance_engine.tables import ClientTable, QueueTable
from tests.rebalance_engine.generators import (
    client_tables,
    names,
    of_pairs,
    orders_east,
    owners_by_queue,
    ownerships,
    queue_tables,
)

AB = ClientTable.of(["A", "B"])


@given(queue_tables, client_tables(), st.data())
def test_pairs_go_in_and_come_out_sorted_and_once(
    queues: QueueTable, clients: ClientTable, data: st.DataObject
) -> None:
    pair = st.tuples(st.sampled_from(range(len(queues) or 1)), st.sampled_from(range(len(clients.names) or 1)))
    pairs = data.draw(st.lists(pair, max_size=20)) if len(queues) and clients.names else []

    ownership = of_pairs(queues, clients, pairs)

    queue, client = ownership.pairs()
    assert list(zip(queue.tolist(), client.tolist(), strict=True)) == sorted(set(pairs))
    assert ownership.loads().tolist() == [sum(c == i for _, c in set(pairs)) for i in range(len(clients.names))]
    assert ownership.unowned().tolist() == sorted(set(range(len(queues))) - {q for q, _ in pairs})
    assert ownership.owned_twice().tolist() == [
        q for q in range(len(queues)) if len({c for p, c in pairs if p == q}) > 1
    ]


@given(ownerships(most_owners=3))
def test_the_first_owner_is_the_lowest_number(ownership: Ownership) -> None:
    for queue, client in zip(ownership.further_queue, ownership.further_client, strict=True):
        assert UNOWNED < ownership.owner[queue] < client


@given(ownerships(most_owners=3))
def test_lists_go_in_and_come_out_again(ownership: Ownership) -> None:
    lists = ownership.as_lists()

    again = Ownership.from_lists(ownership.queues, ownership.clients, lists)

    assert again.same_owners(ownership)
    assert set(ownership.clients.ids) <= lists.keys() <= set(ownership.clients.names)
    for client_id, held in lists.items():
        assert held == ownership.queues_of(client_id)
        assert held == [queue for queue, owners in owners_by_queue(ownership).items() if client_id in owners]


def test_former_members_are_listed_only_while_they_own() -> None:
    clients = AB.joined("C").left("A").left("B")
    ownership = of_pairs(orders_east(0), clients, [(0, 0)])

    assert ownership.as_lists() == {"A": [MessageQueue("orders", "east", 0)], "C": []}


def test_what_some_own_can_be_left_out() -> None:
    queues = QueueTable.of(MessageQueue("orders", "east", number) for number in range(3))
    both = Ownership.from_lists(queues, AB, {"A": list(queues)[:2], "B": list(queues)[1:]})

    assert both.without(["A", "nobody"]).loads().tolist() == [0, 2]
    assert both.without(["A"]).unowned().tolist() == [0]
    assert both.without([]) is both


def test_queues_that_the_table_lacks_are_left_out() -> None:
    queues = orders_east(0, 1)
    held = {"A": [MessageQueue("orders", "west", 0), MessageQueue("orders", "east", 1)], "B": []}

    ownership = Ownership.from_lists(queues, AB, held)

    assert ownership.as_lists() == {"A": [MessageQueue("orders", "east", 1)], "B": []}


def test_no_lists_mean_nobody() -> None:
    assert Ownership.from_lists(orders_east(0, 1), AB, {}).owner.tolist() == [UNOWNED, UNOWNED]


def test_a_list_of_an_unknown_client_is_refused() -> None:
    with pytest.raises(KeyError, match="C"):
        Ownership.from_lists(orders_east(0), AB, {"C": []})


def test_owners_are_named() -> None:
    ownership = of_pairs(orders_east(0, 1, 2), AB, [(1, 1), (2, 1), (2, 0)])

    assert [ownership.owners_of(number) for number in range(3)] == [(), ("B",), ("A", "B")]
    assert ownership.all_owners() == [(), ("B",), ("A", "B")]
    assert ownership.queues_of("nobody") == []


@given(ownerships(most_owners=3), st.lists(names, max_size=5))
def test_renumbering_changes_no_owner(ownership: Ownership, others: list[str]) -> None:
    clients = ownership.clients.renumbered_like(ClientTable.of(others))

    renumbered = ownership.renumbered(clients)

    assert renumbered.clients is clients
    assert owners_by_queue(renumbered) == owners_by_queue(ownership)
    assert renumbered.same_owners(ownership)
    assert ownership.same_owners(renumbered)


@given(ownerships(), client_tables())
def test_an_owner_without_a_number_cannot_be_renumbered(ownership: Ownership, clients: ClientTable) -> None:
    owners = set().union(*owners_by_queue(ownership).values())

    if owners <= set(clients.names):
        assert owners_by_queue(ownership.renumbered(clients)) == owners_by_queue(ownership)
    else:
        with pytest.raises(ValueError, match="owns queues but is not named in the other table"):
            ownership.renumbered(clients)


@given(queue_tables, st.data())
def test_owners_are_the_same_whatever_their_numbers(queues: QueueTable, data: st.DataObject) -> None:
    mine, other = data.draw(ownerships(queues)), data.draw(ownerships(queues))

    same = mine.same_owners(other)

    assert same == (owners_by_queue(mine) == owners_by_queue(other))
    assert same == other.same_owners(mine)


def test_one_name_more_does_not_stop_a_comparison() -> None:
    queues, a = orders_east(0, 1), ClientTable.of(["A"])
    both, alone = of_pairs(queues, AB, [(0, 0), (1, 1)]), of_pairs(queues, a, [(0, 0), (1, 0)])

    assert not both.same_owners(alone)
    assert not alone.same_owners(both)
    assert of_pairs(queues, AB, [(0, 0), (1, 0)]).same_owners(alone)


def test_other_queues_are_other_owners() -> None:
    assert not Ownership.nobody(orders_east(0), AB).same_owners(Ownership.nobody(orders_east(1), AB))


def test_nobody_owns_nothing() -> None:
    ownership = Ownership.nobody(orders_east(0, 1), AB)

    assert ownership.unowned().tolist() == [0, 1]
    assert ownership.loads().tolist() == [0, 0]
    assert ownership.as_lists() == {"A": [], "B": []}
    assert ownership.owner.dtype == np.int32
