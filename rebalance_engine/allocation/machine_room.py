"""MACHINE_ROOM: only queues whose broker's name puts them into one of the configured rooms.

Source: ``client/.../consumer/rebalance/AllocateMessageQueueByMachineRoom.java``. Where a member itself
stands is not looked at; what does not divide evenly is dealt out from the tail.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

import numpy as np

from rebalance_engine.allocation.contract import BadParameter, NullPointer, Strategy, computes
from rebalance_engine.model import MessageQueue, Order
from rebalance_engine.ownership import UNOWNED
from rebalance_engine.tables import ClientTable, Int32s, QueueTable


def bind(name: str, *, consumer_idcs: object) -> Strategy:
    """Make the strategy of a set of room names.

    Raises:
        BadParameter: it is not a collection of texts.
    """
    rooms = frozenset(check_rooms(consumer_idcs))
    return Strategy(name, Order.JAVA, partial(member, consumer_idcs=rooms), partial(owners, consumer_idcs=rooms))


def check_rooms(given: object) -> Collection[str]:
    """Insist on a collection of room names; an empty one is valid, and nobody gets anything."""
    if isinstance(given, Collection) and not isinstance(given, str | bytes):
        rooms = tuple(given)
        if all(isinstance(room, str) for room in rooms):
            return rooms
    raise BadParameter(f"consumer_idcs must be a set of room names, not {given!r}")


def owners(queues: QueueTable, clients: ClientTable, *, consumer_idcs: Collection[str]) -> Int32s:
    """Give int32[n]: the client number that owns each queue, -1 for queues of other rooms."""
    in_rooms = np.array([room_of(broker) in consumer_idcs for broker in queues.brokers], dtype=bool)
    chosen = np.flatnonzero(in_rooms[queues.broker])
    topic = queues.topic[chosen]
    bounds = np.searchsorted(topic, np.arange(len(queues.topics) + 1))
    base = (np.diff(bounds) // len(clients))[topic]
    place = np.arange(len(chosen)) - bounds[topic]
    in_block = place < base * len(clients)
    position = np.where(in_block, place // np.maximum(base, 1), place - base * len(clients))
    owner = np.full(len(queues), UNOWNED, dtype=np.int32)
    owner[chosen] = clients.computing[position]
    return owner


def room_of(broker: str) -> str | None:
    """Read the room out of ``room@broker``; None for names that do not split into exactly two.

    Java's ``split("@")`` forgets empty parts at the end: ``a@`` is one part, ``@b`` two.
    """
    parts = broker.rstrip("@").split("@")
    return parts[0] if len(parts) == 2 else None


def member(
    client_id: str | None,
    queues: Sequence[MessageQueue] | None,
    clients: Sequence[str] | None,
    *,
    consumer_idcs: Collection[str] | None = None,
) -> list[MessageQueue]:
    """Compute one member's share of sorted lists, as the Java client does.

    Raises:
        IllegalArgument: something is empty.
        NullPointer: the rooms were never set, and some broker's name has a room.
    """
    if not computes(client_id, queues, clients):
        return []
    assert client_id is not None and queues is not None and clients is not None
    chosen = in_rooms(queues, consumer_idcs)
    position = clients.index(client_id)
    base, extra = divmod(len(chosen), len(clients))
    block = chosen[base * position : base * (position + 1)]
    return block + chosen[base * len(clients) + position :][: position < extra]


def in_rooms(queues: Sequence[MessageQueue], consumer_idcs: Collection[str] | None) -> list[MessageQueue]:
    """Keep the queues of the configured rooms."""
    chosen = []
    for queue in queues:
        room = room_of(queue.broker)
        if room is not None and consumer_idcs is None:
            raise NullPointer(f"consumeridcs was never set, and {queue.broker!r} is in room {room!r}")
        if room is not None and consumer_idcs is not None and room in consumer_idcs:
            chosen.append(queue)
    return chosen
