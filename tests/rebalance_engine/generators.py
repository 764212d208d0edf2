"""Random groups for hypothesis: small, with names that sort differently in Java than in Python."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from hypothesis import strategies as st

from rebalance_engine import MessageQueue
from rebalance_engine.model import MAX_QUEUE_ID, Order
from rebalance_engine.ownership import Ownership
from rebalance_engine.tables import ClientTable, QueueTable

# U+FF5E sorts before U+1F600 in Python, behind it in Java; U+D800 is a lone surrogate.
NAMES = ("A", "B", "C", "a", "AA", "B~", "é", "名", "\uff5e", "\U0001f600", "\ud800", "C\U00010000")
TOPICS = ("orders", "payments", "%RETRY%g", "\uff5e", "\U0001f600")
BROKERS = ("east", "west", "\uff5e", "\U0001f600")
QUEUE_IDS = (-1, 0, 1, 2, 9, 10, 11, MAX_QUEUE_ID)

names = st.sampled_from(NAMES)
texts = st.text(st.characters(exclude_categories=()), max_size=8)
orders = st.sampled_from(Order)
message_queues = st.builds(MessageQueue, st.sampled_from(TOPICS), st.sampled_from(BROKERS), st.sampled_from(QUEUE_IDS))
queue_tables = st.builds(QueueTable.of, st.lists(message_queues, max_size=12))


@st.composite
def client_tables(draw: st.DrawFn) -> ClientTable:
    """Give tables that went through a history, so that numbers do not follow the order and some have left."""
    table = ClientTable.of(draw(st.lists(names, max_size=5)))
    for name in draw(st.lists(names, max_size=5)):
        table = table.left(name) if name in table.ids and draw(st.booleans()) else table.joined(name)
    return table


@st.composite
def ownerships(
    draw: st.DrawFn, queues: QueueTable | None = None, clients: ClientTable | None = None, most_owners: int = 2
) -> Ownership:
    """Give ownerships in which queues have no owner, one, or up to ``most_owners``; former members may own too."""
    queues = draw(queue_tables) if queues is None else queues
    clients = draw(client_tables()) if clients is None else clients
    most = draw(st.integers(min(most_owners, 1), most_owners))
    owners = st.lists(st.sampled_from(range(len(clients.names))), max_size=most) if clients.names else st.just([])
    pairs = [(queue, client) for queue in range(len(queues)) for client in draw(owners)]
    return of_pairs(queues, clients, pairs)


def of_pairs(queues: QueueTable, clients: ClientTable, pairs: Iterable[tuple[int, int]]) -> Ownership:
    """Make an ownership of (queue number, client number) pairs."""
    columns = np.array(list(pairs), dtype=np.int32).reshape(-1, 2)
    return Ownership.from_pairs(queues, clients, columns[:, 0], columns[:, 1])


def owners_by_queue(ownership: Ownership) -> dict[MessageQueue, set[str]]:
    """Spell an ownership out, as slowly and plainly as possible."""
    return {queue: set(ownership.owners_of(number)) for number, queue in enumerate(ownership.queues)}


def owning(owners: str, members: str | None = None, *, first: int = 0) -> Ownership:
    """Give queue ``first + i`` of ``orders/east`` to the client that is letter ``i``; ``-`` is nobody."""
    queues = orders_east(*range(first, first + len(owners)))
    clients = ClientTable.of(sorted(set(owners) - {"-"}) if members is None else members)
    known = clients.renumbered_like(ClientTable.of({*clients.names, *owners} - {"-"}))
    return of_pairs(queues, known, [(i, known.names.index(name)) for i, name in enumerate(owners) if name != "-"])


def orders_east(*queue_ids: int) -> QueueTable:
    """Make a table of these queues."""
    return QueueTable.of(MessageQueue("orders", "east", queue_id) for queue_id in queue_ids)
