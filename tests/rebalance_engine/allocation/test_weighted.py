from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rebalance_engine.allocation import weighted
from rebalance_engine.allocation.contract import BadParameter
from rebalance_engine.allocation.starting_point import subscribers_of
from rebalance_engine.ownership import UNOWNED, Ownership
from rebalance_engine.tables import ClientTable, QueueTable
from tests.rebalance_engine.allocation.exact import all_assignments

Owners = NDArray[np.signedinteger]
CLOSE = 1e-6  # more than rounding, less than any difference between these small numbers


@dataclass
class Group:
    """Members A, B, ... and queues of X and Y; everything by name, or by number where names are in order."""

    x: int
    weights: list[float]
    before: list[int]
    members: str
    capacities: dict[str, float] | None = None
    topics: dict[str, str] | None = None
    budget: int | None = None
    tolerance: float = 0.0

    @property
    def queues(self) -> QueueTable:
        return QueueTable.from_routes([("X", "east", self.x), ("Y", "east", len(self.weights) - self.x)])

    def after(self, clients: ClientTable | None = None) -> Owners:
        clients = ClientTable.of(self.members) if clients is None else clients
        number = [*(clients.names.index(name) for name in self.members), UNOWNED]
        before = np.array([number[i] for i in self.before], dtype=np.int32)
        return weighted.owners(
            self.queues,
            clients,
            previous=Ownership(self.queues, clients, before),
            subscribers=None if self.topics is None else subscribers_of(self.queues, clients, self.topics),
            weights=np.array(self.weights),
            capacities=self.capacities,
            budget=self.budget,
            tolerance=self.tolerance,
        )

    def may(self, queue: int, member: int) -> bool:
        topic = "X" if queue < self.x else "Y"
        return self.topics is None or topic in self.topics[self.members[member]]

    def allows(self, owner: Owners) -> bool:
        return all(self.may(queue, member) for queue, member in enumerate(owner.tolist()))

    def ratios(self, owner: Owners) -> list[float]:
        capacities = self.capacities or dict.fromkeys(self.members, 1)
        loads = np.bincount(owner[owner >= 0], np.array(self.weights)[owner >= 0], len(self.members))
        return [float(load) / capacities[name] for load, name in zip(loads, self.members, strict=True)]

    def worst(self, owner: Owners) -> float:
        return max(self.ratios(owner))

    def moved(self, owner: Owners) -> list[int]:
        """Give the queues that could have stayed."""
        both = zip(self.before, owner.tolist(), strict=True)
        return [i for i, (old, new) in enumerate(both) if old not in {UNOWNED, new} and self.may(i, old)]

    def within_budget(self, owner: Owners) -> bool:
        return self.budget is None or len(self.moved(owner)) <= self.budget

    def lower_bound(self) -> float:
        """Give that of members that are all alike."""
        return max(*self.weights, sum(self.weights) / len(self.members))


@st.composite
def groups(draw: st.DrawFn, alike: bool | None = None, queues: int = 7, new: bool | None = None) -> Group:
    """Give groups of up to three members; ``alike`` are those of equal capacities and subscriptions."""
    members = "ABC"[: draw(st.integers(1, 3))]
    weights = draw(st.lists(st.integers(0, 9).map(float), min_size=1, max_size=queues))
    start = st.just(UNOWNED) if new else st.integers(UNOWNED, len(members) - 1)
    before = [draw(start) for _ in weights]
    group = Group(
        x=draw(st.integers(0, len(weights))),
        weights=weights,
        before=before,
        members=members,
        budget=draw(st.none() | st.integers(0, 3)),
        tolerance=draw(st.sampled_from([0.0, 0.05, 0.3])),
    )
    alike = draw(st.booleans()) if alike is None else alike
    if alike:
        return group
    capacities = {name: draw(st.sampled_from([0.5, 1.0, 2.0, 3.0])) for name in members}
    topics = {name: draw(st.sampled_from(["X", "Y", "XY"])) for name in members}
    return replace(group, capacities=capacities, topics=topics)


@given(groups())
def test_every_queue_has_an_owner_who_subscribes_where_anybody_does(group: Group) -> None:
    for queue, owner in enumerate(group.after().tolist()):
        anybody = any(group.may(queue, member) for member in range(len(group.members)))
        assert group.may(queue, owner) if anybody else owner == UNOWNED


@given(groups())
def test_the_budget_holds(group: Group) -> None:
    assert group.within_budget(group.after())


@given(groups())
def test_nothing_gets_worse(group: Group) -> None:
    still = replace(group, budget=0).after()

    assert group.worst(group.after()) <= group.worst(still) + CLOSE


@given(groups(alike=True))
def test_the_largest_ratio_is_near_the_best_within_the_same_budget(group: Group) -> None:
    members = len(group.members)
    possible = (owner for owner in all_assignments(len(group.weights), members) if group.within_budget(owner))
    best = min(group.worst(owner) for owner in possible)

    assert group.worst(group.after()) <= max(2 - 1 / members, 1 + group.tolerance) * best + CLOSE


@given(groups(alike=True, new=True))
def test_a_first_plan_is_nearer_still(group: Group) -> None:
    members = len(group.members)
    best = min(group.worst(owner) for owner in all_assignments(len(group.weights), members))

    assert group.worst(group.after()) <= max(4 / 3 - 1 / (3 * members), 1 + group.tolerance) * best + CLOSE


@given(groups(alike=True))
def test_what_is_good_enough_stays(group: Group) -> None:
    still = replace(group, budget=0).after()
    good_enough = group.worst(still) <= (1 + group.tolerance) * group.lower_bound()

    assert group.moved(group.after()) == [] or not good_enough


@given(groups(alike=True, new=False))
def test_what_is_best_already_stays(group: Group) -> None:
    best = min(all_assignments(len(group.weights), len(group.members)), key=group.worst)

    assert replace(group, before=best.tolist()).after().tolist() == best.tolist()


@given(groups(queues=6))
def test_no_further_move_or_swap_lowers_the_largest_ratio(group: Group) -> None:
    group = replace(group, tolerance=0.0)
    after = group.after()
    if (after < 0).any():
        return
    steps = []
    for queue in range(len(after)):
        for member in range(len(group.members)):
            steps.append(after.copy())
            steps[-1][queue] = member
    for one, other in combinations(range(len(after)), 2):
        steps.append(after.copy())
        steps[-1][[one, other]] = after[[other, one]]

    possible = [step for step in steps if group.allows(step) and group.within_budget(step)]

    assert min(map(group.worst, possible)) >= group.worst(after) - CLOSE


@given(groups())
def test_no_move_is_idle(group: Group) -> None:
    after = group.after()

    for queue in group.moved(after):
        stayed = after.copy()
        stayed[queue] = group.before[queue]
        assert group.worst(stayed) > group.worst(after)


@given(groups())
def test_its_own_result_stays(group: Group) -> None:
    group = replace(group, budget=None)
    once = group.after().tolist()

    assert replace(group, before=once).after().tolist() == once


@given(groups(), st.randoms())
def test_the_numbers_of_the_clients_do_not_matter(group: Group, luck: random.Random) -> None:
    names = list(group.members)
    luck.shuffle(names)
    ids = sorted(names)
    shuffled = ClientTable(
        ClientTable.of(ids).order, tuple(names), np.array([names.index(name) for name in ids], dtype=np.int32)
    )

    other = [UNOWNED if i < 0 else ids.index(names[i]) for i in group.after(shuffled).tolist()]

    assert other == group.after().tolist()


def test_a_swap_helps_where_no_move_does() -> None:
    group = Group(x=4, weights=[6, 5, 3, 2], before=[0, 0, 1, 1], members="AB", budget=2)

    assert group.worst(group.after()) == 8


def test_what_balances_moves_and_nothing_else() -> None:
    group = Group(x=4, weights=[4, 3, 1, 2], before=[0, 0, 0, 1], members="AB", tolerance=0.05)

    assert group.after().tolist() == [0, 1, 0, 1]


def test_the_weight_follows_the_capacity() -> None:
    group = Group(x=6, weights=[1] * 6, before=[0, 0, 0, 1, 1, 1], members="AB", capacities={"A": 1, "B": 2})

    assert group.after().tolist() == [0, 0, 1, 1, 1, 1]


def test_queues_of_who_left_are_placed_whatever_the_budget() -> None:
    queues, abc = QueueTable.from_routes([("X", "east", 4)]), ClientTable.of("ABC")
    previous = Ownership(queues, abc, np.array([0, 1, 2, 2], dtype=np.int32))

    after = weighted.owners(queues, abc.left("C"), previous=previous, budget=0)

    assert after.tolist() == [0, 1, 0, 1]


def test_without_members_all_is_unowned() -> None:
    after = weighted.owners(QueueTable.from_routes([("X", "east", 2)]), ClientTable.of([]))

    assert after.tolist() == [UNOWNED, UNOWNED]


def test_a_budget_below_nothing_is_refused() -> None:
    with pytest.raises(BadParameter, match="the budget is -1 moves, but it must be a whole number, 0 or more"):
        Group(x=1, weights=[1], before=[0], members="A", budget=-1).after()


@pytest.mark.parametrize("tolerance", [-0.1, 1.0, float("nan")])
def test_a_tolerance_out_of_range_is_refused(tolerance: float) -> None:
    with pytest.raises(BadParameter, match=f"the tolerance is {tolerance}, but it must be a number"):
        Group(x=1, weights=[1], before=[0], members="A", tolerance=tolerance).after()
