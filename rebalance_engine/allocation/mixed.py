"""What a group really ends up with when its members do not agree.

RocketMQ has no coordinator: each member computes alone, with its own strategy and its own view of queues and
members. Nothing verifies that they are alike, and where they are not, queues are orphaned or owned twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rebalance_engine.allocation.contract import MemberFailure, Strategy
from rebalance_engine.model import MessageQueue, sort_queues


@dataclass(frozen=True, slots=True)
class MixedMember:
    """One process of a group, as it sees the world; what is None is what the whole group sees."""

    client_id: str
    strategy: str = "AVG"
    params: Mapping[str, Any] = field(default_factory=dict)
    queues: Sequence[MessageQueue] | None = None
    clients: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """What one process computes; ``failure`` says why it computes nothing and keeps what it holds."""

    client_id: str
    queues: tuple[MessageQueue, ...]
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class MixedResult:
    """What the processes of a group compute together, in the order in which they were given.

    Attributes:
        orphans: queues of the group that nobody computes, sorted.
        double_owners: each queue that several processes compute, with their client ids; two processes of one
            id count as two. Always empty for a broadcasting group, where every member has every queue.
    """

    shares: tuple[Share, ...]
    orphans: tuple[MessageQueue, ...]
    double_owners: dict[MessageQueue, tuple[str, ...]]

    @property
    def held(self) -> dict[str, list[MessageQueue]]:
        """What each client id computes; processes of one id together."""
        held: dict[str, dict[MessageQueue, None]] = {}
        for share in self.shares:
            held.setdefault(share.client_id, {}).update(dict.fromkeys(share.queues))
        return {client_id: list(queues) for client_id, queues in held.items()}


def compute_mixed(
    queues: Iterable[MessageQueue], members: Sequence[tuple[MixedMember, Strategy]], *, broadcasting: bool = False
) -> MixedResult:
    """Let every member compute alone; there must be queues and members."""
    everything = sort_queues(set(queues))
    everyone = [member.client_id for member, _ in members]
    views = _Views(everything, everyone)
    shares = tuple(_share(member, strategy, views, broadcasting) for member, strategy in members)
    owners: dict[MessageQueue, list[str]] = {queue: [] for queue in everything}
    for share in shares:
        for queue in dict.fromkeys(share.queues):
            owners.setdefault(queue, []).append(share.client_id)
    orphans = tuple(queue for queue in everything if not owners[queue])
    twice = {} if broadcasting else {queue: tuple(ids) for queue, ids in owners.items() if len(ids) > 1}
    return MixedResult(shares, orphans, twice)


class _Views:
    """Sorted views, made once for all members that share one."""

    def __init__(self, queues: list[MessageQueue], clients: list[str]) -> None:
        self._queues, self._clients = queues, clients
        self._made: dict[tuple[int, int, str], tuple[list[list[MessageQueue]], list[str]]] = {}

    def of(self, member: MixedMember, strategy: Strategy) -> tuple[list[list[MessageQueue]], list[str]]:
        """Give the member's queues, a list a topic, and its clients, sorted as its language does."""
        queues = self._queues if member.queues is None else member.queues
        clients = self._clients if member.clients is None else member.clients
        key = (id(queues), id(clients), strategy.order.name)
        if key not in self._made:
            by_topic: dict[str, list[MessageQueue]] = {}
            for queue in sort_queues(set(queues), strategy.order):
                by_topic.setdefault(queue.topic, []).append(queue)
            self._made[key] = (list(by_topic.values()), strategy.order.sort(clients))
        return self._made[key]


def _share(member: MixedMember, strategy: Strategy, views: _Views, broadcasting: bool) -> Share:
    topics, clients = views.of(member, strategy)
    if broadcasting:
        return Share(member.client_id, tuple(queue for queues in topics for queue in queues))
    assert strategy.member is not None
    computed: list[MessageQueue] = []
    failures: Counter[str] = Counter()
    for queues in topics:
        try:
            computed += strategy.member(member.client_id, queues, clients) or []
        except MemberFailure as failure:
            failures[f"{type(failure).__name__}: {failure}"] += 1
    return Share(member.client_id, tuple(dict.fromkeys(computed)), "; ".join(failures) or None)
