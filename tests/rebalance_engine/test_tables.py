from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rebalance_engine import MessageQueue
from rebalance_engine.model import MAX_QUEUE_ID, Order, java_utf8, sort_queues
from rebalance_engine.tables import ClientTable, QueueTable, chained
from tests.rebalance_engine.generators import (
    BROKERS,
    TOPICS,
    client_tables,
    message_queues,
    names,
    orders,
    queue_tables,
    texts,
)

ROUTES = st.lists(st.tuples(st.sampled_from(TOPICS), st.sampled_from(BROKERS), st.integers(0, 4)), max_size=8)


@given(st.lists(message_queues | st.builds(MessageQueue, texts, texts, st.integers(-5, 5)), max_size=20), orders)
def test_a_table_holds_the_distinct_queues_in_order(queues: list[MessageQueue], order: Order) -> None:
    table = QueueTable.of(queues, order)

    expected = sort_queues(set(queues), order)
    assert list(table) == expected
    assert len(table) == len(expected)
    assert [table[number] for number in range(len(table))] == expected
    assert bool((np.diff(table.keys) > 0).all())


@given(st.lists(message_queues, max_size=15), st.lists(message_queues, max_size=15))
@example([], [MessageQueue("orders", "east", 0)])
def test_queues_are_found_where_they_stand(inside: list[MessageQueue], asked: list[MessageQueue]) -> None:
    table = QueueTable.of(inside)

    expected = [list(table).index(queue) if queue in inside else -1 for queue in asked]
    assert table.numbers_of(asked).tolist() == expected
    assert [table.find(queue) for queue in asked] == [None if number < 0 else number for number in expected]


@given(st.lists(message_queues, max_size=15), st.lists(message_queues, max_size=15), orders, orders)
def test_numbers_translate_from_table_to_table(
    mine: list[MessageQueue], theirs: list[MessageQueue], order: Order, other_order: Order
) -> None:
    table, other = QueueTable.of(mine, order), QueueTable.of(theirs, other_order)

    translated = table.numbers_in(other)

    assert translated.dtype == np.int32
    assert translated.tolist() == other.numbers_of(table).tolist()


@pytest.mark.parametrize("queue_id", [-(2**31), -1, 0, MAX_QUEUE_ID])
def test_every_java_int_is_a_queue_id(queue_id: int) -> None:
    queue = MessageQueue("orders", "east", queue_id)

    table = QueueTable.of([queue, MessageQueue("orders", "west", 0), MessageQueue("orders", "east", 5)])

    assert table[table.numbers_of([queue])[0]] == queue


@pytest.mark.parametrize("queue_id", [2**31, -(2**31) - 1, 2**63, 10**30])
def test_a_queue_id_beyond_a_java_int_is_refused_and_never_found(queue_id: int) -> None:
    table = QueueTable.of([MessageQueue("orders", broker, i) for broker in ("east", "west") for i in (-1, 0)])
    queue = MessageQueue("orders", "east", queue_id)

    assert table.find(queue) is None
    with pytest.raises(ValueError, match=f"queue id {queue_id} is outside of a Java int"):
        QueueTable.of([queue])


@given(ROUTES, orders)
@example([("orders", "east", 0)], Order.JAVA)
@example([("orders", "east", 2), ("orders", "west", 0), ("payments", "east", 0)], Order.JAVA)
def test_routes_make_the_same_table_as_their_queues(routes: list[tuple[str, str, int]], order: Order) -> None:
    queues = [MessageQueue(topic, broker, i) for topic, broker, count in routes for i in range(count)]

    table = QueueTable.from_routes(routes, order)

    assert list(table) == list(QueueTable.of(queues, order))
    assert table.same_queues(QueueTable.of(queues, order))


def test_a_negative_count_of_queues_is_refused() -> None:
    with pytest.raises(ValueError, match="must be 0 or more, not -2"):
        QueueTable.from_routes([("orders", "east", 4), ("orders", "west", -2)])


@given(queue_tables)
def test_topics_stand_together(table: QueueTable) -> None:
    for topic in (*TOPICS, "unknown"):
        numbers = table.of_topic(topic)

        assert [table[number] for number in numbers] == [queue for queue in table if queue.topic == topic]


@given(queue_tables, st.data())
def test_a_subset_keeps_the_queues_chosen(table: QueueTable, data: st.DataObject) -> None:
    chosen = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table))))

    part = table.subset(chosen)

    assert list(part) == table.take(chosen)
    assert part.numbers_in(table).tolist() == chosen.tolist()
    assert [part.find(queue) for queue in part] == list(range(len(chosen)))


@given(st.lists(message_queues, max_size=5), st.lists(message_queues, max_size=5))
def test_tables_are_the_same_when_their_queues_are(mine: list[MessageQueue], theirs: list[MessageQueue]) -> None:
    same = QueueTable.of(mine).same_queues(QueueTable.of(theirs))

    assert same == (set(mine) == set(theirs))


@given(st.lists(message_queues | st.builds(MessageQueue, texts, texts, st.integers(-5, 5)), max_size=20))
def test_hashes_are_those_of_the_queues_as_java_spells_them(queues: list[MessageQueue]) -> None:
    table = QueueTable.of(queues)

    digests = [hashlib.md5(java_utf8(str(queue))).digest() for queue in table]  # noqa: S324 - RocketMQ's choice

    expected = [int.from_bytes(digest[:4], "big") for digest in digests]
    hashes, whose = table.by_md5
    assert table.md5.tolist() == expected
    assert hashes.tolist() == sorted(expected)
    assert sorted(whose.tolist()) == list(range(len(table)))
    assert [expected[number] for number in whose.tolist()] == hashes.tolist()


def test_many_queues_are_hashed_as_few_are() -> None:
    table = QueueTable.from_routes([("orders", "east", 1200), ("名", "\U0001f600", 300)])

    for number in (0, 9, 10, 999, 1000, 1199, 1200, 1499):
        digest = hashlib.md5(java_utf8(str(table[number]))).digest()  # noqa: S324 - RocketMQ's choice
        assert int(table.md5[number]) == int.from_bytes(digest[:4], "big")


@given(st.lists(names, max_size=10), orders)
def test_clients_are_sorted_and_duplicates_stay(ids: list[str], order: Order) -> None:
    table = ClientTable.of(ids, order)

    in_order = order.sort(ids)
    assert table.ids == tuple(in_order)
    assert len(table) == len(ids)
    assert table.distinct == tuple(dict.fromkeys(in_order))
    assert table.has_duplicates == (len(set(ids)) < len(ids))
    assert [table.position(name) for name in in_order] == [in_order.index(name) for name in in_order]
    assert table.position("nobody") is None
    assert table.number("nobody") is None


@given(st.lists(names, max_size=6), st.lists(st.tuples(st.booleans(), names), max_size=15), orders)
def test_after_any_history_a_table_is_like_one_made_anew(
    ids: list[str], history: list[tuple[bool, str]], order: Order
) -> None:
    table, expected = ClientTable.of(ids, order), list(ids)
    for joins, name in history:
        before = table
        if joins or name not in expected:
            table = table.joined(name)
            expected.append(name)
        else:
            table = table.left(name)
            expected.remove(name)
        fresh = ClientTable.of(expected, order)

        assert table.continues(before)
        assert table.ids == fresh.ids
        assert table.ids == tuple(table.names[number] for number in table.members)
        assert len(set(table.names)) == len(table.names)
        assert table.distinct == fresh.distinct
        assert table.has_duplicates == fresh.has_duplicates
        assert [table.position(name) for name in fresh.ids] == [fresh.position(name) for name in fresh.ids]
        assert [n for n in table.rank.tolist() if n >= 0] == [table.position(n) for n in table.names if n in fresh.ids]
        assert np.flatnonzero(table.computing >= 0).tolist() == [table.position(name) for name in table.distinct]


def test_numbers_stay_when_others_come_and_go() -> None:
    table = ClientTable.of(["B", "D"])

    after = table.joined("A").joined("C").left("B").joined("E")

    assert [after.number(name) for name in ("A", "C", "D", "E")] == [2, 3, 1, 4]
    assert after.number("B") is None
    assert after.joined("B").number("B") == 0


def test_who_is_no_member_cannot_leave() -> None:
    table = ClientTable.of(["A", "C"]).left("C")

    for name in ("C", "B", "Z"):
        with pytest.raises(KeyError, match="is not among the 1 members"):
            table.left(name)


def test_one_of_two_processes_can_leave() -> None:
    table = ClientTable.of(["A", "B", "B"])

    once = table.left("B")

    assert once.ids == ("A", "B")
    assert not once.has_duplicates
    assert once.left("B").joined("B").number("B") == table.number("B")


def test_only_the_first_of_duplicates_computes() -> None:
    table = ClientTable.of(["B", "A", "A", "B", "C"])

    assert table.members.tolist() == [0, 0, 1, 1, 2]
    assert table.computing.tolist() == [0, -1, 1, -1, 2]
    assert table.rank.tolist() == [0, 2, 4]


@given(client_tables(), client_tables())
def test_renumbering_keeps_the_members_and_continues_the_other(mine: ClientTable, other: ClientTable) -> None:
    renumbered = mine.renumbered_like(other)

    assert renumbered.continues(other)
    assert renumbered.ids == mine.ids
    assert set(renumbered.names) == {*mine.names, *(() if renumbered is mine else other.names)}


@given(client_tables(), client_tables())
def test_client_numbers_translate_from_table_to_table(mine: ClientTable, other: ClientTable) -> None:
    translated = mine.numbers_in(other).tolist()

    assert translated == [other.names.index(name) if name in other.names else -1 for name in mine.names] + [-1]


def test_a_table_continues_its_own_past_only() -> None:
    table = ClientTable.of(["A", "B"])

    assert table.joined("C").continues(table)
    assert not table.continues(table.joined("C"))
    assert not ClientTable.of(["B", "C"]).continues(table)


def test_a_subset_of_clients_keeps_their_numbers() -> None:
    table = ClientTable.of(["A", "B", "C"]).joined("AA")

    part = table.subset(np.array([1, 3]))

    assert part.ids == ("AA", "C")
    assert [part.number("AA"), part.number("C")] == [3, 2]


def test_chained_puts_all_numbers_into_one_column() -> None:
    assert chained([[1, 2], [], [3]]).tolist() == [1, 2, 3]
    assert chained([]).dtype == np.int32
