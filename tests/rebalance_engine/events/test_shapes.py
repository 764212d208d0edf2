from collections.abc import Sequence
from dataclasses import dataclass, make_dataclass
from enum import Enum
from typing import Annotated, Any, cast

import pytest

from rebalance_engine.events.shapes import Limits, Number, Shape, Text, check, repeated, shapes, shorten
from rebalance_engine.model import MessageQueue
from tests.rebalance_engine.facts import ORDERS


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Inner:
    number: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    name: Text = "A"
    note: str = ""
    number: Number = 1
    flag: bool = False
    colour: Colour = Colour.RED
    queue: MessageQueue = ORDERS
    inner: Inner = Inner(1)
    maybe: Number | None = None
    names: tuple[Text, ...] = ()
    queues: tuple[MessageQueue, ...] | None = None

    def __post_init__(self) -> None:
        check(self)


def test_a_shape_is_read_from_the_annotation() -> None:
    assert shapes(Record)["name"] == Shape(str, Limits(1), is_optional=False, is_many=False)
    assert shapes(Record)["maybe"] == Shape(int, Limits(1), is_optional=True, is_many=False)
    assert shapes(Record)["queues"] == Shape(MessageQueue, None, is_optional=True, is_many=True)


def test_the_shapes_stand_in_the_order_of_the_fields() -> None:
    assert list(shapes(Record))[:3] == ["name", "note", "number"]


@pytest.mark.parametrize(
    "annotation",
    [
        float,
        int,
        object,
        list[str],
        Sequence[str],
        tuple[str, str],
        str | bool,
        str | bool | None,
        tuple[str | None, ...],
    ],
    ids=str,
)
def test_an_annotation_that_nobody_can_check_is_refused(annotation: object) -> None:
    odd: type = make_dataclass("Odd", [("field", annotation)])

    with pytest.raises(TypeError, match=r"Odd\.field is annotated .* a fact holds int with limits, str"):
        shapes(odd)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", "", "Record.name is ''; it needs str of at least 1 character"),
        ("name", 7, "Record.name is 7; it needs str"),
        ("name", None, "Record.name is None; it needs str"),
        ("note", None, "Record.note is None; it needs str"),
        ("number", 0, "Record.number is 0; it needs int from 1 to 9223372036854775807"),
        ("number", 2**63, "Record.number is 9223372036854775808; it needs int from 1"),
        ("number", True, "Record.number is True; it needs int"),
        ("number", 1.0, r"Record.number is 1.0; it needs int"),
        ("flag", 1, "Record.flag is 1; it needs bool"),
        ("colour", "red", "Record.colour is 'red'; it needs Colour: red, blue"),
        ("queue", ("orders", "east", 0), "Record.queue is .*; it needs MessageQueue with topic, broker and a queue id"),
        ("queue", MessageQueue("", "east", 0), "Record.queue is .*; it needs MessageQueue"),
        ("queue", MessageQueue("orders", "", 0), "Record.queue is .*; it needs MessageQueue"),
        ("queue", MessageQueue("orders", "east", -2), "a queue id from -1 to 2147483647"),
        ("queue", MessageQueue("orders", "east", 2**31), "a queue id from -1 to 2147483647"),
        ("queue", MessageQueue("orders", "east", True), "a queue id from -1 to 2147483647"),
        ("queue", MessageQueue(None, "east", 0), "Record.queue is .*; it needs MessageQueue"),  # type: ignore[arg-type]
        ("inner", {"number": 1}, "Record.inner is .*; it needs Inner"),
        ("maybe", 0, "Record.maybe is 0; it needs int from 1 to 9223372036854775807, or None"),
        ("names", ["A"], "Record.names is .*'A'.*; it needs a tuple, each str"),
        ("names", ("A", ""), "Record.names is .*; it needs a tuple, each str"),
        ("names", "AB", "Record.names is 'AB'; it needs a tuple"),
        ("queues", (("orders", "east", 0),), "Record.queues is .*; it needs a tuple, each MessageQueue.*, or None"),
    ],
)
def test_a_field_that_holds_something_else_is_refused(field: str, value: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Record(**cast(Any, {field: value}))


@pytest.mark.parametrize("queue_id", [-1, 0, 2**31 - 1])
def test_every_queue_id_of_rocketmq_is_taken(queue_id: int) -> None:
    queue = MessageQueue("orders", "east", queue_id)

    assert Record(queue=queue).queue is queue


def test_a_long_value_is_shown_in_short() -> None:
    with pytest.raises(ValueError, match="needs int") as caught:
        Record(number="9" * 1_000_000)  # type: ignore[arg-type]  # that is the point

    assert len(str(caught.value)) < 250
    assert shorten("short") == "'short'"


def test_what_is_repeated_is_named_once() -> None:
    assert repeated(["A", "B", "A", "C", "A", "B"]) == ["A", "B"]


def test_limits_are_part_of_the_annotation() -> None:
    small = make_dataclass("Small", [("field", Annotated[int, Limits(2, 3)])])

    assert str(shapes(small)["field"]) == "int from 2 to 3"
