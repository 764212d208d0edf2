"""The table of facts, and what holds for all of them; docs/events.md tells the same."""

import dataclasses
import inspect
import re
from enum import Enum
from pathlib import Path
from typing import TypeGuard

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine import events
from rebalance_engine.events import EXACT, FACTS, Fact, shapes
from tests.rebalance_engine.facts import AT, EVERY_KIND, SOURCE, facts, plain

DOC = (Path(__file__).resolve().parents[2] / "docs" / "events.md").read_text()
ROW = re.compile(r"^\| `(\w+)` \|(.*)\|(.*)\|$", re.MULTILINE)
COMMON = ("at", "source", "exactness")

every_fact = pytest.mark.parametrize("kind", EVERY_KIND, ids=lambda kind: kind.__name__)


def parts() -> dict[str, type]:
    """List the dataclasses that facts are made of."""
    kinds = {shape.kind for fact in FACTS.values() for shape in shapes(fact).values()}
    return {kind.__name__: kind for kind in kinds if dataclasses.is_dataclass(kind)}


def test_every_fact_without_heirs_is_in_the_table() -> None:
    every = [kind for kind in vars(events).values() if inspect.isclass(kind) and issubclass(kind, Fact)]

    heirs = {heir for kind in every for heir in kind.__mro__[1:]}  # not __subclasses__: other tests leave some behind
    final = {kind.__name__: kind for kind in every if kind not in heirs}

    assert final == FACTS


def test_the_room_offers_every_fact_and_every_part() -> None:
    assert set(FACTS) | set(parts()) <= set(events.__all__)


@every_fact
def test_a_fact_cannot_be_changed(kind: type[Fact]) -> None:
    fact = plain(kind)

    with pytest.raises(dataclasses.FrozenInstanceError):
        fact.at = 0  # type: ignore[misc]  # that is the point
    assert not hasattr(fact, "__dict__")


@every_fact
def test_a_fact_takes_only_keywords(kind: type[Fact]) -> None:
    with pytest.raises(TypeError, match="positional"):
        kind(AT, SOURCE, EXACT)  # type: ignore[call-arg]  # that is the point


@every_fact
def test_a_fact_needs_its_source_and_its_exactness(kind: type[Fact]) -> None:
    fields = {field.name: field.default for field in dataclasses.fields(kind)}

    assert all(fields[name] is dataclasses.MISSING for name in COMMON)


@every_fact
def test_what_is_not_known_can_be_left_out(kind: type[Fact]) -> None:
    fields = {field.name: field.default for field in dataclasses.fields(kind)}

    optional = [name for name, shape in shapes(kind).items() if shape.is_optional]

    assert all(fields[name] is None for name in optional)


@every_fact
def test_the_figure_of_a_fact_is_one_of_its_numbers(kind: type[Fact]) -> None:
    shape = shapes(kind)[kind.FIGURE]

    assert shape.kind is int and not shape.is_optional and not shape.is_many


@every_fact
@given(data=st.data())
def test_a_fact_can_be_kept_in_a_set(kind: type[Fact], data: st.DataObject) -> None:
    fact = data.draw(facts(kind))

    assert {fact, dataclasses.replace(fact)} == {fact}


def test_the_page_names_every_fact_with_its_fields_and_no_other() -> None:
    told = {name: re.findall(r"`(\w+)`", row) for name, row, _ in ROW.findall(DOC) if name in FACTS}

    true = {name: [field for field in shapes(kind) if field not in COMMON] for name, kind in FACTS.items()}

    assert told == true


def test_the_page_names_every_part_with_its_fields() -> None:
    told = {name: re.findall(r"`(\w+)`", row) for name, row, _ in ROW.findall(DOC) if name in parts()}

    true = {name: list(shapes(kind)) for name, kind in parts().items()}

    assert told == true


def test_the_page_names_every_word_that_a_fact_may_use() -> None:
    words = {word.value for kind in vars(events).values() if _is_enum(kind) for word in kind}

    assert [word for word in words if f"`{word}`" not in DOC] == []


def _is_enum(kind: object) -> TypeGuard[type[Enum]]:
    return inspect.isclass(kind) and issubclass(kind, Enum)
