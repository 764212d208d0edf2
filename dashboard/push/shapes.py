"""Dataclasses to JSON and back, closed: what a shape does not name is an error, and so is what it misses.

A field is a text, a number, a switch, one of some words, another shape, or a tuple of one of these; or None.
None is written as ``null``: a browser finds every field of a shape, always.
"""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from types import UnionType
from typing import Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Json = dict[str, object]
S = TypeVar("S")


class BadMessage(ValueError):
    """Something is not of its shape; the message says where, what was seen, and what is allowed."""


def to_json(value: object) -> object:
    """Give plain JSON values for a shape, in the order of its fields."""
    if is_dataclass(value):
        return {name: to_json(getattr(value, name)) for name in _hints(type(value))}
    return [to_json(each) for each in value] if isinstance(value, tuple) else value


def from_json(shape: type[S], value: object, where: str = "") -> S:
    """Read a shape. A field with a default may be missing: states that were stored before it came have none of it.

    Raises:
        BadMessage: the value is not exactly of this shape.
    """
    where = where or shape.__name__
    if not isinstance(value, dict):
        raise BadMessage(f"{where} is {type(value).__name__}; it needs an object")
    hints = _hints(shape)
    wrong = sorted((value.keys() ^ hints.keys()) - (_OPTIONAL[shape] - value.keys()))
    if wrong:
        raise BadMessage(f"{where} differs in {', '.join(wrong)}; it has exactly {', '.join(hints)}")
    return shape(**{name: _read(hint, value[name], f"{where}.{name}") for name, hint in hints.items() if name in value})


def _read(hint: object, value: object, where: str) -> object:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return None if value is None else _read(next(a for a in arguments if a is not type(None)), value, where)
    if origin is Literal:
        if value not in arguments or isinstance(value, bool):
            raise BadMessage(f"{where} is {value!r:.60}; it needs one of {arguments}")
        return value
    if origin is tuple:
        if not isinstance(value, list):
            raise BadMessage(f"{where} is {type(value).__name__}; it needs a list")
        return tuple(_read(arguments[0], each, f"{where}[{number}]") for number, each in enumerate(value))
    assert isinstance(hint, type)
    if is_dataclass(hint):
        return from_json(hint, value, where)
    if type(value) is not hint:  # isinstance would take true for a number
        raise BadMessage(f"{where} is {type(value).__name__}; it needs {hint.__name__}")
    return value


_HINTS: dict[type, dict[str, object]] = {}
_OPTIONAL: dict[type, frozenset[str]] = {}


def _hints(shape: type) -> dict[str, object]:
    if shape not in _HINTS:
        hints = get_type_hints(shape)
        _OPTIONAL[shape] = frozenset(field.name for field in fields(shape) if field.default is not MISSING)
        _HINTS[shape] = {field.name: hints[field.name] for field in fields(shape)}
    return _HINTS[shape]
