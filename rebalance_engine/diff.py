"""What changed between two ownerships: every move with its queue, from, to and cause; and how to redo it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rebalance_engine.model import MessageQueue
from rebalance_engine.ownership import UNOWNED, Ownership
from rebalance_engine.tables import NO_INTS, ClientTable, Int32s, QueueTable


class MoveCause(Enum):
    """Why one queue's owner changed, as far as the two ownerships tell."""

    QUEUE_REMOVED = "queue removed"
    QUEUE_ADDED = "queue added"
    OWNER_LEFT = "owner left"
    TAKEN_UP = "was unowned"
    TAKEN_BESIDE = "taken beside its owner"
    LET_GO = "given up"
    LEFT_TO_OTHERS = "left to its other owner"
    OWNER_JOINED = "new owner joined"
    RESHUFFLED = "reshuffled"  # both stay: a knock-on of somebody else's coming or going, or of a new strategy


@dataclass(frozen=True, slots=True)
class Move:
    """One queue's owner changes; None is nobody."""

    queue: MessageQueue
    from_client: str | None
    to_client: str | None
    cause: MoveCause


class StaleDiff(ValueError):
    """A diff does not start at the ownership that it was to be applied to."""


@dataclass(frozen=True, eq=False)
class Diff:
    """All moves from one ownership to the next, as columns.

    Attributes:
        queues, clients: the tables after the change; the names of ``clients`` hold everybody from before.
        old_clients: the members before the change; its numbers mean the same in ``clients``.
        queue: int32[m], queue numbers, ascending; one is repeated where several of its owners change.
        source, destination: int32[m], client numbers, -1 for nobody.
        added: int32[a], ascending, the numbers of queues that were not there before.
        removed: int32[r], the numbers that the queues which are gone had in the table before.
        removed_queues, removed_source: those queues, one entry an owner, and int32[k], who owned them.
        single_owners: whether no queue had or has more than one owner.
        kept: int32[k], ascending, the numbers of queues that move, and that somebody owns before and after.
    """

    queues: QueueTable
    clients: ClientTable
    old_clients: ClientTable
    queue: Int32s
    source: Int32s
    destination: Int32s
    added: Int32s = field(default_factory=lambda: NO_INTS)
    removed: Int32s = field(default_factory=lambda: NO_INTS)
    removed_queues: tuple[MessageQueue, ...] = ()
    removed_source: Int32s = field(default_factory=lambda: NO_INTS)
    single_owners: bool = True
    kept: Int32s = field(default_factory=lambda: NO_INTS)

    def __len__(self) -> int:
        """Count the moves, of queues that are gone too."""
        return len(self.queue) + len(self.removed_queues)

    def __iter__(self) -> Iterator[Move]:
        """Make an object of each move."""
        names: list[str | None] = [*self.clients.names, None]
        for queue, source in zip(self.removed_queues, self.removed_source.tolist(), strict=True):
            yield Move(queue, names[source], None, MoveCause.QUEUE_REMOVED)
        columns = (self.source.tolist(), self.destination.tolist(), self.causes)
        for queue, source, destination, cause in zip(self.queues.take(self.queue), *columns, strict=True):
            yield Move(queue, names[source], names[destination], cause)

    @cached_property
    def causes(self) -> list[MoveCause]:
        """The cause of each move of a queue that is still there: the first that fits."""
        stays, was_there = self.clients.rank >= 0, np.zeros(len(self.clients.names) + 1, dtype=bool)
        was_there[self.old_clients.members] = True
        new_queue = np.zeros(len(self.queues), dtype=bool)
        new_queue[self.added] = True
        conditions = {
            MoveCause.QUEUE_ADDED: new_queue[self.queue],
            MoveCause.OWNER_LEFT: (self.source != UNOWNED) & ~np.append(stays, True)[self.source],
            MoveCause.TAKEN_BESIDE: (self.source == UNOWNED) & self._owned(self.source),
            MoveCause.TAKEN_UP: self.source == UNOWNED,
            MoveCause.LEFT_TO_OTHERS: (self.destination == UNOWNED) & self._owned(self.destination),
            MoveCause.LET_GO: self.destination == UNOWNED,
            MoveCause.OWNER_JOINED: ~was_there[self.destination],
        }
        kinds = (*conditions, MoveCause.RESHUFFLED)
        codes = np.select(list(conditions.values()), list(range(len(conditions))), default=len(conditions))
        return [kinds[code] for code in codes.tolist()]

    def _owned(self, side: Int32s) -> NDArray[np.bool_]:
        """Tell of each move whether anybody owns its queue before (``source``) or after (``destination``)."""
        return np.isin(self.queue, np.union1d(self.kept, self.queue[side != UNOWNED]))

    def name_of(self, client: int) -> str | None:
        """Name a client number of this diff; None for nobody."""
        return None if client == UNOWNED else self.clients.names[client]

    def across(self, alignment: Alignment, old: Ownership) -> Diff:
        """Add to a diff between owners of the same queues what became of the queues themselves."""
        gone_queue, gone_source = alignment.gone(old)
        return replace(
            self,
            added=alignment.added,
            removed=alignment.removed,
            removed_queues=tuple(old.queues.take(gone_queue)),
            removed_source=gone_source,
        )

    @property
    def handoffs(self) -> int:
        """Count the moves from somebody to somebody: those that cost a pause."""
        return int(((self.source != UNOWNED) & (self.destination != UNOWNED)).sum())


def diff(old: Ownership, new: Ownership) -> Diff:
    """Find every move from ``old`` to ``new``; O(n), and a gather only where the tables differ."""
    clients = new.clients.renumbered_like(old.clients)
    after = new.renumbered(clients)
    if old.queues.same_queues(new.queues):
        return _compare(old, after)
    alignment = Alignment.of(old.queues, new.queues)
    return _compare(alignment.carry(old), after).across(alignment, old)


def _compare(before: Ownership, after: Ownership) -> Diff:
    single = not len(before.further_queue) and not len(after.further_queue)
    changes = _owner_changes(before.owner, after.owner) if single else _pair_changes(before, after)
    kept = NO_INTS if single else kept_of(before, *changes[:2])
    return Diff(after.queues, after.clients, before.clients, *changes, single_owners=single, kept=kept)


def kept_of(before: Ownership, queue: Int32s, source: Int32s) -> Int32s:
    """Number the queues of some moves, from ``source`` each, that keep an owner whom they had before, ascending."""
    stays = np.setdiff1d(_keys(*before.pairs()), _keys(queue, source)[source != UNOWNED], assume_unique=True)
    return np.intersect1d(_unkeys(stays)[0], queue)


def apply(old: Ownership, change: Diff) -> Ownership:
    """Redo a diff: ``apply(old, diff(old, new))`` has the same owners as ``new``.

    Raises:
        StaleDiff: the diff starts elsewhere: a queue's owner, or the queues themselves, are not those of ``old``.
    """
    before = _starting_point(old, change)
    if not change.single_owners or len(before.further_queue):
        return _apply_to_pairs(before, change)
    wrong = np.flatnonzero(before.owner[change.queue] != change.source)
    if len(wrong):
        number = change.queue[wrong[0]]
        seen, needed = before.owners_of(number), change.name_of(change.source[wrong[0]])
        raise StaleDiff(f"{before.queues[number]} is owned by {seen or 'nobody'}, but the diff starts at {needed!r}")
    owner = before.owner.copy()
    owner[change.queue] = change.destination
    return Ownership(change.queues, change.clients, owner)


def _starting_point(old: Ownership, change: Diff) -> Ownership:
    """Say the same as ``old``, in the tables after the change."""
    carried = old
    if len(change.added) or len(change.removed) or not old.queues.same_queues(change.queues):
        alignment = Alignment.of(old.queues, change.queues)
        _check_queues(old, change, alignment)
        carried = alignment.carry(old)
    try:
        return carried.renumbered(change.clients)
    except ValueError as error:
        raise StaleDiff(f"the diff starts elsewhere: {error}") from error


def _check_queues(old: Ownership, change: Diff, alignment: Alignment) -> None:
    expected = (change.added, change.removed)
    if not all(map(np.array_equal, (alignment.added, alignment.removed), expected)):
        raise StaleDiff(
            f"the diff adds {len(change.added)} queues and removes {len(change.removed)}, but from here"
            f" {len(alignment.added)} would be added and {len(alignment.removed)} removed"
        )
    gone_queue, gone_source = alignment.gone(old)
    owned = {(queue, old.clients.names[n]) for queue, n in zip(old.queues.take(gone_queue), gone_source, strict=True)}
    needed = zip(change.removed_queues, map(change.name_of, change.removed_source.tolist()), strict=True)
    for queue, owner in owned ^ set(needed):
        raise StaleDiff(f"{queue} goes, and whether {owner!r} owned it is told otherwise by the diff")


def _apply_to_pairs(before: Ownership, change: Diff) -> Ownership:
    held = _keys(*before.pairs())
    dropped = _keys(change.queue, change.source)[change.source != UNOWNED]
    taken = _keys(change.queue, change.destination)[change.destination != UNOWNED]
    wrong = dropped[~np.isin(dropped, held)]
    twice = taken[np.isin(taken, held)]
    for faulty, words in ((wrong, "is not owned by"), (twice, "is owned already by")):
        if len(faulty):
            queue, client = int(faulty[0]) >> 32, int(faulty[0]) & 0xFFFFFFFF
            raise StaleDiff(f"{before.queues[queue]} {words} {change.name_of(client)!r}: the diff starts elsewhere")
    pairs = np.union1d(np.setdiff1d(held, dropped, assume_unique=True), taken)
    return Ownership.from_pairs(change.queues, change.clients, *_unkeys(pairs))


def _owner_changes(before: Int32s, after: Int32s) -> tuple[Int32s, Int32s, Int32s]:
    """Give (queue, source, destination) of every change where queues have one owner at most."""
    queue = np.flatnonzero(before != after)
    if len(queue) == len(before):
        return queue.astype(np.int32), before, after
    return queue.astype(np.int32), before[queue], after[queue]


def _pair_changes(before: Ownership, after: Ownership) -> tuple[Int32s, Int32s, Int32s]:
    """Match what was dropped of each queue with what was taken of it, in the order of the client numbers."""
    held, wanted = _keys(*before.pairs()), _keys(*after.pairs())
    dropped, source = _nth_of_queue(np.setdiff1d(held, wanted, assume_unique=True))
    taken, destination = _nth_of_queue(np.setdiff1d(wanted, held, assume_unique=True))
    slots = np.union1d(dropped, taken)
    sources = np.full(len(slots), UNOWNED, dtype=np.int32)
    destinations = sources.copy()
    sources[np.searchsorted(slots, dropped)] = source
    destinations[np.searchsorted(slots, taken)] = destination
    return (slots >> 32).astype(np.int32), sources, destinations


def _nth_of_queue(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], Int32s]:
    """Number the clients of each queue: keys of (queue, 0, 1, ...), and the clients."""
    queue, client = _unkeys(keys)
    nth = np.arange(len(queue)) - np.searchsorted(queue, queue)
    return _keys(queue, nth.astype(np.int32)), client


def _keys(queue: Int32s, client: Int32s) -> NDArray[np.int64]:
    return (queue.astype(np.int64) << 32) | client


def _unkeys(keys: NDArray[np.int64]) -> tuple[Int32s, Int32s]:
    return (keys >> 32).astype(np.int32), keys.astype(np.int32)


@dataclass(frozen=True, eq=False)
class Alignment:
    """How the numbers of one queue table become those of another one.

    Attributes:
        old_number: int32[new], -1 for queues that were not there.
        new_number: int32[old], -1 for queues that are gone.
    """

    queues: QueueTable
    old_number: Int32s
    new_number: Int32s

    @classmethod
    def of(cls, old: QueueTable, new: QueueTable) -> Alignment:
        """Find every queue of one table in the other one."""
        return cls(new, new.numbers_in(old), old.numbers_in(new))

    @property
    def added(self) -> Int32s:
        """The numbers, in the new table, of queues that were not there."""
        return np.flatnonzero(self.old_number < 0).astype(np.int32)

    @property
    def removed(self) -> Int32s:
        """The numbers, in the old table, of queues that are gone."""
        return np.flatnonzero(self.new_number < 0).astype(np.int32)

    def carry(self, old: Ownership) -> Ownership:
        """Leave out the owners of queues that are gone; nobody owns the added ones."""
        owner = np.append(old.owner, np.int32(UNOWNED))[self.old_number]
        further = self.new_number[old.further_queue]
        kept = further >= 0
        return Ownership(self.queues, old.clients, owner, further[kept], old.further_client[kept])

    def gone(self, old: Ownership) -> tuple[Int32s, Int32s]:
        """Give (old queue number, client number) for every owner of a queue that is gone."""
        queue, client = old.pairs()
        gone = self.new_number[queue] < 0
        return queue[gone], client[gone]
