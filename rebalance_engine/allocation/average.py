"""AVG: contiguous blocks, the first members get the extra queues.

Source: ``client/.../consumer/rebalance/AllocateMessageQueueAveragely.java``; the C++ client's
``src/consumer/AllocateMQStrategy.h`` and the Go client's ``consumer/strategy.go`` compute the same blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from rebalance_engine.allocation.contract import JAVA, Dialect, OnEmpty, Strategy, deal
from rebalance_engine.model import MessageQueue
from rebalance_engine.tables import ClientTable, Int32s, QueueTable


def bind(name: str, dialect: Dialect = JAVA) -> Strategy:
    """Make the strategy for one client language."""
    return Strategy(name, dialect.order, partial(member, on_empty=dialect.on_empty), owners)


def owners(queues: QueueTable, clients: ClientTable) -> Int32s:
    """Give int32[n]: the client number that owns each queue, topic by topic, as all members compute it."""
    if len(queues.topics) == 1:
        base, extra = divmod(len(queues), len(clients))
        sizes = np.full(len(clients), base)
        sizes[:extra] += 1
        return np.repeat(clients.computing, sizes)
    return clients.computing[_positions(queues, len(clients))]


def _positions(queues: QueueTable, clients: int) -> Int32s:
    """Give each queue's place in the member list, for all topics in one pass."""
    starts = np.array(queues.starts, dtype=np.int32)
    bases, extras = np.divmod(np.diff(starts), np.int32(clients))
    base, extra = bases[queues.topic], extras[queues.topic]
    place = np.arange(len(queues), dtype=np.int32) - starts[queues.topic]
    in_larger = place < extra * (base + 1)
    larger = place // (base + 1)
    smaller = (place - extra) // np.maximum(base, 1)
    return np.where(in_larger, larger, smaller)


def member(
    client_id: str | None,
    queues: Sequence[MessageQueue] | None,
    clients: Sequence[str] | None,
    *,
    on_empty: OnEmpty = OnEmpty.THROW,
) -> list[MessageQueue] | None:
    """Compute one member's share of sorted lists, as its client does.

    Raises:
        IllegalArgument: something is empty, and the language throws.
    """
    return deal(client_id, queues, clients, on_empty, _block)


def _block(queues: Sequence[MessageQueue], place: int, members: int) -> Sequence[MessageQueue]:
    base, extra = divmod(len(queues), members)
    start = place * base + min(place, extra)
    return queues[start : start + base + (place < extra)]
