"""AVG_BY_CIRCLE: queues are dealt out like cards.

Source: ``client/.../consumer/rebalance/AllocateMessageQueueAveragelyByCircle.java``.
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
        dealt: Int32s = np.resize(clients.computing, len(queues))
        return dealt
    starts = np.array(queues.starts, dtype=np.int32)
    place = np.arange(len(queues), dtype=np.int32) - starts[queues.topic]
    return clients.computing.take(place % len(clients))


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
    return deal(client_id, queues, clients, on_empty, lambda dealt, place, members: dealt[place::members])
