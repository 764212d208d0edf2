"""Facts as lines: one JSON object each, for history, replay, reports and the pipeline.

``{"v":1,"event":"MemberJoined","at":1700000000000,"source":{…},"exactness":{"bound":"exact"},…}``

A fact has exactly one line: keys in the order of the fields, a field without a value left out, enums by
value, a queue as ``[topic, broker, queue_id]``, everything in ASCII, so that even a lone surrogate survives.
A reader takes keys in any order and nothing else that differs. What it does not know is an error that
names it: a field that is skipped today is a figure that is wrong tomorrow. New facts do not change the
format; a new optional field does not change the lines that exist.

    EventLogError (ValueError)     the line says no fact
    +-- LineTooLong
    +-- NotJson                    cut, not UTF-8, nested too deep, NaN, no object
    |   +-- TrailingText           a fact, and something behind it
    |   +-- DuplicateKey
    +-- UnknownVersion
    +-- UnknownEvent
    +-- UnknownField
    +-- MissingField
    +-- WrongType                  a number where a text must be
    +-- BadValue                   the right type, but nothing that the fact allows
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from enum import Enum
from typing import BinaryIO, NoReturn, TypeVar

from rebalance_engine.events import FACTS, Fact, Shape, shapes
from rebalance_engine.events.shapes import repeated, shorten
from rebalance_engine.model import MessageQueue

VERSION = 1
# Real lines are a few hundred bytes; the longest fact, a target of a topic with 100,000 queues, is 3 MB. Above this
# a line is a broken file or an attack, and must not be held in memory whole.
MAX_LINE_BYTES = 4 * 1024 * 1024


class EventLogError(ValueError):
    """A line says no fact, or a fact can have no line; the message says what was seen and what is allowed."""


class LineTooLong(EventLogError):
    """The line is longer than any fact's."""


class NotJson(EventLogError):
    """The line is not one JSON object."""


class TrailingText(NotJson):
    """Something follows the object."""


class DuplicateKey(NotJson):
    """An object has a key twice."""


class UnknownVersion(EventLogError):
    """The line's format is another one."""


class UnknownEvent(EventLogError):
    """No fact has this name."""


class UnknownField(EventLogError):
    """The fact has no such field."""


class MissingField(EventLogError):
    """The fact needs this field."""


class WrongType(EventLogError):
    """A value has another type than its field."""


class BadValue(EventLogError):
    """A value has the right type, but the fact does not allow it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that could not be read, whole, so that nothing is lost."""

    line_number: int
    error: EventLogError
    line: str | bytes


def write(fact: Fact) -> str:
    """Give the fact's line, without an end of line.

    Raises:
        UnknownEvent: the class is not in ``FACTS``.
        LineTooLong: the fact holds too much for one line.
    """
    name = type(fact).__name__
    if FACTS.get(name) is not type(fact):
        raise UnknownEvent(f"{name} is not a fact of the event log; it must be in FACTS")
    line = _ENCODER.encode({"v": VERSION, "event": name, **_pack(fact)})
    _check_length(len(line))
    return line


def read(line: str | bytes) -> Fact:
    """Read one line, with or without its end of line.

    Raises:
        EventLogError: the line says no fact; which subclass tells in what way.
    """
    return read_record(parse(line.rstrip("\r\n") if isinstance(line, str) else line.rstrip(b"\r\n")))


def read_record(record: dict[str, object]) -> Fact:
    """Read a line that is a JSON object already, as reports have them; takes the object apart.

    Raises:
        EventLogError: it says no fact.
    """
    version = _take(record, "v")
    if type(version) is not int or version != VERSION:
        raise UnknownVersion(f"version {shorten(version)}; this reads version {VERSION}")
    name = _take(record, "event")
    fact = FACTS.get(name) if isinstance(name, str) else None
    if fact is None:
        raise UnknownEvent(f"event {shorten(name)}; known are {', '.join(FACTS)}")
    return _make(fact, _fields(fact), record)


def read_lines(lines: Iterable[str | bytes]) -> Iterator[Fact | Problem]:
    """Read every line; what cannot be read comes back as a problem in its place. Nothing is left out."""
    for number, line in enumerate(lines, 1):
        try:
            outcome: Fact | Problem = read(line)
        except EventLogError as error:
            outcome = Problem(number, error, line)
        yield outcome


def split(stream: BinaryIO) -> Iterator[bytes]:
    """Give a stream's lines in bounded memory: of one that is too long, no more than shows that it is."""
    most = MAX_LINE_BYTES + len(b"\r\n")
    while line := stream.readline(most + 1):
        yield line
        rest = line
        while len(rest) > most and not rest.endswith(b"\n"):
            rest = stream.readline(most + 1)


def _check_length(length: int) -> None:
    if length > MAX_LINE_BYTES:
        raise LineTooLong(f"a line of {length} bytes or more; {MAX_LINE_BYTES} are allowed")


# Text <-> JSON values.

_ENCODER = json.JSONEncoder(check_circular=False, allow_nan=False, separators=(",", ":"))


def parse(line: str | bytes) -> dict[str, object]:
    """Read one JSON object as strictly as a line: no key twice, no NaN, UTF-8.

    Raises:
        EventLogError: it is none.
    """
    _check_length(len(line))
    try:
        record: object = _DECODER.decode(line if isinstance(line, str) else line.decode())
    except EventLogError:
        raise
    except json.JSONDecodeError as error:
        kind = TrailingText if error.msg == "Extra data" else NotJson
        raise kind(f"{error.msg} at character {error.pos} of {shorten(line)}; a line is one JSON object") from None
    except RecursionError:
        raise NotJson(f"{shorten(line)} is nested too deep; a line is one JSON object") from None
    except ValueError as error:  # not UTF-8, or a number of more digits than Python reads
        raise NotJson(f"{error}; a line is one JSON object in UTF-8") from None
    if not isinstance(record, dict):
        raise NotJson(f"{shorten(line)} is no object; a line is one JSON object")
    return record


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) != len(pairs):
        again = repeated(key for key, _ in pairs)
        raise DuplicateKey(f"{shorten(again)} more than once in one object; each key may be there once")
    return record


def _constant(name: str) -> NoReturn:
    raise NotJson(f"{name} is no JSON; a line is one JSON object")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)


def _take(record: dict[str, object], key: str) -> object:
    if key not in record:
        raise MissingField(f"no {key!r}; a line begins with its version 'v' and the name of its 'event'")
    return record.pop(key)


# Facts -> JSON values. Texts, numbers, queues and tuples of them are what JSON writes anyway.

Pack = Callable[[object], object]
_PACKS: dict[type, tuple[tuple[str, Pack | None], ...]] = {}


def _pack(record: object) -> dict[str, object]:
    kind = type(record)
    if kind not in _PACKS:
        _PACKS[kind] = tuple((name, _pack_of(shape)) for name, shape in shapes(kind).items())
    values = ((name, pack, getattr(record, name)) for name, pack in _PACKS[kind])
    return {name: pack(value) if pack else value for name, pack, value in values if value is not None}


def _pack_of(shape: Shape) -> Pack | None:
    if issubclass(shape.kind, Enum):
        one: Pack = _pack_enum
    elif is_dataclass(shape.kind):
        one = _pack
    else:
        return None
    return _pack_many(one) if shape.is_many else one


def _pack_enum(value: object) -> object:
    assert isinstance(value, Enum)
    return value.value


def _pack_many(one: Pack) -> Pack:
    def pack(values: object) -> object:
        assert isinstance(values, tuple)
        return [one(value) for value in values]

    return pack


# JSON values -> facts. A field's reader knows where it stands, so that its errors can say it.

Unpack = Callable[[object], object]
_FIELDS: dict[type, Mapping[str, tuple[Shape, Unpack]]] = {}
R = TypeVar("R")


def _fields(fact: type) -> Mapping[str, tuple[Shape, Unpack]]:
    if fact not in _FIELDS:
        _FIELDS[fact] = _fields_at(fact, fact.__name__)
    return _FIELDS[fact]


def _fields_at(record: type, place: str) -> Mapping[str, tuple[Shape, Unpack]]:
    return {name: (shape, _unpack_of(shape, f"{place}.{name}")) for name, shape in shapes(record).items()}


def _make(kind: type[R], fields: Mapping[str, tuple[Shape, Unpack]], record: dict[str, object]) -> R:
    unknown = sorted(record.keys() - fields.keys())
    if unknown:
        raise UnknownField(f"{kind.__name__} has no field {shorten(unknown)}; it has {', '.join(fields)}")
    missing = [name for name, (shape, _) in fields.items() if name not in record and not shape.is_optional]
    if missing:
        raise MissingField(f"{kind.__name__} without {', '.join(missing)}; it needs them")
    values = {name: fields[name][1](value) for name, value in record.items()}
    try:
        return kind(**values)
    except ValueError as error:
        raise BadValue(str(error)) from None


def _unpack_of(shape: Shape, place: str) -> Unpack:
    one = _unpack_one_of(shape, place)
    return _unpack_many(one, place) if shape.is_many else one


def _unpack_one_of(shape: Shape, place: str) -> Unpack:
    if shape.kind is MessageQueue:
        return _unpack_queue(place)
    if issubclass(shape.kind, Enum):
        return _unpack_enum(shape.kind, place)
    if is_dataclass(shape.kind):
        return _unpack_record(shape.kind, place)
    return _unpack_plain(shape.kind, place)


def _unpack_plain(kind: type, place: str) -> Unpack:
    def unpack(value: object) -> object:
        if type(value) is not kind:  # isinstance would take true for a number
            raise _wrong_type(place, value, kind.__name__)
        return value

    return unpack


def _unpack_queue(place: str) -> Unpack:
    def unpack(value: object) -> object:
        if isinstance(value, list) and len(value) == 3:
            topic, broker, queue_id = value
            if type(topic) is str and type(broker) is str and type(queue_id) is int:
                return MessageQueue(topic, broker, queue_id)
        raise _wrong_type(place, value, "[topic, broker, queue_id]")

    return unpack


def _unpack_enum(kind: type[Enum], place: str) -> Unpack:
    members: dict[object, Enum] = {member.value: member for member in kind}
    allowed = ", ".join(map(str, members))

    def unpack(value: object) -> object:
        if not isinstance(value, str):
            raise _wrong_type(place, value, "str")
        if value not in members:
            raise BadValue(f"{place} is {shorten(value)}; it needs one of {allowed}")
        return members[value]

    return unpack


def _unpack_record(kind: type, place: str) -> Unpack:
    fields = _fields_at(kind, place)

    def unpack(value: object) -> object:
        if not isinstance(value, dict):
            raise _wrong_type(place, value, "object")
        return _make(kind, fields, value)

    return unpack


def _unpack_many(one: Unpack, place: str) -> Unpack:
    def unpack(value: object) -> object:
        if not isinstance(value, list):
            raise _wrong_type(place, value, "list")
        return tuple(map(one, value))

    return unpack


def _wrong_type(place: str, value: object, needed: str) -> WrongType:
    if value is None:
        return WrongType(f"{place} is null; it needs {needed}, and a field without a value is left out")
    return WrongType(f"{place} is {type(value).__name__} {shorten(value)}; it needs {needed}")
