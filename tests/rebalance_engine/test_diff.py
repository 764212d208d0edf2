from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine import MessageQueue
from rebalance_engine.diff import Diff, Move, MoveCause, StaleDiff, apply, diff
from rebalance_engine.model import Order
from rebalance_engine.ownership import Ownership
from rebalance_engine.tables import ClientTable, QueueTable
from tests.rebalance_engine.generators import (
    client_tables,
    message_queues,
    of_pairs,
    orders_east,
    owners_by_queue,
    ownerships,
    owning,
    queue_tables,
)


def east(queue_id: int) -> MessageQueue:
    return MessageQueue("orders", "east", queue_id)


def only_move(change: Diff) -> Move:
    (move,) = change
    return move


@given(ownerships(most_owners=3), ownerships(most_owners=3))
def test_applying_a_diff_gives_the_new_owners(old: Ownership, new: Ownership) -> None:
    was = owners_by_queue(old)

    again = apply(old, diff(old, new))

    assert again.same_owners(new)
    assert owners_by_queue(again) == owners_by_queue(new)
    assert again.clients.ids == new.clients.ids
    assert owners_by_queue(old) == was


@given(queue_tables, st.data())
def test_applying_a_diff_of_the_same_queues_gives_the_new_owners(queues: QueueTable, data: st.DataObject) -> None:
    old, new = data.draw(ownerships(queues)), data.draw(ownerships(queues))

    change = diff(old, new)

    assert owners_by_queue(apply(old, change)) == owners_by_queue(new)
    assert not len(change.added)
    assert not change.removed_queues


@given(ownerships(most_owners=3), ownerships(most_owners=3))
def test_moves_spell_out_every_difference_once(old: Ownership, new: Ownership) -> None:
    was, now = owners_by_queue(old), owners_by_queue(new)

    moves = list(diff(old, new))

    dropped = [(move.queue, move.from_client) for move in moves if move.from_client is not None]
    taken = [(move.queue, move.to_client) for move in moves if move.to_client is not None]
    assert Counter(dropped) == Counter((queue, owner) for queue in was for owner in was[queue] - now.get(queue, set()))
    assert Counter(taken) == Counter((queue, owner) for queue in now for owner in now[queue] - was.get(queue, set()))


@given(ownerships(most_owners=3), ownerships(most_owners=3))
def test_as_few_moves_as_differences_are_counted(old: Ownership, new: Ownership) -> None:
    was, now = owners_by_queue(old), owners_by_queue(new)

    change = diff(old, new)

    differences = [(was.get(q, set()) - now.get(q, set()), now.get(q, set()) - was.get(q, set())) for q in was | now]
    assert len(change) == len(list(change)) == sum(max(map(len, pair)) for pair in differences)
    assert change.handoffs == sum(min(map(len, pair)) for pair in differences)
    assert change.handoffs == sum(move.from_client is not None and move.to_client is not None for move in change)


@given(ownerships(most_owners=3), ownerships(most_owners=3))
def test_every_cause_is_true(old: Ownership, new: Ownership) -> None:
    was, now = owners_by_queue(old), owners_by_queue(new)
    for move in diff(old, new):
        match move.cause:
            case MoveCause.QUEUE_REMOVED:
                assert new.queues.find(move.queue) is None
                assert move.to_client is None
            case MoveCause.QUEUE_ADDED:
                assert old.queues.find(move.queue) is None
                assert move.from_client is None
            case MoveCause.OWNER_LEFT:
                assert move.from_client not in new.clients.ids
            case MoveCause.TAKEN_UP:
                assert old.queues.find(move.queue) is not None
                assert (move.from_client, was[move.queue]) == (None, set())
            case MoveCause.TAKEN_BESIDE:
                assert move.from_client is None
                assert was[move.queue] - {move.to_client}
            case MoveCause.LET_GO | MoveCause.LEFT_TO_OTHERS as cause:
                assert move.from_client in new.clients.ids
                assert (move.to_client, bool(now[move.queue])) == (None, cause is MoveCause.LEFT_TO_OTHERS)
            case MoveCause.OWNER_JOINED:
                assert move.to_client not in old.clients.ids
                assert move.from_client in new.clients.ids
            case MoveCause.RESHUFFLED:
                assert move.from_client in new.clients.ids
                assert move.to_client in old.clients.ids


def sharing(owners: str) -> Ownership:
    """Give queue 0 to each of these, of the members A and B."""
    return of_pairs(orders_east(0), ClientTable.of(["A", "B"]), [(0, "AB".index(owner)) for owner in owners])


@pytest.mark.parametrize(
    ("old", "new", "move"),
    [
        (owning("AB"), owning("A", "AB"), Move(east(1), "B", None, MoveCause.QUEUE_REMOVED)),
        (owning("A", "AB"), owning("AB"), Move(east(1), None, "B", MoveCause.QUEUE_ADDED)),
        (owning("AB"), owning("AA", "A"), Move(east(1), "B", "A", MoveCause.OWNER_LEFT)),
        (owning("AB"), owning("A-", "A"), Move(east(1), "B", None, MoveCause.OWNER_LEFT)),
        (owning("A-", "AB"), owning("AB"), Move(east(1), None, "B", MoveCause.TAKEN_UP)),
        (owning("A-", "A"), owning("AB"), Move(east(1), None, "B", MoveCause.TAKEN_UP)),
        (owning("AB"), owning("A-", "AB"), Move(east(1), "B", None, MoveCause.LET_GO)),
        (sharing("A"), sharing("AB"), Move(east(0), None, "B", MoveCause.TAKEN_BESIDE)),
        (sharing("AB"), sharing("B"), Move(east(0), "A", None, MoveCause.LEFT_TO_OTHERS)),
        (owning("AA", "A"), owning("AB"), Move(east(1), "A", "B", MoveCause.OWNER_JOINED)),
        (owning("AA", "AB"), owning("AB"), Move(east(1), "A", "B", MoveCause.RESHUFFLED)),
    ],
    ids=lambda value: value.cause.name if isinstance(value, Move) else "",
)
def test_each_cause_has_its_example(old: Ownership, new: Ownership, move: Move) -> None:
    change = diff(old, new)

    assert only_move(change) == move
    assert owners_by_queue(apply(old, change)) == owners_by_queue(new)


def test_the_examples_show_every_cause() -> None:
    (examples,) = (m for m in test_each_cause_has_its_example.pytestmark if m.name == "parametrize")  # type: ignore[attr-defined]  # pytest sets it

    assert {move.cause for _, _, move in examples.args[1]} == set(MoveCause)


def test_a_queue_with_two_owners_moves_owner_by_owner() -> None:
    queues, clients = orders_east(0), ClientTable.of(["A", "B", "C"])
    old, new = of_pairs(queues, clients, [(0, 0), (0, 1)]), of_pairs(queues, clients, [(0, 1), (0, 2)])

    assert only_move(diff(old, new)) == Move(east(0), "A", "C", MoveCause.RESHUFFLED)


def test_a_removed_queue_of_two_owners_is_two_moves() -> None:
    clients = ClientTable.of(["A", "B"])
    old = of_pairs(orders_east(0, 1), clients, [(0, 0), (1, 0), (1, 1)])
    new = of_pairs(orders_east(0), clients, [(0, 0)])

    change = diff(old, new)

    assert list(change) == [Move(east(1), name, None, MoveCause.QUEUE_REMOVED) for name in "AB"]
    assert change.handoffs == 0


def test_nothing_moves_from_an_ownership_to_itself() -> None:
    ownership = owning("AB-A")

    assert len(diff(ownership, ownership)) == 0
    assert len(diff(ownership, owning("AB-A", "BCA"))) == 0


def test_tables_of_two_orders_are_told_apart_by_name() -> None:
    queues = [MessageQueue("orders", broker, i) for broker in ("\uff5e", "\U0001f600") for i in (0, 1)]
    clients = ClientTable.of(["A", "B"])
    old = Ownership.from_lists(QueueTable.of(queues, Order.JAVA), clients, {"A": queues[:3], "B": queues[1:]})
    new = Ownership.from_lists(QueueTable.of(queues, Order.BYTES), clients, {"A": queues[:2], "B": queues[1:]})

    change = diff(old, new)

    assert only_move(change) == Move(queues[2], "A", None, MoveCause.LEFT_TO_OTHERS)
    assert apply(old, change).same_owners(new)


@pytest.mark.parametrize(
    ("elsewhere", "words"),
    [
        (owning("BB"), "is owned by"),
        (owning("-B"), "is owned by nobody"),
        (owning("CB", "ABC"), "starts elsewhere"),
        (owning("ABA"), "adds 0 queues and removes 0"),
        (owning("AB", first=1), "adds 0 queues and removes 0"),
        (owning("BA"), "is owned by"),
    ],
)
def test_a_diff_that_starts_elsewhere_is_refused(elsewhere: Ownership, words: str) -> None:
    change = diff(owning("AB"), owning("BA"))

    with pytest.raises(StaleDiff, match=words):
        apply(elsewhere, change)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (owning("AB"), owning("A", "AB")),
        (owning("AB"), owning("AB-")),
        (owning("AB"), owning("-", "AB", first=7)),
        (owning("A-"), owning("A")),
    ],
)
def test_a_change_of_queues_cannot_be_applied_twice(old: Ownership, new: Ownership) -> None:
    change = diff(old, new)

    once = apply(old, change)

    assert owners_by_queue(once) == owners_by_queue(new)
    with pytest.raises(StaleDiff, match="from here 0 would be added and 0 removed"):
        apply(once, change)


def test_who_owned_a_removed_queue_belongs_to_the_start() -> None:
    change = diff(owning("AB"), owning("A", "AB"))

    for elsewhere in (owning("AA", "AB"), owning("A-", "AB"), owning("AC", "ABC")):
        with pytest.raises(StaleDiff, match="goes"):
            apply(elsewhere, change)


def test_stale_diffs_of_several_owners_are_refused() -> None:
    queues, clients = orders_east(0, 1), ClientTable.of(["A", "B", "C"])
    start, end = of_pairs(queues, clients, [(0, 0), (0, 1)]), of_pairs(queues, clients, [(0, 0), (0, 2)])
    change = diff(start, end)

    with pytest.raises(StaleDiff, match="is not owned by 'B'"):
        apply(of_pairs(queues, clients, [(0, 0)]), change)
    with pytest.raises(StaleDiff, match="is owned already by 'C'"):
        apply(of_pairs(queues, clients, [(0, 1), (0, 2)]), change)


@given(queue_tables, client_tables(), st.data())
def test_a_wrong_start_is_refused_where_a_moved_queue_differs(
    queues: QueueTable, clients: ClientTable, data: st.DataObject
) -> None:
    old, new, elsewhere = (data.draw(ownerships(queues, clients, most_owners=1)) for _ in range(3))
    change = diff(old, new)
    is_stale = (old.owner != elsewhere.owner)[change.queue].any()

    if is_stale:
        with pytest.raises(StaleDiff, match="but the diff starts at"):
            apply(elsewhere, change)
    else:
        assert np.array_equal(apply(elsewhere, change).owner[change.queue], new.owner[change.queue])


@given(st.lists(message_queues, min_size=1, max_size=8, unique=True))
def test_who_joins_late_keeps_the_numbers_of_the_others(queues: list[MessageQueue]) -> None:
    table = QueueTable.of(queues)
    old = of_pairs(table, ClientTable.of(["B", "C"]), [(i, i % 2) for i in range(len(table))])
    new = of_pairs(table, ClientTable.of(["A", "B", "C"]), [(i, 1 + i % 2) for i in range(len(table))])

    change = diff(old, new)

    assert len(change) == 0
    assert change.clients.continues(old.clients)


def test_a_million_moves_are_found_as_few_are() -> None:
    queues = QueueTable.from_routes([("orders", "east", 1_000_000)])
    clients = ClientTable.of(["A", "B", "C"])
    before = Ownership(queues, clients, np.arange(len(queues), dtype=np.int32) % 2)
    after = Ownership(queues, clients, before.owner + np.int32(1))

    change = diff(before, after)

    assert len(change) == change.handoffs == 1_000_000
    assert apply(before, change).same_owners(after)
