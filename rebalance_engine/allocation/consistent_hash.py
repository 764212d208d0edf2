"""CONSISTENT_HASH: a ring of virtual nodes; a queue belongs to the next node at or after its hash.

Source: ``client/.../consumer/rebalance/AllocateMessageQueueConsistentHash.java`` and
``common/.../consistenthash/ConsistentHashRouter.java``. Of nodes with one hash the one put last wins; a client
id that is listed twice goes on counting its nodes where its first listing stopped.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rebalance_engine.allocation.contract import BadParameter, IllegalArgument, Strategy, computes
from rebalance_engine.hashing import Words, md5_head, md5_heads
from rebalance_engine.model import MessageQueue, Order, java_utf8
from rebalance_engine.ownership import UNOWNED
from rebalance_engine.tables import ClientTable, Int32s, QueueTable

Number = TypeVar("Number", bound=np.generic)
DEFAULT_VIRTUAL_NODES = 10
MOST_NODES = 50_000_000  # on one ring, which takes 1 GB; a mistyped number must not eat the memory


def bind(name: str, *, virtual_nodes: object = DEFAULT_VIRTUAL_NODES) -> Strategy:
    """Make the strategy of a number of virtual nodes a member.

    Raises:
        BadParameter: it is not a whole number from 0 up.
    """
    nodes = check_virtual_nodes(virtual_nodes)
    return Strategy(name, Order.JAVA, partial(member, virtual_nodes=nodes), partial(owners, virtual_nodes=nodes))


def check_virtual_nodes(given: object) -> int:
    """Insist on a count of virtual nodes; 0 is legal and gives nobody anything."""
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not 0 <= given <= MOST_NODES:
        raise BadParameter(f"virtual_nodes must be a whole number from 0 to {MOST_NODES}, not {given!r}")
    return int(given)


def owners(queues: QueueTable, clients: ClientTable, *, virtual_nodes: int = DEFAULT_VIRTUAL_NODES) -> Int32s:
    """Give int32[n]: the client number that owns each queue; all -1 for a ring without nodes."""
    return HashRing.of(clients, virtual_nodes).owners(queues)


@dataclass(frozen=True, eq=False)
class HashRing:
    """The ring that every member of a group builds.

    Attributes:
        points: uint32[k], ascending and distinct.
        holders: int32[k], the client number of each point.
    """

    clients: ClientTable
    virtual_nodes: int
    points: Words
    holders: Int32s

    @classmethod
    def of(cls, clients: ClientTable, virtual_nodes: int = DEFAULT_VIRTUAL_NODES) -> HashRing:
        """Build the ring; the hashes of the clients' nodes are kept for the next time.

        Raises:
            BadParameter: the ring would have more than ``MOST_NODES`` nodes.
        """
        if virtual_nodes * len(clients) > MOST_NODES:
            raise BadParameter(
                f"{len(clients)} clients with {virtual_nodes} virtual_nodes are above {MOST_NODES} nodes"
            )
        if clients.has_duplicates:
            points, holders = _put_one_by_one(clients, virtual_nodes)
        else:
            points, holders = _put_at_once(clients, virtual_nodes)
        return cls(clients, virtual_nodes, points, holders)

    def owners(self, queues: QueueTable) -> Int32s:
        """Find every queue's owner: int32[n]."""
        if not len(self.points):
            return np.full(len(queues), UNOWNED, dtype=np.int32)
        hashes, queue = queues.by_md5
        ends = np.searchsorted(hashes, self.points, side="right")
        counts = np.diff(ends, prepend=0)
        owner = np.empty(len(queues), dtype=np.int32)
        owner[queue[: ends[-1]]] = np.repeat(self.holders, counts)
        owner[queue[ends[-1] :]] = self.holders[0]
        return owner

    def joined(self, client_id: str, queues: QueueTable, owner: Int32s) -> tuple[HashRing, Int32s]:
        """Add one member: only queues that lie just before its nodes change hands.

        Args:
            queues: the queues that ``owner`` speaks of.
            owner: int32[n], what :meth:`owners` answers for them.

        Returns:
            the ring and the owners after the join.
        """
        clients = self.clients.joined(client_id)
        if clients.has_duplicates or not len(self.points):
            ring = HashRing.of(clients, self.virtual_nodes)
            return ring, ring.owners(queues)
        number = clients.number(client_id)
        assert number is not None
        ring = self._with_nodes(clients, number, self._winning_nodes(clients, client_id))
        return ring, ring._take_over(number, queues, owner)

    def _winning_nodes(self, clients: ClientTable, client_id: str) -> Words:
        """Hash the newcomer's nodes, without those that a later client's node with the same hash hides."""
        heads = {_node_hash(client_id, node) for node in range(self.virtual_nodes)}
        nodes = np.array(sorted(heads), dtype=np.uint32)
        places = np.minimum(np.searchsorted(self.points, nodes), len(self.points) - 1)
        taken = np.flatnonzero(self.points[places] == nodes)
        if not len(taken):
            return nodes
        rank = clients.rank
        newcomer = rank[clients.number(client_id)]
        hidden = [at for at in taken.tolist() if rank[self.holders[places[at]]] > newcomer]
        return np.delete(nodes, hidden)

    def _with_nodes(self, clients: ClientTable, number: int, nodes: Words) -> HashRing:
        places = np.searchsorted(self.points, nodes)
        inside = places < len(self.points)
        replaces = inside.copy()
        replaces[inside] = self.points[places[inside]] == nodes[inside]
        holders = self.holders
        if replaces.any():
            holders = holders.copy()
            holders[places[replaces]] = number
        added = places[~replaces].tolist()
        points = _spliced(self.points, added, nodes[~replaces])
        holders = _spliced(holders, added, np.full(len(added), number, dtype=np.int32))
        return HashRing(clients, self.virtual_nodes, points, holders)

    def _take_over(self, number: int, queues: QueueTable, owner: Int32s) -> Int32s:
        hashes, queue = queues.by_md5
        owner = owner.copy()
        places = np.flatnonzero(self.holders == number)
        starts = np.searchsorted(hashes, self.points[places - 1], side="right").tolist()
        ends = np.searchsorted(hashes, self.points[places], side="right").tolist()
        if len(places) and places[0] == 0:  # the first point also gets what lies behind the last one
            owner[queue[starts[0] :]] = number
            starts[0] = 0
        for start, end in zip(starts, ends, strict=True):
            owner[queue[start:end]] = number
        return owner


def _spliced(array: NDArray[Number], places: list[int], values: NDArray[Number]) -> NDArray[Number]:
    """Insert a few values into a long array: ``np.insert``, at the price of one copy."""
    spliced = np.empty(len(array) + len(places), dtype=array.dtype)
    for nth, (start, end) in enumerate(pairwise([0, *places, len(array)])):
        spliced[start + nth : end + nth] = array[start:end]
    spliced[[place + nth for nth, place in enumerate(places)]] = values
    return spliced


def _put_at_once(clients: ClientTable, virtual_nodes: int) -> tuple[Words, Int32s]:
    nodes = _node_hashes(clients.names, virtual_nodes)[clients.members].ravel()
    put = np.arange(len(nodes), dtype=np.uint64)
    ring = (nodes.astype(np.uint64) << np.uint64(32)) | put
    ring.sort()
    points = (ring >> np.uint64(32)).astype(np.uint32)
    last_put = np.ones(len(points), dtype=bool)
    last_put[:-1] = points[1:] != points[:-1]
    position = ring[last_put].astype(np.uint32) // np.uint32(max(virtual_nodes, 1))
    return points[last_put], clients.members[position]


def _put_one_by_one(clients: ClientTable, virtual_nodes: int) -> tuple[Words, Int32s]:
    """Build the ring as ``ConsistentHashRouter.addNode`` does, which looks at what the ring holds by then."""
    ring: dict[int, int] = {}
    listed: set[int] = set()
    for name, number in zip(clients.ids, clients.members.tolist(), strict=True):
        existing = sum(holder == number for holder in ring.values()) if number in listed else 0
        listed.add(number)
        for node in range(existing, existing + virtual_nodes):
            ring[_node_hash(name, node)] = number
    in_order = sorted(ring)
    points = np.array(in_order, dtype=np.uint32)
    return points, np.array([ring[point] for point in in_order], dtype=np.int32)


def _node_hash(client_id: str, node: int) -> int:
    return md5_head(java_utf8(f"{client_id}-{node}"))


@lru_cache(maxsize=8)
def _node_hashes(names: tuple[str, ...], virtual_nodes: int) -> NDArray[np.uint32]:
    """Hash uint32[len(names), virtual_nodes]; kept, because names outlive many rebalances."""
    prefixes = [java_utf8(f"{name}-") for name in names]
    name = np.repeat(np.arange(len(names), dtype=np.int32), virtual_nodes)
    node = np.tile(np.arange(virtual_nodes, dtype=np.int32), len(names))
    hashes = md5_heads(prefixes, name, node).reshape(len(names), virtual_nodes)
    hashes.setflags(write=False)
    return hashes


def member(
    client_id: str | None,
    queues: Sequence[MessageQueue] | None,
    clients: Sequence[str] | None,
    *,
    virtual_nodes: int = DEFAULT_VIRTUAL_NODES,
) -> list[MessageQueue]:
    """Compute one member's share of sorted lists, as the Java client does.

    Raises:
        IllegalArgument: something is empty, or ``virtual_nodes`` is negative (Java throws that one when the
            strategy is made).
    """
    if virtual_nodes < 0:
        raise IllegalArgument(f"illegal virtualNodeCnt :{virtual_nodes}")
    if not computes(client_id, queues, clients):
        return []
    assert queues is not None and clients is not None
    points, names = _ring_of(tuple(clients), virtual_nodes)
    return [queue for queue in queues if _route(queue, points, names) == client_id]


@lru_cache(maxsize=8)
def _ring_of(clients: tuple[str, ...], virtual_nodes: int) -> tuple[list[int], list[str]]:
    ring = HashRing.of(ClientTable.of(clients), virtual_nodes)
    return ring.points.tolist(), [ring.clients.names[number] for number in ring.holders.tolist()]


def _route(queue: MessageQueue, points: list[int], names: list[str]) -> str | None:
    if not points:
        return None
    return names[bisect_left(points, md5_head(java_utf8(str(queue)))) % len(points)]
