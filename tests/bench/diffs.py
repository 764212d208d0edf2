"""What a change costs to find, and to send: diffs of large targets, and the compact form of one join."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from rebalance_engine.allocation import strategy
from rebalance_engine.allocation.sticky import owners as sticky
from rebalance_engine.compact import compact, expand
from rebalance_engine.diff import apply, diff
from rebalance_engine.ownership import Ownership
from rebalance_engine.tables import ClientTable, Int32s, QueueTable
from tests.bench.groups import NEWCOMERS, Shape
from tests.bench.report import Row, at_most, short_size
from tests.bench.timing import repeat

Target = Callable[[QueueTable, ClientTable, Ownership | None], Int32s]


def run(*, quick: bool) -> Iterator[Row]:
    """Measure diffs of a million queues (quick: 100,000, without aims), and compact ones of 10,000."""
    yield from _finding(Shape(100_000, 10_000) if quick else Shape(1_000_000, 10_000), aims=not quick)
    for topics in (1, 4):
        yield from _sending(Shape(10_000, 1_000, topics))


def _finding(shape: Shape, *, aims: bool) -> Iterator[Row]:
    size, queues, clients = short_size(shape.queues, shape.consumers), shape.queue_table(), shape.client_table()
    old = Ownership(queues, clients, sticky(queues, clients))
    joined = clients.joined(NEWCOMERS["middle"])
    few = Ownership(queues, joined, sticky(queues, joined, previous=old))
    every = Ownership(queues, clients, (old.owner + np.int32(1)) % np.int32(shape.consumers))
    for what, new, aim in (("one join, STICKY", few, 0.0005), ("all moved", every, 0.004)):
        change = diff(old, new)
        assert apply(old, change).same_owners(new)
        ours = repeat(lambda: diff(old, new)).median_s  # noqa: B023  # called at once
        bound = repeat(lambda: np.flatnonzero(old.owner != new.owner)).median_s  # noqa: B023
        note = f"{len(change):,} moves"
        yield Row(f"diff, {what}", size, ours, "s", "NumPy compare", bound, at_most(aim) if aims else None, note)


def _sending(shape: Shape) -> Iterator[Row]:
    size = short_size(shape.queues, shape.consumers)
    queues, before = shape.queue_table(), shape.client_table()
    for name, target in TARGETS.items():
        anything = Ownership(queues, before, _rocketmq("CONSISTENT_HASH")(queues, before, None))
        old = Ownership(queues, before, target(queues, before, anything))
        for where, newcomer in NEWCOMERS.items():
            after = before.joined(newcomer)
            new = Ownership(queues, after, target(queues, after, old))
            change = diff(old, new)
            data = compact(change)
            assert apply(old, expand(data, old)).same_owners(new)
            what = f"compact diff, {name}, one joins, sorting {where}, {shape.topics} topic{'s' * (shape.topics > 1)}"
            yield Row(what, size, len(data), "B", aim=at_most(2047), note=f"{len(change):,} moves")


def _rocketmq(name: str) -> Target:
    owners = strategy(name).owners
    assert owners is not None
    return lambda queues, clients, _previous: owners(queues, clients)


TARGETS: dict[str, Target] = {
    "AVG": _rocketmq("AVG"),
    "AVG_BY_CIRCLE": _rocketmq("AVG_BY_CIRCLE"),
    "CONSISTENT_HASH": _rocketmq("CONSISTENT_HASH"),
    "STICKY": lambda queues, clients, previous: sticky(queues, clients, previous=previous),
}
