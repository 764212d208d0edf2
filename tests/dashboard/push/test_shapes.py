from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest

from dashboard.push.shapes import BadMessage, from_json, to_json


@dataclass(frozen=True)
class Inner:
    name: str


@dataclass(frozen=True)
class Outer:
    kind: Literal["a", "b"]
    number: int
    switch: bool
    maybe: int | None
    many: tuple[Inner, ...]


RIGHT = {"kind": "a", "number": 1, "switch": True, "maybe": None, "many": [{"name": "x"}]}


@dataclass(frozen=True, slots=True)
class Later:
    name: str
    number: int = 7


def test_a_shape_comes_back() -> None:
    shape = Outer("a", 1, True, None, (Inner("x"),))

    assert to_json(shape) == RIGHT
    assert from_json(Outer, RIGHT) == shape


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"more": 1}, "Outer differs in more"),
        ({"kind": "c"}, "Outer.kind is 'c'"),
        ({"number": True}, "Outer.number is bool; it needs int"),
        ({"number": 1.0}, "Outer.number is float"),
        ({"switch": 1}, "Outer.switch is int"),
        ({"maybe": "1"}, "Outer.maybe is str"),
        ({"many": {}}, "Outer.many is dict; it needs a list"),
        ({"many": [{"name": "x", "extra": 1}]}, r"Outer.many\[0\] differs in extra"),
        ({"many": [3]}, r"Outer.many\[0\] is int; it needs an object"),
    ],
)
def test_what_is_not_exactly_of_its_shape_is_refused_by_name(change: dict[str, object], words: str) -> None:
    with pytest.raises(BadMessage, match=words):
        from_json(Outer, {**RIGHT, **change})


def test_a_field_that_is_missing_is_refused() -> None:
    with pytest.raises(BadMessage, match="differs in number"):
        from_json(Outer, {name: value for name, value in RIGHT.items() if name != "number"})


def test_a_field_with_a_default_may_be_missing_where_it_was_stored_before_it_came() -> None:
    assert from_json(Later, {"name": "x"}) == Later("x", 7)
    assert to_json(Later("x")) == {"name": "x", "number": 7}
