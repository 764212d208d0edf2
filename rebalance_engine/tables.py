"""Queues and clients of a group as columns: what the engine computes on instead of lists of objects.

Names are interned once; everything after that is ``int32`` arrays. All tables are values: a change makes
a new table, which shares what did not change.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from rebalance_engine.hashing import Words, md5_heads
from rebalance_engine.model import MAX_QUEUE_ID, MessageQueue, Order, java_utf8

Int32s = NDArray[np.int32]
NO_INTS: Int32s = np.empty(0, dtype=np.int32)
NO_INTS.setflags(write=False)


@dataclass(frozen=True, eq=False)
class QueueTable:
    """Distinct queues in the order of ``MessageQueue.compareTo``; a queue's position is its number.

    ``topic`` and ``broker`` are int32[n] numbers into the sorted name tuples, ``queue_id`` is int32[n].
    Queues of one topic stand together, and within it those of one broker.
    """

    order: Order
    topics: tuple[str, ...]
    brokers: tuple[str, ...]
    topic: Int32s
    broker: Int32s
    queue_id: Int32s

    @classmethod
    def of(cls, queues: Iterable[MessageQueue], order: Order = Order.JAVA) -> QueueTable:
        """Sort and intern ``queues``; the same queue twice counts once, as in Java's set.

        Raises:
            ValueError: a queue id is outside of a Java int.
        """
        topics, brokers, ids = _unzip(queues)
        return cls._sorted(topics, brokers, _java_ints(ids), order)

    @classmethod
    def from_routes(cls, routes: Iterable[tuple[str, str, int]], order: Order = Order.JAVA) -> QueueTable:
        """Make queues 0 to count - 1 of each (topic, broker, count), without an object a queue."""
        routes = list(routes)
        fewest = min((count for _, _, count in routes), default=0)
        if fewest < 0:
            raise ValueError(f"a queue count must be 0 or more, not {fewest}")
        routes = [route for route in routes if route[2]]  # a name without queues would make equal tables differ
        counts = np.array([count for _, _, count in routes], dtype=np.int64)
        starts = np.repeat(np.cumsum(counts) - counts, counts)
        ids = (np.arange(counts.sum()) - starts).astype(np.int32)
        topics, brokers = [topic for topic, _, _ in routes], [broker for _, broker, _ in routes]
        return cls._sorted(topics, brokers, ids, order, repeats=counts)

    @classmethod
    def _sorted(
        cls,
        topics: Sequence[str],
        brokers: Sequence[str],
        ids: Int32s,
        order: Order,
        repeats: NDArray[np.int64] | None = None,
    ) -> QueueTable:
        topic_names, topic = _intern(topics, order)
        broker_names, broker = _intern(brokers, order)
        if repeats is not None:
            topic, broker = np.repeat(topic, repeats), np.repeat(broker, repeats)
        keys = _pack(topic, broker, ids, len(broker_names))
        if len(keys) > 1 and not bool((keys[1:] > keys[:-1]).all()):
            _, first = np.unique(keys, return_index=True)
            topic, broker, ids = topic[first], broker[first], ids[first]
        return cls(order, topic_names, broker_names, topic, broker, ids)

    def __len__(self) -> int:
        return len(self.queue_id)

    def __getitem__(self, number: int) -> MessageQueue:
        topic, broker = self.topics[self.topic[number]], self.brokers[self.broker[number]]
        return MessageQueue(topic, broker, int(self.queue_id[number]))

    def __iter__(self) -> Iterator[MessageQueue]:
        return iter(self.take(slice(None)))

    def take(self, numbers: Int32s | NDArray[np.intp] | slice) -> list[MessageQueue]:
        """Make the objects of these queue numbers."""
        topics = map(self.topics.__getitem__, self.topic[numbers].tolist())
        brokers = map(self.brokers.__getitem__, self.broker[numbers].tolist())
        return list(map(MessageQueue, topics, brokers, self.queue_id[numbers].tolist()))

    def subset(self, numbers: Int32s | NDArray[np.intp]) -> QueueTable:
        """Keep the queues of these ascending numbers; names keep their numbers too."""
        columns = (self.topic[numbers], self.broker[numbers], self.queue_id[numbers])
        return QueueTable(self.order, self.topics, self.brokers, *columns)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each topic begins, and the end: ``topics[t]`` is at ``starts[t]`` to ``starts[t + 1]``."""
        bounds = np.searchsorted(self.topic, np.arange(len(self.topics) + 1))
        return tuple(bounds.tolist())

    def of_topic(self, topic: str) -> range:
        """Give the numbers of this topic's queues; none where the topic is unknown."""
        try:
            number = self.topics.index(topic)
        except ValueError:
            return range(0)
        return range(self.starts[number], self.starts[number + 1])

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """One ascending int64 a queue, to look queues up by."""
        return _pack(self.topic, self.broker, self.queue_id, len(self.brokers))

    def find(self, queue: MessageQueue) -> int | None:
        """Give the number of ``queue``, or None where it is not in the table."""
        return self._find_all([queue])[0]

    def numbers_of(self, queues: Iterable[MessageQueue]) -> Int32s:
        """Give the number of each queue, -1 for those that are not in the table."""
        found = self._find_all(list(queues))
        return np.array([-1 if number is None else number for number in found], dtype=np.int32)

    def _find_all(self, queues: Sequence[MessageQueue]) -> list[int | None]:
        topic_number = {name: number for number, name in enumerate(self.topics)}
        broker_number = {name: number for number, name in enumerate(self.brokers)}
        wanted = [
            _pack_one(topic_number.get(queue.topic, -1), broker_number.get(queue.broker, -1), queue.queue_id, self)
            for queue in queues
        ]
        places = np.searchsorted(self.keys, np.array(wanted, dtype=np.int64)).tolist()
        hits = ((place, key) for place, key in zip(places, wanted, strict=True))
        return [place if place < len(self) and self.keys[place] == key else None for place, key in hits]

    def same_queues(self, other: QueueTable) -> bool:
        """Ask whether both tables number the same queues alike."""
        if self is other:
            return True
        return (
            self.topics == other.topics
            and self.brokers == other.brokers
            and np.array_equal(self.queue_id, other.queue_id)
            and np.array_equal(self.broker, other.broker)
            and np.array_equal(self.topic, other.topic)
        )

    def numbers_in(self, other: QueueTable) -> Int32s:
        """Translate: int32[len(self)], for each queue its number in ``other``, -1 where it is not there."""
        topic = _translate(self.topics, other.topics)[self.topic]
        broker = _translate(self.brokers, other.brokers)[self.broker]
        wanted = _pack(topic, broker, self.queue_id, len(other.brokers))
        wanted[(topic < 0) | (broker < 0)] = -1
        places = np.searchsorted(other.keys, wanted)
        places[places == len(other)] = 0
        hit = other.keys[places] == wanted if len(other) else np.zeros(len(self), dtype=bool)
        return np.where(hit, places, -1).astype(np.int32)

    @cached_property
    def md5(self) -> Words:
        """uint32[n]: the hash of each queue's text, as Java's consistent hashing takes it."""
        pairs = self.topic.astype(np.int64) * len(self.brokers) + self.broker
        distinct, pair_of = np.unique(pairs, return_inverse=True)
        prefixes = [
            java_utf8(str(MessageQueue(self.topics[t], self.brokers[b], 0)).removesuffix("0]"))
            for t, b in (divmod(pair, len(self.brokers)) for pair in distinct.tolist())
        ]
        return md5_heads(prefixes, pair_of, self.queue_id, b"]")

    @cached_property
    def by_md5(self) -> tuple[Words, Int32s]:
        """The hashes in ascending order, and whose they are: kept, for a ring is met on every rebalance."""
        numbered = (self.md5.astype(np.uint64) << np.uint64(32)) | np.arange(len(self), dtype=np.uint64)
        numbered.sort()
        return (numbered >> np.uint64(32)).astype(np.uint32), numbered.astype(np.uint32).view(np.int32)


@dataclass(frozen=True, eq=False)
class ClientTable:
    """The members of a group, in the order in which their client sorts them.

    ``names`` interns client ids: a client's number is its position there. It only grows, so that numbers
    stay valid from one table of a group to the next; who is a member now is said by ``members``, int32[c]:
    the numbers in sorted order, a duplicate id as often as it is registered.
    """

    order: Order
    names: tuple[str, ...]
    members: Int32s

    @classmethod
    def of(cls, clients: Iterable[str], order: Order = Order.JAVA) -> ClientTable:
        """Sort and intern client ids; duplicates stay, as in the list that a broker answers."""
        ids = order.sort(clients)
        names = tuple(dict.fromkeys(ids))
        has_duplicates = len(names) < len(ids)
        members = np.arange(len(ids), dtype=np.int32)
        if has_duplicates:
            number = {name: i for i, name in enumerate(names)}
            members = np.array([number[name] for name in ids], dtype=np.int32)
        table = cls(order, names, members)
        table.__dict__.update(has_duplicates=has_duplicates, ids=tuple(ids) if has_duplicates else names)
        return table

    def __len__(self) -> int:
        """Count the members, duplicates included: the divisor of every average."""
        return len(self.members)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The members' ids, sorted, duplicates included."""
        return tuple(map(self.names.__getitem__, self.members.tolist()))

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """The members' ids, sorted, each once."""
        return tuple(dict.fromkeys(self.ids)) if self.has_duplicates else self.ids

    @cached_property
    def has_duplicates(self) -> bool:
        """Whether some id is registered more than once."""
        ordered = np.sort(self.members)
        return bool((ordered[1:] == ordered[:-1]).any())

    def subset(self, positions: NDArray[np.intp]) -> ClientTable:
        """Keep the members at these ascending positions, with their numbers."""
        return ClientTable(self.order, self.names, self.members[positions])

    @cached_property
    def computing(self) -> Int32s:
        """int32[c]: ``members``, with -1 for the second and later of duplicates.

        Every process of a duplicate id finds itself at the first position, so that nobody works out the
        share of the others.
        """
        if not self.has_duplicates:
            return self.members
        computing = np.full(len(self), -1, dtype=np.int32)
        _, first = np.unique(self.members, return_index=True)
        computing[first] = self.members[first]
        return computing

    @cached_property
    def rank(self) -> Int32s:
        """int32[len(names)]: each number's first position among the members, -1 for who is no member."""
        rank = np.full(len(self.names), -1, dtype=np.int32)
        rank[self.members[::-1]] = np.arange(len(self) - 1, -1, -1, dtype=np.int32)
        return rank

    def number(self, client_id: str) -> int | None:
        """Give a member's number, or None for who is not a member."""
        position = self.position(client_id)
        return None if position is None else int(self.members[position])

    def position(self, client_id: str) -> int | None:
        """Give a member's first position, or None for who is not a member."""
        position = self._place(client_id)
        return position if position < len(self) and self.ids[position] == client_id else None

    def _place(self, client_id: str) -> int:
        key = self.order.key((*self._exotic, client_id))
        return bisect_left(self.ids, key(client_id), key=key)

    @cached_property
    def _exotic(self) -> tuple[str, ...]:
        """One name that is not ASCII, where there is one: it makes the order's exact key necessary."""
        return next(((name,) for name in self.ids if not name.isascii()), ())

    @cached_property
    def _departed(self) -> frozenset[str]:
        return frozenset(self.names[number] for number in np.flatnonzero(self.rank < 0).tolist())

    def joined(self, client_id: str) -> ClientTable:
        """Add a member, or register one a second time; the numbers of the others stay."""
        place, names = self._place(client_id), self.names
        if place < len(self) and self.ids[place] == client_id:
            number = int(self.members[place])
        elif client_id in self._departed:
            number = names.index(client_id)
        else:
            names, number = names + (client_id,), len(names)  # noqa: RUF005 - one copy instead of two
        members = np.empty(len(self) + 1, dtype=np.int32)
        members[:place], members[place], members[place + 1 :] = self.members[:place], number, self.members[place:]
        ids = list(self.ids)
        ids.insert(place, client_id)
        table = self._succeeded_by(names, members, ids, self._departed - {client_id})
        again = place < len(self) and self.ids[place] == client_id
        table.__dict__.update(has_duplicates=self.has_duplicates or again)
        if not client_id.isascii():
            table.__dict__.update(_exotic=(client_id,))
        return table

    def left(self, client_id: str) -> ClientTable:
        """Take one registration of a member away; the numbers of the others stay.

        Raises:
            KeyError: ``client_id`` is not a member.
        """
        place = self.position(client_id)
        if place is None:
            raise KeyError(f"{client_id!r} is not among the {len(self)} members")
        ids = list(self.ids)
        del ids[place]
        departed = self._departed | ({client_id} - set(ids[place : place + 1]))
        table = self._succeeded_by(self.names, np.delete(self.members, place), ids, departed)
        if not self.has_duplicates:
            table.__dict__.update(has_duplicates=False)
        return table

    def _succeeded_by(
        self, names: tuple[str, ...], members: Int32s, ids: list[str], departed: frozenset[str]
    ) -> ClientTable:
        """Make the next table, and hand on what is known of it: to find it out again costs more than the change."""
        table = ClientTable(self.order, names, members)
        table.__dict__.update(ids=tuple(ids), _exotic=self._exotic, _departed=departed, _names_before=self.names)
        return table

    @cached_property
    def _names_before(self) -> tuple[str, ...]:
        """The names of the table that this one was made from."""
        return self.names

    def continues(self, other: ClientTable) -> bool:
        """Ask whether every number of ``other`` means the same client here."""
        known = self.names is other.names or self._names_before is other.names
        return known or self.names[: len(other.names)] == other.names

    def renumbered_like(self, other: ClientTable) -> ClientTable:
        """Give the same members, numbered so that the result continues ``other``."""
        if self.continues(other):
            return self
        number = {name: i for i, name in enumerate(other.names)}
        for name in self.names:
            number.setdefault(name, len(number))
        translated = np.array([number[name] for name in self.names], dtype=np.int32)
        return ClientTable(self.order, tuple(number), translated[self.members])

    def numbers_in(self, other: ClientTable) -> Int32s:
        """Translate: int32[len(names) + 1], for each number the one in ``other``; -1 for none and for -1."""
        return np.append(_translate(self.names, other.names), np.int32(-1))


def _unzip(queues: Iterable[MessageQueue]) -> tuple[Sequence[str], Sequence[str], Sequence[int]]:
    topics, brokers, ids = [], [], []
    for topic, broker, queue_id in queues:
        topics.append(topic)
        brokers.append(broker)
        ids.append(queue_id)
    return topics, brokers, ids


def _java_ints(ids: Sequence[int]) -> Int32s:
    wide = [queue_id for queue_id in ids if not -MAX_QUEUE_ID - 1 <= queue_id <= MAX_QUEUE_ID]
    if wide:
        raise ValueError(f"queue id {wide[0]} is outside of a Java int, {-MAX_QUEUE_ID - 1} to {MAX_QUEUE_ID}")
    return np.array(ids, dtype=np.int32)


def _intern(names: Sequence[str], order: Order) -> tuple[tuple[str, ...], Int32s]:
    """Sort the distinct names, and give each name's place among them."""
    distinct = tuple(order.sort(set(names)))
    place = {name: number for number, name in enumerate(distinct)}
    return distinct, np.fromiter(map(place.__getitem__, names), dtype=np.int32, count=len(names))


def _pack(topic: Int32s, broker: Int32s, queue_id: Int32s, brokers: int) -> NDArray[np.int64]:
    """Make one int64 of the three columns that sorts as they do; queue ids may be negative."""
    pair = topic.astype(np.int64) * brokers + broker
    return (pair << 32) + queue_id + (MAX_QUEUE_ID + 1)


def _pack_one(topic: int, broker: int, queue_id: int, table: QueueTable) -> int:
    if topic < 0 or broker < 0 or not -MAX_QUEUE_ID - 1 <= queue_id <= MAX_QUEUE_ID:
        return -1
    return ((topic * len(table.brokers) + broker) << 32) + queue_id + (MAX_QUEUE_ID + 1)


def _translate(names: Sequence[str], others: Sequence[str]) -> Int32s:
    number = {name: i for i, name in enumerate(others)}
    return np.array([number.get(name, -1) for name in names], dtype=np.int32)


def chained(parts: Iterable[Iterable[int]]) -> Int32s:
    """Put integers from many places into one int32 array."""
    return np.fromiter(chain.from_iterable(parts), dtype=np.int32)
