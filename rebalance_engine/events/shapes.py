"""What a field of a fact may hold, read from its annotation and checked whenever a fact is made.

The event log writes and reads by the same shapes, and its tests generate examples from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Annotated, get_args, get_origin, get_type_hints

from rebalance_engine.model import MAX_QUEUE_ID, MessageQueue

MAX_LONG = 2**63 - 1  # offsets and subscription versions are Java longs
MAX_AT = 253_402_300_799_999  # the last ms of the year 9999: times in microseconds or nanoseconds lie above it
ANY_QUEUE = -1  # POP assignments name a whole broker by this queue id (``QueryAssignmentProcessor.java``)
KINDS = "int with limits, str, bool, an enum, MessageQueue, a dataclass"
ALL_PERMISSIONS = 15  # ``PermName.java``: 8 priority, 4 read, 2 write, 1 inherit


@dataclass(frozen=True, slots=True)
class Limits:
    """The least and the greatest that a number may be, or the length of a text."""

    low: int
    high: int = MAX_LONG


Text = Annotated[str, Limits(1)]
At = Annotated[int, Limits(0, MAX_AT)]
Milliseconds = Annotated[int, Limits(0, MAX_AT)]
Count = Annotated[int, Limits(0)]
Number = Annotated[int, Limits(1)]
QueueCount = Annotated[int, Limits(0, MAX_QUEUE_ID)]
Offset = Annotated[int, Limits(0)]
Long = Annotated[int, Limits(-MAX_LONG - 1)]
Code = Annotated[int, Limits(-MAX_QUEUE_ID - 1, MAX_QUEUE_ID)]
Permission = Annotated[int, Limits(0, ALL_PERMISSIONS)]


@dataclass(frozen=True, slots=True)
class Shape:
    """What one field may hold: ``kind``, once, or a tuple of them, or nothing at all.

    ``KINDS`` lists what a kind may be.
    """

    kind: type
    limits: Limits | None
    is_optional: bool
    is_many: bool

    def __str__(self) -> str:
        """Say what is needed, as error messages do."""
        one = _describe(self.kind, self.limits)
        return f"{'a tuple, each ' if self.is_many else ''}{one}{', or None' if self.is_optional else ''}"


_SHAPES: dict[type, Mapping[str, Shape]] = {}
_RULES: dict[type, tuple[tuple[str, Callable[[object], bool]], ...]] = {}


def shapes(record: type) -> Mapping[str, Shape]:
    """Give the shape of each field of a fact, or of a part of one, in the order of the fields.

    Raises:
        TypeError: an annotation is none of those that facts may have.
    """
    if record not in _SHAPES:
        hints = get_type_hints(record, include_extras=True)
        named = ((field.name, hints[field.name]) for field in fields(record))
        _SHAPES[record] = {name: _shape(hint, f"{record.__name__}.{name}") for name, hint in named}
    return _SHAPES[record]


def _shape(hint: object, name: str) -> Shape:
    one, limits = hint, None
    is_optional = type(None) in get_args(one)
    if is_optional and len(get_args(one)) == 2:
        one = next(part for part in get_args(one) if part is not type(None))
    is_many = get_origin(one) is tuple and get_args(one)[1:] == (Ellipsis,)
    if is_many:
        one = get_args(one)[0]
    if get_origin(one) is Annotated:
        one, limits = get_args(one)
    if not isinstance(one, type) or not _is_known(one, limits):
        raise TypeError(f"{name} is annotated {hint!r}; a fact holds {KINDS}, tuples of one of them, or None")
    return Shape(one, limits, is_optional, is_many)


def _is_known(kind: type, limits: Limits | None) -> bool:
    if kind is int:
        return limits is not None
    return kind in (str, bool, MessageQueue) or issubclass(kind, Enum) or is_dataclass(kind)


def _describe(kind: type, limits: Limits | None) -> str:
    if kind is MessageQueue:
        return f"MessageQueue with topic, broker and a queue id from {ANY_QUEUE} to {MAX_QUEUE_ID}"
    if issubclass(kind, Enum):
        return f"{kind.__name__}: {', '.join(str(member.value) for member in kind)}"
    if limits and kind is str:
        return f"str of at least {limits.low} character"
    return f"{kind.__name__} from {limits.low} to {limits.high}" if limits else kind.__name__


def check(record: object) -> None:
    """Hold every field to its shape.

    Raises:
        ValueError: a field holds something else; the message says what, and what it needs.
    """
    for name, fits in _rules(type(record)):
        if not fits(getattr(record, name)):
            seen = shorten(getattr(record, name))
            raise ValueError(f"{type(record).__name__}.{name} is {seen}; it needs {shapes(type(record))[name]}")


def _rules(record: type) -> tuple[tuple[str, Callable[[object], bool]], ...]:
    if record not in _RULES:
        _RULES[record] = tuple((name, _rule(shape)) for name, shape in shapes(record).items())
    return _RULES[record]


def _rule(shape: Shape) -> Callable[[object], bool]:
    one = _rule_for_one(shape.kind, shape.limits)
    rule = _rule_for_many(one) if shape.is_many else one
    return (lambda value: value is None or rule(value)) if shape.is_optional else rule


def _rule_for_many(one: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: type(value) is tuple and all(map(one, value))


def _rule_for_one(kind: type, limits: Limits | None) -> Callable[[object], bool]:
    if kind is MessageQueue:
        return _is_queue
    low, high = (limits.low, limits.high) if limits else (0, MAX_LONG)
    if kind is int:
        return lambda value: type(value) is int and low <= value <= high  # True is no number
    if kind is str:
        return lambda value: isinstance(value, str) and len(value) >= low
    return lambda value: isinstance(value, kind)


def _is_queue(value: object) -> bool:
    if not isinstance(value, MessageQueue):
        return False
    parts: tuple[object, ...] = value  # a NamedTuple holds whatever it was given
    topic, broker, queue_id = parts
    if not (isinstance(topic, str) and topic and isinstance(broker, str) and broker):
        return False
    return type(queue_id) is int and ANY_QUEUE <= queue_id <= MAX_QUEUE_ID


def shorten(value: object) -> str:
    """Show a value in a message without letting a hostile one fill the log."""
    text = repr(value[:100] if isinstance(value, str | bytes) else value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def refusal(record: object, seen_and_needed: str) -> ValueError:
    """Make the error for fields that do not go together."""
    return ValueError(f"{type(record).__name__}: {seen_and_needed}")


def repeated(items: Iterable[object]) -> list[object]:
    """Name what occurs more than once, each once."""
    count: dict[object, int] = {}
    for item in items:
        count[item] = count.get(item, 0) + 1
    return [item for item, times in count.items() if times > 1]
