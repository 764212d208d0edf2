"""What is read about groups: one look at a group for the engine, from rows or from the state that was shown last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dashboard.clusters.models import Queue
from dashboard.groups.models import Group, Holding, Member, Subscription
from dashboard.push.messages import GroupState, Queues
from dashboard.push.runs import Runs, unpack
from rebalance_engine.group import GroupView
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.ownership import Ownership
from rebalance_engine.tables import NO_INTS, ClientTable, QueueTable

Pks = np.ndarray[tuple[int], np.dtype[np.int64]]


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
    queue_pks: Pks
    moved_at: int


def look_at(*, group: Group) -> Look:
    """Read what is known of a group now."""
    members = list(Member.objects.filter(group=group, left_at=None))
    clients = ClientTable.of(member.client_id for member in members for _ in range(member.registrations))
    by_name = {member.client_id: member for member in members}
    everybody = tuple(by_name[name] for name in clients.distinct)
    topics_of, merged = _topics(group)
    queues, pks = _queues(group, set().union(merged, *topics_of.values()))
    held, strays, moved_at = _held(everybody, queues, pks, clients)
    view = GroupView(
        group=group.name,
        queues=queues,
        clients=clients,
        model=MessageModel(group.model) if group.model else MessageModel.CLUSTERING,
        topics_of=topics_of,
        held=held,
        silent=frozenset(member.client_id for member in members if member.is_silent),
        strays=strays,
        strategies={member.client_id: member.strategy for member in everybody if member.strategy},
    )
    return Look(view, everybody, pks, moved_at)


def group_view(*, group: Group) -> GroupView:
    """Build the engine's view of a group as it is now."""
    return look_at(group=group).view


def view_of(state: GroupState) -> GroupView:
    """Build the engine's view of a state that was shown: how the group was at the look before."""
    clients = _clients_of(state)
    return GroupView(
        group=state.head.group,
        queues=queues_of(state),
        clients=clients,
        model=MessageModel(state.head.model) if state.head.model else MessageModel.CLUSTERING,
        held=_ownership(state, clients, {cell.client: cell.held or () for cell in state.members}),
        silent=frozenset(cell.client for cell in state.members if cell.held is None),
        strategies={cell.client: cell.strategy for cell in state.members if cell.strategy},
    )


def target_of(state: GroupState) -> Ownership:
    """Give the target that a state shows."""
    return _ownership(state, _clients_of(state), {cell.client: cell.target for cell in state.members})


def queues_of(state: GroupState) -> QueueTable:
    """List the queues of a state, in its order, which is the engine's."""
    return _table_of(state.queues)


@lru_cache(maxsize=64)
def _table_of(parts: tuple[Queues, ...]) -> QueueTable:
    return QueueTable.of(
        MessageQueue(part.topic, part.broker, number) for part in parts for number in unpack(part.ids).tolist()
    )


def _clients_of(state: GroupState) -> ClientTable:
    return ClientTable.of(cell.client for cell in state.members for _ in range(cell.registrations))


def _ownership(state: GroupState, clients: ClientTable, runs: Mapping[str, Runs]) -> Ownership:
    numbers = [(unpack(mine), clients.number(client)) for client, mine in runs.items()]
    queue = np.concatenate([NO_INTS, *(mine for mine, _ in numbers)]).astype(np.int32)
    owner = np.repeat(np.array([number for _, number in numbers], dtype=np.int32), [len(mine) for mine, _ in numbers])
    return Ownership.from_pairs(queues_of(state), clients, queue, owner)


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


def _queues(group: Group, topics: Iterable[str]) -> tuple[QueueTable, Pks]:
    rows = Queue.objects.filter(topic__cluster=group.cluster_id, topic__name__in=list(topics), gone_at=None)
    pks = {
        MessageQueue(topic, broker, queue_id): pk
        for pk, topic, broker, queue_id in rows.values_list("pk", "topic__name", "broker", "queue_id")
        if queue_id >= 0
    }
    table = QueueTable.of(pks)
    return table, np.fromiter((pks[queue] for queue in table), dtype=np.int64, count=len(table))


def _held(
    members: Sequence[Member], queues: QueueTable, pks: Pks, clients: ClientTable
) -> tuple[Ownership, tuple[tuple[str, MessageQueue], ...], int]:
    """Give who holds what, what is held though no route has it, and when the youngest of these spans began."""
    answered = {member.pk: member.client_id for member in members if not member.is_silent}
    rows = list(Holding.objects.filter(member__in=answered, until=None).values_list("member_id", "queue_id", "at"))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3)
    in_order = np.argsort(pks)
    place = np.searchsorted(pks, columns[:, 1], sorter=in_order).clip(max=max(len(pks) - 1, 0))
    number = in_order[place] if len(pks) else np.zeros(len(columns), dtype=np.int64)
    is_routed = pks[number] == columns[:, 1] if len(pks) else np.zeros(len(columns), dtype=bool)
    member_pks, inverse = np.unique(columns[:, 0], return_inverse=True)
    numbers = np.array([clients.number(answered[pk]) for pk in member_pks.tolist()], dtype=np.int32)
    owner = numbers[inverse] if len(columns) else NO_INTS
    held = Ownership.from_pairs(queues, clients, number[is_routed].astype(np.int32), owner[is_routed])
    return held, _strays(answered, columns[~is_routed]), int(columns[:, 2].max(initial=0))


def _strays(
    answered: Mapping[int, str], rows: np.ndarray[tuple[int, int], np.dtype[np.int64]]
) -> tuple[tuple[str, MessageQueue], ...]:
    if not len(rows):
        return ()
    named = Queue.objects.select_related("topic").in_bulk(set(rows[:, 1].tolist()))
    return tuple(sorted((answered[member], named[queue].message_queue) for member, queue, _ in rows.tolist()))
