"""The messages of one broker: one log for all topics, and an index of each queue.

The index is made from the log when the store is opened. What no log can tell after its oldest files were dropped (how
far a queue had come, which topics were deleted) stands beside it in ``queues.json``.

Sources: ``store/.../DefaultMessageStore.java``, ``CommitLog.java``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from rebalance_engine.embedded.disk import replace_file
from rebalance_engine.embedded.index import QueueIndex
from rebalance_engine.embedded.outline import Outline, outlines
from rebalance_engine.embedded.segments import SegmentedLog
from rebalance_engine.remoting.messages import Host, StoredMessage, decode_messages, encode_message
from rebalance_engine.remoting.properties import TAGS, decode_properties, encode_properties
from rebalance_engine.remoting.tags import java_hash

MOST_SCANNED = 800  # ``maxFilterMessageSize`` / ``CQ_STORE_UNIT_SIZE``
MOST_SENT = 32  # ``maxTransferCountOnMessageInMemory``
MOST_BYTES_SENT = 256 * 1024  # ``maxTransferBytesOnMessageInMemory``

Queue = tuple[str, int]  # topic and queue id
IsWanted = Callable[[int], bool]  # asked with the hash of a tag


class Status(Enum):
    """What a look into a queue came to (``GetMessageStatus.java``); clients get the name as remark."""

    FOUND = "FOUND"
    NO_MATCHED_MESSAGE = "NO_MATCHED_MESSAGE"
    MESSAGE_WAS_REMOVING = "MESSAGE_WAS_REMOVING"
    NO_MESSAGE_IN_QUEUE = "NO_MESSAGE_IN_QUEUE"
    OFFSET_OVERFLOW_ONE = "OFFSET_OVERFLOW_ONE"
    OFFSET_OVERFLOW_BADLY = "OFFSET_OVERFLOW_BADLY"
    OFFSET_TOO_SMALL = "OFFSET_TOO_SMALL"
    OFFSET_RESET = "OFFSET_RESET"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A message that is to be stored. Times are in ms."""

    topic: str
    queue_id: int
    body: bytes
    properties: Mapping[str, str]
    born_timestamp: int
    born_host: Host
    flag: int = 0
    sys_flag: int = 0
    reconsume_times: int = 0
    prepared_transaction_offset: int = 0


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a message is now: in the log, and in its queue."""

    position: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a look into a queue came to; ``data`` is ``count`` stored messages, one after another."""

    status: Status
    following: int
    begin: int
    end: int
    count: int = 0
    data: bytes = b""


class MessageStore:
    """All messages of a broker.

    Args:
        directory: where they are kept.
        host: of the broker; it goes into every message and its id.
        segment_bytes: size of one file.
        max_bytes: size of all files together.
    """

    def __init__(self, directory: Path, host: Host, *, segment_bytes: int, max_bytes: int) -> None:
        self._host = host
        self._log = SegmentedLog(directory / "commitlog", segment_bytes=segment_bytes, max_bytes=max_bytes)
        self._path = directory / "queues.json"
        self._queues: dict[Queue, QueueIndex] = {}
        self._deleted: dict[str, int] = {}  # topic -> where the log was when it was deleted
        self._max_message = segment_bytes
        self._recover()

    # ---- storing ----

    def append(self, draft: Draft, at: int) -> Kept:
        """Store a message at the end of its queue.

        Raises:
            LocalProtocolError: its topic or its properties are too long.
            OSError: the disk does not take it.
        """
        index = self._index(draft.topic, draft.queue_id)
        message = StoredMessage(
            topic=draft.topic,
            queue_id=draft.queue_id,
            queue_offset=index.end,
            commit_log_offset=self._log.end,
            flag=draft.flag,
            sys_flag=draft.sys_flag,
            born_timestamp=draft.born_timestamp,
            born_host=draft.born_host,
            store_timestamp=at,
            store_host=self._host,
            reconsume_times=draft.reconsume_times,
            prepared_transaction_offset=draft.prepared_transaction_offset,
            body=draft.body,
            property_text=encode_properties(draft.properties),
        )
        data = encode_message(message)
        is_new_file = not self._log.has_room_for(len(data))
        kept = Kept(self._log.append(data), index.end, len(data))
        index.add(kept.position, kept.size, tag_code(draft.properties), at)
        if is_new_file:
            self._drop_oldest()
        return kept

    def _index(self, topic: str, queue_id: int) -> QueueIndex:
        index = self._queues.get((topic, queue_id))
        if index is None:
            index = self._queues[topic, queue_id] = QueueIndex()
        return index

    def _drop_oldest(self) -> None:
        if self._log.drop_oldest():
            for index in self._queues.values():
                index.forget_before(self._log.begin)
            self._deleted = {topic: at for topic, at in self._deleted.items() if at > self._log.begin}
            self._remember()

    def delete_topic(self, topic: str) -> None:
        """Forget a topic; its messages stay in the log until they are dropped, and nobody finds them."""
        for queue in [queue for queue in self._queues if queue[0] == topic]:
            del self._queues[queue]
        self._deleted[topic] = self._log.end
        self._remember()

    # ---- reading ----

    def begin(self, topic: str, queue_id: int) -> int:
        """Give the offset of the oldest message of a queue."""
        index = self._queues.get((topic, queue_id))
        return index.first if index else 0

    def end(self, topic: str, queue_id: int) -> int:
        """Give the offset that the next message of a queue will get."""
        index = self._queues.get((topic, queue_id))
        return index.end if index else 0

    def stored_at(self, topic: str, queue_id: int, offset: int) -> int:
        """Give when a message was stored, in ms; -1 where it is not there."""
        index = self._queues.get((topic, queue_id))
        return index.stored_at(offset) if index else -1

    def search(self, topic: str, queue_id: int, time: int, *, is_upper: bool = False) -> int:
        """Give the offset at a time; see :meth:`QueueIndex.search`."""
        index = self._queues.get((topic, queue_id))
        return index.search(time, is_upper=is_upper) if index else 0

    @property
    def log_begin(self) -> int:
        """Where the log begins."""
        return self._log.begin

    @property
    def log_end(self) -> int:
        """Where the log ends."""
        return self._log.end

    def earliest_at(self) -> int:
        """Give when the oldest message was stored, in ms; -1 where there is none."""
        oldest = self.message_at(self._log.begin)
        return -1 if oldest is None else oldest.store_timestamp

    def disk_used(self) -> float:
        """Say how full the disk is, from 0 to 1."""
        usage = shutil.disk_usage(self._path.parent)
        return usage.used / usage.total

    def fetch(
        self, topic: str, queue_id: int, offset: int, most: int, *, max_bytes: int, is_wanted: IsWanted | None = None
    ) -> Found:
        """Look into a queue from an offset on (``DefaultMessageStore.getMessage``)."""
        index = self._queues.get((topic, queue_id)) or QueueIndex()
        begin, end = index.first, index.end
        if end == 0:
            return Found(status=Status.NO_MESSAGE_IN_QUEUE, following=0, begin=begin, end=end)
        if offset < begin:
            return Found(status=Status.OFFSET_TOO_SMALL, following=begin, begin=begin, end=end)
        if offset == end:
            return Found(status=Status.OFFSET_OVERFLOW_ONE, following=offset, begin=begin, end=end)
        if offset > end:
            return Found(status=Status.OFFSET_OVERFLOW_BADLY, following=end, begin=begin, end=end)
        return self._collect(index, offset, most, min(max_bytes, MOST_BYTES_SENT), is_wanted)

    def _collect(self, index: QueueIndex, offset: int, most: int, max_bytes: int, is_wanted: IsWanted | None) -> Found:
        pieces: list[bytes] = []
        sent, following = 0, offset
        for at in range(offset, min(index.end, offset + MOST_SCANNED)):
            position, size = index.place(at)
            if is_wanted is None or is_wanted(index.tag_code(at)):
                if pieces and (len(pieces) >= min(most, MOST_SENT) or sent + size > max_bytes):
                    break
                pieces.append(self._log.read(position, size))
                sent += size
            following = at + 1
        status = Status.FOUND if pieces else Status.NO_MATCHED_MESSAGE
        return Found(
            status=status,
            following=following,
            begin=index.first,
            end=index.end,
            count=len(pieces),
            data=b"".join(pieces),
        )

    def messages(self, topic: str, queue_id: int, offset: int, most: int) -> Iterator[bytes]:
        """Give so many messages of a queue from an offset on, as stored."""
        index = self._queues.get((topic, queue_id)) or QueueIndex()
        for at in range(max(offset, index.first), min(index.end, offset + most)):
            yield self._log.read(*index.place(at))

    def places(self, topic: str, queue_id: int, offset: int, most: int) -> Iterator[tuple[int, int, int]]:
        """Give position, size and tag code of so many messages of a queue from an offset on."""
        index = self._queues.get((topic, queue_id)) or QueueIndex()
        for at in range(max(offset, index.first), min(index.end, offset + most)):
            yield (*index.place(at), index.tag_code(at))

    def at_position(self, position: int) -> bytes | None:
        """Give the message that begins at a position of the log, as stored; None if none does."""
        if not self._log.begin <= position < self._log.end:
            return None
        size = int.from_bytes(self._log.read(position, 4), "big")
        data = self._log.read(position, size)
        is_there = any(one.position == position for one in outlines(data, position))
        return data if is_there else None

    def message_at(self, position: int) -> StoredMessage | None:
        """Give the message that begins at a position of the log; None if none does."""
        data = self.at_position(position)
        return None if data is None else decode_messages(data)[0]

    # ---- opening and closing ----

    def _recover(self) -> None:
        known = json.loads(self._path.read_text()) if self._path.exists() else {}
        self._deleted = known.get("deleted", {})
        for begin, data in self._log.segments():
            reached = begin
            for outline in outlines(data, begin):
                self._enter(outline)
                reached = outline.position + outline.size
            if reached < begin + len(data) == self._log.end:
                self._log.cut(reached)  # a piece was being written when the process ended
        for topic, queue_id, end in known.get("ends", ()):
            if self.end(topic, queue_id) < end and topic not in self._deleted:
                self._queues[topic, queue_id] = QueueIndex(end)

    def _enter(self, outline: Outline) -> None:
        if outline.position < self._deleted.get(outline.topic, 0):
            return
        queue = outline.topic, outline.queue_id
        index = self._queues.get(queue)
        if index is None:
            index = self._queues[queue] = QueueIndex(outline.offset)
        index.add(outline.position, outline.size, outline.tag_code, outline.stored_at)

    def _remember(self) -> None:
        ends = [[topic, queue_id, index.end] for (topic, queue_id), index in self._queues.items()]
        replace_file(self._path, json.dumps({"ends": ends, "deleted": self._deleted}))

    def close(self) -> None:
        """Write down what the log does not tell, and let go of the files."""
        self._remember()
        self._log.close()

    def crash(self) -> None:
        """Let go of the files as they are."""
        self._log.close()


def tag_code(properties: Mapping[str, str]) -> int:
    """Hash the tag of a message, as the broker filters by it; 0 where there is none."""
    tag = properties.get(TAGS)
    return java_hash(tag) if tag else 0


def properties_of(message: StoredMessage) -> dict[str, str]:
    """Give the properties of a message, to be changed."""
    return decode_properties(message.property_text)


def draft_of(message: StoredMessage) -> Draft:
    """Draft a stored message anew, as it is; ``replace`` what is to differ."""
    return Draft(
        topic=message.topic,
        queue_id=message.queue_id,
        body=message.body,
        properties=properties_of(message),
        born_timestamp=message.born_timestamp,
        born_host=message.born_host,
        flag=message.flag,
        sys_flag=message.sys_flag,
        reconsume_times=message.reconsume_times,
    )
