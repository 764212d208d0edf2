"""How old, at most, is what a watcher knows: of member lists, and of routes."""

from __future__ import annotations

from rebalance_engine.network.watcher.memory import Memory
from tests.rebalance_engine.network.watcher.seeing import brokers, by, route, sound, told


def test_lists_are_no_younger_than_the_oldest_answer_to_which_groups_there_are() -> None:
    memory = Memory()
    list(memory.cluster_heard(brokers("east"), by(0, None)))
    memory.having.makes_heard("east", is_on=True)
    memory.groups_heard("east", ["G"], 10)
    told(memory, "A", 20)

    assert memory.lists_at == 10


def test_all_lists_are_as_old_as_the_oldest_and_unknown_while_one_was_never_told() -> None:
    memory = sound("east", "west")
    nothing = memory.lists_at
    told(memory, "A", 10)
    one = memory.lists_at
    told(memory, "A", 12, "west")
    told(memory, "A", 20)

    assert (nothing, one, memory.lists_at) == (None, None, 12)


def test_routes_of_topics_that_groups_consume_are_as_old_as_the_oldest() -> None:
    memory = sound("east")
    told(memory, "A", 10)
    for topic in memory.topics_of("G"):
        list(memory.route_heard(topic, route(2, "east"), by(12, None)))
    list(memory.route_heard("payments", route(2, "east"), by(5, None)))

    assert memory.routes_at([by(12, None).address]) == 12
    assert memory.routes_at([by(12, None).address, "other:9876"]) is None
