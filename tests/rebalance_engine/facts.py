"""Facts for tests: one of each kind, and hypothesis strategies, both built from the shapes of the fields."""

from dataclasses import is_dataclass
from enum import Enum
from typing import Any, TypeVar

from hypothesis import reject
from hypothesis import strategies as st

from rebalance_engine.events import EXACT, FACTS, Bound, Exactness, Fact, Origin, Shape, Source, shapes
from rebalance_engine.model import MessageQueue

F = TypeVar("F", bound=Fact)

AT = 1_700_000_000_000
SOURCE = Source(origin=Origin.SIMULATOR)
ORDERS = MessageQueue("orders", "east", 0)

# What the fields of a fact demand of each other, where the plainest values would not do.
TOGETHER: dict[str, dict[str, object]] = {
    "CommandOrdered": {"deadline": AT},
    "Handoff": {"from_client": "A", "to_client": "B"},
    "Overlap": {"clients": ("A", "B")},
    "QueueMoved": {"from_client": "A"},
    "RoundSuperseded": {"by": 2},
}


def plain(kind: type[F], **given: Any) -> F:
    """Make the plainest fact of a kind, with the fields that are given."""
    fields: dict[str, Any] = {
        name: _plain_value(shape) for name, shape in shapes(kind).items() if not shape.is_optional
    }
    fields |= {"at": AT, "source": SOURCE, "exactness": EXACT}
    return kind(**(fields | TOGETHER.get(kind.__name__, {}) | given))


def _plain_value(shape: Shape) -> object:
    if shape.is_many:
        return ()
    if shape.kind is MessageQueue:
        return ORDERS
    if issubclass(shape.kind, Enum):
        return next(iter(shape.kind))
    if is_dataclass(shape.kind):
        return shape.kind(
            **{name: _plain_value(part) for name, part in shapes(shape.kind).items() if not part.is_optional}
        )
    return {str: "A", int: shape.limits.low if shape.limits else 0, bool: True}[shape.kind]


def _as_java_holds_it(text: str) -> str:
    """Join surrogates that stand side by side: to Java, and to JSON, such a pair is one character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


# Few plain names, so that two fields often hold the same one; and every character, lone surrogates too.
TEXTS = st.sampled_from(["A", "B", "east"]) | st.text(st.characters(exclude_categories=()), min_size=1).map(
    _as_java_holds_it
)


def facts(kind: type[F]) -> st.SearchStrategy[F]:
    """Give every fact of a kind that its rules allow."""
    return _facts(kind)


@st.composite
def _facts(draw: st.DrawFn, kind: type[F]) -> F:
    fields = {name: draw(values(shape)) for name, shape in shapes(kind).items() if name != "exactness"}
    figure = fields[kind.FIGURE]
    try:
        return kind(**fields, exactness=draw(_around(figure)))
    except ValueError:
        reject()


def values(shape: Shape) -> st.SearchStrategy[Any]:
    """Give every value that a field of this shape may hold."""
    one = _one(shape)
    many = st.lists(one, max_size=3).map(tuple) if shape.is_many else one
    return st.none() | many if shape.is_optional else many


def _one(shape: Shape) -> st.SearchStrategy[Any]:
    if shape.kind is MessageQueue:
        return st.builds(MessageQueue, TEXTS, TEXTS, st.integers(-1, 2**31 - 1))
    if issubclass(shape.kind, Enum):
        return st.sampled_from(list(shape.kind))
    if is_dataclass(shape.kind):
        return st.builds(shape.kind, **{name: values(part) for name, part in shapes(shape.kind).items()})
    if shape.kind is int:
        assert shape.limits
        return st.integers(shape.limits.low, shape.limits.high)
    if shape.kind is str:
        return TEXTS if shape.limits else TEXTS | st.just("")
    return st.booleans()


@st.composite
def _around(draw: st.DrawFn, figure: int) -> Exactness:
    bound = draw(st.sampled_from(Bound))
    low = figure - draw(st.integers(0, 5000)) if bound in (Bound.AT_LEAST, Bound.BETWEEN) else None
    high = min(figure + draw(st.integers(0, 5000)), 2**63 - 1) if bound in (Bound.AT_MOST, Bound.BETWEEN) else None
    return Exactness(bound, low, high)


EVERY_KIND = sorted(FACTS.values(), key=lambda kind: kind.__name__)
