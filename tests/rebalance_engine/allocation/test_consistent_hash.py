from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine import MessageQueue, tables
from rebalance_engine.allocation import allocate, consistent_hash, strategy
from rebalance_engine.allocation.consistent_hash import HashRing, member
from rebalance_engine.allocation.contract import BadParameter, IllegalArgument
from rebalance_engine.hashing import Ints, Words, md5_head, md5_heads
from rebalance_engine.tables import ClientTable, QueueTable
from tests.rebalance_engine.allocation.groups import (
    Group,
    Lists,
    allocate_ids,
    groups,
    ids_of,
    in_order,
    names,
    on_both_paths,
    queues,
    queues_in_order,
)

FIRST, SECOND, THIRD = THREE = ("192.168.0.1@1001", "192.168.0.2@1002", "192.168.0.3@1003")
A_TO_H = [MessageQueue("TopicTest", "broker-a", number) for number in range(8)]
FEW_POINTS = 61

# Names whose first virtual nodes have one MD5 head (found by search among m0 to m150000), and that head.
COLLISIONS = [
    ("m14901", "m63437", 3128748508),
    ("m69320", "m71831", 327780451),
    ("m116967", "m4331", 4168198120),
]
# (queue of topic T on broker east, client whose first node has the very hash of that queue)
EXACT_HITS = [(4472, "m104888"), (5991, "m19837"), (37692, "m39986")]


def java_hash(key: str) -> int:
    """Hash as Java does, to which a lone surrogate is a question mark in UTF-8."""
    key = "".join("?" if "\ud800" <= character <= "\udfff" else character for character in key)
    return int.from_bytes(hashlib.md5(key.encode(), usedforsecurity=False).digest()[:4], "big")


class Router:
    """Java's ConsistentHashRouter to the letter: a map of hashes to (physical node, replica index)."""

    def __init__(self, clients: Sequence[str], virtual_nodes: int, hashed: Callable[[str], int]) -> None:
        self.ring: dict[int, tuple[str, int]] = {}
        self._hash = hashed
        for client_id in clients:
            self._add_node(client_id, virtual_nodes)

    def _add_node(self, client_id: str, virtual_nodes: int) -> None:
        existing = sum(physical == client_id for physical, _ in self.ring.values())
        for index in range(virtual_nodes):
            self.ring[self._hash(f"{client_id}-{index + existing}")] = (client_id, index + existing)

    def route(self, queue: MessageQueue) -> str | None:
        if not self.ring:
            return None
        tail = [point for point in self.ring if point >= self._hash(_text(queue))]
        return self.ring[min(tail or self.ring)][0]


def _text(queue: MessageQueue) -> str:
    return f"MessageQueue [topic={queue.topic}, brokerName={queue.broker}, queueId={queue.queue_id}]"


def by_router(
    given_queues: Sequence[MessageQueue], clients: Sequence[str], virtual_nodes: int, hashed: Callable[[str], int]
) -> Lists:
    router = Router(in_order(clients), virtual_nodes, hashed)
    owners = {queue: router.route(queue) for queue in queues_in_order(given_queues)}
    return {name: [queue for queue, owner in owners.items() if owner == name] for name in clients}


def crowded_hash(key: str) -> int:
    return java_hash(key) % FEW_POINTS


@contextmanager
def crowded_ring() -> Iterator[None]:
    """Leave so few points on the ring that nodes collide all the time, and wrap-around is common."""

    def few_heads(prefixes: Sequence[bytes], prefix_of: Ints, numbers: Ints, suffix: bytes = b"") -> Words:
        few: Words = md5_heads(prefixes, prefix_of, numbers, suffix) % np.uint32(FEW_POINTS)
        return few

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(consistent_hash, "md5_head", lambda name: md5_head(name) % FEW_POINTS)
        patch.setattr(consistent_hash, "md5_heads", few_heads)
        patch.setattr(tables, "md5_heads", few_heads)
        _forget_hashes()
        yield
    _forget_hashes()


def _forget_hashes() -> None:
    consistent_hash._node_hashes.cache_clear()
    consistent_hash._ring_of.cache_clear()


# ---- what the Java class computed ----


def test_the_owners_are_those_that_java_computed() -> None:
    for allocated in on_both_paths("CONSISTENT_HASH", A_TO_H, THREE):
        assert ids_of(allocated) == {FIRST: [2, 5], SECOND: [], THIRD: [0, 1, 3, 4, 6, 7]}


def test_the_hashes_of_queues_are_those_that_java_computed() -> None:
    hashes = QueueTable.of(A_TO_H).md5.tolist()

    assert hashes == [
        1987926524,
        4291349817,
        853506239,
        3652785994,
        3819253357,
        3264541832,
        2650622136,
        4171190878,
    ]


def test_the_points_are_those_that_java_computed() -> None:
    clients = ClientTable.of(THREE)

    ring = HashRing.of(clients)

    holder = dict(zip(ring.points.tolist(), ring.holders.tolist(), strict=True))
    assert len(holder) == 30
    assert [clients.names[holder[point]] for point in (2336303067, 913008461)] == [FIRST, FIRST]
    assert [clients.names[holder[point]] for point in (2297691603, 1993582447)] == [SECOND, THIRD]
    hits = [min((p for p in holder if p >= h), default=min(holder)) for h in QueueTable.of(A_TO_H).md5.tolist()]
    assert hits == [
        1993582447,
        195362287,
        913008461,
        3898338471,
        3898338471,
        3298523914,
        2717497120,
        195362287,
    ]


def test_a_second_process_of_an_id_brings_ten_nodes_more_and_orphans_nothing() -> None:
    clients = ClientTable.of(["A", "B", "A"])

    ring = HashRing.of(clients)

    assert Counter(clients.names[holder] for holder in ring.holders.tolist()) == {"A": 20, "B": 10}
    assert {java_hash(f"A-{node}") for node in range(20)} <= set(ring.points.tolist())
    assert sum(map(len, allocate("CONSISTENT_HASH", A_TO_H, ["A", "B", "A"]).values())) == 8


def test_without_virtual_nodes_nobody_gets_anything() -> None:
    answers = on_both_paths("CONSISTENT_HASH", A_TO_H, [*THREE, FIRST], virtual_nodes=0)

    assert answers == [{FIRST: [], SECOND: [], THIRD: []}] * 2


def test_ten_virtual_nodes_are_the_default() -> None:
    by_default = allocate_ids("CONSISTENT_HASH", 300, THREE)

    assert by_default == allocate_ids("CONSISTENT_HASH", 300, THREE, virtual_nodes=10)
    assert by_default != allocate_ids("CONSISTENT_HASH", 300, THREE, virtual_nodes=8)
    assert by_default != allocate_ids("CONSISTENT_HASH", 300, THREE, virtual_nodes=11)


# ---- equal points ----


@pytest.mark.parametrize(("earlier", "later", "point"), COLLISIONS)
def test_of_two_nodes_with_one_hash_the_one_put_last_wins(earlier: str, later: str, point: int) -> None:
    assert java_hash(f"{earlier}-0") == java_hash(f"{later}-0") == point
    clients = ClientTable.of([later, "A", earlier])

    ring = HashRing.of(clients, virtual_nodes=1)

    assert ring.points.tolist() == sorted({point, java_hash("A-0")})
    assert clients.names[ring.holders[ring.points.tolist().index(point)]] == later
    assert allocate_ids("CONSISTENT_HASH", 50, [later, "A", earlier], virtual_nodes=1)[earlier] == []


@pytest.mark.parametrize(("earlier", "later", "point"), COLLISIONS)
def test_a_newcomer_takes_a_point_from_an_earlier_name_only(earlier: str, later: str, point: int) -> None:
    queue_table = QueueTable.of(queues(*range(200)))
    for there, newcomer in ((earlier, later), (later, earlier)):
        ring = HashRing.of(ClientTable.of(["A", there]), virtual_nodes=1)

        joined, owner = ring.joined(newcomer, queue_table, ring.owners(queue_table))

        holder = joined.holders[joined.points.tolist().index(point)]
        assert joined.clients.names[holder] == later
        assert np.array_equal(owner, joined.owners(queue_table))


@pytest.mark.parametrize(("number", "client_id"), EXACT_HITS)
def test_a_queue_that_hits_a_point_belongs_to_it(number: int, client_id: str) -> None:
    hit = queues(number)
    assert java_hash(_text(hit[0])) == java_hash(f"{client_id}-0")

    answers = on_both_paths("CONSISTENT_HASH", hit, ["A", "B", client_id], virtual_nodes=1)

    assert answers == [{"A": [], "B": [], client_id: hit}] * 2


@given(groups(topics=1), st.integers(0, 4))
def test_a_crowded_ring_is_javas_router_with_duplicates_too(group: Group, virtual_nodes: int) -> None:
    expected = by_router(group.queues, group.clients, virtual_nodes, crowded_hash)

    with crowded_ring():
        answers = on_both_paths("CONSISTENT_HASH", group.queues, group.clients, virtual_nodes=virtual_nodes)

    assert answers == [expected] * 2


def test_replicas_of_a_duplicate_go_on_from_the_nodes_that_survived() -> None:
    clients = ["A", "A", "A", "B", "B"]

    with crowded_ring():
        ring = HashRing.of(ClientTable.of(clients), virtual_nodes=40)

    router = Router(clients, 40, crowded_hash)
    by_name = {point: ring.clients.names[holder] for point, holder in zip(ring.points, ring.holders, strict=True)}
    assert by_name == {point: name for point, (name, _) in router.ring.items()}
    assert sum(name == "A" for name, _ in router.ring.values()) < 40  # or else nothing was hidden


@given(groups(), st.sampled_from((0, 1, 2, 10)))
def test_the_ring_is_javas_router(group: Group, virtual_nodes: int) -> None:
    expected: Lists = {name: [] for name in group.clients}
    for topic in in_order({queue.topic for queue in group.queues}):
        of_topic = [queue for queue in group.queues if queue.topic == topic]
        for name, share in by_router(of_topic, group.clients, virtual_nodes, java_hash).items():
            expected[name] += share

    answers = on_both_paths("CONSISTENT_HASH", group.queues, group.clients, virtual_nodes=virtual_nodes)

    assert answers == [expected] * 2


@given(groups(), st.integers(1, 12))
def test_each_queue_has_one_owner(group: Group, virtual_nodes: int) -> None:
    allocated = allocate("CONSISTENT_HASH", group.queues, group.clients, virtual_nodes=virtual_nodes)

    assert sorted(queue for held in allocated.values() for queue in held) == sorted(set(group.queues))


@given(groups(duplicates=False), names(), st.integers(1, 12))
def test_who_joins_only_takes(group: Group, newcomer: str, virtual_nodes: int) -> None:
    before = allocate(
        "CONSISTENT_HASH", group.queues, set(group.clients) - {newcomer} or {"A"}, virtual_nodes=virtual_nodes
    )

    after = allocate("CONSISTENT_HASH", group.queues, {*before, newcomer}, virtual_nodes=virtual_nodes)

    for name in before.keys() - {newcomer}:
        assert set(after[name]) <= set(before[name])


# ---- joining ----


@given(groups(topics=2), st.lists(names(), min_size=1, max_size=5), st.integers(0, 5))
def test_a_joined_ring_is_the_ring_built_anew(group: Group, newcomers: list[str], virtual_nodes: int) -> None:
    queue_table = QueueTable.of(group.queues)
    present = list(group.clients)

    with crowded_ring():
        ring = HashRing.of(ClientTable.of(present), virtual_nodes)
        owner = ring.owners(queue_table)
        for newcomer in newcomers:
            before = (ring.points.copy(), ring.holders.copy(), owner.copy())
            joined, joined_owner = ring.joined(newcomer, queue_table, owner)
            present.append(newcomer)

            _assert_same(joined, HashRing.of(ClientTable.of(present), virtual_nodes), queue_table)
            assert np.array_equal(joined_owner, joined.owners(queue_table))
            assert all(map(np.array_equal, before, (ring.points, ring.holders, owner)))
            ring, owner = joined, joined_owner


@given(groups(topics=1, duplicates=False), st.data(), st.integers(1, 5))
def test_who_left_and_comes_back_finds_the_ring_as_it_was(
    group: Group, data: st.DataObject, virtual_nodes: int
) -> None:
    queue_table = QueueTable.of(group.queues)
    leaver = data.draw(st.sampled_from(group.clients))

    with crowded_ring():
        before = HashRing.of(ClientTable.of(group.clients), virtual_nodes)
        without = HashRing.of(before.clients.left(leaver), virtual_nodes)
        after, owner = without.joined(leaver, queue_table, without.owners(queue_table))

        _assert_same(after, before, queue_table)
        assert np.array_equal(owner, before.owners(queue_table))


def _assert_same(one: HashRing, other: HashRing, queue_table: QueueTable) -> None:
    assert one.points.tolist() == other.points.tolist()
    assert one.clients.ids == other.clients.ids
    for mine, theirs in ((one.holders, other.holders), (one.owners(queue_table), other.owners(queue_table))):
        assert _named(one, mine.tolist()) == _named(other, theirs.tolist())


def _named(ring: HashRing, numbers: list[int]) -> list[str | None]:
    return [None if number < 0 else ring.clients.names[number] for number in numbers]


def test_the_first_member_of_all_gets_every_queue() -> None:
    queue_table = QueueTable.of(A_TO_H)
    nobody = HashRing.of(ClientTable.of([]))

    ring, owner = nobody.joined("A", queue_table, nobody.owners(queue_table))

    assert ring.clients.ids == ("A",)
    assert owner.tolist() == [0] * 8


# ---- errors ----


@pytest.mark.parametrize("wrong", [-1, 1.0, "10", True, None, 10**9])
def test_a_count_of_virtual_nodes_that_makes_no_sense_is_refused(wrong: object) -> None:
    with pytest.raises(BadParameter, match=r"^virtual_nodes must be a whole number from 0 to 50") as refused:
        strategy("CONSISTENT_HASH", virtual_nodes=wrong)

    assert str(refused.value).endswith(repr(wrong))


def test_a_member_throws_with_javas_words() -> None:
    with pytest.raises(IllegalArgument, match=r"^illegal virtualNodeCnt :-1$"):
        member("A", A_TO_H, ["A"], virtual_nodes=-1)
    with pytest.raises(IllegalArgument, match=r"^currentCID is empty$"):
        member(None, A_TO_H, ["A"])

    assert member("stranger", A_TO_H, ["A"]) == []
