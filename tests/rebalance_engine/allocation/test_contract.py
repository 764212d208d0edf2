from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from rebalance_engine import MessageQueue
from rebalance_engine.allocation import STRATEGIES, contract, strategy
from rebalance_engine.allocation.contract import (
    AllocationError,
    IllegalArgument,
    Kind,
    MemberFailure,
    MissingParameter,
    OnEmpty,
    Strategy,
    UnknownParameter,
    computes,
    deal,
)
from rebalance_engine.model import Order
from tests.rebalance_engine.allocation.groups import queues

BY_DASH = {"broker_room": {"rule": "prefix"}, "client_room": {"rule": "prefix"}}
CHECKED: list[tuple[str, dict[str, Any]]] = [
    ("AVG", {}),
    ("AVG_BY_CIRCLE", {}),
    ("MACHINE_ROOM", {"consumer_idcs": {"r1"}}),
    ("CONSISTENT_HASH", {}),
    ("CONSISTENT_HASH", {"virtual_nodes": 0}),
    ("MACHINE_ROOM_NEARBY-AVG", BY_DASH),
    ("MACHINE_ROOM_NEARBY-CONFIG", BY_DASH),
    ("CPP_AVG", {}),
]
# (own id, queues, clients, Java's text), in the order of Java's checks
EMPTY: list[tuple[str | None, list[MessageQueue] | None, list[str] | None, str]] = [
    (None, None, None, "currentCID is empty"),
    ("", queues(0), ["A"], "currentCID is empty"),
    ("A", None, None, "mqAll is null or mqAll empty"),
    ("A", [], [], "mqAll is null or mqAll empty"),
    ("A", queues(0), None, "cidAll is null or cidAll empty"),
    ("A", queues(0), [], "cidAll is null or cidAll empty"),
]


@pytest.mark.parametrize(("name", "params"), CHECKED)
@pytest.mark.parametrize(("client_id", "given", "clients", "text"), EMPTY)
def test_a_member_with_anything_empty_throws(
    name: str,
    params: dict[str, Any],
    client_id: str | None,
    given: Sequence[MessageQueue] | None,
    clients: Sequence[str] | None,
    text: str,
) -> None:
    member = strategy(name, **params).member
    assert member is not None

    with pytest.raises(IllegalArgument) as thrown:
        member(client_id, given, clients)

    assert str(thrown.value) == text


@pytest.mark.parametrize(("name", "params"), CHECKED)
def test_a_member_that_is_not_listed_answers_an_empty_list(name: str, params: dict[str, Any]) -> None:
    member = strategy(name, **params).member
    assert member is not None

    assert member("r1-stranger", queues(0, broker="r1-a"), ["r1-A", "r1-B"]) == []


@pytest.mark.parametrize(("client_id", "given", "clients", "_text"), EMPTY)
def test_where_the_language_drops_nothing_is_thrown(
    client_id: str | None, given: list[MessageQueue] | None, clients: list[str] | None, _text: str
) -> None:
    assert computes(client_id, given, clients, OnEmpty.DROP) is False


@pytest.mark.parametrize("on_empty", OnEmpty)
def test_only_who_is_listed_computes(on_empty: OnEmpty) -> None:
    assert computes("A", queues(0), ["A", "B"], on_empty)
    assert not computes("C", queues(0), ["A", "B"], on_empty)


def test_the_names_are_those_that_java_answers() -> None:
    names = [
        strategy("AVG").name,
        strategy("AVG_BY_CIRCLE").name,
        strategy("CONFIG").name,
        strategy("MACHINE_ROOM", consumer_idcs=()).name,
        strategy("MACHINE_ROOM_NEARBY", inner="AVG", **BY_DASH).name,
        strategy("MACHINE_ROOM_NEARBY-MACHINE_ROOM_NEARBY-CONFIG", **BY_DASH).name,
        strategy("CONSISTENT_HASH", virtual_nodes=77).name,
    ]

    assert names == [
        "AVG",
        "AVG_BY_CIRCLE",
        "CONFIG",
        "MACHINE_ROOM",
        "MACHINE_ROOM_NEARBY-AVG",
        "MACHINE_ROOM_NEARBY-MACHINE_ROOM_NEARBY-CONFIG",
        "CONSISTENT_HASH",
    ]


@pytest.mark.parametrize(
    ("name", "params", "order"),
    [
        ("AVG", {}, Order.JAVA),
        ("MACHINE_ROOM_NEARBY-AVG", BY_DASH, Order.JAVA),
        ("CPP_AVG", {}, Order.BYTES),
        ("GO_AVG", {}, Order.BYTES),
        ("GO_AVG_BY_CIRCLE", {}, Order.BYTES),
        ("GO_CONFIG", {}, Order.BYTES),
        ("GO_MACHINE_ROOM", {"consumer_idcs": []}, Order.BYTES),
        ("GO_MACHINE_ROOM_NEARBY", {}, Order.BYTES),
        ("GO_CONSISTENT_HASH", {"virtual_nodes": 1}, Order.BYTES),
    ],
)
def test_every_language_has_its_order(name: str, params: dict[str, Any], order: Order) -> None:
    assert strategy(name, **params).order is order


def test_the_kinds_are_filed_under_their_names_and_need_only_what_they_take() -> None:
    for name, kind in STRATEGIES.items():
        assert kind.name == name
        assert kind.summary
        assert kind.needs <= kind.takes


# ---- a kind binds what it was given ----


def bind(**params: object) -> Strategy:
    return Strategy(f"bound {sorted(params)}", Order.JAVA, None, None)


LIKE_DEALING = Kind("DEALING", "for tests", bind, takes=frozenset({"pace", "seed"}), needs=frozenset({"seed"}))


def test_a_kind_binds_what_it_takes() -> None:
    assert LIKE_DEALING(seed=1).name == "bound ['seed']"
    assert LIKE_DEALING(seed=1, pace=2).name == "bound ['pace', 'seed']"


def test_an_unknown_parameter_is_named_with_the_allowed_ones() -> None:
    with pytest.raises(UnknownParameter, match="DEALING has no parameter 'haste'; allowed: pace, seed"):
        LIKE_DEALING(seed=1, haste=2)

    with pytest.raises(UnknownParameter, match="AVG has no parameter 'haste'; allowed: none"):
        STRATEGIES["AVG"](haste=2)


def test_a_missing_parameter_is_named_with_the_given_ones() -> None:
    with pytest.raises(MissingParameter, match=r"DEALING needs the parameter 'seed'; given: \['pace'\]"):
        LIKE_DEALING(pace=2)

    with pytest.raises(MissingParameter, match="DEALING needs the parameter 'seed'; given: none"):
        LIKE_DEALING()


# ---- the tree of errors ----


@pytest.mark.parametrize(
    "name",
    ["NoQueues", "NoClients", "BadClient", "UnknownStrategy", "UnknownParameter", "MissingParameter", "BadParameter"],
)
def test_bad_input_is_a_value_error_and_no_failure_of_a_member(name: str) -> None:
    error = getattr(contract, name)

    assert issubclass(error, AllocationError)
    assert issubclass(error, ValueError)
    assert not issubclass(error, MemberFailure)


@pytest.mark.parametrize("name", ["IllegalArgument", "NullPointer", "Panic"])
def test_what_a_member_throws_is_no_bad_input(name: str) -> None:
    failure = getattr(contract, name)

    assert issubclass(failure, MemberFailure)
    assert not issubclass(failure, AllocationError)


def test_an_unresolved_room_is_both() -> None:
    assert issubclass(contract.UnresolvedRoom, AllocationError)
    assert issubclass(contract.UnresolvedRoom, IllegalArgument)


def test_a_member_takes_by_its_place_among_the_members() -> None:
    def take(queues: Sequence[MessageQueue], place: int, members: int) -> Sequence[MessageQueue]:
        return queues[place::members]

    given = [MessageQueue("orders", "east", number) for number in range(3)]

    assert deal("B", given, ["A", "B"], OnEmpty.THROW, take) == given[1:2]
    assert deal("C", given, ["A", "B"], OnEmpty.THROW, take) == []
    assert deal("C", given, ["A", "B"], OnEmpty.DROP, take) is None
    with pytest.raises(IllegalArgument, match="cidAll is null or cidAll empty"):
        deal("A", given, [], OnEmpty.THROW, take)
