"""What a group that is kept costs, a queue."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rebalance_engine.allocation import strategy
from rebalance_engine.ownership import Ownership
from tests.bench.groups import Shape
from tests.bench.report import Row, at_most, short_size


def run(*, quick: bool) -> Iterator[Row]:
    """Measure a group's tables and owners, with what they keep after an allocation and a look-up."""
    shape = Shape(10_000, 1_000) if quick else Shape(100_000, 10_000)
    size = short_size(shape.queues, shape.consumers)
    for name in ("AVG", "CONSISTENT_HASH"):
        held, arrays = _held_bytes(shape, name)
        note = f"tracemalloc, clients' names included; arrays alone {arrays / shape.queues:.1f}"
        yield Row(f"a queue held, {name}", size, held / shape.queues, "B", aim=at_most(64), note=note)


def _group(shape: Shape, name: str) -> Ownership:
    """Make a group that has been allocated and looked at, with names of its own."""
    owners = strategy(name).owners
    assert owners is not None
    queues, clients = shape.queue_table(), shape.client_table()
    group = Ownership(queues, clients, owners(queues, clients))
    assert group.queues.find(queues[len(queues) - 1]) == len(queues) - 1  # makes the keys that look-ups keep
    return group


def _held_bytes(shape: Shape, name: str) -> tuple[int, int]:
    """Give what is allocated more once the group is there, and how much of it are its arrays."""
    _group(shape, name)  # what is imported and kept at the first call is not the group's
    gc.collect()
    tracemalloc.start()
    try:
        begun = tracemalloc.get_traced_memory()[0]
        group = _group(replace(shape, edition=1), name)
        gc.collect()
        held = tracemalloc.get_traced_memory()[0] - begun
    finally:
        tracemalloc.stop()
    return held, sum(_array_bytes(part) for part in (group, group.queues, group.clients))


def _array_bytes(part: object) -> int:
    values = (value if isinstance(value, tuple) else (value,) for value in vars(part).values())
    return sum(item.nbytes for value in values for item in value if isinstance(item, np.ndarray))
