"""From where the strategies for plans start: who may get which queue, and who has it now.

Members that follow a plan compute nothing alone, so that an id that is registered twice is one member here:
all its processes are told the same queues.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rebalance_engine.allocation.contract import BadParameter
from rebalance_engine.ownership import UNOWNED, Ownership
from rebalance_engine.tables import NO_INTS, ClientTable, Int32s, QueueTable, chained

Subscribers = Sequence[Int32s]
"""For each topic number of a queue table the numbers of the clients that subscribe to it, in any order."""


def members_once(clients: ClientTable) -> Int32s:
    """Give the distinct members' numbers, sorted by id: int32[k]."""
    return clients.computing[clients.computing >= 0] if clients.has_duplicates else clients.members


def owners_before(queues: QueueTable, clients: ClientTable, previous: Ownership | None) -> Int32s:
    """Say ``previous`` in the numbers of these tables: a fresh int32[n], for the caller to change.

    Queues that ``previous`` lacks are unowned, and so are those whose owner has no number in ``clients``.
    A number may still be that of a former member. Of several owners of a queue the first one counts.
    """
    if previous is None:
        return np.full(len(queues), UNOWNED, dtype=np.int32)
    owner = previous.owner
    if not queues.same_queues(previous.queues):
        owner = np.append(owner, np.int32(UNOWNED))[queues.numbers_in(previous.queues)]
    if not clients.continues(previous.clients):
        return previous.clients.numbers_in(clients)[owner]
    return owner.copy() if owner is previous.owner else owner


def count_loads(owner: NDArray[np.signedinteger], names: int) -> NDArray[np.intp]:
    """Count int64[names + 1]: the queues that each client number has, and last those of nobody, number -1."""
    counts = np.bincount(np.add(owner, 1, dtype=np.intp), minlength=names + 1)
    return np.roll(counts, -1)


def loads_before(
    queues: QueueTable, clients: ClientTable, previous: Ownership | None, owner: Int32s
) -> NDArray[np.intp]:
    """Count the loads of what :func:`owners_before` gave; those that ``previous`` keeps are not counted again."""
    if previous is None or previous.queues is not queues or len(previous.further_queue):
        return count_loads(owner, len(clients.names))
    if not clients.continues(previous.clients):
        return count_loads(owner, len(clients.names))
    loads = np.zeros(len(clients.names) + 1, dtype=np.intp)
    kept = previous.loads()
    loads[: len(kept)] = kept
    loads[-1] = len(owner) - kept.sum()
    return loads


def subscribers_of(queues: QueueTable, clients: ClientTable, topics: Mapping[str, Iterable[str]]) -> Subscribers:
    """Turn each client's topics into each topic's clients; topics that the table lacks do not matter.

    Raises:
        BadParameter: a key of ``topics`` is not a name of ``clients``.
    """
    number = {name: i for i, name in enumerate(clients.names)}
    place = {name: i for i, name in enumerate(queues.topics)}
    found: list[list[int]] = [[] for _ in place]
    for client_id, subscribed in topics.items():
        if client_id not in number:
            raise BadParameter(f"{client_id!r} subscribes, but is none of the {len(number)} known clients")
        for topic in set(subscribed) & place.keys():
            found[place[topic]].append(number[client_id])
    return [chained([some]) for some in found]


def eligible_members(queues: QueueTable, clients: ClientTable, subscribers: Subscribers | None) -> list[Int32s]:
    """Give for each topic the distinct members that may get its queues, sorted by id.

    Raises:
        BadParameter: ``subscribers`` speaks of another number of topics, or of a client without a name.
    """
    everybody = members_once(clients)
    if subscribers is None:
        return [everybody] * len(queues.topics)
    check_subscribers(queues, clients, subscribers)
    chosen = np.zeros(len(clients.names), dtype=bool)
    eligible = []
    for numbers in subscribers:
        chosen[numbers] = True
        eligible.append(everybody[chosen.take(everybody)])
        chosen[numbers] = False
    return eligible


def check_subscribers(queues: QueueTable, clients: ClientTable, subscribers: Subscribers) -> None:
    """Refuse subscribers that do not fit the tables."""
    if len(subscribers) != len(queues.topics):
        raise BadParameter(f"subscribers of {len(subscribers)} topics were given, but there are {len(queues.topics)}")
    numbers = np.concatenate([NO_INTS, *subscribers])
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(clients.names):
        wrong = numbers.min() if numbers.min() < 0 else numbers.max()
        raise BadParameter(f"client number {wrong} subscribes, but the numbers go from 0 to {len(clients.names) - 1}")
