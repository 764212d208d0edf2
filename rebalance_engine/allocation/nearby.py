"""MACHINE_ROOM_NEARBY: queues stay with the members of their broker's room; rooms without members go to all.

Source: ``client/.../consumer/rebalance/AllocateMachineRoomNearby.java``. An inner strategy works inside of
each room.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from rebalance_engine.allocation.contract import NullPointer, Strategy, UnresolvedRoom, computes
from rebalance_engine.allocation.rooms import BrokerRoom, ByBroker, ClientRoom, resolve
from rebalance_engine.model import MessageQueue, Order
from rebalance_engine.ownership import UNOWNED
from rebalance_engine.tables import ClientTable, Int32s, QueueTable


def bind(name: str, inner: Strategy, broker_room: BrokerRoom, client_room: ClientRoom) -> Strategy:
    """Make the strategy around a Java client's inner one."""
    return Strategy(
        name,
        Order.JAVA,
        partial(member, inner=inner, broker_room=broker_room, client_room=client_room),
        inner.owners and partial(owners, inner=inner, broker_room=broker_room, client_room=client_room),
        partial(listing, broker_room=broker_room, client_room=client_room),
    )


def owners(
    queues: QueueTable,
    clients: ClientTable,
    *,
    inner: Strategy,
    broker_room: BrokerRoom,
    client_room: ClientRoom,
) -> Int32s:
    """Give int32[n]: the client number that owns each queue, as all members compute it.

    Raises:
        UnresolvedRoom: some queue or client is in no room.
    """
    assert inner.owners is not None
    owner = np.full(len(queues), UNOWNED, dtype=np.int32)
    room_of_queue, room_of_member, rooms = _rooms(queues, clients, broker_room, client_room)
    for room in range(len(rooms)):
        inside = np.flatnonzero(room_of_queue == room)
        if len(inside):
            nearby = np.flatnonzero(room_of_member == room)
            owner[inside] = inner.owners(queues.subset(inside), clients.subset(nearby) if len(nearby) else clients)
    return owner


def listing(
    queues: QueueTable,
    clients: ClientTable,
    owner: Int32s,
    *,
    broker_room: BrokerRoom,
    client_room: ClientRoom,
) -> Int32s:
    """Rank the queues as each owner lists them: topic by topic, its own room first, then rooms by name."""
    room_of_queue, room_of_member, _ = _rooms(queues, clients, broker_room, client_room)
    foreign = room_of_queue != room_of_member[clients.rank[owner]]
    in_order = np.lexsort((np.arange(len(queues)), room_of_queue, foreign, queues.topic))
    place = np.empty(len(queues), dtype=np.int32)
    place[in_order] = np.arange(len(queues), dtype=np.int32)
    return place


def _rooms(
    queues: QueueTable, clients: ClientTable, broker_room: BrokerRoom, client_room: ClientRoom
) -> tuple[Int32s, Int32s, list[str]]:
    """Number the rooms in the clients' string order: int32[n] of the queues, int32[c] of the members."""
    of_queues, which = _rooms_of_queues(queues, broker_room)
    of_members = [resolve(client_room(name), f"client {name!r}") for name in clients.ids]
    rooms = queues.order.sort({*of_queues, *of_members})
    number = {room: i for i, room in enumerate(rooms)}
    room_of_queue = np.array([number[room] for room in of_queues], dtype=np.int32)[which]
    return room_of_queue, np.array([number[room] for room in of_members], dtype=np.int32), rooms


def _rooms_of_queues(queues: QueueTable, broker_room: BrokerRoom) -> tuple[list[str], Int32s | slice]:
    """Give rooms, and which of them is each queue's: a rule is asked once a broker, a function once a queue."""
    if not isinstance(broker_room, ByBroker):
        return [resolve(broker_room(queue), f"queue {queue}") for queue in queues], slice(None)
    _, one_of_each = np.unique(queues.broker, return_index=True)
    brokers = {queue.broker: resolve(broker_room(queue), f"queue {queue}") for queue in queues.take(one_of_each)}
    return [brokers.get(name, "") for name in queues.brokers], queues.broker


def member(
    client_id: str | None,
    queues: Sequence[MessageQueue] | None,
    clients: Sequence[str] | None,
    *,
    inner: Strategy,
    broker_room: BrokerRoom,
    client_room: ClientRoom,
) -> list[MessageQueue] | None:
    """Compute one member's share of sorted lists, as the Java client does.

    Raises:
        IllegalArgument: something is empty, or (as UnresolvedRoom) a queue or client is in no room.
        NullPointer: the inner strategy answers null, as CONFIG does where no list was set.
        MemberFailure: the inner strategy's.
    """
    if not computes(client_id, queues, clients):
        return []
    assert client_id is not None and queues is not None and clients is not None
    queues_of, members_of = _by_room(queues, clients, broker_room, client_room)
    own = client_room(client_id)
    share: list[MessageQueue] = []
    if own in queues_of and own is not None:
        share += _inner_share(inner, client_id, queues_of[own], members_of[own])
    for room in inner.order.sort(queues_of.keys() - members_of.keys()):
        share += _inner_share(inner, client_id, queues_of[room], clients)
    return share


def _inner_share(
    inner: Strategy, client_id: str, queues: Sequence[MessageQueue], clients: Sequence[str]
) -> list[MessageQueue]:
    assert inner.member is not None
    share = inner.member(client_id, queues, clients)
    if share is None:  # Java hands it to addAll
        raise NullPointer(f"the inner strategy {inner.name} answered null for {client_id!r}")
    return share


def _by_room(
    queues: Sequence[MessageQueue], clients: Sequence[str], broker_room: BrokerRoom, client_room: ClientRoom
) -> tuple[Mapping[str, list[MessageQueue]], Mapping[str, list[str]]]:
    queues_of: dict[str, list[MessageQueue]] = {}
    members_of: dict[str, list[str]] = {}
    for queue in queues:
        room = broker_room(queue)
        if not isinstance(room, str) or not room:
            raise UnresolvedRoom(f"Machine room is null for mq {queue}")
        queues_of.setdefault(room, []).append(queue)
    for name in clients:
        room = client_room(name)
        if not isinstance(room, str) or not room:
            raise UnresolvedRoom(f"Machine room is null for consumer id {name}")
        members_of.setdefault(room, []).append(name)
    return queues_of, members_of
