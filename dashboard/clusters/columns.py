"""The queues that consumers divide, as columns: read once for each division of a topic, and kept in this process.

A topic's ``division`` is another text, used once, whenever its queues are others: so what is kept under it is never
stale, whoever changed them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

import numpy as np
from django.db import connection

from dashboard.clusters.models import Topic
from dashboard.common.names import unescape
from rebalance_engine.model import Order
from rebalance_engine.tables import NO_INTS, QueueTable

Pks = np.ndarray[tuple[int], np.dtype[np.int64]]
Name = tuple[str, str, int]  # of a queue: equal to its ``MessageQueue``, and quicker to make
MOST_KEPT = 2_000_000  # queues, of all topics and groups together: 60 MB, and twice as much where names are asked for
ENTRY = 50  # what an entry takes besides its queues, in queues
STATEMENT = "SELECT id, topic_id, broker, queue_id FROM clusters_queue WHERE gone_at IS NULL AND queue_id >= 0"


@dataclass(frozen=True, eq=False)
class Columns:
    """Queues in the order of their numbers, and the row of each."""

    table: QueueTable
    pks: Pks

    @cached_property
    def by_pk(self) -> tuple[Pks, np.ndarray[tuple[int], np.dtype[np.intp]]]:
        """The rows in ascending order, and the number of each one's queue."""
        order = np.argsort(self.pks, kind="stable")
        return self.pks[order], order

    @cached_property
    def row_of(self) -> Mapping[Name, int]:
        """The row of a queue, by its name."""
        table = self.table
        topics = map(table.topics.__getitem__, table.topic.tolist())
        brokers = map(table.brokers.__getitem__, table.broker.tolist())
        return dict(zip(zip(topics, brokers, table.queue_id.tolist(), strict=True), self.pks.tolist(), strict=True))

    def numbers_of(self, pks: Pks) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """Give the number of the queue of each row; -1 where it is none of these."""
        ordered, number = self.by_pk
        if not len(ordered):
            return np.full(len(pks), -1, dtype=np.int32)
        place = np.searchsorted(ordered, pks).clip(max=len(ordered) - 1)
        return np.where(ordered[place] == pks, number[place], -1).astype(np.int32)


class _Kept:
    """What was asked for lately, within a bound; what was not asked for longest goes first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._size = 0
        self._entries: OrderedDict[tuple[str, ...], Columns] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[str, ...]) -> Columns | None:
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def put(self, key: tuple[str, ...], columns: Columns) -> None:
        with self._lock:
            if key in self._entries:
                return
            self._entries[key] = columns
            self._size += len(columns.pks) + ENTRY
            while self._size > self.most and len(self._entries) > 1:
                _, gone = self._entries.popitem(last=False)
                self._size -= len(gone.pks) + ENTRY


_kept = _Kept(MOST_KEPT)


def columns_of(*, cluster: int, topics: Iterable[str]) -> Columns:
    """Give the queues of these topics together."""
    rows = Topic.objects.filter(cluster=cluster, name__in=list(topics)).values_list("pk", "name", "division")
    return columns_of_divisions({pk: (name, division) for pk, name, division in rows})


def columns_of_divisions(topics: Mapping[int, tuple[str, str]]) -> Columns:
    """Give the queues of topics, by their rows, names and divisions; one without a division has no queues."""
    divided = {pk: told for pk, told in topics.items() if told[1]}
    key = tuple(sorted(division for _, division in divided.values()))
    found = _kept.get(key)
    if found is None:
        found = _read({pk: name for pk, (name, _) in divided.items()})
        _kept.put(key, found)
    return found


def _read(topics: Mapping[int, str]) -> Columns:
    if not topics:
        return Columns(QueueTable(Order.JAVA, (), (), NO_INTS, NO_INTS, NO_INTS), np.empty(0, dtype=np.int64))
    with connection.cursor() as cursor:
        cursor.execute(f"{STATEMENT} AND topic_id IN ({', '.join(['%s'] * len(topics))})", list(topics))
        rows = cursor.fetchall()
    if not rows:
        return _read({})
    pks, topic_pks, brokers, ids = zip(*rows, strict=True)
    topic_names, topic = _intern([topics[pk] for pk in topic_pks])
    plain = {stored: unescape(stored) for stored in set(brokers)}
    broker_names, broker = _intern(list(map(plain.__getitem__, brokers)))
    queue_id = np.array(ids, dtype=np.int32)
    order = np.lexsort((queue_id, broker, topic))
    table = QueueTable(Order.JAVA, topic_names, broker_names, topic[order], broker[order], queue_id[order])
    return Columns(table, np.array(pks, dtype=np.int64)[order])


def _intern(names: list[str]) -> tuple[tuple[str, ...], np.ndarray[tuple[int], np.dtype[np.int32]]]:
    distinct = tuple(Order.JAVA.sort(set(names)))
    place = {name: number for number, name in enumerate(distinct)}
    return distinct, np.fromiter(map(place.__getitem__, names), dtype=np.int32, count=len(names))
