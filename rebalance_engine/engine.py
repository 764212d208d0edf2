"""One rebalance of one group, from two looks at it: the new target, what moves, what it costs, what is wrong.

What Celery, the dry run, the simulator and the back-test all call. Nothing here knows time, storage or network.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from rebalance_engine.diff import Alignment, Diff, diff
from rebalance_engine.events import Cause
from rebalance_engine.findings import Finding, by_config_gaps, find_faults
from rebalance_engine.group import GroupView
from rebalance_engine.measures import MoveCount, Skew, count_moves, skew, skew_by_topic
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.ownership import Ownership
from rebalance_engine.plan import Plan, target

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is different between the two looks, and what shows it."""

    cause: Cause
    evidence: str


@dataclass(frozen=True, eq=False)
class Division:
    """What a plan makes of a group, whatever else is true of it; as in :class:`Outcome`."""

    target: Ownership
    moves: Diff
    move_count: MoveCount
    skew: Skew


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a rebalance comes to.

    Attributes:
        target: who should have what from now on.
        changes: what is different from before; empty when nothing made this rebalance necessary.
        moves: from the target before to the target now.
        held_moves: from what was held to what is held; None while some member's part of either is unknown.
        outstanding: from what is held now to the target; None while what some member holds is unknown.
        move_count: the figures of ``moves``.
        skew, skew_by_topic: how even the target is.
        held_skew: how even what is held is, over the members that answered; None where nobody was asked.
        findings: what this look proves to be wrong.
        strays: (client id, queue) that are held though no route has the queue: no part of ``outstanding``.
    """

    plan: Plan
    target: Ownership
    changes: tuple[Change, ...]
    moves: Diff
    held_moves: Diff | None
    outstanding: Diff | None
    move_count: MoveCount
    skew: Skew
    skew_by_topic: dict[str, Skew]
    held_skew: Skew | None
    findings: tuple[Finding, ...]
    strays: tuple[tuple[str, MessageQueue], ...] = ()

    @property
    def converged(self) -> bool | None:
        """Whether held equals target; None while it is unknown."""
        return None if self.outstanding is None else not len(self.outstanding) and not self.strays


def rebalance(
    before: GroupView,
    after: GroupView,
    plan: Plan,
    *,
    previous: Ownership | None = None,
    old_plan: Plan | None = None,
    becomes: Ownership | None = None,
) -> Outcome:
    """Compute one rebalance of a whole group.

    Args:
        before, after: the group as it was and as it is.
        plan: what decides the target now.
        previous: the target before; by default what ``old_plan`` gives for ``before``.
        old_plan: what decided the target before, where that was another plan.
        becomes: the target now, where no plan decides it: members that differ each compute their own share.

    Raises:
        AllocationError: a plan's strategy or parameters make no sense.
    """
    divided = divide(after, plan, target(before, old_plan or plan) if previous is None else previous, becomes=becomes)
    new_target = divided.target
    return Outcome(
        plan=plan,
        target=new_target,
        changes=(*_changes(before, after), *_plan_changes(old_plan or plan, plan)),
        moves=divided.moves,
        held_moves=_diff_if_known(before, before.held, after, after.held),
        outstanding=_diff_if_known(after, after.held, after, new_target),
        move_count=divided.move_count,
        skew=divided.skew,
        skew_by_topic=skew_by_topic(after, new_target),
        held_skew=None if after.held is None else skew(after.held, silent=after.silent),
        findings=(*find_faults(after), *_config_gaps(after, plan)),
        strays=after.strays,
    )


def divide(after: GroupView, plan: Plan, previous: Ownership, *, becomes: Ownership | None = None) -> Division:
    """Work out the new target alone, and what it costs: all that a dry run needs of each strategy that it tries.

    Args:
        after, plan, becomes: as :func:`rebalance` takes them.
        previous: the target before.

    Raises:
        AllocationError: the plan's strategy or parameters make no sense.
    """
    new_target = target(after, plan, previous) if becomes is None else becomes
    moves = diff(previous, new_target)
    return Division(new_target, moves, count_moves(moves, previous, new_target), skew(new_target))


def _diff_if_known(
    old_view: GroupView, old: Ownership | None, new_view: GroupView, new: Ownership | None
) -> Diff | None:
    if old is None or new is None or old_view.silent or new_view.silent:
        return None
    return diff(old, new)


def _changes(before: GroupView, after: GroupView) -> Iterator[Change]:
    """Tell what differs; what was or is unknown did not change."""
    yield from _member_changes(before, after)
    if not before.queues.same_queues(after.queues):
        alignment = Alignment.of(before.queues, after.queues)
        came, went = len(alignment.added), len(alignment.removed)
        yield Change(
            Cause.ROUTE_CHANGED, f"queues that came: {came}, that went: {went}, that are there: {len(after.queues)}"
        )
    if before.model is not after.model:
        yield Change(Cause.CONFIG_CHANGED, f"the group is {after.model.value} now, not {before.model.value}")
    for name, topics in _differing(before, before.topics_of, after, after.topics_of):
        yield Change(Cause.SUBSCRIPTION_CHANGED, f"{name} subscribes to {', '.join(sorted(topics)) or 'nothing'} now")
    for name, used in _differing(before, before.strategies, after, after.strategies):
        yield Change(Cause.STRATEGY_CHANGED, f"{name} uses {used} now")


def _member_changes(before: GroupView, after: GroupView) -> Iterator[Change]:
    was, now = Counter(before.clients.ids), Counter(after.clients.ids)
    for name in after.clients.distinct:
        if now[name] > was[name]:
            yield Change(Cause.MEMBER_JOINED, f"{name} is a member now{_how_often(was[name], now[name])}")
    for name in before.clients.distinct:
        if now[name] < was[name]:
            still = "is a member still" if now[name] else "is no member any more"
            yield Change(Cause.MEMBER_LEFT, f"{name} {still}{_how_often(was[name], now[name])}")


def _differing(
    before: GroupView, old: Mapping[str, T], after: GroupView, new: Mapping[str, T]
) -> Iterator[tuple[str, T]]:
    """Give what those who were and are members told otherwise before, in the group's order."""
    stayed = set(before.clients.ids) & old.keys() & new.keys()
    return ((name, new[name]) for name in after.clients.distinct if name in stayed and old[name] != new[name])


def _how_often(was: int, now: int) -> str:
    """Say it of an id that is registered by several processes, each of which counts as a member."""
    return f", {now} times instead of {was}" if max(was, now) > 1 else ""


def _plan_changes(old: Plan, new: Plan) -> Iterator[Change]:
    if old.strategy != new.strategy:
        yield Change(Cause.STRATEGY_CHANGED, f"the plan says {new.strategy} now, not {old.strategy}")
    elif not _same_params(old.params, new.params):
        yield Change(Cause.CONFIG_CHANGED, f"the plan has other parameters for {new.strategy} now")


def _same_params(old: object, new: object) -> bool:
    """Compare parameters, columns among them and inside of them."""
    if old is new:
        return True
    if isinstance(old, np.ndarray) or isinstance(new, np.ndarray):
        return np.array_equal(np.asarray(old), np.asarray(new))
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return old.keys() == new.keys() and all(_same_params(old[key], new[key]) for key in new)
    if isinstance(old, list | tuple) and isinstance(new, list | tuple):
        return len(old) == len(new) and all(map(_same_params, old, new))
    return bool(old == new)


def _config_gaps(view: GroupView, plan: Plan) -> Iterator[Finding]:
    if plan.strategy in {"CONFIG", "GO_CONFIG"} and view.model is MessageModel.CLUSTERING:
        yield from by_config_gaps(view, plan.params.get("config") or {})
