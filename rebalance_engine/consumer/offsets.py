"""How far a consumer is in each queue, in memory and stored.

A clustering consumer stores at the master of each queue's broker, a broadcasting one in a file of its own. Both are
asked the same things; where the answer needs a broker, code waits for it.

Sources: ``client/.../consumer/store/RemoteBrokerOffsetStore.java``, ``ControllableOffset.java``,
``LocalFileOffsetStore.java``; Go: ``consumer/offset_store.go``.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection

from rebalance_engine.consumer.threads import Code
from rebalance_engine.model import MessageQueue

NOT_STORED = -1
UNKNOWN = -2

Fetch = Callable[[MessageQueue], Code[int]]  # asks a broker: the offset, NOT_STORED or UNKNOWN
Update = Callable[[MessageQueue, int], Code[None]]  # tells a broker, one-way


class OffsetStore(ABC):
    """What both stores have in common: the offsets in memory."""

    def __init__(self) -> None:
        self._offsets: dict[MessageQueue, int] = {}
        self._frozen: set[MessageQueue] = set()
        self._excused: set[MessageQueue] = set()

    def in_memory(self, mq: MessageQueue) -> int | None:
        """Say how far the queue is, as far as is known here."""
        return self._offsets.get(mq)

    def is_excused(self, mq: MessageQueue) -> bool:
        """Whether what is in memory may be past what the present hold has finished: it was noted for an earlier one."""
        return mq in self._excused

    def excuse(self, mq: MessageQueue) -> None:
        """Let what is in memory be past what will be finished, until something else is noted or it is forgotten."""
        self._excused.add(mq)

    def update(self, mq: MessageQueue, offset: int, *, increase_only: bool = True, is_late: bool = False) -> None:
        """Note how far a queue is, unless it is frozen; ``is_late``: a hold that is over says so."""
        if mq in self._frozen:
            return
        known = self._offsets.get(mq)
        if known is None or not increase_only or offset > known:
            self._offsets[mq] = offset
            (self._excused.add if is_late else self._excused.discard)(mq)

    def update_and_freeze(self, mq: MessageQueue, offset: int) -> None:
        """Note how far a queue is, and refuse any other value until it is forgotten."""
        self._offsets[mq] = offset
        self._frozen.add(mq)
        self._excused.discard(mq)

    def forget(self, mq: MessageQueue) -> None:
        """Forget a queue without storing it."""
        self._offsets.pop(mq, None)
        self._frozen.discard(mq)
        self._excused.discard(mq)

    def of_topic(self, topic: str) -> dict[MessageQueue, int]:
        """Give what is in memory of a topic."""
        return {mq: offset for mq, offset in self._offsets.items() if mq.topic == topic}

    @property
    def queues(self) -> frozenset[MessageQueue]:
        """The queues of which something is known here."""
        return frozenset(self._offsets)

    @abstractmethod
    def read_stored(self, mq: MessageQueue) -> Code[int]:
        """Read what is stored, into memory too: the offset, NOT_STORED or UNKNOWN."""

    @abstractmethod
    def persist(self, mq: MessageQueue) -> Code[None]:
        """Store one queue, if it is known here."""

    @abstractmethod
    def persist_all(self, held: Collection[MessageQueue]) -> Code[None]:
        """Store all queues of the table; what is not in the table is not stored."""


class RemoteOffsets(OffsetStore):
    """Offsets that brokers store.

    Args:
        forgets_others: storing one queue forgets what is in memory of all others.
        notes_nothing_stored: that nothing is stored is noted too, as -1; and what is stored, if it is more than what is
            noted.
    """

    def __init__(
        self, fetch: Fetch, send: Update, *, forgets_others: bool = False, notes_nothing_stored: bool = False
    ) -> None:
        super().__init__()
        self._fetch = fetch
        self._send = send
        self._forgets_others = forgets_others
        self._notes_nothing_stored = notes_nothing_stored

    def read_stored(self, mq: MessageQueue) -> Code[int]:
        """Ask the broker."""
        offset = yield from self._fetch(mq)
        if offset >= 0 or (offset == NOT_STORED and self._notes_nothing_stored):
            self.update(mq, offset, increase_only=self._notes_nothing_stored)
            if self._offsets.get(mq, offset) > offset:
                self.excuse(mq)
        return offset

    def persist(self, mq: MessageQueue) -> Code[None]:
        """Tell the broker."""
        if self._forgets_others:
            for other in self._offsets.keys() - {mq}:
                self.forget(other)
        offset = self._offsets.get(mq)
        if offset is not None:
            yield from self._send(mq, offset)

    def persist_all(self, held: Collection[MessageQueue]) -> Code[None]:
        """Tell brokers; what is left of queues that went without being stored is lost (``remove unused mq``)."""
        if not held:
            return
        for mq, offset in tuple(self._offsets.items()):
            if mq in held:
                yield from self._send(mq, offset)
            else:
                self.forget(mq)


class LocalOffsets(OffsetStore):
    """Offsets in a file of the consumer's own; ``save`` writes it.

    What was stored of a queue stays stored when the queue goes, and so does what is in memory: Java's ``removeOffset``
    is empty here.

    Args:
        reads_whole_file: reading one queue sets all back to what the file says, as in Go, which also writes all that is
            in memory.
    """

    def __init__(self, text: str | None, save: Callable[[str], None], *, reads_whole_file: bool = False) -> None:
        super().__init__()
        self._save = save
        self._reads_whole_file = reads_whole_file
        self._stored = read_file(text)
        self._offsets.update(self._stored)

    def forget(self, mq: MessageQueue) -> None:
        """Keep it, as Java does."""
        self._frozen.discard(mq)

    def read_stored(self, mq: MessageQueue) -> Code[int]:
        """Look into the file."""
        for each in self._stored.keys() if self._reads_whole_file else self._stored.keys() & {mq}:
            self.update(each, self._stored[each], increase_only=False)
        return (self._offsets if self._reads_whole_file else self._stored).get(mq, NOT_STORED)
        yield  # a thread may wait for the other store; this one is at hand

    def persist(self, mq: MessageQueue) -> Code[None]:
        """Write the file with this queue's offset."""
        yield from self.persist_all({mq} if self._reads_whole_file else {mq} & self._offsets.keys())

    def persist_all(self, held: Collection[MessageQueue]) -> Code[None]:
        """Write the file."""
        if held:
            written = self._offsets.keys() if self._reads_whole_file else self._offsets.keys() & set(held)
            self._stored |= {mq: self._offsets[mq] for mq in written}
            self._save(write_file(self._stored))
        return
        yield


def write_file(offsets: dict[MessageQueue, int]) -> str:
    """Write offsets as the text of a file."""
    rows = [
        {"topic": mq.topic, "brokerName": mq.broker, "queueId": mq.queue_id, "offset": offset}
        for mq, offset in sorted(offsets.items())
    ]
    return json.dumps({"offsetTable": rows})


def read_file(text: str | None) -> dict[MessageQueue, int]:
    """Read what ``write_file`` wrote; a missing or unreadable file has no offsets, as in Java."""
    try:
        rows = json.loads(text or "{}").get("offsetTable", [])
        return {MessageQueue(row["topic"], row["brokerName"], row["queueId"]): int(row["offset"]) for row in rows}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
