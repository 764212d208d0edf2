"""Which machine room a broker or a client stands in.

RocketMQ has no convention for it: ``AllocateMachineRoomNearby`` is given a resolver with two functions.
Operators and the database need rooms as data, so there are three rules that can be written down; any
function of the same shape works too.

    {"rule": "prefix", "separator": "-"}                       the text before the first "-"
    {"rule": "pattern", "pattern": "room-(?P<room>[a-z]+)"}    the group "room", or else the first group
    {"rule": "table", "rooms": {"broker-a": "east"}, "otherwise": "west"}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from rebalance_engine.allocation.contract import BadParameter, UnresolvedRoom
from rebalance_engine.model import MessageQueue

BrokerRoom = Callable[[MessageQueue], str | None]
ClientRoom = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Prefix:
    """The text before the first separator; a name without it is in no room."""

    separator: str = "-"

    def __post_init__(self) -> None:
        """Refuse a separator that separates nothing."""
        if not self.separator:
            raise BadParameter("a prefix rule needs a separator of one character or more, not ''")

    def __call__(self, name: str) -> str | None:
        """Give the room of a broker's name or a client id."""
        room, found, _ = name.partition(self.separator)
        return room if found else None


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a regular expression finds: its group ``room``, or else its first group, or else all of it."""

    pattern: re.Pattern[str]

    def __call__(self, name: str) -> str | None:
        """Give the room of a broker's name or a client id."""
        found = self.pattern.search(name)
        if not found:
            return None
        if "room" in self.pattern.groupindex:
            return found.group("room")
        return found.group(1 if self.pattern.groups else 0)


@dataclass(frozen=True, slots=True)
class Table:
    """A room by name, and one for all others where that is wanted."""

    rooms: Mapping[str, str]
    otherwise: str | None = None

    def __call__(self, name: str) -> str | None:
        """Give the room of a broker's name or a client id."""
        return self.rooms.get(name, self.otherwise)


Rule = Prefix | Pattern | Table


def read_rule(data: Mapping[str, Any]) -> Rule:
    """Make a rule of its data form, as operators write it and the database stores it.

    Raises:
        BadParameter: the rule is unknown, lacks something, has something that it cannot use, or holds an
            invalid regular expression.
    """
    kind = data.get("rule")
    if not isinstance(kind, str) or kind not in RULES:
        raise BadParameter(f"a room rule must be one of {', '.join(sorted(RULES))}, not {kind!r}")
    read, keys = RULES[kind]
    unknown = sorted(map(str, data.keys() - keys - {"rule"}))
    if unknown:
        raise BadParameter(f"a {kind} rule has no {unknown[0]!r}; allowed: {', '.join(sorted(keys))}")
    return read(data)


def _read_prefix(data: Mapping[str, Any]) -> Rule:
    return Prefix(_text(data.get("separator", "-"), "the separator of a prefix rule"))


def _read_pattern(data: Mapping[str, Any]) -> Rule:
    if "pattern" not in data:
        raise BadParameter("a pattern rule needs a 'pattern'")
    pattern = _text(data["pattern"], "the pattern of a pattern rule")
    try:
        return Pattern(re.compile(pattern))
    except re.error as error:
        raise BadParameter(f"{pattern!r} is not a regular expression: {error}") from error


def _read_table(data: Mapping[str, Any]) -> Rule:
    rooms = data.get("rooms")
    if not isinstance(rooms, Mapping):
        raise BadParameter(f"a table rule needs 'rooms', a mapping of names to rooms, not {rooms!r}")
    for name, room in rooms.items():
        _text(name, "a name in a table rule")
        _text(room, f"the room of {name!r}")
    otherwise = data.get("otherwise")
    return Table(dict(rooms), None if otherwise is None else _text(otherwise, "'otherwise' of a table rule"))


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise BadParameter(f"{what} must be a text that is not empty, not {value!r}")
    return value


RULES: dict[str, tuple[Callable[[Mapping[str, Any]], Rule], frozenset[str]]] = {
    "prefix": (_read_prefix, frozenset({"separator"})),
    "pattern": (_read_pattern, frozenset({"pattern"})),
    "table": (_read_table, frozenset({"rooms", "otherwise"})),
}


@dataclass(frozen=True, slots=True)
class ByBroker:
    """A rule that looks at a queue's broker, and at nothing else of it."""

    rule: Rule

    def __call__(self, queue: MessageQueue) -> str | None:
        """Give the room of a queue's broker."""
        return self.rule(queue.broker)


def broker_room(given: object) -> BrokerRoom:
    """Make the function from a queue to its broker's room of a rule, its data form, or such a function."""
    rule = _read(given, "broker_room")
    return ByBroker(rule) if isinstance(rule, Rule) else cast(BrokerRoom, rule)


def client_room(given: object) -> ClientRoom:
    """Make the function from a client id to its room of a rule, its data form, or such a function."""
    return cast(ClientRoom, _read(given, "client_room"))


def _read(given: object, parameter: str) -> Rule | Callable[..., object]:
    if isinstance(given, Mapping):
        return read_rule(given)
    if not callable(given):
        raise BadParameter(f"{parameter} must be a function or a room rule, not {given!r}")
    return given


def resolve(room: str | None, whose: str) -> str:
    """Insist on a room.

    Raises:
        UnresolvedRoom: there is none, or it is not a text.
    """
    if not isinstance(room, str) or not room:
        raise UnresolvedRoom(f"no machine room for {whose}: the resolver answered {room!r}, needed is a name")
    return room
