"""CONSISTENT_HASH: from names alone, with the names' hashes at hand, and when one member joins."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import count

import numpy as np

from rebalance_engine.allocation.consistent_hash import DEFAULT_VIRTUAL_NODES, HashRing, owners
from rebalance_engine.tables import ClientTable, QueueTable
from tests.bench.groups import NEWCOMERS, Shape
from tests.bench.report import Row, at_most, short_size
from tests.bench.timing import Timing, measure, repeat


def run(*, quick: bool) -> Iterator[Row]:
    """Measure at 100k/10k; quick at 10k/1k, without aims."""
    shape = Shape(10_000, 1_000) if quick else Shape(100_000, 10_000)
    size = short_size(shape.queues, shape.consumers)
    queues, clients = shape.queue_table(), shape.client_table()
    ring = HashRing.of(clients)
    owner = ring.owners(queues)
    newcomer = NEWCOMERS["middle"]
    joined = ring.joined(newcomer, queues, owner)[1]
    assert np.array_equal(owner, owners(queues, clients))
    assert np.array_equal(joined, owners(queues, clients.joined(newcomer)))

    cold, hashed = _cold(shape).median_s, _hashlib(shape).median_s
    peer = "hashing all names with hashlib"
    yield Row("CONSISTENT_HASH, cold", size, cold, "s", peer, hashed, None if quick else at_most(0.2))
    cached = measure(shape.client_table, lambda fresh: owners(queues, fresh)).median_s
    note = "ring built anew; hashes of names known, those of queues in order"
    yield Row("CONSISTENT_HASH, hashes cached", size, cached, aim=None if quick else at_most(0.010), note=note)
    for where, client_id in NEWCOMERS.items():
        seconds = repeat(lambda: ring.joined(client_id, queues, owner)).median_s  # noqa: B023  # called at once
        what = f"CONSISTENT_HASH, one joins, sorting {where}"
        yield Row(what, size, seconds, aim=None if quick else at_most(0.0003), note="ring and owners after it")


def _cold(shape: Shape) -> Timing:
    editions = count(1)

    def fresh() -> tuple[QueueTable, ClientTable]:
        """Make tables of names that were never seen before: nothing of them is cached."""
        other = Shape(shape.queues, shape.consumers, edition=next(editions))
        return other.queue_table(), other.client_table()

    return measure(fresh, lambda tables: owners(*tables))


def _hashlib(shape: Shape) -> Timing:
    texts = [str(queue).encode() for queue in shape.queue_table()]
    nodes = (f"{name}-{node}".encode() for name in shape.clients for node in range(DEFAULT_VIRTUAL_NODES))
    texts.extend(nodes)

    def hash_all() -> list[int]:
        md5 = hashlib.md5
        return [int.from_bytes(md5(text, usedforsecurity=False).digest()[:4], "big") for text in texts]

    return repeat(hash_all)
