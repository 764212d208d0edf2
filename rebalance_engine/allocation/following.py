"""Strategies for groups that follow a plan, bound to what they must know of the group.

No member can compute these alone: they depend on who had what before. What operators and the database write
down (client ids, topics, queues) is turned into columns here, when the group's tables are known.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from rebalance_engine.allocation.contract import BadParameter, Strategy, check_queues
from rebalance_engine.allocation.starting_point import Subscribers, subscribers_of
from rebalance_engine.allocation.weighing import Floats
from rebalance_engine.model import MessageQueue, Order
from rebalance_engine.ownership import Ownership
from rebalance_engine.tables import ClientTable, Int32s, QueueTable

OwnersFrom = Callable[..., Int32s]
Previous = Ownership | Mapping[str, Iterable[MessageQueue]]
Subscriptions = Subscribers | Mapping[str, Collection[str]]


def bind(
    name: str, owners: OwnersFrom, *, previous: object = None, subscriptions: object = None, **rest: Any
) -> Strategy:
    """Make a strategy of what its ``owners`` must know.

    Args:
        previous: an Ownership, or a mapping of client ids to their queues; None is nobody.
        subscriptions: a mapping of client ids to their topics, in which a client that is missing subscribes to
            everything; or for each topic number the client numbers; None is everybody to everything.
        rest: what ``owners`` takes besides; ``weights`` may be a mapping of queues to numbers, too.

    Raises:
        BadParameter: one of them is something else.
    """
    bound = partial(
        _owners,
        owners,
        previous=_check_previous(previous),
        subscriptions=_check_subscriptions(subscriptions),
        rest=rest,
    )
    return Strategy(name, Order.JAVA, None, bound)


def _check_previous(given: object) -> Previous | None:
    if not (given is None or isinstance(given, Ownership | Mapping)):
        raise BadParameter(f"previous must be a mapping of client ids to queues, or an Ownership, not {given!r}")
    for client_id, queues in given.items() if isinstance(given, Mapping) else ():
        if not isinstance(client_id, str) or not isinstance(queues, Collection) or isinstance(queues, str):
            raise BadParameter(f"previous must give each client id a list of queues, not {client_id!r} {queues!r}")
        check_queues(queues)
    return given


def _check_subscriptions(given: object) -> Subscriptions | None:
    if not (given is None or isinstance(given, Sequence | Mapping)) or isinstance(given, str):
        raise BadParameter(f"subscriptions must be a mapping of client ids to topics, or columns, not {given!r}")
    if isinstance(given, Mapping):
        for client_id, topics in given.items():
            texts = isinstance(topics, Collection) and not isinstance(topics, str)
            if not texts or not all(isinstance(topic, str) for topic in topics):
                raise BadParameter(f"subscriptions must give {client_id!r} a list of topics, not {topics!r}")
        return given
    for column in given or ():
        numbers = np.asarray(column)
        if numbers.ndim != 1 or (len(numbers) and numbers.dtype.kind not in "iu"):
            raise BadParameter(f"subscriptions must hold a column of client numbers for each topic, not {column!r}")
    return given


def _owners(
    owners: OwnersFrom,
    queues: QueueTable,
    clients: ClientTable,
    *,
    previous: Previous | None,
    subscriptions: Subscriptions | None,
    rest: Mapping[str, Any],
) -> Int32s:
    before = _ownership_of(previous) if isinstance(previous, Mapping) else previous
    by_topic = _subscribers(queues, clients, subscriptions) if isinstance(subscriptions, Mapping) else subscriptions
    weights = rest.get("weights")
    if isinstance(weights, Mapping):
        rest = {**rest, "weights": _weights(queues, weights)}
    return owners(queues, clients, previous=before, subscribers=by_topic, **rest)


def _ownership_of(lists: Mapping[str, Iterable[MessageQueue]]) -> Ownership:
    held = {client_id: list(queues) for client_id, queues in lists.items()}
    everything = QueueTable.of(queue for queues in held.values() for queue in queues)
    return Ownership.from_lists(everything, ClientTable.of(held), held)


def _subscribers(queues: QueueTable, clients: ClientTable, topics: Mapping[str, Collection[str]]) -> Subscribers:
    members = {client_id: topics.get(client_id, queues.topics) for client_id in clients.distinct}
    return subscribers_of(queues, clients, members)


def _weights(queues: QueueTable, weights: Mapping[MessageQueue, float]) -> Floats:
    missing = [queue for queue in queues if queue not in weights]
    if missing:
        raise BadParameter(f"weights must name every queue; {len(missing)} are missing, such as {missing[0]}")
    for queue in queues:
        weight = weights[queue]
        if isinstance(weight, bool) or not isinstance(weight, Real) or not abs(weight) <= sys.float_info.max:
            raise BadParameter(f"the weight of {queue} must be a number that a float can hold, not {weight!r}")
    return np.array([weights[queue] for queue in queues], dtype=np.float64)
