"""What the Go client's strategies do differently under Java's names.

Source: ``consumer/strategy.go`` of the Go client, and ``consistent.go`` of stathat.com/c/consistent 1.0.0. All of
them answer nil where Java throws, so that every queue of the topic is dropped; nearby is plain averaging.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np

from rebalance_engine.allocation.consistent_hash import check_virtual_nodes
from rebalance_engine.allocation.contract import OnEmpty, Panic, Strategy, computes
from rebalance_engine.allocation.machine_room import check_rooms
from rebalance_engine.hashing import crc32_heads
from rebalance_engine.model import MessageQueue, Order, java_utf8
from rebalance_engine.tables import ClientTable, Int32s, QueueTable


def bind_consistent_hash(name: str, *, virtual_nodes: object) -> Strategy:
    """Make the strategy of a number of virtual nodes a member, which has no default there."""
    nodes = check_virtual_nodes(virtual_nodes)
    owners = partial(hash_owners, virtual_nodes=nodes) if nodes else None
    return Strategy(name, Order.BYTES, partial(hash_member, virtual_nodes=nodes), owners)


def bind_machine_room(name: str, *, consumer_idcs: object) -> Strategy:
    """Make the strategy of a list of room names, in which a name may stand twice."""
    rooms = tuple(check_rooms(consumer_idcs))
    return Strategy(name, Order.BYTES, partial(machine_room_member, consumer_idcs=rooms), None)


def hash_owners(queues: QueueTable, clients: ClientTable, *, virtual_nodes: int) -> Int32s:
    """Give int32[n]: the client number that owns each queue on the Go client's ring."""
    points, names = _ring_of(clients.ids, virtual_nodes)
    number = {name: clients.number(name) for name in clients.distinct}
    holders = np.array([number[name] for name in names], dtype=np.int32)
    hashes = crc32_heads(java_utf8(str(queue)) for queue in queues)
    return holders[np.searchsorted(np.array(points, dtype=np.uint32), hashes, side="right") % len(points)]


def hash_member(
    client_id: str | None,
    queues: Sequence[MessageQueue] | None,
    clients: Sequence[str] | None,
    *,
    virtual_nodes: int,
) -> list[MessageQueue] | None:
    """Compute one member's share: the first node strictly after a queue's CRC-32 owns it.

    Raises:
        Panic: there are no virtual nodes.
    """
    if not computes(client_id, queues, clients, OnEmpty.DROP):
        return None
    assert queues is not None and clients is not None
    points, names = _ring_of(tuple(clients), virtual_nodes)
    hashes = [zlib.crc32(java_utf8(str(queue))) for queue in queues]
    return [
        queue
        for queue, crc in zip(queues, hashes, strict=True)
        if names[bisect_right(points, crc) % len(points)] == client_id
    ]


@lru_cache(maxsize=8)
def _ring_of(clients: tuple[str, ...], virtual_nodes: int) -> tuple[list[int], list[str]]:
    """Put nodes named index first, without a separator; a later one replaces an earlier one of the same hash."""
    if not virtual_nodes:  # updateSortedHashes divides by it
        raise Panic("runtime error: integer divide by zero")
    ring = {zlib.crc32(java_utf8(f"{node}{name}")): name for name in clients for node in range(virtual_nodes)}
    points = sorted(ring)
    return points, [ring[point] for point in points]


def machine_room_member(
    client_id: str | None,
    queues: Sequence[MessageQueue] | None,
    clients: Sequence[str] | None,
    *,
    consumer_idcs: Sequence[str],
) -> list[MessageQueue] | None:
    """Compute one member's share, with the Go client's mistake.

    The places are worked out for the queues of the rooms, but the block is cut out of the list of *all*
    queues; only the remainder comes from the right list. A room that is listed twice has its queues twice.

    Raises:
        Panic: the block ends behind the last queue, which needs a room that is listed twice.
    """
    if not computes(client_id, queues, clients, OnEmpty.DROP):
        return None
    assert client_id is not None and queues is not None and clients is not None
    chosen = [queue for queue in queues for room in consumer_idcs if room == _room_of(queue.broker)]
    position = clients.index(client_id)
    base, extra = divmod(len(chosen), len(clients))
    end = base * (position + 1)
    if base and end > len(queues):
        first_missing = max(end - base, len(queues))
        raise Panic(f"runtime error: index out of range [{first_missing}] with length {len(queues)}")
    share = list(queues[end - base : end])
    if position < extra:
        share.append(chosen[base * len(clients) + position])
    return share


def _room_of(broker: str) -> str | None:
    """Go's ``strings.Split`` keeps empty parts, also at the end: ``a@`` is in room ``a``."""
    parts = broker.split("@")
    return parts[0] if len(parts) == 2 else None
