"""Who owns which queue of a group: one int32 a queue. Both a target and what is held take this form."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rebalance_engine.model import MessageQueue
from rebalance_engine.tables import NO_INTS, ClientTable, Int32s, QueueTable

UNOWNED = -1


def _no_ints() -> Int32s:
    return NO_INTS


@dataclass(frozen=True, eq=False)
class Ownership:
    """The owner of every queue of a group.

    Attributes:
        owner: int32[n], the client number that owns queue i, or ``UNOWNED``.
        further_queue, further_client: int32[k] pairs, sorted, distinct: the second and later owners of
            queues that have several. ``owner`` is always the lowest-numbered one. Empty in a sane group.
    """

    queues: QueueTable
    clients: ClientTable
    owner: Int32s
    further_queue: Int32s = field(default_factory=_no_ints)
    further_client: Int32s = field(default_factory=_no_ints)

    @classmethod
    def nobody(cls, queues: QueueTable, clients: ClientTable) -> Ownership:
        """Make the ownership in which no queue has an owner."""
        return cls(queues, clients, np.full(len(queues), UNOWNED, dtype=np.int32))

    @classmethod
    def from_pairs(cls, queues: QueueTable, clients: ClientTable, queue: Int32s, client: Int32s) -> Ownership:
        """Make an ownership of (queue number, client number) pairs, in any order, repeated or not."""
        pairs = _distinct((queue.astype(np.int64) << 32) | client)
        queue, client = (pairs >> 32).astype(np.int32), pairs.astype(np.int32)
        further = np.zeros(len(pairs), dtype=bool)
        further[1:] = queue[1:] == queue[:-1]
        owner = np.full(len(queues), UNOWNED, dtype=np.int32)
        owner[queue[~further]] = client[~further]
        return cls(queues, clients, owner, queue[further], client[further])

    @classmethod
    def from_lists(
        cls, queues: QueueTable, clients: ClientTable, lists: Mapping[str, Iterable[MessageQueue]]
    ) -> Ownership:
        """Make an ownership of each client's queues; queues that the table lacks are left out.

        Raises:
            KeyError: a key of ``lists`` is not a name of ``clients``.
        """
        number = {name: i for i, name in enumerate(clients.names)}
        found = {number[client_id]: queues.numbers_of(held) for client_id, held in lists.items()}
        queue = np.concatenate([NO_INTS, *found.values()])
        client = np.repeat(np.fromiter(found, dtype=np.int32), [len(held) for held in found.values()])
        return cls.from_pairs(queues, clients, queue[queue >= 0], client[queue >= 0])

    def pairs(self) -> tuple[Int32s, Int32s]:
        """Give every (queue number, client number) pair, sorted by queue, then client."""
        owned = np.flatnonzero(self.owner != UNOWNED).astype(np.int32)
        if not len(self.further_queue):
            return owned, self.owner[owned]
        queue = np.concatenate([owned, self.further_queue])
        client = np.concatenate([self.owner[owned], self.further_client])
        in_order = np.lexsort((client, queue))
        return queue[in_order], client[in_order]

    def owners_of(self, queue: int) -> tuple[str, ...]:
        """Name every owner of one queue number; none, one, or several."""
        first = [] if self.owner[queue] == UNOWNED else [int(self.owner[queue])]
        start, end = np.searchsorted(self.further_queue, [queue, queue + 1])
        further = self.further_client[start:end].tolist()
        return tuple(self.clients.names[number] for number in first + further)

    def all_owners(self) -> list[tuple[str, ...]]:
        """Name every owner of every queue, in the order of the queues' numbers: what `owners_of` says of each."""
        alone: list[tuple[str, ...]] = [*((name,) for name in self.clients.names), ()]
        owners = [alone[number] for number in self.owner.tolist()]  # UNOWNED is -1: the last
        for queue, client in zip(self.further_queue.tolist(), self.further_client.tolist(), strict=True):
            owners[queue] += alone[client]
        return owners

    def queues_of(self, client_id: str) -> list[MessageQueue]:
        """List one client's queues, in the table's order."""
        try:
            number = self.clients.names.index(client_id)
        except ValueError:
            return []
        also = self.further_queue[self.further_client == number]
        mine = np.sort(np.concatenate([np.flatnonzero(self.owner == number), also]))
        return self.queues.take(mine)

    def as_lists(self) -> dict[str, list[MessageQueue]]:
        """List the queues of every distinct member, and of every former one that still owns some."""
        queue, client = self.pairs()
        by_client = np.lexsort((queue, client))
        objects = self.queues.take(queue[by_client])
        ends = np.cumsum(self.loads()).tolist()
        starts = [0, *ends]
        lists = {name: objects[starts[i] : ends[i]] for i, name in enumerate(self.clients.names)}
        members = set(self.clients.ids)
        return {name: held for name, held in lists.items() if held or name in members}

    def loads(self) -> NDArray[np.int64]:
        """int64[len(clients.names)]: how many queues each client number owns; read only, and kept."""
        return self._loads

    @cached_property
    def _loads(self) -> NDArray[np.int64]:
        counts = np.bincount(np.add(self.owner, 1, dtype=np.intp), minlength=len(self.clients.names) + 1)[1:]
        loads = counts + np.bincount(self.further_client, minlength=len(self.clients.names))
        loads.setflags(write=False)
        return loads

    def without(self, clients: Collection[str]) -> Ownership:
        """Leave out what some clients own."""
        if not clients:
            return self
        numbers = [number for each in clients if (number := self.clients.number(each)) is not None]
        queue, client = self.pairs()
        stays = ~np.isin(client, numbers)
        return Ownership.from_pairs(self.queues, self.clients, queue[stays], client[stays])

    def unowned(self) -> NDArray[np.intp]:
        """Give the numbers of the queues that nobody owns."""
        return np.flatnonzero(self.owner == UNOWNED)

    def owned_twice(self) -> Int32s:
        """Give the numbers of the queues with two owners or more."""
        return np.unique(self.further_queue)

    def same_owners(self, other: Ownership) -> bool:
        """Ask whether both say the same of the same queues, whatever the clients' numbers."""
        if not self.queues.same_queues(other.queues):
            return False
        mine = self
        if not self.clients.continues(other.clients) and not other.clients.continues(self.clients):
            mine = self.renumbered(self.clients.renumbered_like(other.clients))
        return (
            np.array_equal(mine.owner, other.owner)
            and np.array_equal(mine.further_queue, other.further_queue)
            and np.array_equal(mine.further_client, other.further_client)
        )

    def renumbered(self, clients: ClientTable) -> Ownership:
        """Say the same in the numbers of another table.

        Raises:
            ValueError: a client that owns a queue has no number in ``clients``.
        """
        if clients.continues(self.clients):
            return Ownership(self.queues, clients, self.owner, self.further_queue, self.further_client)
        number = self.clients.numbers_in(clients)
        owner, further = number[self.owner], number[self.further_client]
        lost = np.concatenate([self.owner[owner < self.owner.clip(max=0)], self.further_client[further < 0]])
        if len(lost):
            raise ValueError(f"{self.clients.names[lost[0]]!r} owns queues but is not named in the other table")
        if len(further):
            queue = np.concatenate([np.arange(len(owner), dtype=np.int32), self.further_queue])
            client = np.concatenate([owner, further])
            return Ownership.from_pairs(self.queues, clients, queue[client >= 0], client[client >= 0])
        return Ownership(self.queues, clients, owner)


def _distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort numbers and leave out repeated ones: a tenth of the time of NumPy's own way, which goes by hashes."""
    ordered = np.sort(numbers)
    is_first = np.ones(len(ordered), dtype=bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_first]
