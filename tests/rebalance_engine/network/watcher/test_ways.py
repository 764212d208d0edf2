"""Members A and B are listed by east and west, C by east alone; which broker is asked for what they hold."""

import pytest

from rebalance_engine.network.watcher.agenda import Kind, Question
from rebalance_engine.network.watcher.memory import Memory
from rebalance_engine.network.watcher.ways import Ways
from tests.rebalance_engine.network.watcher.seeing import sound, told

A, C = Question(Kind.HELD, "", "G", "A"), Question(Kind.HELD, "", "G", "C")


@pytest.fixture
def memory() -> Memory:
    memory = sound("east", "west")
    told(memory, "ABC", 10)
    told(memory, "AB", 10, "west")
    return memory


def choices(ways: Ways, question: Question = A) -> set[str]:
    return {ways.choose(question) for _ in range(4)}


def test_brokers_that_list_a_member_are_asked_by_turns(memory: Memory) -> None:
    ways = Ways(memory)

    assert [ways.choose(A) for _ in range(4)] in (["east", "west"] * 2, ["west", "east"] * 2)
    assert choices(ways, C) == {"east"}
    assert ways.choose(Question(Kind.HELD, "", "none", "A")) == ""


def test_a_broker_that_does_not_answer_is_asked_only_where_no_other_lists_the_member(memory: Memory) -> None:
    ways = Ways(memory)
    memory.silences.missed("east:1", "east", 20, "no answer in time")

    assert (choices(ways), choices(ways, C)) == ({"west"}, {"east"})

    memory.silences.answered("east:1", 30)
    assert choices(ways) == {"east", "west"}


def test_what_was_asked_in_vain_is_asked_once_at_each_broker_that_may_bring_it(memory: Memory) -> None:
    ways = Ways(memory)

    assert (ways.failed(A, "east"), ways.goes_on(A), choices(ways)) == (True, True, {"west"})
    assert (ways.failed(A, "west"), ways.goes_on(A), choices(ways)) == (False, False, {"east", "west"})
    assert ways.failed(C, "east") is False


def test_once_answered_or_asked_no_more_all_brokers_may_be_asked_again(memory: Memory) -> None:
    ways = Ways(memory)
    ways.failed(A, "east")
    ways.ended(A)
    assert choices(ways) == {"east", "west"}

    ways.failed(A, "east")
    ways.keep({C})
    assert not ways.goes_on(A)


def test_a_broker_that_does_not_answer_either_brings_nothing(memory: Memory) -> None:
    memory.silences.missed("west:1", "west", 20, "no answer in time")

    assert Ways(memory).failed(A, "east") is False
