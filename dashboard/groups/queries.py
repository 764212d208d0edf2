"""What is read about groups: one look at a group for the engine, from rows or from the state that was shown last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from dashboard.clusters.models import Queue
from dashboard.groups.models import Group, Holding, Member, Subscription
from dashboard.push.messages import GroupState
from dashboard.push.runs import unpack
from rebalance_engine.group import GroupView
from rebalance_engine.group import Member as Seen
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.ownership import Ownership
from rebalance_engine.tables import ClientTable, QueueTable

NO_TOPICS: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Look:
    """One look at a group, and the rows that it was read from.

    Attributes:
        view: what the engine takes.
        members: who is a member now, sorted as the view sorts them.
        queue_pks: int64[n], the row of each queue of the view.
        moved_at: when what somebody holds last changed, as far as it still shows; 0 is never.
    """

    view: GroupView
    members: tuple[Member, ...]
    queue_pks: np.ndarray[tuple[int], np.dtype[np.int64]]
    moved_at: int


def look_at(*, group: Group) -> Look:
    """Read what is known of a group now."""
    members = list(Member.objects.filter(group=group, left_at=None))
    topics_of, merged = _topics(group)
    queues, pks = _queues(group, set().union(merged, *topics_of.values()))
    held, moved_at = _held(members)
    order = ClientTable.of(member.client_id for member in members).order
    names = order.sort(member.client_id for member in members)
    by_name = {member.client_id: member for member in members}
    everybody = [by_name[name] for name in names]
    view = GroupView.of(
        group.name,
        queues,
        (seen for member in everybody for seen in _as_seen(member, topics_of, held)),
        MessageModel(group.model) if group.model else MessageModel.CLUSTERING,
    )
    return Look(view, tuple(everybody), pks, moved_at)


def group_view(*, group: Group) -> GroupView:
    """Build the engine's view of a group as it is now."""
    return look_at(group=group).view


def view_of(state: GroupState) -> GroupView:
    """Build the engine's view of a state that was shown: how the group was at the look before."""
    queues = queues_of(state)
    members = [
        Seen(
            client_id=cell.client,
            held=None if cell.held is None or number else tuple(queues.take(unpack(cell.held).astype(np.int32))),
            strategy=cell.strategy or None,
        )
        for cell in state.members
        for number in range(cell.registrations)
    ]
    model = MessageModel(state.head.model) if state.head.model else MessageModel.CLUSTERING
    return GroupView.of(state.head.group, queues, members, model)


def target_of(state: GroupState) -> Ownership:
    """Give the target that a state shows."""
    queues = queues_of(state)
    clients = ClientTable.of(cell.client for cell in state.members for _ in range(cell.registrations))
    pairs = [
        (numbers, np.full(len(numbers), number, dtype=np.int32))
        for cell in state.members
        if len(numbers := unpack(cell.target).astype(np.int32)) and (number := clients.number(cell.client)) is not None
    ]
    if not pairs:
        return Ownership.nobody(queues, clients)
    queue, client = (np.concatenate(column) for column in zip(*pairs, strict=True))
    return Ownership.from_pairs(queues, clients, queue, client)


def queues_of(state: GroupState) -> QueueTable:
    """List the queues of a state, in its order, which is the engine's."""
    return QueueTable.of(
        MessageQueue(part.topic, part.broker, number) for part in state.queues for number in unpack(part.ids).tolist()
    )


def _topics(group: Group) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """Give what each member subscribes to, and what brokers hold of the group together."""
    rows = Subscription.objects.filter(group=group).values_list("member__client_id", "member__left_at", "topic")
    topics_of: dict[str, set[str]] = {}
    merged: set[str] = set()
    for client, left_at, topic in rows:
        if client is None:
            merged.add(topic)
        elif left_at is None:
            topics_of.setdefault(client, set()).add(topic)
    return {client: frozenset(topics) for client, topics in topics_of.items()}, frozenset(merged)


def _queues(group: Group, topics: Iterable[str]) -> tuple[QueueTable, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    rows = Queue.objects.filter(topic__cluster=group.cluster_id, topic__name__in=list(topics), gone_at=None)
    pks = {
        MessageQueue(topic, broker, queue_id): pk
        for pk, topic, broker, queue_id in rows.values_list("pk", "topic__name", "broker", "queue_id")
        if queue_id >= 0
    }
    table = QueueTable.of(pks)
    return table, np.fromiter((pks[queue] for queue in table), dtype=np.int64, count=len(table))


def _held(members: list[Member]) -> tuple[Mapping[int, tuple[MessageQueue, ...]], int]:
    """Give what each member holds, by its number, and when the youngest of these spans began."""
    columns = ("member_id", "at", "queue__topic__name", "queue__broker", "queue__queue_id")
    held: dict[int, list[MessageQueue]] = {}
    moved_at = 0
    rows = Holding.objects.filter(member__in=members, until=None).values_list(*columns)
    for member, at, topic, broker, queue_id in rows:
        held.setdefault(member, []).append(MessageQueue(topic, broker, queue_id))
        moved_at = max(moved_at, at)
    return {member: tuple(queues) for member, queues in held.items()}, moved_at


def _as_seen(
    member: Member, topics_of: Mapping[str, frozenset[str]], held: Mapping[int, tuple[MessageQueue, ...]]
) -> Iterable[Seen]:
    """Give a member as often as it is registered; its queues are of one of these processes."""
    topics, strategy = topics_of.get(member.client_id), member.strategy or None
    mine = None if member.is_silent else held.get(member.pk, ())
    others = None if mine is None else ()
    return [
        Seen(client_id=member.client_id, topics=topics, held=others if number else mine, strategy=strategy)
        for number in range(member.registrations)
    ]
