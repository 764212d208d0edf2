"""Examples of any request, response or body, made from its annotations."""

import types
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from typing import Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.java import Int32

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(lambda text: text != "$ref")
LONGS = st.integers(-(2**63), 2**63 - 1)
INTS = st.integers(-(2**31), 2**31 - 1)
FEW = st.integers(-9, 2**18)  # three of them are not yet too many queues for a route
QUEUES = st.builds(MessageQueue, TEXTS, TEXTS, st.integers(-1, 2**31 - 1))
SCALARS: dict[object, st.SearchStrategy] = {
    str: TEXTS,
    int: LONGS,
    Int32: INTS,
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    bytes: st.binary(max_size=20),
    MessageQueue: QUEUES,
}


def examples(kind: type) -> st.SearchStrategy:
    hints = get_type_hints(kind, include_extras=True)
    codes = {"code": st.sampled_from(sorted(getattr(kind, "CODES", [0])))}
    counts = dict.fromkeys(("read_queue_nums", "write_queue_nums", "total_queues"), FEW)
    chosen = {**codes, **counts}
    values = {field.name: chosen.get(field.name, _values(hints[field.name])) for field in fields(kind)}
    return st.builds(kind, **values)


def _values(annotation: object) -> st.SearchStrategy:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in {Union, types.UnionType}:
        return st.one_of(*map(_values, arguments))
    if origin is tuple:
        return st.lists(_values(arguments[0]), max_size=3).map(tuple)
    if origin is Mapping:
        return st.dictionaries(_values(arguments[0]), _values(arguments[1]), max_size=3)
    if annotation is type(None):
        return st.none()
    if annotation in SCALARS:
        return SCALARS[annotation]
    assert isinstance(annotation, type)
    return st.sampled_from(annotation) if issubclass(annotation, Enum) else examples(annotation)
