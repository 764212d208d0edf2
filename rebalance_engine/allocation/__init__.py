"""Who should get which queue: every strategy by name.

``STRATEGIES`` holds RocketMQ's strategies under the names that its Java classes answer (``getName()``), the
variants of the C++ and Go clients, and what goes beyond RocketMQ for groups that follow a plan.
:func:`allocate` is the convenient form; plan and diff use ``strategy(name, ...).owners`` on columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np

from rebalance_engine.allocation import (
    average,
    by_config,
    circle,
    consistent_hash,
    following,
    golang,
    machine_room,
    nearby,
    rooms,
    sticky,
    weighted,
)
from rebalance_engine.allocation.contract import (
    CPP,
    GO,
    AllocationError,
    BadClient,
    BadParameter,
    Kind,
    MemberFailure,
    NoClients,
    NoQueues,
    Strategy,
    UnknownStrategy,
    UnresolvedRoom,
    check_queues,
)
from rebalance_engine.allocation.mixed import MixedMember, MixedResult, compute_mixed
from rebalance_engine.model import MessageQueue, Order, sort_queues
from rebalance_engine.ownership import UNOWNED
from rebalance_engine.tables import ClientTable, Int32s, QueueTable

__all__ = [
    "STRATEGIES",
    "AllocationError",
    "MixedMember",
    "MixedResult",
    "allocate",
    "allocate_mixed",
    "broadcast",
    "strategy",
]

NEARBY = "MACHINE_ROOM_NEARBY"
NEARBY_PREFIX = NEARBY + "-"
FEW_QUESTIONS = 1000  # queues times clients, below which asking every member is quicker than making tables


def allocate(
    name: str, /, queues: Iterable[MessageQueue], clients: Iterable[str], **params: Any
) -> dict[str, list[MessageQueue]]:
    """Compute what every member ends up with: one key per distinct client.

    Args:
        name: one of ``STRATEGIES``, or ``MACHINE_ROOM_NEARBY-`` and the name of its inner strategy.
        queues: in any order; a queue that is given twice counts once. Those of several topics are
            allocated topic by topic, as the Java client does.
        clients: in any order; an id that is given twice is two processes of one id, as a broker lists them.
        params: what the strategy takes; see its row in ``STRATEGIES``.

    Returns:
        each client's queues in Java's order; empty lists for those who get none.

    Raises:
        AllocationError: one subclass for each kind of bad input.
    """
    chosen = strategy(name, **params)
    queue_list, client_list = list(queues), list(clients)
    _refuse_bad_input(queue_list, client_list)
    few = chosen.member is not None and len(queue_list) * len(client_list) < FEW_QUESTIONS
    if chosen.owners is None or few:
        return _ask_every_member(chosen, queue_list, client_list)
    table = QueueTable.of(queue_list, chosen.order)
    return _list_shares(chosen, table, ClientTable.of(client_list, chosen.order))


def allocate_mixed(
    queues: Iterable[MessageQueue], members: Iterable[MixedMember], *, broadcasting: bool = False
) -> MixedResult:
    """Compute what a group ends up with whose members differ in strategy, parameters or view.

    Args:
        queues: the group's queues; each member may have a view of its own.
        members: one for each process; the default view of the members is all of them.
        broadcasting: every member consumes all queues it sees, and no queue has one owner too many.

    Raises:
        AllocationError: there is nothing to compute, or a strategy or parameter is unknown.
    """
    queue_list, member_list = list(queues), list(members)
    _refuse_bad_input(queue_list, [member.client_id for member in member_list])
    bound = [(member, strategy(member.strategy, **member.params)) for member in member_list]
    for _, each in bound:
        if each.member is None:
            raise UnknownStrategy(f"{each.name} is a plan for a whole group: no member can compute it alone")
    return compute_mixed(queue_list, bound, broadcasting=broadcasting)


def broadcast(queues: Iterable[MessageQueue], clients: Iterable[str]) -> dict[str, list[MessageQueue]]:
    """Give every member of a broadcasting group all queues; its queues have no owner to be one too many.

    Raises:
        AllocationError: one subclass for each kind of bad input.
    """
    queue_list, client_list = list(queues), list(clients)
    _refuse_bad_input(queue_list, client_list)
    everything = list(QueueTable.of(queue_list))
    return {client_id: list(everything) for client_id in ClientTable.of(client_list).distinct}


def strategy(name: str, /, **params: Any) -> Strategy:
    """Look a strategy up and bind its parameters.

    Besides the names in ``STRATEGIES``, ``MACHINE_ROOM_NEARBY-`` and the name of an inner strategy is one.

    Raises:
        UnknownStrategy, UnknownParameter, MissingParameter, BadParameter: as the names say.
    """
    if not isinstance(name, str):
        raise UnknownStrategy(f"a strategy's name must be a text, not {name!r}; there are {', '.join(STRATEGIES)}")
    if name.startswith(NEARBY_PREFIX):
        inner = name.removeprefix(NEARBY_PREFIX)
        if params.setdefault("inner", inner) != inner:
            raise BadParameter(f"{name} has the inner strategy {inner!r}, but the parameter says {params['inner']!r}")
        name = NEARBY
    if name not in STRATEGIES:
        raise UnknownStrategy(f"there is no strategy {name!r}; there are {', '.join(STRATEGIES)}")
    return STRATEGIES[name](**params)


def _refuse_bad_input(queues: Sequence[object], clients: Sequence[object]) -> None:
    if not queues:
        raise NoQueues("there are no queues to allocate: at least one is needed")
    if not clients:
        raise NoClients("there are no clients to allocate to: at least one is needed")
    check_queues(queues)
    for client_id in clients:
        if not isinstance(client_id, str) or not client_id:
            raise BadClient(f"a client id must be a text that is not empty, not {client_id!r}")


def _ask_every_member(
    chosen: Strategy, queues: Sequence[MessageQueue], clients: Sequence[str]
) -> dict[str, list[MessageQueue]]:
    """Let each compute alone; what it computes for a later topic adds to what it computed for the earlier ones."""
    ids = chosen.order.sort(clients)
    by_topic = groupby(sort_queues(set(queues), chosen.order), key=attrgetter("topic"))
    topics = [list(of_topic) for _, of_topic in by_topic]
    shares = {}
    for client_id in dict.fromkeys(ids):
        share = _ask(chosen, client_id, topics[0], ids)
        for topic in topics[1:]:
            earlier = set(share)
            share += [queue for queue in _ask(chosen, client_id, topic, ids) if queue not in earlier]
        shares[client_id] = share
    return shares


def _ask(chosen: Strategy, client_id: str, queues: list[MessageQueue], ids: list[str]) -> list[MessageQueue]:
    assert chosen.member is not None
    try:
        return chosen.member(client_id, queues, ids) or []
    except UnresolvedRoom as failure:
        raise UnresolvedRoom(f"{failure}; needed is a name") from failure
    except MemberFailure as failure:
        raise AllocationError(f"{chosen.name} throws for member {client_id!r}: {failure}") from failure


def _list_shares(chosen: Strategy, queues: QueueTable, clients: ClientTable) -> dict[str, list[MessageQueue]]:
    assert chosen.owners is not None
    owner = chosen.owners(queues, clients)
    keys = [owner] if chosen.listing is None else [chosen.listing(queues, clients, owner), owner]
    by_owner = np.lexsort(keys)
    counts = np.bincount(owner + 1, minlength=len(clients.names) + 1)
    listed = queues.take(by_owner)
    ends = np.cumsum(counts).tolist()
    starts = dict(zip(range(UNOWNED, len(counts)), [0, *ends], strict=True))
    return {
        name: listed[starts[number] : starts[number + 1]]
        for name, number in zip(clients.ids, clients.members.tolist(), strict=True)
    }


def _bind_nearby(
    name: str, *, inner: object, broker_room: object, client_room: object, **inner_params: Any
) -> Strategy:
    if not isinstance(inner, str):
        raise BadParameter(f"inner must be the name of a strategy, not {inner!r}")
    if inner == NEARBY or inner.startswith(NEARBY_PREFIX):
        inner_params |= {"broker_room": broker_room, "client_room": client_room}
    inside = strategy(inner, **inner_params)
    if inside.order is not Order.JAVA or inside.member is None:
        raise BadParameter(f"inner must be one of the Java client's strategies, not {inner!r}")
    return nearby.bind(f"{name}-{inside.name}", inside, rooms.broker_room(broker_room), rooms.client_room(client_room))


def _kind(name: str, summary: str, bind: Callable[..., Strategy], needs: str = "", takes: str = "") -> Kind:
    needed = frozenset(needs.split())
    return Kind(name, summary, partial(bind, name), needed | frozenset(takes.split()), needed)


def _followed(name: str, summary: str, owners: Callable[..., Int32s], takes: str = "") -> Kind:
    bound = partial(following.bind, name, owners)
    return Kind(name, summary, bound, frozenset(f"previous subscriptions {takes}".split()))


_INNER_TAKES = "virtual_nodes consumer_idcs config"
_WEIGHTED_TAKES = "weights capacities budget tolerance"
_KINDS = (
    _kind("AVG", "contiguous blocks; every client's default", average.bind),
    _kind("AVG_BY_CIRCLE", "dealt out like cards", circle.bind),
    _kind("CONFIG", "what each client was told", by_config.bind, takes="config"),
    _kind("MACHINE_ROOM", "queues of listed rooms", machine_room.bind, needs="consumer_idcs"),
    _kind("CONSISTENT_HASH", "a ring of MD5 hashes", consistent_hash.bind, takes="virtual_nodes"),
    _kind(NEARBY, "each room by itself", _bind_nearby, needs="inner broker_room client_room", takes=_INNER_TAKES),
    _kind("CPP_AVG", "the C++ client's only one", partial(average.bind, dialect=CPP)),
    _kind("GO_AVG", "the Go client's default", partial(average.bind, dialect=GO)),
    _kind("GO_AVG_BY_CIRCLE", "dealt out like cards", partial(circle.bind, dialect=GO)),
    _kind("GO_CONFIG", "what each client was told", partial(by_config.bind, dialect=GO), takes="config"),
    _kind("GO_MACHINE_ROOM", "with the Go client's mistake", golang.bind_machine_room, needs="consumer_idcs"),
    _kind("GO_MACHINE_ROOM_NEARBY", "not written there: the same as GO_AVG", partial(average.bind, dialect=GO)),
    _kind("GO_CONSISTENT_HASH", "a ring of CRC-32 hashes", golang.bind_consistent_hash, needs="virtual_nodes"),
    _followed("STICKY", "even in each topic, fewest moves", sticky.owners),
    _followed("STICKY_ACROSS_TOPICS", "even over all topics, fewest moves", sticky.owners_across_topics),
    _followed("WEIGHTED", "even in lag or rate, moves within a budget", weighted.owners, _WEIGHTED_TAKES),
)
STRATEGIES: dict[str, Kind] = {kind.name: kind for kind in _KINDS}
