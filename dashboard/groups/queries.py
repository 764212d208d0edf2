"""What is read about groups: one look at a group for the engine, from rows or from the state that was shown last."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

import numpy as np
from django.db import connection
from django.db.models import Max

from dashboard.clusters.columns import Columns, Pks, columns_of
from dashboard.clusters.models import Broker, Queue
from dashboard.groups.models import Group, Holding, Member, MemberList, Subscription
from dashboard.groups.moves import NO_MOVES, Moves, Taken, moves_since_the_last_round
from dashboard.groups.sights import Routes, chain_of, lost_with, routes_of, sights_of
from dashboard.push.messages import GroupState, Queues
from dashboard.push.runs import Runs, unpack
from rebalance_engine.events import ConsumeType
from rebalance_engine.findings import NO_SIGHTS, Restless, Sights, disputed_queues, spell
from rebalance_engine.group import GroupView
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.ownership import Ownership
from rebalance_engine.tables import NO_INTS, ClientTable, QueueTable

BROADCASTING = MessageModel.BROADCASTING.value
POP = ConsumeType.POP.value
_targets: deque[tuple[GroupState, Ownership]] = deque(maxlen=4)
OPEN_SPANS = """
    SELECT member_id, queue_id, at, COALESCE(at_low, 0) FROM groups_holding WHERE group_id = %s AND until IS NULL
"""


@dataclass(frozen=True, eq=False)
class Look:
    """One look at a group, and the rows that it was read from.

    Attributes:
        view: what the engine takes.
        members: who is a member now, sorted as the view sorts them.
        queue_pks: int64[n], the row of each queue of the view.
        moved_at: when somebody last took or dropped a queue; 0 is never.
        moves: what is known to have been taken or dropped since the last round ended.
        is_empty: nobody is a member, which is known: every broker that is there listed nobody.
        untold: brokers that did not tell who is a member when they were asked last; the others' members are known.
        sights: what brokers, NameServers and reports tell besides.
        chain: the rounds of the latest wave, each with the number of its first one.
        is_split: NameServers have said different things of its topics: which of them answer is to be looked at again.
    """

    view: GroupView
    members: tuple[Member, ...]
    queue_pks: Pks
    moved_at: int
    moves: Moves
    is_empty: bool
    untold: tuple[str, ...]
    sights: Sights = NO_SIGHTS
    chain: tuple[tuple[int, Restless], ...] = ()
    is_split: bool = False

    @property
    def are_members_known(self) -> bool:
        """Whether it is known who is a member: page and overview ask here alone. In part is not known."""
        return not self.untold and (bool(self.members) or self.is_empty)


@dataclass(frozen=True, eq=False)
class Plainly:
    """A group as the engine takes it, and the rows of it, without what findings and rounds read besides."""

    view: GroupView
    members: tuple[Member, ...]
    queue_pks: Pks
    taken: Taken
    routes: Routes
    is_empty: bool
    untold: tuple[str, ...]


def look_at(*, group: Group) -> Look:
    """Read what is known of a group now."""
    plain = look_plainly(group=group)
    is_shared = plain.view.model is not MessageModel.BROADCASTING
    sights = sights_of(group=group, here={member.client_id for member in plain.members}, routes=plain.routes.answering)
    sights = replace(sights, is_deserted=plain.is_empty)
    if is_shared and plain.view.everybody_answered:  # else nobody is said to have no owner
        sights = replace(sights, lost=lost_with(group=group, queues=_unowned(plain)))
    return Look(
        plain.view,
        plain.members,
        plain.queue_pks,
        max(int(plain.taken.at.max(initial=0)), _dropped_at(group)),
        moves_since_the_last_round(group, plain.members, plain.taken) if is_shared else NO_MOVES,
        plain.is_empty,
        plain.untold,
        sights,
        chain_of(group=group),
        is_split=not plain.routes.is_one_word,
    )


def _unowned(plain: Plainly) -> dict[int, str]:
    numbers = plain.view.unowned
    return dict(zip(plain.queue_pks[numbers].tolist(), map(spell, plain.view.queues.take(numbers)), strict=True))


def look_plainly(*, group: Group) -> Plainly:
    """Read who is a member of a group, which queues it has, and who holds them: all that a dry run needs."""
    members = list(Member.objects.filter(group=group, left_at=None))
    clients = ClientTable.of(member.client_id for member in members for _ in range(member.registrations))
    by_name = {member.client_id: member for member in members}
    everybody = tuple(by_name[name] for name in clients.distinct)
    topics_of, merged = _topics(group)
    topics = merged.union(*topics_of.values())
    popping = frozenset(member.client_id for member in members if member.consume_type == POP)
    if popping or (members and all(member.is_proxied for member in members)):
        topics &= _owned_topics(group)
    columns = columns_of(cluster=group.cluster_id, topics=topics)
    held, strays, taken = _held(everybody, columns, clients)
    lists = _lists(group)
    untold = tuple(sorted(broker for broker, missing in lists.items() if missing))
    routes = routes_of(group=group, topics=topics)
    view = GroupView(
        group=group.name,
        queues=columns.table,
        clients=clients,
        model=MessageModel(group.model) if group.model else MessageModel.CLUSTERING,
        topics_of=topics_of,
        held=held,
        silent=frozenset(member.client_id for member in members if member.is_silent or member.is_partial),
        strays=strays,
        strategies={member.client_id: member.strategy for member in everybody if member.strategy},
        untold=frozenset(untold),
        perhaps_twice=frozenset() if group.model == BROADCASTING else _perhaps_twice(members, columns, taken),
        disputed=disputed_queues(columns.table, routes.last),
        popping=popping,
    )
    is_empty = not members and bool(lists) and not untold
    return Plainly(view, everybody, columns.pks, taken, routes, is_empty, untold)


def view_of(state: GroupState) -> GroupView:
    """Build the engine's view of a state that was shown: how the group was at the look before."""
    clients = _clients_of(state)
    return GroupView(
        group=state.head.group,
        queues=queues_of(state),
        clients=clients,
        model=MessageModel(state.head.model) if state.head.model else MessageModel.CLUSTERING,
        held=_ownership(state, clients, {cell.client: cell.held or () for cell in state.members}),
        silent=frozenset(cell.client for cell in state.members if cell.held is None or cell.is_partial),
        strategies={cell.client: cell.strategy for cell in state.members if cell.strategy},
        disputed=frozenset(unpack(state.head.disputed).tolist()),
    )


def target_of(state: GroupState) -> Ownership:
    """Give the target that a state shows; of the last few states it is kept, since a rebalance asks three times."""
    for known, target in tuple(_targets):
        if known is state:
            return target
    found = _target_of(state)
    _targets.append((state, found))
    return found


def _target_of(state: GroupState) -> Ownership:
    return _ownership(state, _clients_of(state), {cell.client: cell.target for cell in state.members})


def queues_of(state: GroupState) -> QueueTable:
    """List the queues of a state, in its order, which is the engine's."""
    return _table_of(state.queues)


@lru_cache(maxsize=64)
def _table_of(parts: tuple[Queues, ...]) -> QueueTable:
    if all(len(part.ids) == 2 and part.ids[0] == 0 for part in parts):  # 0 to n - 1, as routes have them
        return QueueTable.from_routes((part.topic, part.broker, part.ids[1]) for part in parts)
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


def _owned_topics(group: Group) -> frozenset[str]:
    """Give the topics of which a member holds a queue. The others are taken by POP, and their queues have no owners."""
    held = Holding.objects.filter(group=group, until=None, member__left_at=None)
    return frozenset(held.values_list("queue__topic__name", flat=True).distinct())


def _held(
    members: Sequence[Member], columns: Columns, clients: ClientTable
) -> tuple[Ownership, tuple[tuple[str, MessageQueue], ...], Taken]:
    """Give who holds what, what is held though no route has it, and since when."""
    answered = {member.pk: member.client_id for member in members if not member.is_silent}
    member, queue, at, low = _spans(members[0].group_id if members else 0)
    is_known = np.isin(member, np.fromiter(answered, dtype=np.int64, count=len(answered)))
    member, queue, at, low = member[is_known], queue[is_known], at[is_known], low[is_known]
    number = columns.numbers_of(queue)
    is_routed = number >= 0
    member_pks, inverse = np.unique(member, return_inverse=True)
    numbers = np.array([clients.number(answered[pk]) for pk in member_pks.tolist()], dtype=np.int32)
    owner = numbers[inverse] if len(member) else NO_INTS
    held = Ownership.from_pairs(columns.table, clients, number[is_routed], owner[is_routed])
    strays = _strays(answered, member[~is_routed].tolist(), queue[~is_routed].tolist())
    return held, strays, Taken(member, queue, at, low)


def _perhaps_twice(members: Sequence[Member], columns: Columns, taken: Taken) -> frozenset[int]:
    """Find the queues that several are said to hold, but none of them when another one did for certain.

    A member had a queue for certain from when it was seen or said to have it until it last told what it holds. One
    that has not told since another took the queue may have let go before.
    """
    number = columns.numbers_of(taken.queue)
    last = {member.pk: member.held_seen_at or 0 for member in members}
    told = np.array([last.get(pk, 0) for pk in taken.member.tolist()], dtype=np.int64)
    order = np.lexsort((taken.at, number))
    order = order[number[order] >= 0]
    number, at, until = number[order], taken.at[order], np.maximum(taken.at, told)[order]
    shared = np.flatnonzero(np.diff(number) == 0)
    certain: dict[int, bool] = {}
    latest = 0
    for place in shared.tolist():
        queue = int(number[place])
        latest = max(latest, int(until[place])) if queue in certain else int(until[place])
        certain[queue] = certain.get(queue, False) or int(at[place + 1]) <= latest
    return frozenset(queue for queue, is_certain in certain.items() if not is_certain)


def _spans(group: int) -> tuple[Pks, Pks, Pks, Pks]:
    """Read who holds which queue since when, and when at the earliest (0: unknown): rows of members and queues."""
    with connection.cursor() as cursor:
        cursor.execute(OPEN_SPANS, [group])
        rows = cursor.fetchall()
    flat = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=4 * len(rows)).reshape(-1, 4)
    return flat[:, 0], flat[:, 1], flat[:, 2], flat[:, 3]


def _lists(group: Group) -> dict[str, str | None]:
    """Give the brokers that were asked who is a member, and why the answer of each is missing (None: it told).

    A broker that is gone counts no more. Where no list is kept at all somebody said it otherwise: who left, and when.
    """
    gone = Broker.objects.filter(cluster=group.cluster_id, broker_id=0, gone_at__isnull=False).values("name")
    rows = MemberList.objects.filter(group=group)
    if not rows.exists():
        return {"": None} if Member.objects.filter(group=group).exists() else {}
    return dict(rows.exclude(broker__in=gone).values_list("broker", "missing"))


def _dropped_at(group: Group) -> int:
    """Say when somebody last dropped a queue."""
    return Holding.objects.filter(group=group, until__isnull=False).aggregate(last=Max("until"))["last"] or 0


def _strays(
    answered: Mapping[int, str], members: Sequence[int], queues: Sequence[int]
) -> tuple[tuple[str, MessageQueue], ...]:
    if not queues:
        return ()
    named = Queue.objects.select_related("topic").in_bulk(set(queues))
    return tuple(
        sorted((answered[member], named[queue].message_queue) for member, queue in zip(members, queues, strict=True))
    )
