from __future__ import annotations

import pytest

from rebalance_engine import MessageQueue
from rebalance_engine.allocation import allocate, strategy
from rebalance_engine.allocation.contract import BadParameter, UnknownParameter
from tests.rebalance_engine.allocation.groups import on_both_paths, queues

QUEUES = [MessageQueue("orders", "east", number) for number in range(2)]

NAMES = ("CONFIG", "GO_CONFIG")
ELSEWHERE = MessageQueue("nowhere", "atlantis", 99)


@pytest.mark.parametrize("name", NAMES)
def test_each_client_gets_its_list_as_it_is(name: str) -> None:
    config = {"A": [*queues(3, 0, 3), ELSEWHERE], "B": queues(0)}

    answers = on_both_paths(name, queues(0, 1, 2, 3), ["B", "A"], config=config)

    assert answers == [config] * 2  # unsorted, with doubles, overlaps, gaps and a queue that does not exist


def test_the_lists_hold_the_very_queues_that_were_configured() -> None:
    told = queues(1, 0)

    allocated = allocate("CONFIG", queues(0, 1), ["A"], config={"A": told})

    assert all(mine is theirs for mine, theirs in zip(allocated["A"], told, strict=True))
    assert allocated["A"] is not told


@pytest.mark.parametrize("name", NAMES)
def test_a_client_without_a_list_gets_nothing(name: str) -> None:
    assert allocate(name, queues(0), ["A", "B"], config={"A": queues(0)}) == {"A": queues(0), "B": []}
    assert allocate(name, queues(0), ["A"], config={}) == {"A": []}
    assert allocate(name, queues(0), ["A"]) == {"A": []}


def test_a_list_for_somebody_else_is_nobodys() -> None:
    allocated = allocate("CONFIG", queues(0), ["A"], config={"A": [], "B": queues(0)})

    assert allocated == {"A": []}


def test_two_processes_of_one_id_are_told_the_same() -> None:
    allocated = allocate("CONFIG", queues(0, 1), ["A", "A"], config={"A": queues(1)})

    assert allocated == {"A": queues(1)}


@pytest.mark.parametrize("name", NAMES)
def test_the_same_list_comes_back_for_every_topic(name: str) -> None:
    told = queues(0) + queues(0, topic="S")
    member = strategy(name, config={"A": told}).member
    assert member is not None

    for topic in ("T", "S", "%RETRY%group"):
        assert member("A", queues(0, topic=topic), ["A"]) == told


def test_a_group_of_several_topics_has_the_list_once() -> None:
    told = [*queues(1, 1), ELSEWHERE, *queues(0, topic="S")]

    answers = on_both_paths("CONFIG", queues(0) + queues(0, topic="S"), ["A"], config={"A": told})

    assert answers == [{"A": told}] * 2


@pytest.mark.parametrize("name", NAMES)
def test_a_member_looks_at_no_argument(name: str) -> None:
    member = strategy(name, config={"A": queues(7)}).member
    assert member is not None

    assert member("A", [], []) == queues(7)
    assert member("A", None, None) == queues(7)
    assert member("A", queues(0), ["B"]) == queues(7)


def test_a_list_that_was_not_set_is_null() -> None:
    told, untold = strategy("CONFIG", config={"A": []}).member, strategy("CONFIG").member
    assert told is not None and untold is not None

    assert told("A", queues(0), ["A"]) == []
    assert told("B", queues(0), ["B"]) is None
    assert told(None, queues(0), ["A"]) is None
    assert untold("A", queues(0), ["A"]) is None


def test_changing_an_answer_does_not_change_the_configuration() -> None:
    config = {"A": queues(0)}
    member = strategy("CONFIG", config=config).member
    assert member is not None

    answer = member("A", None, None)
    assert answer is not None
    answer.clear()

    assert config == {"A": queues(0)}
    assert member("A", None, None) == queues(0)


@pytest.mark.parametrize("wrong", [[("A", queues(0))], "A", 5])
def test_a_config_that_is_no_mapping_is_refused(wrong: object) -> None:
    with pytest.raises(BadParameter, match=r"^config must be a mapping of client ids to queues, not ") as refused:
        allocate("CONFIG", queues(0), ["A"], config=wrong)

    assert repr(wrong) in str(refused.value)


def test_a_parameter_that_it_does_not_take_is_refused() -> None:
    with pytest.raises(UnknownParameter, match=r"CONFIG has no parameter 'virtual_nodes'; allowed: config"):
        allocate("CONFIG", queues(0), ["A"], virtual_nodes=1)


def test_a_list_that_is_none_was_never_set() -> None:
    assert allocate("CONFIG", QUEUES, ["A", "B"], config={"A": None, "B": QUEUES[:1]}) == {"A": [], "B": QUEUES[:1]}


def test_a_number_is_no_list_of_queues() -> None:
    with pytest.raises(BadParameter, match="config must give 'A' a list of queues, not 7"):
        allocate("CONFIG", QUEUES, ["A"], config={"A": 7})
