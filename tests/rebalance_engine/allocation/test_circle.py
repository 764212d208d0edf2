from __future__ import annotations

import pytest
from hypothesis import given

from rebalance_engine.allocation import allocate, strategy
from rebalance_engine.allocation.contract import IllegalArgument
from tests.rebalance_engine.allocation.groups import (
    Group,
    allocate_ids,
    each_alone,
    groups,
    members,
    on_both_paths,
    queues,
)

NAMES = ("AVG_BY_CIRCLE", "GO_AVG_BY_CIRCLE")

# (queues, shares of the members); computed by the Java class
HANDS = [
    (8, [[0, 3, 6], [1, 4, 7], [2, 5]]),
    (4, [[0, 2], [1, 3]]),
    (10, [[0, 4, 8], [1, 5, 9], [2, 6], [3, 7]]),
    (2, [[0], [1], [], []]),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("count", "shares"), HANDS)
def test_queues_are_dealt_out_like_cards(name: str, count: int, shares: list[list[int]]) -> None:
    clients = members(len(shares))

    allocated = allocate_ids(name, count, clients)

    assert allocated == dict(zip(clients, shares, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_two_processes_of_one_id_orphan_the_second_place(name: str) -> None:
    allocated = allocate_ids(name, 4, ["A", "B", "A"])

    assert allocated == {"A": [0, 3], "B": [2]}


@pytest.mark.parametrize("count", range(1, 31))
def test_everybody_gets_as_many_as_on_average(count: int) -> None:
    for size in range(1, 31):
        dealt = allocate_ids("AVG_BY_CIRCLE", count, members(size))

        averaged = allocate_ids("AVG", count, members(size))

        assert list(map(len, dealt.values())) == list(map(len, averaged.values()))


def test_queues_of_several_brokers_are_interleaved() -> None:
    given_queues = queues(0, 1, broker="west") + queues(0, 1, broker="east")

    allocated = allocate("AVG_BY_CIRCLE", given_queues, ["A", "B"])

    assert allocated == {
        "A": queues(0, broker="east") + queues(0, broker="west"),
        "B": queues(1, broker="east") + queues(1, broker="west"),
    }


def test_every_topic_starts_again_with_the_first_member() -> None:
    given_queues = [*queues(0, 1, 2), *queues(0, topic="S")]

    allocated = allocate("AVG_BY_CIRCLE", given_queues, ["A", "B"])

    assert allocated == {"A": queues(0, topic="S") + queues(0, 2), "B": queues(1)}


@given(groups(duplicates=False))
def test_each_queue_has_one_owner_and_sizes_are_within_one_a_topic(group: Group) -> None:
    for allocated in on_both_paths("AVG_BY_CIRCLE", group.queues, group.clients):
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


def test_a_java_member_throws_where_a_go_member_answers_nil() -> None:
    java, go = strategy("AVG_BY_CIRCLE").member, strategy("GO_AVG_BY_CIRCLE").member
    assert java is not None and go is not None

    with pytest.raises(IllegalArgument, match=r"^mqAll is null or mqAll empty$"):
        java("A", None, ["A"])

    assert go("A", None, ["A"]) is None
    assert java("stranger", queues(0), ["A"]) == []
    assert go("stranger", queues(0), ["A"]) is None
