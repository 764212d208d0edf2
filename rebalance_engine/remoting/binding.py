"""Dataclasses to JSON values and header fields, and back, by the annotations of their fields.

Reading is as tolerant as fastjson: unknown names are passed over, what is missing or null has its default, numbers may
be texts (the C++ client writes 64-bit numbers so) and enums may be ordinals (it writes those too). Writing leaves out
what is None.

A reader is built once for each annotation and is a plain function from there on.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from math import isfinite, nan
from typing import TypeVar, Union, cast, get_args, get_origin, get_type_hints

from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.errors import BrokenContent
from rebalance_engine.remoting.fastjson import read_object
from rebalance_engine.remoting.java import Int32, JavaObject, java_names

Reader = Callable[[object], object]
Bound = TypeVar("Bound", bound=JavaObject)

LONG = range(-(2**63), 2**63)
INT = range(-(2**31), 2**31)
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_JAVA_ORDER: dict[type[Enum], tuple[Enum, ...]] = {  # where ours is another
    MessageModel: (MessageModel.BROADCASTING, MessageModel.CLUSTERING)
}


# ---- reading ----


def read_fields(kind: type[Bound], read: Mapping[str, object], **given: object) -> Bound:
    """Make a value of ``kind`` from its Java fields; ``given`` are fields that came otherwise.

    Raises:
        BrokenContent: a field is missing, or is not what its annotation says.
    """
    readers, required = _fields_of(cast("type", kind))
    values = dict(given)
    for java_name, value in read.items():
        if value is not None and java_name in readers:
            name, reader = readers[java_name]
            if name not in given:
                made = _read_field(kind, name, reader, value)
                if made is not None:
                    values[name] = made
    if missing := required - values.keys():
        raise BrokenContent(f"{kind.__name__} has no {', '.join(sorted(missing))}")
    return kind(**values)


def read_value(annotation: object, value: object) -> object:
    """Make what an annotation says from a JSON value.

    Raises:
        BrokenContent: the value does not fit.
    """
    return _reader(annotation)(value)


def _read_field(kind: type, name: str, reader: Reader, value: object) -> object:
    try:
        return reader(value)
    except BrokenContent as error:
        raise type(error)(f"{kind.__name__}.{name}: {error}") from None


@cache
def _fields_of(kind: type) -> tuple[dict[str, tuple[str, Reader]], frozenset[str]]:
    """Give Java's name -> our field and its reader, and the fields that cannot be left out."""
    assert issubclass(kind, JavaObject)
    hints = get_type_hints(kind, include_extras=True)
    names = java_names(kind)
    java = {**{names[name]: name for name in names}, **kind.ALIASES}
    readers = {java_name: (name, _reader(hints[name])) for java_name, name in java.items() if name != "body"}
    return readers, _required(kind)


def _required(kind: type) -> frozenset[str]:
    """Give the fields without a default; the body is looked after by the codec."""
    without = (field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING)
    return frozenset(without) - {"body"}


@cache
def _reader(annotation: object) -> Reader:
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in {Union, types.UnionType}:
        return _reader_of_union([argument for argument in arguments if argument is not types.NoneType])
    if origin is tuple:
        return _reader_of_tuple(_reader(arguments[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _reader_of_mapping(_key_reader(arguments[0]), _reader(arguments[1]))
    assert isinstance(annotation, type), f"no JSON can become {annotation}"
    if issubclass(annotation, Enum):
        return _reader_of_enum(annotation)
    assert issubclass(annotation, JavaObject), f"no JSON can become {annotation}"
    return _reader_of_object(annotation)


def _reader_of_union(arguments: list[object]) -> Reader:
    """Read one thing, or one that is an object where the other one is an array."""
    if len(arguments) == 1:
        return _reader(arguments[0])
    of_object, of_array = map(_reader, arguments)
    return lambda value: of_object(value) if isinstance(value, dict) else of_array(value)


def _reader_of_tuple(reader: Reader) -> Reader:
    def read(value: object) -> object:
        if not isinstance(value, list):
            raise _unfit(value, "an array")
        return tuple(map(reader, value))

    return read


def _reader_of_mapping(key_reader: Reader, reader: Reader) -> Reader:
    def read(value: object) -> object:
        if not isinstance(value, dict):
            raise _unfit(value, "an object")
        return {key_reader(key): reader(inner) for key, inner in value.items() if inner is not None}

    return read


def _key_reader(annotation: object) -> Reader:
    return _read_queue_key if annotation is MessageQueue else _reader(annotation)


def _reader_of_object(kind: type[JavaObject]) -> Reader:
    def read(value: object) -> object:
        if not isinstance(value, dict):
            raise _unfit(value, "an object")
        return read_fields(kind, value)

    return read


def _reader_of_enum(kind: type[Enum]) -> Reader:
    """Read a name, in capitals or not, or an ordinal; of a name that is not known fastjson makes null."""
    members = {name.lower(): member for member in kind for name in (member.name, str(member.value))}
    in_order = dict(enumerate(_JAVA_ORDER.get(kind, tuple(kind))))

    def read(value: object) -> object:
        if isinstance(value, str):
            return members.get(value.lower())
        if type(value) is not int or value not in in_order:
            raise _unfit(value, f"one of {', '.join(member.name for member in kind)}")
        return in_order[value]

    return read


def _read_language(value: object) -> object:
    return Language.numbered(value) if type(value) is int else Language.named(value)


def _read_text(value: object) -> object:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    raise _unfit(value, "a text")


def _read_int(value: object) -> object:
    if (isinstance(value, str) and _INTEGER.fullmatch(value)) or (isinstance(value, float) and value.is_integer()):
        value = int(value)
    if type(value) is not int or value not in LONG:
        raise _unfit(value, "an int64")
    return value


def _read_int32(value: object) -> object:
    number = _read_int(value)
    if number not in INT:
        raise _unfit(value, "an int32")
    return number


def _read_float(value: object) -> object:
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else nan
    except (ValueError, OverflowError):
        number = nan
    if not isfinite(number):
        raise _unfit(value, "a number")
    return number


def _read_bool(value: object) -> object:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    raise _unfit(value, "true or false")


def _read_queue(value: object) -> object:
    if not isinstance(value, dict):
        raise _unfit(value, "a message queue")
    topic, broker, queue_id = value.get("topic"), value.get("brokerName"), _read_int(value.get("queueId"))
    if not (isinstance(topic, str) and isinstance(broker, str)) or queue_id not in INT:
        raise _unfit(value, "a message queue")
    return MessageQueue(topic, broker, cast("int", queue_id))


def _read_queue_key(key: object) -> object:
    return _read_queue(read_object(cast("str", key)))


_SCALARS: dict[object, Reader] = {
    str: _read_text,
    int: _read_int,
    Int32: _read_int32,
    float: _read_float,
    bool: _read_bool,
    Language: _read_language,
    MessageQueue: _read_queue,
}


def _unfit(value: object, needed: str) -> BrokenContent:
    return BrokenContent(f"{_short(value)}; it needs to be {needed}")


def _short(value: object) -> str:
    """Show a value without its inside, which may be long and deep."""
    if isinstance(value, dict | list):
        return f"a JSON {type(value).__name__}"
    text = repr(value[:40] if isinstance(value, str) else value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# ---- writing ----


def to_java(value: object) -> object:
    """Make the JSON value of a dataclass; a mapping by queues keeps its keys, for ``fastjson.write``."""
    if isinstance(value, JavaObject):
        return {java_name: to_java(inner) for java_name, inner in _named_values(value)}
    if isinstance(value, Mapping):
        return {key: to_java(inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return _queue(value) if isinstance(value, MessageQueue) else list(map(to_java, value))
    if isinstance(value, Enum):
        return value.name if isinstance(value, Language) else value.value
    if isinstance(value, float) and not isfinite(value):
        return None  # as fastjson writes it
    return value


def _queue(queue: MessageQueue) -> dict[str, object]:
    return {"brokerName": queue.broker, "queueId": queue.queue_id, "topic": queue.topic}


def to_ext_fields(value: JavaObject, leave_out: frozenset[str]) -> dict[str, str]:
    """Make the header fields of a request or a response; ``leave_out`` travel otherwise."""
    return {java_name: _as_text(inner) for java_name, inner in _named_values(value) if java_name not in leave_out}


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value.value) if isinstance(value, Enum) else str(value)


def _named_values(value: JavaObject) -> list[tuple[str, object]]:
    assert is_dataclass(value)
    named = ((java_name, getattr(value, name)) for name, java_name in _names(type(value)))
    return [(java_name, inner) for java_name, inner in named if inner is not None]


@cache
def _names(kind: type) -> tuple[tuple[str, str], ...]:
    return tuple(java_names(kind).items())
