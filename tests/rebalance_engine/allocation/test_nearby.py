from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine import MessageQueue
from rebalance_engine.allocation import AllocationError, allocate, strategy
from rebalance_engine.allocation.contract import (
    BadParameter,
    IllegalArgument,
    MissingParameter,
    NullPointer,
    UnknownParameter,
    UnknownStrategy,
    UnresolvedRoom,
)
from tests.rebalance_engine.allocation.groups import (
    Group,
    Lists,
    each_alone,
    groups,
    in_order,
    on_both_paths,
    queues,
    queues_in_order,
)

DASH = {"rule": "prefix"}
BY_DASH: dict[str, Any] = {"broker_room": DASH, "client_room": DASH}
# Rooms of random names: their first character, so that rooms are few, and some have odd names.
BY_FIRST: dict[str, Any] = {"broker_room": lambda queue: (queue.broker or "?")[0], "client_room": lambda name: name[0]}
INNER: list[tuple[str, dict[str, Any]]] = [
    ("AVG", {}),
    ("AVG_BY_CIRCLE", {}),
    ("CONSISTENT_HASH", {"virtual_nodes": 3}),
    ("MACHINE_ROOM", {"consumer_idcs": {"east", "", "a"}}),
    ("MACHINE_ROOM_NEARBY-AVG", {}),
]


def rooms(*counts: int) -> list[MessageQueue]:
    return [queue for room, count in enumerate(counts, start=1) for queue in queues(*range(count), broker=f"r{room}-a")]


def places(lists: Lists) -> dict[str, list[str]]:
    """Name each queue by its room and number."""
    return {name: [f"{queue.broker[:2]}:{queue.queue_id}" for queue in held] for name, held in lists.items()}


def test_rooms_without_members_go_to_everybody_and_the_others_to_their_own() -> None:
    for allocated in on_both_paths("MACHINE_ROOM_NEARBY-AVG", rooms(4, 4, 4), ["r1-c1", "r1-c2", "r2-c1"], **BY_DASH):
        assert places(allocated) == {
            "r1-c1": ["r1:0", "r1:1", "r3:0", "r3:1"],
            "r1-c2": ["r1:2", "r1:3", "r3:2"],
            "r2-c1": ["r2:0", "r2:1", "r2:2", "r2:3", "r3:3"],
        }


def test_the_own_room_comes_first_and_the_others_by_name() -> None:
    for allocated in on_both_paths("MACHINE_ROOM_NEARBY-AVG", rooms(1, 1, 1), ["r2-c1"], **BY_DASH):
        assert places(allocated) == {"r2-c1": ["r2:0", "r1:0", "r3:0"]}


def test_the_own_room_comes_first_also_behind_two_processes_of_one_id() -> None:
    given_queues = rooms(3, 1, 1)

    for allocated in on_both_paths("MACHINE_ROOM_NEARBY-AVG", given_queues, ["r2-A", "r2-A", "r3-B"], **BY_DASH):
        assert places(allocated) == {"r2-A": ["r2:0", "r1:0"], "r3-B": ["r3:0", "r1:2"]}


def test_rooms_without_members_come_in_utf16_order() -> None:
    given_queues = queues(0, broker="\uff5e-a") + queues(0, broker="\U0001f600-a")

    for allocated in on_both_paths("MACHINE_ROOM_NEARBY-AVG", given_queues, ["home-A"], **BY_DASH):
        assert [queue.broker[0] for queue in allocated["home-A"]] == ["\U0001f600", "\uff5e"]


def test_remainders_of_every_empty_room_go_to_the_first_members() -> None:
    allocated = allocate("MACHINE_ROOM_NEARBY-AVG", rooms(1, 1, 1), ["home-A", "home-B"], **BY_DASH)

    assert places(allocated) == {"home-A": ["r1:0", "r2:0", "r3:0"], "home-B": []}


def test_a_member_of_a_room_without_queues_shares_in_the_empty_rooms_only() -> None:
    allocated = allocate("MACHINE_ROOM_NEARBY-AVG", rooms(2, 2), ["r1-c1", "r9-c1"], **BY_DASH)

    assert places(allocated) == {"r1-c1": ["r1:0", "r1:1", "r2:0"], "r9-c1": ["r2:1"]}


def test_two_processes_of_one_id_orphan_the_second_place_in_each_room() -> None:
    for allocated in on_both_paths("MACHINE_ROOM_NEARBY-AVG", rooms(3, 3), ["r1-A", "r1-A", "r1-B"], **BY_DASH):
        assert places(allocated) == {"r1-A": ["r1:0", "r2:0"], "r1-B": ["r1:2", "r2:2"]}


def test_the_inner_strategy_is_named_in_the_name_or_as_a_parameter() -> None:
    by_name = allocate("MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE", rooms(5), ["r1-A", "r1-B"], **BY_DASH)

    by_parameter = allocate("MACHINE_ROOM_NEARBY", rooms(5), ["r1-A", "r1-B"], inner="AVG_BY_CIRCLE", **BY_DASH)
    by_both = strategy("MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE", inner="AVG_BY_CIRCLE", **BY_DASH)

    assert places(by_name) == {"r1-A": ["r1:0", "r1:2", "r1:4"], "r1-B": ["r1:1", "r1:3"]}
    assert by_parameter == by_name
    assert by_both.name == "MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE"


@pytest.mark.parametrize(("inner", "params"), INNER)
@given(group=groups())
def test_members_computing_alone_agree_with_the_whole_group(inner: str, params: dict[str, Any], group: Group) -> None:
    name = f"MACHINE_ROOM_NEARBY-{inner}"
    expected = each_alone(name, group.queues, group.clients, **BY_FIRST, **params)

    assert on_both_paths(name, group.queues, group.clients, **BY_FIRST, **params) == [expected] * 2


@given(groups(topics=1))
def test_the_shares_are_those_of_the_source(group: Group) -> None:
    expected = {
        name: javas_share(name, queues_in_order(group.queues), in_order(group.clients)) for name in group.clients
    }

    assert on_both_paths("MACHINE_ROOM_NEARBY-AVG", group.queues, group.clients, **BY_FIRST) == [expected] * 2


def javas_share(name: str, listed: list[MessageQueue], clients: list[str]) -> list[MessageQueue]:
    """Do what AllocateMachineRoomNearby does, with AVG inside."""

    def average(inside: list[MessageQueue], among: list[str]) -> list[MessageQueue]:
        return strategy("AVG").member(name, inside, among) or []  # type: ignore[misc]

    queues_of = {
        room: [queue for queue in listed if queue.broker[:1] == room] for room in (q.broker[:1] for q in listed)
    }
    queues_of = {room or "?": inside for room, inside in queues_of.items()}
    here = [other for other in clients if other[0] == name[0]]
    share = average(queues_of[name[0]], here) if name[0] in queues_of else []
    for room in in_order(queues_of.keys() - {other[0] for other in clients}):
        share += average(queues_of[room], clients)
    return share


@given(groups(duplicates=False), st.sampled_from(INNER[:3]))
def test_each_queue_has_one_owner(group: Group, inner: tuple[str, dict[str, Any]]) -> None:
    allocated = allocate(f"MACHINE_ROOM_NEARBY-{inner[0]}", group.queues, group.clients, **BY_FIRST, **inner[1])

    assert sorted(queue for held in allocated.values() for queue in held) == sorted(set(group.queues))


# ---- the inner strategy's own failures ----


def test_configured_lists_are_given_once_for_every_room_that_is_asked_about() -> None:
    told = rooms(1)
    ask = strategy("MACHINE_ROOM_NEARBY-CONFIG", config={"r1-A": told}, **BY_DASH).member
    assert ask is not None

    assert ask("r1-A", rooms(2, 2, 2), ["r1-A"]) == told * 3


def test_a_null_answer_of_the_inner_strategy_is_a_null_pointer() -> None:
    ask = strategy("MACHINE_ROOM_NEARBY-CONFIG", config={"r1-A": []}, **BY_DASH).member
    assert ask is not None

    assert ask("r1-A", rooms(2), ["r1-A", "r1-B", "r2-C"]) == []
    with pytest.raises(NullPointer, match="CONFIG answered null for 'r1-B'"):
        ask("r1-B", rooms(2), ["r1-A", "r1-B", "r2-C"])
    assert ask("r2-C", rooms(2), ["r1-A", "r1-B", "r2-C"]) == []  # it is not asked at all

    with pytest.raises(AllocationError, match="MACHINE_ROOM_NEARBY-CONFIG throws for member 'r1-B'"):
        allocate("MACHINE_ROOM_NEARBY-CONFIG", rooms(2), ["r1-A", "r1-B"], config={"r1-A": []}, **BY_DASH)


def test_the_check_comes_before_the_rooms() -> None:
    ask = strategy("MACHINE_ROOM_NEARBY-AVG", **BY_DASH).member
    assert ask is not None

    with pytest.raises(IllegalArgument, match=r"^currentCID is empty$"):
        ask("", queues(0), ["nowhere"])
    assert ask("stranger", queues(0), ["nowhere"]) == []


# ---- rooms that cannot be resolved ----


@pytest.mark.parametrize("room", [None, "", 5])
def test_a_queue_in_no_room_is_refused(room: object) -> None:
    params: dict[str, Any] = {"broker_room": lambda queue: room if queue.queue_id else "r1", "client_room": DASH}

    for count in (2, 2000):  # members are asked one by one, or all at once in tables
        with pytest.raises(UnresolvedRoom) as refused:
            allocate("MACHINE_ROOM_NEARBY-AVG", queues(*range(count)), ["r1-A"], **params)

        assert str(queues(1)[0]) in str(refused.value)
        assert str(refused.value).endswith("needed is a name")


@pytest.mark.parametrize("room", [None, "", 5])
def test_a_client_in_no_room_is_refused(room: object) -> None:
    params: dict[str, Any] = {"broker_room": DASH, "client_room": lambda name: room if name == "lost" else "r1"}

    for count in (2, 2000):  # members are asked one by one, or all at once in tables
        with pytest.raises(UnresolvedRoom) as refused:
            allocate("MACHINE_ROOM_NEARBY-AVG", rooms(count), ["A", "lost"], **params)

        assert "lost" in str(refused.value)
        assert str(refused.value).endswith("needed is a name")


def test_a_member_throws_with_javas_words() -> None:
    ask = strategy("MACHINE_ROOM_NEARBY-AVG", **BY_DASH).member
    assert ask is not None

    with pytest.raises(IllegalArgument) as no_queue_room:
        ask("r1-A", queues(0), ["r1-A"])
    with pytest.raises(IllegalArgument, match=r"^Machine room is null for consumer id B$"):
        ask("r1-A", rooms(1), ["r1-A", "B"])

    assert str(no_queue_room.value) == f"Machine room is null for mq {queues(0)[0]}"


# ---- parameters ----


@pytest.mark.parametrize("missing", ["inner", "broker_room", "client_room"])
def test_a_missing_parameter_is_named(missing: str) -> None:
    params = {"inner": "AVG", **BY_DASH}
    del params[missing]

    with pytest.raises(MissingParameter, match=f"MACHINE_ROOM_NEARBY needs the parameter '{missing}'; given: "):
        allocate("MACHINE_ROOM_NEARBY", rooms(1), ["r1-A"], **params)


@pytest.mark.parametrize(
    ("inner", "params", "error", "message"),
    [
        ("NOPE", {}, UnknownStrategy, "there is no strategy 'NOPE'; there are AVG, "),
        ("", {}, UnknownStrategy, "there is no strategy ''"),
        (None, {}, BadParameter, "inner must be the name of a strategy, not None"),
        ("GO_AVG", {}, BadParameter, "inner must be one of the Java client's strategies, not 'GO_AVG'"),
        ("CPP_AVG", {}, BadParameter, "inner must be one of the Java client's strategies, not 'CPP_AVG'"),
        ("AVG", {"virtual_nodes": 3}, UnknownParameter, "AVG has no parameter 'virtual_nodes'; allowed: none"),
        ("MACHINE_ROOM", {}, MissingParameter, "MACHINE_ROOM needs the parameter 'consumer_idcs'"),
        ("CONSISTENT_HASH", {"virtual_nodes": -1}, BadParameter, "virtual_nodes must be a whole number"),
        ("MACHINE_ROOM_NEARBY", {}, MissingParameter, "MACHINE_ROOM_NEARBY needs the parameter 'inner'"),
    ],
)
def test_a_wrong_inner_strategy_is_refused(
    inner: str | None, params: dict[str, Any], error: type[AllocationError], message: str
) -> None:
    with pytest.raises(error, match=message):
        allocate("MACHINE_ROOM_NEARBY", rooms(1), ["r1-A"], inner=inner, **params, **BY_DASH)


def test_two_different_inner_strategies_are_refused() -> None:
    with pytest.raises(BadParameter, match="has the inner strategy 'AVG', but the parameter says 'CONFIG'"):
        allocate("MACHINE_ROOM_NEARBY-AVG", rooms(1), ["r1-A"], inner="CONFIG", **BY_DASH)
