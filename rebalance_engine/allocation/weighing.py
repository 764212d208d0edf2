"""What queues weigh and what members can take on: the question that WEIGHTED answers, checked, with its measures."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from rebalance_engine.allocation.contract import BadParameter
from rebalance_engine.allocation.starting_point import Subscribers, eligible_members, members_once
from rebalance_engine.ownership import UNOWNED
from rebalance_engine.tables import ClientTable, Int32s, QueueTable

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]
MAX_RATIO = 1e300  # so that no sum or product of ratios leaves the range of a float


@dataclass(frozen=True, eq=False)
class Task:
    """The question, with members numbered by rank, so that the numbers of clients decide nothing.

    Attributes:
        home: int[n], who may keep each queue; -1 is nobody.
        eligible: for each topic, who may get its queues, in ascending order.
    """

    topic: Int32s
    weight: Floats
    capacity: Floats
    home: Numbers
    eligible: Sequence[Numbers]

    def loads(self, owner: Numbers) -> Floats:
        """Add up what each member has."""
        owned = owner >= 0
        return np.bincount(owner[owned], self.weight[owned], len(self.capacity)).astype(np.float64, copy=False)

    def worst(self, owner: Numbers) -> float:
        """Give the largest ratio."""
        return float((self.loads(owner) / self.capacity).max(initial=0.0))

    def away(self, owner: Numbers) -> NDArray[np.bool_]:
        """Tell the queues that could have stayed with somebody else."""
        away: NDArray[np.bool_] = (self.home >= 0) & (owner != self.home)
        return away

    def moves(self, owner: Numbers) -> int:
        """Count what the budget counts."""
        return int(np.count_nonzero(self.away(owner)))

    def extra_moves(self, queue: int | Numbers, taker: int | Numbers, owner: Numbers) -> NDArray[np.int8]:
        """Count how many more queues are away once ``taker`` has ``queue``: 1, 0, or -1 when it comes home."""
        home = self.home[queue]
        will_be, is_now = np.not_equal(taker, home), np.not_equal(owner[queue], home)
        return np.where(home >= 0, will_be.astype(np.int8) - is_now.astype(np.int8), np.int8(0))

    def may_have(self, members: Numbers, topic: int) -> NDArray[np.bool_]:
        """Ask which members may get queues of a topic."""
        if len(self.eligible[topic]) == len(self.capacity):
            return np.ones(len(members), dtype=bool)
        return np.isin(members, self.eligible[topic])

    def topics_of(self, member: int) -> NDArray[np.bool_]:
        """Tell for each topic whether a member may get its queues."""
        return np.array([_contains(members, member) for members in self.eligible], dtype=bool)

    def place(self, owner: Numbers, loose: Numbers) -> Numbers:
        """Hand out loose queues, the heaviest first, each to where the ratio stays lowest.

        Queues that weigh nothing go to who has the fewest queues for its capacity.
        """
        owner = owner.copy()
        owner[loose] = UNOWNED
        load, count = self.loads(owner), np.bincount(owner[owner >= 0], minlength=len(self.capacity))
        heaviest_first = loose[np.argsort(-self.weight[loose], kind="stable")]
        for queue, weight in zip(heaviest_first.tolist(), self.weight[heaviest_first].tolist(), strict=True):
            members = self.eligible[self.topic[queue]]
            if len(members):
                after = load[members] + weight if weight else count[members]
                chosen = members[np.argmin(after / self.capacity[members])]
                owner[queue] = chosen
                load[chosen] += weight
                count[chosen] += 1
        return owner

    def lower_bound(self) -> float:
        """Give a ratio that no assignment can be below."""
        taken = [topic for topic, members in enumerate(self.eligible) if len(members)]
        if not taken:
            return 0.0
        weight = np.bincount(self.topic, weights=self.weight, minlength=len(self.eligible))
        heaviest = np.zeros(len(self.eligible))
        np.maximum.at(heaviest, self.topic, self.weight)
        capacities = [self.capacity[self.eligible[topic]] for topic in taken]
        everybody = np.unique(np.concatenate([self.eligible[topic] for topic in taken]))
        total = weight[taken].sum() / self.capacity[everybody].sum()
        by_topic = weight[taken] / [capacity.sum() for capacity in capacities]
        by_queue = heaviest[taken] / [capacity.max() for capacity in capacities]
        return float(max(total, by_topic.max(), by_queue.max()))


def task_of(
    queues: QueueTable,
    clients: ClientTable,
    before: Int32s,
    subscribers: Subscribers | None,
    weights: Floats | None,
    capacities: Mapping[str, float] | None,
) -> Task:
    """Check the input and number the members by rank.

    Raises:
        BadParameter: a weight or a capacity is missing or not in its range, or ``subscribers`` does not fit.
    """
    everybody = members_once(clients)
    rank = np.full(len(clients.names) + 1, -1, dtype=np.intp)
    rank[everybody] = np.arange(len(everybody))
    if subscribers is None:
        eligible = [rank[everybody]] * len(queues.topics)
    else:
        eligible = [rank[members] for members in eligible_members(queues, clients, subscribers)]
    weight, capacity = _weights(queues, weights), _capacities(clients, capacities)
    _check_ratios(sum(weight.tolist()), float(capacity.min(initial=np.inf)))
    task = Task(queues.topic, weight, capacity, rank[before], eligible)
    for number in range(len(eligible)):
        part = slice(queues.starts[number], queues.starts[number + 1])
        task.home[part][~task.may_have(task.home[part], number)] = -1
    return task


def _weights(queues: QueueTable, weights: Floats | None) -> Floats:
    if weights is None:
        return np.ones(len(queues))
    given = np.asarray(weights)
    if given.dtype.kind not in "iuf":
        raise BadParameter(f"weights must be a column of numbers, not {weights!r}")
    given = given.astype(np.float64)
    if given.shape != (len(queues),):
        raise BadParameter(f"weights have the shape {given.shape}, but there are {len(queues)} queues")
    wrong = np.flatnonzero(~(np.isfinite(given) & (given >= 0)))
    if len(wrong):
        queue = int(wrong[0])
        raise BadParameter(f"{queues[queue]} weighs {given[queue]}, but a weight is a number of 0 or more")
    return given


def _capacities(clients: ClientTable, capacities: Mapping[str, float] | None) -> Floats:
    if capacities is None:
        return np.ones(len(clients.distinct))
    if not isinstance(capacities, Mapping):
        raise BadParameter(f"capacities must be a mapping of client ids to numbers, not {capacities!r}")
    for client_id in clients.distinct:
        if client_id not in capacities:
            raise BadParameter(f"{client_id!r} has no capacity; each of the {len(clients.distinct)} members needs one")
        given = capacities[client_id]
        if not (isinstance(given, Real) and 0 < given <= sys.float_info.max):
            raise BadParameter(f"{client_id!r} has the capacity {given!r}, but it must be above 0, and finite")
    return np.array([capacities[client_id] for client_id in clients.distinct], dtype=np.float64)


def _check_ratios(all_weight: float, least_capacity: float) -> None:
    if not isfinite(all_weight) or all_weight / least_capacity > MAX_RATIO:
        raise BadParameter(f"all weight, {all_weight}, by the capacity {least_capacity} is more than a float can hold")


def _contains(ascending: Numbers, value: int) -> bool:
    place = int(np.searchsorted(ascending, value))
    return place < len(ascending) and int(ascending[place]) == value
