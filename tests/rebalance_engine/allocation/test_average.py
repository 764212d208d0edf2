from __future__ import annotations

import pytest
from hypothesis import given

from rebalance_engine import MessageQueue
from rebalance_engine.allocation import allocate, strategy
from rebalance_engine.allocation.contract import IllegalArgument
from tests.rebalance_engine.allocation.groups import (
    Group,
    Numbers,
    allocate_ids,
    each_alone,
    groups,
    members,
    on_both_paths,
    queues,
)

NAMES = ("AVG", "CPP_AVG", "GO_AVG", "GO_MACHINE_ROOM_NEARBY")

# (queues, shares of the first members); computed by the Java class, members that are not listed get none
BLOCKS = [
    (8, [[0, 1, 2], [3, 4, 5], [6, 7]]),
    (4, [[0, 1], [2, 3]]),
    (4, [[0], [1], [2], [3], []]),
    (1, [[0], []]),
    (10, [[0, 1, 2], [3, 4, 5], [6, 7], [8, 9]]),
    (8, [[0], [1], [2], [3], [4], [5], [6], [7]]),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("count", "shares"), BLOCKS)
def test_each_member_gets_one_block(name: str, count: int, shares: list[list[int]]) -> None:
    clients = members(len(shares))

    allocated = allocate_ids(name, count, clients)

    assert allocated == dict(zip(clients, shares, strict=True))


def cpp_block(count: int, clients: int, index: int) -> list[int]:
    """Do what the C++ client's AllocateMQStrategy.h does, line by line."""
    mod = count % clients
    average_size = 1 if count <= clients else (count // clients + 1 if mod > 0 and index < mod else count // clients)
    start_index = index * average_size if mod > 0 and index < mod else index * average_size + mod
    size = min(average_size, count - start_index)
    block = []
    if size >= 0:
        block = [(start_index + i) % count for i in range(size) if start_index + i >= 0]
    return block


@pytest.mark.parametrize("count", range(1, 41))
def test_the_blocks_are_those_of_the_formula_with_the_degenerate_range(count: int) -> None:
    given_queues = queues(*range(count))
    for size in range(1, 41):
        clients = members(size)
        expected = {
            client_id: [given_queues[place] for place in cpp_block(count, size, index)]
            for index, client_id in enumerate(clients)
        }

        assert on_both_paths("CPP_AVG", given_queues, clients) == [expected] * 2
        assert on_both_paths("AVG", given_queues, clients) == [expected] * 2


def test_the_degenerate_range_gives_members_behind_the_last_queue_nothing() -> None:
    assert cpp_block(1, 3, 1) == []  # starts at 2 and ranges over -1: the source's own example

    assert allocate_ids("CPP_AVG", 1, ["A", "B", "C"]) == {"A": [0], "B": [], "C": []}


@pytest.mark.parametrize("name", NAMES)
def test_two_processes_of_one_id_share_the_first_place_and_orphan_the_second(name: str) -> None:
    allocated = allocate_ids(name, 4, ["A", "B", "A"])

    assert allocated == {"A": [0, 1], "B": [3]}


@pytest.mark.parametrize(
    ("newcomer", "expected"),
    [
        ("C", {"A": [0, 1, 2], "B": [3, 4, 5], "C": [6, 7]}),
        ("0", {"0": [0, 1, 2], "A": [3, 4, 5], "B": [6, 7]}),
    ],
)
def test_where_a_newcomer_sorts_decides_what_moves(newcomer: str, expected: Numbers) -> None:
    before = allocate_ids("AVG", 8, ["A", "B"])

    after = allocate_ids("AVG", 8, ["A", "B", newcomer])

    assert before == {"A": [0, 1, 2, 3], "B": [4, 5, 6, 7]}
    assert after == expected


def test_blocks_follow_java_order_of_brokers_and_the_numbers_of_queues() -> None:
    given_queues = [MessageQueue("T", broker, queue_id) for broker in ("broker-2", "broker-10") for queue_id in (10, 2)]

    allocated = allocate("AVG", given_queues, ["A", "B"])

    assert allocated == {"A": queues(2, 10, broker="broker-10"), "B": queues(2, 10, broker="broker-2")}


def test_every_topic_starts_again_with_the_first_member() -> None:
    given_queues = [*queues(0, 1, 2), *queues(0, 1, topic="S"), *queues(0, topic="R")]

    allocated = allocate("AVG", given_queues, ["A", "B", "C", "D"])

    assert allocated == {
        "A": [MessageQueue("R", "east", 0), MessageQueue("S", "east", 0), MessageQueue("T", "east", 0)],
        "B": [MessageQueue("S", "east", 1), MessageQueue("T", "east", 1)],
        "C": [MessageQueue("T", "east", 2)],
        "D": [],
    }


@pytest.mark.parametrize("counts", [(8, 4, 4), (3, 3, 3), (1, 2, 10), (7, 7, 7)])
def test_the_sum_over_topics_favours_the_first_members(counts: tuple[int, ...]) -> None:
    clients = members(3)
    given_queues = [queue for t, count in enumerate(counts) for queue in queues(*range(count), topic=f"T{t}")]

    allocated = allocate("AVG", given_queues, clients)

    loads = [len(held) for held in allocated.values()]
    assert loads == [sum(count // 3 + (i < count % 3) for count in counts) for i in range(3)]


@given(groups(duplicates=False))
def test_each_queue_has_one_owner_and_sizes_are_within_one_a_topic(group: Group) -> None:
    for allocated in on_both_paths("AVG", group.queues, group.clients):
        owned = [queue for held in allocated.values() for queue in held]
        assert sorted(owned) == sorted(set(group.queues))
        for topic in {queue.topic for queue in group.queues}:
            sizes = [sum(queue.topic == topic for queue in held) for held in allocated.values()]
            assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("name", NAMES)
@given(group=groups())
def test_members_computing_alone_agree_with_the_whole_group(name: str, group: Group) -> None:
    expected = each_alone(name, group.queues, group.clients)

    assert on_both_paths(name, group.queues, group.clients) == [expected] * 2


@pytest.mark.parametrize("name", ["AVG", "CPP_AVG"])
def test_a_member_throws_when_anything_is_empty(name: str) -> None:
    member = strategy(name).member
    assert member is not None

    with pytest.raises(IllegalArgument, match=r"^currentCID is empty$"):
        member("", queues(0), ["A"])
    with pytest.raises(IllegalArgument, match=r"^mqAll is null or mqAll empty$"):
        member("A", [], ["A"])
    with pytest.raises(IllegalArgument, match=r"^cidAll is null or cidAll empty$"):
        member("A", queues(0), [])
    assert member("stranger", queues(0), ["A"]) == []


@pytest.mark.parametrize("name", ["GO_AVG", "GO_MACHINE_ROOM_NEARBY"])
def test_a_go_member_answers_nil_when_anything_is_empty(name: str) -> None:
    member = strategy(name).member
    assert member is not None

    answers = [
        member("", queues(0), ["A"]),
        member("A", [], ["A"]),
        member("A", queues(0), []),
        member("stranger", queues(0), ["A"]),
    ]

    assert answers == [None] * 4
