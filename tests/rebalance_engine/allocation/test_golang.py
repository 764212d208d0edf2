from __future__ import annotations

import zlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine import MessageQueue
from rebalance_engine.allocation import allocate, golang, strategy
from rebalance_engine.allocation.contract import AllocationError, BadParameter, MissingParameter, Panic
from rebalance_engine.model import Order
from tests.rebalance_engine.allocation.groups import (
    CHARACTERS,
    Group,
    Lists,
    each_alone,
    groups,
    ids_of,
    in_order,
    members,
    on_both_paths,
    queues,
    queues_in_order,
)

THREE = ("192.168.0.1@1001", "192.168.0.2@1002", "192.168.0.3@1003")
A_TO_H = [MessageQueue("TopicTest", "broker-a", number) for number in range(8)]
VALID = "".join(character for character in CHARACTERS if not "\ud800" <= character <= "\udfff")

# Names whose first virtual nodes have one CRC-32 (found by search), and it.
COLLISIONS = [
    ("10.0.201.208@11897", "10.0.131.215@58327", 626752928),
    ("10.0.110.68@63724", "10.0.126.130@35604", 1854663933),
]


def crc(text: str) -> int:
    return zlib.crc32(text.encode())


def by_library(given_queues: Sequence[MessageQueue], clients: Sequence[str], virtual_nodes: int) -> Lists:
    """Do what strategy.go and stathat.com/c/consistent do, for one topic."""
    circle: dict[int, str] = {}
    for client_id in in_order(clients, Order.BYTES):
        for index in range(virtual_nodes):
            circle[crc(str(index) + client_id)] = client_id
    lists: Lists = {client_id: [] for client_id in clients}
    for queue in queues_in_order(given_queues, Order.BYTES):
        key = crc(f"MessageQueue [topic={queue.topic}, brokerName={queue.broker}, queueId={queue.queue_id}]")
        behind = [point for point in circle if point > key]
        lists[circle[min(behind or circle)]].append(queue)
    return lists


# ---- consistent hash ----


def test_the_owners_are_those_of_the_library() -> None:
    for allocated in on_both_paths("GO_CONSISTENT_HASH", A_TO_H, THREE, virtual_nodes=10):
        assert ids_of(allocated) == dict(zip(THREE, ([1, 5, 7], [2, 3, 4, 6], [0]), strict=True))


def test_java_and_go_members_disagree_about_the_same_group() -> None:
    go = allocate("GO_CONSISTENT_HASH", A_TO_H, THREE, virtual_nodes=10)

    assert allocate("CONSISTENT_HASH", A_TO_H, THREE, virtual_nodes=10) != go


@given(groups(topics=1, characters=VALID), st.integers(1, 12))
def test_the_ring_is_the_librarys_with_duplicates_too(group: Group, virtual_nodes: int) -> None:
    expected = by_library(group.queues, group.clients, virtual_nodes)

    answers = on_both_paths("GO_CONSISTENT_HASH", group.queues, group.clients, virtual_nodes=virtual_nodes)

    assert answers == [expected] * 2


@pytest.mark.parametrize(("one", "other", "point"), COLLISIONS)
def test_of_two_nodes_with_one_hash_the_one_put_last_wins(one: str, other: str, point: int) -> None:
    assert crc("0" + one) == crc("0" + other) == point

    answers = on_both_paths("GO_CONSISTENT_HASH", queues(*range(50)), [one, other, "A"], virtual_nodes=1)

    assert answers == [by_library(queues(*range(50)), [one, other, "A"], 1)] * 2
    assert answers[0][min(one, other)] == []
    assert answers[0][max(one, other)] != []


def test_a_queue_that_hits_a_point_belongs_to_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {b"0A": 10, b"0B": 20, b"0C": 30}
    monkeypatch.setattr(zlib, "crc32", lambda key: points.get(key, 20))
    golang._ring_of.cache_clear()

    answers = on_both_paths("GO_CONSISTENT_HASH", queues(0), ["A", "B", "C"], virtual_nodes=1)

    golang._ring_of.cache_clear()
    assert answers == [{"A": [], "B": [], "C": queues(0)}] * 2


@given(groups(characters=VALID), st.integers(1, 6))
def test_each_queue_has_one_owner(group: Group, virtual_nodes: int) -> None:
    allocated = allocate("GO_CONSISTENT_HASH", group.queues, group.clients, virtual_nodes=virtual_nodes)

    assert sorted(queue for held in allocated.values() for queue in held) == sorted(set(group.queues))


def test_without_virtual_nodes_the_library_divides_by_zero() -> None:
    ask = strategy("GO_CONSISTENT_HASH", virtual_nodes=0).member
    assert ask is not None

    with pytest.raises(Panic, match=r"^runtime error: integer divide by zero$"):
        ask("A", queues(0), ["A"])
    assert ask("stranger", queues(0), ["A"]) is None

    with pytest.raises(AllocationError, match="GO_CONSISTENT_HASH throws for member 'A': runtime error: integer"):
        on_both_paths("GO_CONSISTENT_HASH", queues(0), ["A"], virtual_nodes=0)


def test_virtual_nodes_have_no_default_and_are_checked() -> None:
    with pytest.raises(MissingParameter, match="GO_CONSISTENT_HASH needs the parameter 'virtual_nodes'"):
        strategy("GO_CONSISTENT_HASH")
    with pytest.raises(BadParameter, match="from 0 to 50000000, not -1"):
        strategy("GO_CONSISTENT_HASH", virtual_nodes=-1)


# ---- machine room ----


def go_rooms(
    given_queues: Sequence[MessageQueue], clients: Sequence[str], index: int, rooms: Sequence[str]
) -> list[int]:
    """Do what AllocateByMachineRoom does, line by line; an IndexError is its panic."""
    filtered = []
    for place, queue in enumerate(given_queues):
        parts = queue.broker.split("@")
        if len(parts) == 2:
            filtered += [place for room in rooms if room == parts[0]]
    mod, rem = divmod(len(filtered), len(clients))
    result = []
    for i in range(mod * index, mod * index + mod):
        if i >= len(given_queues):
            raise IndexError(i)
        result.append(i)
    if rem > index:
        result.append(filtered[index + mod * len(clients)])
    return result


def test_where_all_queues_are_in_the_rooms_it_is_right() -> None:
    given_queues = queues(*range(8), broker="r1@east")

    go = allocate("GO_MACHINE_ROOM", given_queues, members(3), consumer_idcs=["r1"])

    assert go == allocate("MACHINE_ROOM", given_queues, members(3), consumer_idcs={"r1"})


def test_foreign_queues_are_taken_and_own_ones_left() -> None:
    given_queues = queues(0, 1, 2, 3, broker="a@east") + queues(0, 1, 2, 3, 4, broker="r1@east")

    allocated = allocate("GO_MACHINE_ROOM", given_queues, ["A", "B"], consumer_idcs=["r1"])

    assert allocated == {
        "A": queues(0, 1, broker="a@east") + queues(4, broker="r1@east"),
        "B": queues(2, 3, broker="a@east"),
    }


def test_a_queue_may_get_two_owners() -> None:
    given_queues = queues(0, 1, broker="r1@east") + queues(0, broker="z@east") + queues(2, broker="r1@west")

    allocated = allocate("GO_MACHINE_ROOM", given_queues, ["A", "B"], consumer_idcs=["r1"])

    assert allocated == {
        "A": queues(0, broker="r1@east") + queues(2, broker="r1@west"),
        "B": queues(1, broker="r1@east"),
    }


def test_a_room_that_is_listed_twice_has_its_queues_twice() -> None:
    given_queues = queues(0, 1, broker="a@east") + queues(0, broker="r1@east")

    allocated = allocate("GO_MACHINE_ROOM", given_queues, ["A"], consumer_idcs=["r1", "r1"])

    assert allocated == {"A": queues(0, 1, broker="a@east")}


def test_a_block_that_starts_behind_the_last_queue_panics_at_its_first_place() -> None:
    ask = strategy("GO_MACHINE_ROOM", consumer_idcs=["r1"] * 3).member
    assert ask is not None
    four = queues(*range(4), broker="r1@east")

    with pytest.raises(Panic, match=r"^runtime error: index out of range \[4\] with length 4$"):
        ask("A", four, ["A", "B"])
    with pytest.raises(Panic, match=r"^runtime error: index out of range \[6\] with length 4$"):
        ask("B", four, ["A", "B"])
    with pytest.raises(AllocationError, match="GO_MACHINE_ROOM throws for member 'A': runtime error: index out of"):
        allocate("GO_MACHINE_ROOM", four, ["A", "B"], consumer_idcs=["r1"] * 3)


@pytest.mark.parametrize(
    ("broker", "room"),
    [("a@", "a"), ("@b", ""), ("a@b@c", None), ("a@b@", None), ("a@b", "a"), ("a", None), ("@", ""), ("", None)],
)
def test_a_broker_is_in_a_room_when_go_splits_its_name_in_two(broker: str, room: str | None) -> None:
    # Two queues for three members: both are remainders, which come out of the right list.
    allocated = allocate("GO_MACHINE_ROOM", queues(0, 1, broker=broker), ["A", "B", "C"], consumer_idcs=["", "a", "b"])

    found = {"A": queues(0, broker=broker), "B": queues(1, broker=broker), "C": []}
    assert allocated == ({"A": [], "B": [], "C": []} if room is None else found)


@given(groups(topics=1, characters=VALID), st.lists(st.sampled_from(("east", "west", "", "a")), max_size=4))
def test_every_share_is_that_of_the_source(group: Group, rooms: list[str]) -> None:
    ask = strategy("GO_MACHINE_ROOM", consumer_idcs=rooms).member
    assert ask is not None
    clients, listed = in_order(group.clients, Order.BYTES), queues_in_order(group.queues, Order.BYTES)

    for client_id in clients:
        try:
            expected = [listed[place] for place in go_rooms(listed, clients, clients.index(client_id), rooms)]
        except IndexError as missing:
            with pytest.raises(Panic, match=rf"index out of range \[{missing}\] with length {len(listed)}$"):
                ask(client_id, listed, clients)
        else:
            assert ask(client_id, listed, clients) == expected


@given(groups(characters=VALID), st.sets(st.sampled_from(("east", "west", "", "a"))))
def test_the_whole_group_gets_what_each_member_computes(group: Group, rooms: set[str]) -> None:
    idcs = sorted(rooms)

    answers = on_both_paths("GO_MACHINE_ROOM", group.queues, group.clients, consumer_idcs=idcs)

    assert answers == [each_alone("GO_MACHINE_ROOM", group.queues, group.clients, consumer_idcs=idcs)] * 2


def test_without_rooms_nobody_gets_anything() -> None:
    assert allocate("GO_MACHINE_ROOM", queues(0, broker="r1@a"), ["A"], consumer_idcs=[]) == {"A": []}


# ---- what all of them answer where Java throws ----


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("GO_AVG", {}),
        ("GO_AVG_BY_CIRCLE", {}),
        ("GO_MACHINE_ROOM_NEARBY", {}),
        ("GO_MACHINE_ROOM", {"consumer_idcs": ["r1"]}),
        ("GO_CONSISTENT_HASH", {"virtual_nodes": 10}),
    ],
)
def test_empty_or_unknown_input_is_nil(name: str, params: dict[str, object]) -> None:
    ask = strategy(name, **params).member
    assert ask is not None

    answers = [
        ask("", queues(0), ["A"]),
        ask(None, queues(0), ["A"]),
        ask("A", [], ["A"]),
        ask("A", None, ["A"]),
        ask("A", queues(0), []),
        ask("A", queues(0), None),
        ask("stranger", queues(0), ["A"]),
    ]

    assert answers == [None] * 7


def test_nearby_is_plain_averaging() -> None:
    given_queues = queues(*range(5), broker="r1-a") + queues(*range(5), broker="r2-a")

    nearby = allocate("GO_MACHINE_ROOM_NEARBY", given_queues, ["r1-A", "r2-B", "r2-C"])

    assert nearby == allocate("AVG", given_queues, ["r1-A", "r2-B", "r2-C"])


def test_go_sorts_by_bytes() -> None:
    clients = ["\uff5e", "\U0001f600"]

    assert allocate("GO_AVG", queues(0), clients) == {"\uff5e": queues(0), "\U0001f600": []}
    assert allocate("AVG", queues(0), clients) == {"\uff5e": [], "\U0001f600": queues(0)}
