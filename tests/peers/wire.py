"""Values on the wire between the tests and their Java programs: the order of Java's ``DataInputStream``.

A string is its number of UTF-16 units and the units, so that lone surrogates survive; -1 stands for null.
The Java twin is ``tests/java/rocketmq/evenkeel/peer/Wire.java``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import BinaryIO

import numpy as np

from rebalance_engine.model import MessageQueue, utf16
from rebalance_engine.tables import Int32s

NULL = -1


class Ended(Exception):
    """The other side has gone before it had said everything."""


def integer(value: int) -> bytes:
    """Write a Java int."""
    return struct.pack(">i", value)


def long(value: int) -> bytes:
    """Write a Java long."""
    return struct.pack(">q", value)


def string(text: str | None) -> bytes:
    """Write a string or null."""
    if text is None:
        return integer(NULL)
    units = utf16(text)
    return integer(len(units) // 2) + units


def utf(text: str) -> bytes:
    """Write an ASCII string for ``DataInputStream.readUTF``."""
    data = text.encode("ascii")
    return struct.pack(">H", len(data)) + data


def strings(texts: Sequence[str | None] | None) -> bytes:
    """Write a list of strings, or null."""
    return integer(NULL) if texts is None else integer(len(texts)) + b"".join(map(string, texts))


def table(rooms: Mapping[str, str | None]) -> bytes:
    """Write a table of strings; a value may be null."""
    return strings(list(rooms)) + strings(list(rooms.values()))


def queues(listed: Sequence[MessageQueue]) -> bytes:
    """Write a list of queues."""
    return integer(len(listed)) + b"".join(string(q.topic) + string(q.broker) + integer(q.queue_id) for q in listed)


def routes(counts: Sequence[tuple[str, str, int]]) -> bytes:
    """Write (topic, broker, number of queues) for Java to make the queues of."""
    return integer(len(counts)) + b"".join(string(topic) + string(broker) + integer(n) for topic, broker, n in counts)


def integers(values: Iterable[int]) -> bytes:
    """Write a list of Java ints."""
    data = np.fromiter(values, dtype=">i4")
    return integer(len(data)) + data.tobytes()


class Reader:
    """Reads what the other side has written."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def _take(self, size: int) -> bytes:
        data = self._stream.read(size)
        if len(data) < size:
            raise Ended(f"{size} bytes were due, {len(data)} came")
        return data

    def byte(self) -> int:
        return self._take(1)[0]

    def integer(self) -> int:
        return int.from_bytes(self._take(4), "big", signed=True)

    def string(self) -> str | None:
        units = self.integer()
        return None if units == NULL else self._take(2 * units).decode("utf-16-be", "surrogatepass")

    def text(self) -> str:
        """Read a string that cannot be null."""
        text = self.string()
        assert text is not None
        return text

    def strings(self) -> list[str]:
        return [self.text() for _ in range(self.integer())]

    def queues(self) -> list[MessageQueue] | None:
        count = self.integer()
        if count == NULL:
            return None
        return [MessageQueue(self.text(), self.text(), self.integer()) for _ in range(count)]

    def integers(self) -> Int32s:
        return np.frombuffer(self._take(4 * self.integer()), dtype=">i4").astype(np.int32)

    def longs(self) -> list[int]:
        count = self.integer()
        return list(struct.unpack(f">{count}q", self._take(8 * count)))
