from __future__ import annotations

import re
from typing import Any

import pytest

from rebalance_engine import MessageQueue
from rebalance_engine.allocation import allocate
from rebalance_engine.allocation.contract import BadParameter, IllegalArgument, UnresolvedRoom
from rebalance_engine.allocation.rooms import Pattern, Prefix, Table, broker_room, client_room, read_rule, resolve
from tests.rebalance_engine.allocation.groups import queues

EAST = MessageQueue("T", "east-a", 0)


@pytest.mark.parametrize(
    ("rule", "name", "room"),
    [
        ({"rule": "prefix"}, "r1-c1-x", "r1"),
        ({"rule": "prefix"}, "r1", None),
        ({"rule": "prefix"}, "-c1", ""),
        ({"rule": "prefix", "separator": "@"}, "r1-a@c1", "r1-a"),
        ({"rule": "prefix", "separator": "::"}, "r1:c::c1", "r1:c"),
        ({"rule": "prefix", "separator": "."}, "r1-c1", None),
        ({"rule": "pattern", "pattern": "room-(?P<room>[a-z]+)"}, "10.0.0.1@room-east-7", "east"),
        ({"rule": "pattern", "pattern": "(room)-(?P<room>[a-z]+)"}, "room-east", "east"),
        ({"rule": "pattern", "pattern": "room-([a-z]+)-([a-z]+)"}, "room-east-west", "east"),
        ({"rule": "pattern", "pattern": r"10\.0\.\d+"}, "10.0.7.1@1", "10.0.7"),
        ({"rule": "pattern", "pattern": "room-([a-z]+)"}, "room-7", None),
        ({"rule": "pattern", "pattern": "room(-[a-z]+)?"}, "room", None),
        ({"rule": "pattern", "pattern": "^x*"}, "room", ""),
        ({"rule": "table", "rooms": {"A": "east", "B": "west"}}, "B", "west"),
        ({"rule": "table", "rooms": {"A": "east"}}, "C", None),
        ({"rule": "table", "rooms": {"A": "east"}, "otherwise": "west"}, "C", "west"),
        ({"rule": "table", "rooms": {}, "otherwise": "west"}, "A", "west"),
        ({"rule": "table", "rooms": {"A": "east"}, "otherwise": None}, "C", None),
    ],
)
def test_a_rule_finds_a_room_or_none(rule: dict[str, Any], name: str, room: str | None) -> None:
    assert read_rule(rule)(name) == room
    assert client_room(rule)(name) == room
    assert broker_room(rule)(MessageQueue("T", name, 0)) == room


def test_a_rule_may_be_given_ready_made() -> None:
    assert broker_room(Prefix())(EAST) == "east"
    assert broker_room(Pattern(re.compile("e.")))(EAST) == "ea"
    assert broker_room(Table({"east-a": "east"}))(EAST) == "east"
    assert client_room(Table({"A": "east"}))("A") == "east"


def test_a_function_is_given_the_queue_or_the_client_id() -> None:
    assert broker_room(lambda queue: f"{queue.broker}/{queue.queue_id}")(EAST) == "east-a/0"
    assert client_room(str.lower)("A") == "a"


def test_data_functions_and_rules_may_be_mixed() -> None:
    allocated = allocate(
        "MACHINE_ROOM_NEARBY-AVG",
        queues(0, broker="east-a") + queues(0, broker="west-a"),
        ["A", "B"],
        broker_room={"rule": "prefix"},
        client_room={"A": "west", "B": "east"}.get,
    )

    assert allocated == {"A": queues(0, broker="west-a"), "B": queues(0, broker="east-a")}


def test_a_table_that_is_changed_afterwards_does_not_change_the_rule() -> None:
    data = {"A": "east"}
    rule = read_rule({"rule": "table", "rooms": data})

    data["A"] = "west"

    assert rule("A") == "east"


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({}, "a room rule must be one of pattern, prefix, table, not None"),
        ({"rule": "suffix"}, "a room rule must be one of pattern, prefix, table, not 'suffix'"),
        ({"rule": ["prefix"]}, "a room rule must be one of pattern, prefix, table, not ['prefix']"),
        ({"rule": {}}, "a room rule must be one of pattern, prefix, table, not {}"),
        ({"A": "east"}, "a room rule must be one of pattern, prefix, table, not None"),
        ({"rule": "prefix", "seperator": "-"}, "a prefix rule has no 'seperator'; allowed: separator"),
        ({"rule": "pattern", "pattern": "x", "rooms": {}}, "a pattern rule has no 'rooms'; allowed: pattern"),
        ({"rule": "table", "rooms": {}, "room": {}}, "a table rule has no 'room'; allowed: otherwise, rooms"),
        (
            {"rule": "prefix", "separator": ""},
            "the separator of a prefix rule must be a text that is not empty, not ''",
        ),
        ({"rule": "prefix", "separator": None}, "the separator of a prefix rule must be a text"),
        ({"rule": "pattern"}, "a pattern rule needs a 'pattern'"),
        ({"rule": "pattern", "pattern": ""}, "the pattern of a pattern rule must be a text that is not empty, not ''"),
        ({"rule": "pattern", "pattern": 7}, "the pattern of a pattern rule must be a text that is not empty, not 7"),
        ({"rule": "pattern", "pattern": "r(1"}, "'r(1' is not a regular expression: missing )"),
        ({"rule": "table"}, "a table rule needs 'rooms', a mapping of names to rooms, not None"),
        ({"rule": "table", "rooms": ["A"]}, "a table rule needs 'rooms', a mapping of names to rooms, not ['A']"),
        ({"rule": "table", "rooms": {"A": ""}}, "the room of 'A' must be a text that is not empty, not ''"),
        ({"rule": "table", "rooms": {"A": None}}, "the room of 'A' must be a text that is not empty, not None"),
        ({"rule": "table", "rooms": {5: "east"}}, "a name in a table rule must be a text that is not empty, not 5"),
        ({"rule": "table", "rooms": {}, "otherwise": ""}, "'otherwise' of a table rule must be a text"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(rule: dict[str, Any], message: str) -> None:
    for read in (read_rule, broker_room, client_room):
        with pytest.raises(BadParameter, match=re.escape(message)):
            read(rule)


def test_a_prefix_needs_a_separator() -> None:
    with pytest.raises(BadParameter, match="a prefix rule needs a separator of one character or more, not ''"):
        Prefix("")


@pytest.mark.parametrize("wrong", ["east", None, 5, ["A"]])
def test_what_is_neither_a_rule_nor_a_function_is_refused(wrong: object) -> None:
    for name, read in (("broker_room", broker_room), ("client_room", client_room)):
        with pytest.raises(BadParameter) as refused:
            read(wrong)

        assert str(refused.value) == f"{name} must be a function or a room rule, not {wrong!r}"


def test_a_room_is_a_text() -> None:
    assert resolve("east", "client 'A'") == "east"


@pytest.mark.parametrize("nothing", [None, "", 5])
def test_no_room_is_refused_with_whose_it_is(nothing: Any) -> None:  # noqa: ANN401 - what a careless function answers
    with pytest.raises(UnresolvedRoom) as refused:
        resolve(nothing, "client 'A'")

    assert str(refused.value) == (
        f"no machine room for client 'A': the resolver answered {nothing!r}, needed is a name"
    )
    assert isinstance(refused.value, IllegalArgument)
