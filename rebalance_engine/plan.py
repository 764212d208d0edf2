"""What a whole group should have: one target for all topics, whatever the members subscribe to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rebalance_engine.allocation import STRATEGIES, AllocationError, MixedMember, allocate, allocate_mixed, strategy
from rebalance_engine.allocation.contract import check_queues
from rebalance_engine.group import GroupView, only_subscribed
from rebalance_engine.model import MessageModel
from rebalance_engine.ownership import Ownership

PREVIOUS = "previous"
SUBSCRIPTIONS = "subscriptions"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What decides a group's target, and who decided it.

    Attributes:
        strategy, params: as in ``STRATEGIES``. What a strategy remembers or must know of the group (the
            assignment before, the subscriptions) is filled in from the view.
        epoch: grows with every plan of a group; a plan of a lower epoch never replaces one of a higher.
    """

    strategy: str = "AVG"
    params: Mapping[str, Any] = field(default_factory=dict)
    epoch: int = 0
    author: str = ""
    reason: str = ""


def target(view: GroupView, plan: Plan, previous: Ownership | None = None) -> Ownership:
    """Compute who should have which queue, all topics in one pass.

    For RocketMQ's strategies this is what the members, each computing alone, end up with: every topic is divided
    by all members of the group, and the share of one that does not subscribe to a topic stays unowned. In a
    broadcasting group every member has all queues. Without members or queues nobody has anything.

    Args:
        view: the group; what is held in it does not matter, but for the default of ``previous``.
        previous: where strategies that move as little as possible start: by default what is held.

    Raises:
        AllocationError: the plan's strategy or parameters make no sense.
    """
    params = {**_known_of_the_group(view, plan, view.held if previous is None else previous), **plan.params}
    bound = strategy(plan.strategy, **params)
    if not len(view.queues) or not len(view.clients):
        return Ownership.nobody(view.queues, view.clients)
    if view.model is MessageModel.BROADCASTING:
        return only_subscribed(view, _everybody(view))
    if bound.owners is not None and bound.order is view.queues.order is view.clients.order:
        owner = bound.owners(view.queues, view.clients)
        return only_subscribed(view, Ownership(view.queues, view.clients, owner))
    lists = allocate(plan.strategy, view.queues, view.clients.ids, **params)
    for told in lists.values():
        check_queues(told)
    return only_subscribed(view, Ownership.from_lists(view.queues, view.clients, lists))


def end_up(view: GroupView, variants: Mapping[str, str]) -> Ownership | None:
    """Compute what members that differ end up with together; None where one of them cannot compute its share.

    Its queues without an owner, and with two, are no mistake of the computation: they are what such a group has.

    Args:
        variants: the strategy of each client id.
    """
    if not len(view.queues) or not len(view.clients):
        return Ownership.nobody(view.queues, view.clients)
    members = [MixedMember(client, strategy=variants[client]) for client in view.clients.ids]
    try:
        result = allocate_mixed(view.queues, members)
    except AllocationError:
        return None
    if any(share.failure for share in result.shares):
        return None
    return only_subscribed(view, Ownership.from_lists(view.queues, view.clients, result.held))


def _known_of_the_group(view: GroupView, plan: Plan, previous: Ownership | None) -> dict[str, Any]:
    """Give what the plan's strategy must know of the group."""
    takes = STRATEGIES[plan.strategy].takes if plan.strategy in tuple(STRATEGIES) else frozenset()
    topics_of = view.topics_of if SUBSCRIPTIONS in takes and view.subscribed is not None else None
    return {name: value for name, value in ((PREVIOUS, previous), (SUBSCRIPTIONS, topics_of)) if name in takes}


def _everybody(view: GroupView) -> Ownership:
    members = np.unique(view.clients.members)
    queue = np.repeat(np.arange(len(view.queues), dtype=np.int32), len(members))
    return Ownership.from_pairs(view.queues, view.clients, queue, np.tile(members, len(view.queues)))
