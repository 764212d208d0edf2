"""Columns of integers and texts as bytes: zigzag-coded base-128 varints, a whole column at a time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Int64s = NDArray[np.int64]
LONGEST_VARINT = 10  # bytes: 64 bits in groups of 7
CHUNK = 2**16  # numbers decoded at a time: decoding takes some 50 bytes of memory a byte


class BadBytes(ValueError):
    """These bytes cannot be read; the message says where reading stopped and what was needed."""


class Writer:
    """Appends columns and texts."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def __bytes__(self) -> bytes:
        return b"".join(self._parts)

    def column(self, numbers: ArrayLike) -> None:
        """Write a count, then the numbers."""
        values = np.asarray(numbers, dtype=np.int64)
        self._parts += [_encode(np.array([len(values)])), _encode(values)]

    def columns(self, *columns: ArrayLike) -> None:
        """Write several columns of one length: a count, then column by column."""
        values = [np.asarray(column, dtype=np.int64) for column in columns]
        self._parts += [_encode(np.array([len(values[0])])), *map(_encode, values)]

    def texts(self, texts: Iterable[str]) -> None:
        """Write the lengths as a column, then the bytes of all; lone surrogates survive."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        self.column([len(text) for text in encoded])
        self._parts += encoded


class Reader:
    """Reads what a :class:`Writer` wrote. Nothing is allocated that the bytes do not pay for.

    Raises:
        BadBytes: from every method, where the bytes end early or make no sense.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def column(self) -> Int64s:
        """Read a count, then the numbers."""
        return self._numbers(self._count())

    def pair(self) -> tuple[int, int]:
        """Read a column of two numbers."""
        numbers = self.column()
        if len(numbers) != 2:
            raise BadBytes(f"two numbers are needed in front of byte {self._at}, not {len(numbers)}")
        return int(numbers[0]), int(numbers[1])

    def columns(self, width: int) -> list[Int64s]:
        """Read ``width`` columns of one length."""
        count = self._count()
        return [self._numbers(count) for _ in range(width)]

    def texts(self) -> list[str]:
        """Read texts."""
        return [self._text(length) for length in self.column().tolist()]

    def finish(self) -> None:
        """Insist that nothing is left over."""
        if self._at != len(self._data):
            raise BadBytes(f"{len(self._data) - self._at} bytes are left over behind byte {self._at}")

    def _count(self) -> int:
        count = int(self._numbers(1)[0])
        left = len(self._data) - self._at
        if not 0 <= count <= left:
            raise BadBytes(f"byte {self._at}: a count of {count}, but {left} bytes are left")
        return count

    def _numbers(self, count: int) -> Int64s:
        numbers = np.empty(count, dtype=np.int64)
        for start in range(0, count, CHUNK):
            part = numbers[start : start + CHUNK]
            part[:] = self._chunk(len(part))
        return numbers

    def _chunk(self, count: int) -> Int64s:
        window = np.frombuffer(self._data, dtype=np.uint8, offset=self._at, count=-1)[: count * LONGEST_VARINT]
        ends = np.flatnonzero(window < 128)[:count] + 1
        if len(ends) < count:
            raise BadBytes(f"byte {self._at}: {count} numbers are needed, there are {len(ends)}")
        used = int(ends[-1])
        numbers = _decode(window[:used], ends, self._at)
        self._at += used
        return numbers

    def _text(self, length: int) -> str:
        end = self._at + length
        if length < 0 or end > len(self._data):
            raise BadBytes(f"byte {self._at}: a text of {length} bytes, but {len(self._data) - self._at} are left")
        try:
            text = self._data[self._at : end].decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise BadBytes(f"byte {self._at}: a text that is not UTF-8: {error}") from error
        self._at = end
        return text


def _encode(numbers: Int64s) -> bytes:
    rest = ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)
    groups = np.zeros((LONGEST_VARINT, len(rest)), dtype=np.uint8)
    used = np.zeros((LONGEST_VARINT, len(rest)), dtype=bool)
    for group in range(LONGEST_VARINT):
        used[group] = (rest > 0) | (group == 0)
        groups[group] = (rest & np.uint64(127)) | np.where(rest > 127, np.uint64(128), np.uint64(0))
        rest = rest >> np.uint64(7)
        if not rest.any():
            break
    return groups.T[used.T].tobytes()


def _decode(window: NDArray[np.uint8], ends: NDArray[np.intp], offset: int) -> Int64s:
    starts = np.concatenate([[0], ends[:-1]])
    lengths = ends - starts
    if int(lengths.max()) > LONGEST_VARINT:
        raise BadBytes(f"byte {offset + int(starts[np.argmax(lengths)])}: a number of more than {LONGEST_VARINT} bytes")
    place = np.arange(len(window)) - np.repeat(starts, lengths)
    groups = (window & np.uint8(127)).astype(np.uint64) << (7 * place).astype(np.uint64)
    values = np.bitwise_or.reduceat(groups, starts)
    return (values >> np.uint64(1)).view(np.int64) ^ -(values & np.uint64(1)).view(np.int64)
