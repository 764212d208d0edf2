"""Figures about an ownership and about a change of it. What cannot be known is None, never 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rebalance_engine.diff import Diff
from rebalance_engine.group import GroupView
from rebalance_engine.ownership import UNOWNED, Ownership
from rebalance_engine.tables import Int32s

Loads = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Skew:
    """How unevenly queues are spread over the members that may have them.

    Attributes:
        members: how many share; those whose queues are unknown are not among them.
        queues: how many they own together; one with two owners counts twice.
        most, least: the largest and the smallest load, in queues.
        max_over_mean: 1.0 is even; None where there is nothing to share or nobody to share it.
        gini: 0.0 is even, towards 1.0 one member has everything; None likewise.
        idle: the members that own nothing, sorted as the group sorts them.
        unknown: the members whose queues are unknown.
    """

    members: int
    queues: int
    most: int
    least: int
    max_over_mean: float | None
    gini: float | None
    idle: tuple[str, ...]
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MoveCount:
    """What a change moves.

    Attributes:
        total: moves of any kind, of queues that come or go too.
        handoffs: from a member to another one, former members included: these cost a pause each.
        taken_up: queues that had no owner and get one.
        given_up: queues that had an owner and have none.
        fewest: the least handoffs that reach loads of the same sizes in every topic, whoever has which.
        above_fewest: handoffs that another assignment, just as even, would have saved.
    """

    total: int
    handoffs: int
    taken_up: int
    given_up: int
    fewest: int
    above_fewest: int


def skew(ownership: Ownership, *, silent: frozenset[str] = frozenset()) -> Skew:
    """Measure the loads over the sum of the group's topics.

    Args:
        silent: members whose part of ``ownership`` is unknown.
    """
    members = _numbers_of_members(ownership)
    return _skew(ownership, ownership.loads(), members, silent)


def skew_by_topic(view: GroupView, ownership: Ownership, *, silent: frozenset[str] = frozenset()) -> dict[str, Skew]:
    """Measure the loads topic by topic, over the members that subscribe to each."""
    queue, client = ownership.pairs()
    bounds = np.searchsorted(queue, view.queues.starts)
    everybody = _numbers_of_members(ownership)
    skews = {}
    for number, topic in enumerate(view.queues.topics):
        inside = slice(bounds[number], bounds[number + 1])
        loads = np.bincount(client[inside], minlength=len(ownership.clients.names))
        members = everybody if view.subscribed is None else everybody[view.subscribed[number, everybody]]
        skews[topic] = _skew(ownership, loads, members, silent)
    return skews


def count_moves(change: Diff, before: Ownership, after: Ownership) -> MoveCount:
    """Count what a diff from ``before`` to ``after`` moves, and what it need not have moved."""
    source, destination = change.source != UNOWNED, change.destination != UNOWNED
    handoffs = int((source & destination).sum())
    fewest = min(handoffs, fewest_handoffs(before, after))
    return MoveCount(
        total=len(change),
        handoffs=handoffs,
        taken_up=int((~source & destination).sum()),
        given_up=int((source & ~destination).sum()) + len(change.removed_queues),
        fewest=fewest,
        above_fewest=handoffs - fewest,
    )


def fewest_handoffs(before: Ownership, after: Ownership) -> int:
    """Count the handoffs without which no assignment has loads as large as those of ``after``.

    Topic by topic the largest new loads are given to the members that had most: no other matching keeps more
    queues where they are. Exact where every queue has one owner before and after and queues stay the same;
    a lower bound otherwise.
    """
    owner = _owners_before(before, after)
    both = (owner != UNOWNED) & (after.owner != UNOWNED)
    members = _numbers_of_members(after)
    kept = 0
    for start, end in zip(after.queues.starts, after.queues.starts[1:], strict=False):
        had = _sorted_loads(owner[start:end][both[start:end]], members)
        gets = _sorted_loads(after.owner[start:end], members)
        kept += int(np.minimum(had, gets).sum())
    return int(both.sum()) - kept


def _owners_before(before: Ownership, after: Ownership) -> Int32s:
    """Give the first owner before the change of each queue after it, in the numbers of ``after``."""
    owner = before.owner
    if not before.queues.same_queues(after.queues):
        owner = np.append(owner, np.int32(UNOWNED))[after.queues.numbers_in(before.queues)]
    if after.clients.continues(before.clients):
        return owner
    known = before.clients.numbers_in(after.clients)
    former = len(after.clients.names)  # somebody, but nobody who is named any more
    return np.where((owner != UNOWNED) & (known[owner] < 0), former, known[owner])


def _sorted_loads(owner: Int32s, members: Int32s) -> Loads:
    loads = np.bincount(owner[owner != UNOWNED], minlength=int(members.max(initial=0)) + 1)
    return np.sort(loads[members])


def _numbers_of_members(ownership: Ownership) -> Int32s:
    computing = ownership.clients.computing
    return computing[computing >= 0]


def _skew(ownership: Ownership, loads: Loads, members: Int32s, silent: frozenset[str]) -> Skew:
    names = ownership.clients.names
    unknown = tuple(names[number] for number in members.tolist() if names[number] in silent) if silent else ()
    known = np.array([n for n in members.tolist() if names[n] not in silent], dtype=np.int32) if silent else members
    mine = loads[known]
    total = int(mine.sum())
    return Skew(
        members=len(known),
        queues=total,
        most=int(mine.max(initial=0)),
        least=int(mine.min()) if len(mine) else 0,
        max_over_mean=float(mine.max()) * len(mine) / total if total else None,
        gini=_gini(np.sort(mine)) if total else None,
        idle=tuple(names[number] for number in known[mine == 0].tolist()),
        unknown=unknown,
    )


def _gini(ascending: Loads) -> float:
    """Half the mean difference between two members' loads, relative to the mean load (Gini 1912)."""
    count, total = len(ascending), int(ascending.sum())
    weighted = int((np.arange(1, count + 1) * ascending).sum())
    return (2 * weighted - (count + 1) * total) / (count * total)
