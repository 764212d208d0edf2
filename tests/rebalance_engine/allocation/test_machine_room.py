from __future__ import annotations

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine import MessageQueue
from rebalance_engine.allocation import allocate, strategy
from rebalance_engine.allocation.contract import BadParameter, IllegalArgument, MissingParameter, NullPointer
from rebalance_engine.allocation.machine_room import member, room_of
from tests.rebalance_engine.allocation.groups import Group, each_alone, groups, ids_of, members, on_both_paths, queues

ROOMS = st.sets(st.sampled_from(("east", "west", "", "\uff5e", "\U0001f600", "a")))


def test_the_remainder_is_dealt_out_from_the_tail() -> None:
    given_queues = queues(*range(8), broker="r1@east") + queues(*range(4), broker="r2@west")

    answers = on_both_paths("MACHINE_ROOM", given_queues, members(3), consumer_idcs={"r1"})

    assert list(map(ids_of, answers)) == [dict(zip(members(3), ([0, 1, 6], [2, 3, 7], [4, 5]), strict=True))] * 2


def test_queues_of_several_rooms_are_divided_together() -> None:
    given_queues = queues(0, 1, 2, broker="r1@a") + queues(0, 1, broker="r2@a") + queues(0, 1, broker="r3@a")

    allocated = allocate("MACHINE_ROOM", given_queues, ["A", "B"], consumer_idcs=["r1", "r2", "r1"])

    assert allocated == {
        "A": queues(0, 1, broker="r1@a") + queues(1, broker="r2@a"),
        "B": queues(2, broker="r1@a") + queues(0, broker="r2@a"),
    }


def test_two_processes_of_one_id_orphan_the_second_place() -> None:
    given_queues = queues(*range(7), broker="r1@a")

    answers = on_both_paths("MACHINE_ROOM", given_queues, ["A", "B", "A"], consumer_idcs={"r1"})

    assert list(map(ids_of, answers)) == [{"A": [0, 1, 6], "B": [4, 5]}] * 2


@pytest.mark.parametrize(
    ("broker", "room"),
    [
        ("r1@east", "r1"),
        ("east", None),
        ("a@b@c", None),
        ("@b", ""),
        ("a@", None),
        ("a@b@", "a"),
        ("a@b@@@", "a"),
        ("a@@b", None),
        ("a@@", None),
        ("@@b", None),
        ("@b@", ""),
        ("@", None),
        ("@@", None),
        ("", None),
    ],
)
def test_a_broker_is_in_a_room_when_java_splits_its_name_in_two(broker: str, room: str | None) -> None:
    rooms = {"", "a", "b", "c", "r1", "east"}

    answers = on_both_paths("MACHINE_ROOM", queues(0, broker=broker), ["A"], consumer_idcs=rooms)

    assert room_of(broker) == room
    assert answers == [{"A": [] if room is None else queues(0, broker=broker)}] * 2


@pytest.mark.parametrize("nothing", [set(), [], (), frozenset(), {}])
def test_without_rooms_nobody_gets_anything(nothing: Collection[str]) -> None:
    answers = on_both_paths("MACHINE_ROOM", queues(0, broker="r1@a"), ["A", "B"], consumer_idcs=nothing)

    assert answers == [{"A": [], "B": []}] * 2


def test_queues_of_unlisted_rooms_are_nobodys() -> None:
    given_queues = queues(0, broker="r1@a") + queues(0, broker="r2@a") + queues(0, broker="plain")

    allocated = allocate("MACHINE_ROOM", given_queues, ["A"], consumer_idcs={"r2", "r9"})

    assert allocated == {"A": queues(0, broker="r2@a")}


@given(groups(), ROOMS)
def test_members_computing_alone_agree_with_the_whole_group(group: Group, rooms: set[str]) -> None:
    expected = each_alone("MACHINE_ROOM", group.queues, group.clients, consumer_idcs=rooms)

    assert on_both_paths("MACHINE_ROOM", group.queues, group.clients, consumer_idcs=rooms) == [expected] * 2


@given(groups(duplicates=False), ROOMS)
def test_queues_of_the_rooms_have_one_owner_and_the_others_none(group: Group, rooms: set[str]) -> None:
    allocated = allocate("MACHINE_ROOM", group.queues, group.clients, consumer_idcs=rooms)

    owned = [queue for held in allocated.values() for queue in held]
    assert sorted(owned) == sorted(queue for queue in set(group.queues) if room_of(queue.broker) in rooms)


def test_rooms_that_were_never_set_are_a_null_pointer_at_the_first_broker_with_a_room() -> None:
    with pytest.raises(NullPointer, match="'r1@a' is in room 'r1'"):
        member("A", queues(0) + queues(0, broker="r1@a"), ["A"])

    assert member("A", queues(0) + queues(0, broker="a@"), ["A"]) == []


def test_a_member_throws_when_anything_is_empty_but_not_when_no_queue_is_in_its_rooms() -> None:
    ask = strategy("MACHINE_ROOM", consumer_idcs={"r1"}).member
    assert ask is not None

    with pytest.raises(IllegalArgument, match=r"^mqAll is null or mqAll empty$"):
        ask("A", [], ["A"])

    assert ask("A", queues(0), ["A"]) == []
    assert ask("stranger", [MessageQueue("T", "r1@a", 0)], ["A"]) == []


@pytest.mark.parametrize("wrong", ["r1", b"r1", None, 5, [1], {"r1", None}])
def test_rooms_that_are_no_set_of_names_are_refused(wrong: object) -> None:
    with pytest.raises(BadParameter, match=r"^consumer_idcs must be a set of room names, not ") as refused:
        allocate("MACHINE_ROOM", queues(0), ["A"], consumer_idcs=wrong)

    assert repr(wrong) in str(refused.value)


def test_rooms_must_be_given() -> None:
    with pytest.raises(MissingParameter, match="MACHINE_ROOM needs the parameter 'consumer_idcs'; given: none"):
        allocate("MACHINE_ROOM", queues(0), ["A"])
