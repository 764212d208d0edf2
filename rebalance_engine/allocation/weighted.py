"""WEIGHTED: even out lag or rate, not the number of queues, with a limit on what may move.

For groups that follow a plan. A queue weighs what its consumer has to work off, a client takes that on by its
capacity, and the *ratio* of a client is the weight that it has divided by its capacity. The aim is a low largest ratio.

Ideas: heaviest first to where it does least harm (Graham, "Bounds on multiprocessing timing anomalies", 1969);
release the heaviest of whoever has too much and place them anew, within a budget (Aggarwal, Motwani and Zhu, "The
load rebalancing problem", 2003); then moves and swaps from whoever has most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isfinite
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebalance_engine.allocation.contract import BadParameter
from rebalance_engine.allocation.starting_point import Subscribers, members_once, owners_before
from rebalance_engine.allocation.weighing import Floats, Numbers, Task, task_of
from rebalance_engine.ownership import UNOWNED, Ownership
from rebalance_engine.tables import ClientTable, Int32s, QueueTable

TOLERANCE = 0.05
GAIN = 0.01  # that the largest ratio has to fall by for one more move or swap, of its value
HALVINGS = 12  # of the interval in which the lowest reachable ratio is sought
ROUNDING = 1e-9  # what sums of floats may differ by, of their value


def owners(  # noqa: PLR0913 (what may be said of a group is much, and each has a default)
    queues: QueueTable,
    clients: ClientTable,
    *,
    previous: Ownership | None = None,
    subscribers: Subscribers | None = None,
    weights: Floats | None = None,
    capacities: Mapping[str, float] | None = None,
    budget: int | None = None,
    tolerance: float = TOLERANCE,
) -> Int32s:
    """WEIGHTED: lower the largest ratio of weight to capacity, with few moves, and never more than ``budget``.

    Example: A has queues that weigh 4, 3 and 1, B one that weighs 2. The one that weighs 3 goes to B, so that each
    has 5. (With a budget of 0 all stays as it is.)

    Args:
        queues: what to share out.
        clients: who shares; an id that is registered twice is one member.
        previous: who had what before, over these tables or others; None is nobody.
        subscribers: for each topic number, the numbers of the clients that subscribe to it; None is everybody
            to everything.
        weights: float64[len(queues)], 0 or more, in any unit (messages of lag, messages a second); None is 1 each.
        capacities: by client id, more than 0, in any unit, for every member; None is 1 each.
        budget: how many queues may move that could stay; None is any number. What nobody had, or had by somebody
            who left or does not subscribe, is placed anyway and not counted.
        tolerance: how far above the lower bound, relatively, is good enough.

    Returns:
        int32[len(queues)]: client numbers, ``UNOWNED`` where no member subscribes to the topic.

    Raises:
        BadParameter: a value is not in its range, or a member has no capacity.

    Guarantee, where R is the largest ratio of the result, and the lower bound L the largest of: all weight by all
    capacity; a topic's weight by its subscribers' capacity; a queue's weight by the best capacity for it.

    1. At most ``budget`` moves; R is never higher than with a budget of 0. Where that is within (1 + tolerance) L, no
       moves.
    2. R is within (1 + tolerance) L, or no single move or swap that the budget still allows makes the largest
       ratio lower by a hundredth of it, and none brings it to (1 + tolerance) L.
    3. No move is idle: none of the moved queues, by itself, could have stayed without a ratio above R.
    4. With equal capacities and everybody subscribed to everything, c members: R is at most max(2 - 1/c, 1 +
       tolerance) times the best that any assignment reaches within the same budget; and max(4/3 - 1/(3c), 1 +
       tolerance) times where nobody had anything before.
    5. Without a budget, asked again with its own result as ``previous``, it moves nothing.

    The least R is NP-hard to find, and so are the fewest moves for it; neither is promised.
    """
    task = task_of(queues, clients, owners_before(queues, clients, previous), subscribers, weights, capacities)
    limits = _limits(task, budget, tolerance)
    new = task.home < 0
    owner = task.place(task.home, np.flatnonzero(new))
    if new.any():  # first see how far one gets with those alone
        owner = _lowered(task, limits._replace(budget=0), owner)
    if not new.all():
        owner = _lowered(task, limits, owner)
    return np.append(members_once(clients), np.int32(UNOWNED))[owner]


class _Limits(NamedTuple):
    budget: float
    target: float  # a ratio that is good enough


def _limits(task: Task, budget: int | None, tolerance: float) -> _Limits:
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, Integral) or budget < 0):
        raise BadParameter(f"the budget is {budget!r} moves, but it must be a whole number, 0 or more, or None")
    if not (isinstance(tolerance, Real) and isfinite(tolerance) and 0 <= tolerance < 1):
        raise BadParameter(f"the tolerance is {tolerance!r}, but it must be a number, 0 or more, and below 1")
    return _Limits(inf if budget is None else budget, (1 + tolerance) * task.lower_bound())


def _lowered(task: Task, limits: _Limits, owner: Numbers) -> Numbers:
    """Lower the largest ratio as long as it is too high and that works."""
    origins = [task.home, owner] if (task.home < 0).any() else [owner]
    while task.worst(owner) > limits.target * (1 + ROUNDING):
        better = _improved(task, limits, owner, origins)
        if better is None:
            break
        owner = _without_idle_moves(task, limits, better)
        origins = [owner]
    return owner


def _improved(task: Task, limits: _Limits, owner: Numbers, origins: Sequence[Numbers]) -> Numbers | None:
    """Find owners with a lower largest ratio, within the budget; None where nothing is found."""
    worst = task.worst(owner)
    for origin in origins:
        found = _replaced(task, limits, origin, worst)
        if found is not None and task.worst(found) < worst * (1 - ROUNDING):
            return found
    return _stepped(task, limits, owner, max(limits.target, worst * (1 - GAIN)))


def _replaced(task: Task, limits: _Limits, owner: Numbers, high: float) -> Numbers | None:
    """Release what is too much for some ratio, place it anew, and seek the ratio for which that ends best.

    What is left to each member are its lightest queues, so that no other choice releases fewer; and where more than
    the budget would be released, nothing within the budget reaches that ratio.
    """
    height = _heights(task, owner)
    low = aim = max(limits.target, _affordable(height, limits.budget))
    best, best_score = None, (inf, 0)
    for _ in range(HALVINGS):
        tried = task.place(owner, np.flatnonzero((owner < 0) | (height > aim * (1 + ROUNDING))))
        worst, moves = task.worst(tried), task.moves(tried)
        score = (max(worst, limits.target), moves)
        if moves <= limits.budget and score < best_score:
            best, best_score = tried, score
        if moves <= limits.budget and worst <= aim * (1 + ROUNDING):
            high = aim
        else:
            low = aim
        if high - low <= high * ROUNDING:
            break
        aim = (low + high) / 2
    return best


def _heights(task: Task, owner: Numbers) -> Floats:
    """Pile up each member's queues, the lightest at the bottom, and give the ratio up to and with each queue."""
    height = np.zeros(len(owner))
    owned = np.flatnonzero(owner >= 0)
    pile = owned[np.lexsort((task.weight[owned], owner[owned]))]
    weight, whose = task.weight[pile], owner[pile]
    total = np.cumsum(weight)
    begins = np.searchsorted(whose, whose)
    height[pile] = np.where(weight > 0, (total - total[begins] + weight[begins]) / task.capacity[whose], 0)
    return height


def _affordable(height: Floats, budget: float) -> float:
    """Give the lowest ratio for which no more than ``budget`` queues have to be released."""
    if budget >= len(height):
        return 0.0
    place = len(height) - 1 - int(budget)
    return float(np.partition(height, place)[place])


def _stepped(task: Task, limits: _Limits, owner: Numbers, aim: float) -> Numbers | None:
    """Bring every ratio down to ``aim`` by single moves and swaps; None where that does not work out."""
    owner = owner.copy()
    while True:
        load = task.loads(owner)
        room = aim * task.capacity - load
        giver = int((load / task.capacity).argmax())
        if room[giver] >= 0:
            return owner
        step = _step(task, _Moment(owner, giver, room, limits.budget - task.moves(owner), load[giver] * ROUNDING / 2))
        if step is None:
            return None
        owner[step.queue] = step.taker
        if step.back >= 0:
            owner[step.back] = giver


class _Moment(NamedTuple):
    """Owners on the way, who has to give, what each member has room for, and what is left of the budget."""

    owner: Numbers
    giver: int
    room: Floats
    spare: float
    negligible: float  # a weight that is lost in rounding: without this limit, steps could go on for ever

    def is_enough(self, weight: Floats) -> NDArray[np.bool_]:
        """Ask whether the giver is within the aim without so much weight."""
        needed = -float(self.room[self.giver])
        return weight >= needed


class _Step(NamedTuple):
    """One queue goes to ``taker``, and where ``back`` is one too, that comes back for it."""

    weight: float
    queue: int
    taker: int
    back: int = UNOWNED


def _step(task: Task, moment: _Moment) -> _Step | None:
    """Choose what just takes enough off the giver, a move before a swap; if nothing does, what takes most."""
    mine = np.flatnonzero((moment.owner == moment.giver) & (task.weight > moment.negligible)).tolist()
    moves = [step for queue in mine for step in _moves_off(task, moment, queue)]
    just_enough = _just_enough(moment, moves)
    if just_enough is not None:
        return just_enough
    swaps = [step for queue in mine for step in _swaps_off(task, moment, queue)]
    return _just_enough(moment, swaps) or max(moves or swaps, default=None)


def _just_enough(moment: _Moment, steps: Sequence[_Step]) -> _Step | None:
    enough = moment.is_enough(np.array([step.weight for step in steps]))
    return min((step for step, suffices in zip(steps, enough.tolist(), strict=True) if suffices), default=None)


def _moves_off(task: Task, moment: _Moment, queue: int) -> list[_Step]:
    """Find the member with most room for this queue, if it fits there."""
    others = task.eligible[task.topic[queue]]
    others = others[others != moment.giver]
    if not len(others):
        return []
    taker = int(others[moment.room[others].argmax()])
    fits = task.weight[queue] <= moment.room[taker]
    affordable = task.extra_moves(queue, taker, moment.owner) <= moment.spare
    return [_Step(float(task.weight[queue]), queue, taker)] if fits and affordable else []


def _swaps_off(task: Task, moment: _Moment, queue: int) -> list[_Step]:
    """Find the queue to take back for this one: the heaviest that leaves enough taken off, else the lightest."""
    owner, giver = moment.owner, moment.giver
    gain = task.weight[queue] - task.weight
    fits = (
        (owner >= 0) & (owner != giver) & (gain > moment.negligible) & (task.weight > 0) & (gain <= moment.room[owner])
    )
    backs = np.flatnonzero(fits)
    backs = backs[task.topics_of(giver)[task.topic[backs]]]
    backs = backs[task.may_have(owner[backs], int(task.topic[queue]))]
    extra = task.extra_moves(queue, owner[backs], owner) + task.extra_moves(backs, giver, owner)
    backs = backs[extra <= moment.spare]
    if not len(backs):
        return []
    enough = backs[moment.is_enough(gain[backs])]
    back = int(enough[gain[enough].argmin()] if len(enough) else backs[gain[backs].argmax()])
    return [_Step(float(gain[back]), queue, int(owner[back]), back)]


def _without_idle_moves(task: Task, limits: _Limits, owner: Numbers) -> Numbers:
    """Undo every move without which the largest ratio is no higher, the lightest queues first."""
    owner, load = owner.copy(), task.loads(owner)
    room = max(task.worst(owner), limits.target) * task.capacity
    away = np.flatnonzero(task.away(owner))
    away = away[np.argsort(task.weight[away], kind="stable")]
    undone = True
    while undone:
        undone = False
        for queue in away[owner[away] != task.home[away]].tolist():
            home, weight = task.home[queue], task.weight[queue]
            if load[home] + weight <= room[home]:
                load[owner[queue]] -= weight
                load[home] += weight
                owner[queue] = home
                undone = True
    return owner
