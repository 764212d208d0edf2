"""The hashes that RocketMQ's clients place on their rings, for many names in one pass.

Java hashes a name with MD5 and keeps the first four digest bytes, big-endian
(``common/.../consistenthash/ConsistentHashRouter.java``, ``MD5Hash``); Go takes CRC-32
(``stathat.com/c/consistent``). One call into :mod:`hashlib` costs more than a microsecond in Python;
MD5 is additions, rotations and boolean operations, so a column of names goes through NumPy in a third
of the time. ``tests/rebalance_engine/test_hashing.py`` holds it to :mod:`hashlib`.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from math import sin

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]
Ints = NDArray[np.integer]

BLOCK_BYTES = 64
CHUNK_ROWS = 16384  # per call overhead against cache misses: quickest of 2,048 to 32,768 on the machines tried
FEW_NAMES = 128  # below this many names a loop over hashlib is quicker than setting up the columns

_SINES = tuple(np.uint32(int(abs(sin(i + 1)) * 2**32)) for i in range(64))
_SHIFTS = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))
_WORD_STEPS = ((1, 0), (5, 1), (3, 5), (7, 0))
_INITIAL = tuple(np.uint32(word) for word in (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476))
State = tuple[Words, Words, Words, Words]


def md5_head(name: bytes) -> int:
    """Hash one name: digest bytes 0 to 3 as a big-endian unsigned number."""
    return int.from_bytes(hashlib.md5(name, usedforsecurity=False).digest()[:4], "big")


def crc32_heads(names: Iterable[bytes]) -> Words:
    """Hash each name with CRC-32/IEEE, as the Go client does."""
    return np.fromiter(map(zlib.crc32, names), dtype=np.uint32)


def md5_heads(prefixes: Sequence[bytes], prefix_of: Ints, numbers: Ints, suffix: bytes = b"") -> Words:
    """Hash ``prefixes[prefix_of[i]] + str(numbers[i]) + suffix`` for every ``i``.

    Args:
        prefixes: distinct beginnings of names; few or many.
        prefix_of: int[n], which prefix name ``i`` begins with.
        numbers: int[n], the decimal number that follows; negative ones are allowed, but slow.
        suffix: what every name ends with.

    Returns:
        uint32[n], in the order of the names: what :func:`md5_head` answers for each.
    """
    heads = np.empty(len(numbers), dtype=np.uint32)
    if len(numbers) < FEW_NAMES:
        _hash_one_by_one(heads, prefixes, prefix_of, numbers, suffix, np.arange(len(numbers)))
        return heads
    negative = np.flatnonzero(numbers < 0)
    _hash_one_by_one(heads, prefixes, prefix_of, numbers, suffix, negative)
    for rows, prefix_length, digits in _same_length_groups(prefixes, prefix_of, numbers):
        columns = _Columns(prefixes, prefix_length, digits, suffix)
        for start in range(0, len(rows), CHUNK_ROWS):
            chunk = rows[start : start + CHUNK_ROWS]
            heads[chunk] = columns.hash(prefix_of[chunk], numbers[chunk])
    return heads


def _hash_one_by_one(
    heads: Words, prefixes: Sequence[bytes], prefix_of: Ints, numbers: Ints, suffix: bytes, rows: Ints
) -> None:
    for row in rows.tolist():
        heads[row] = md5_head(b"%b%d%b" % (prefixes[prefix_of[row]], numbers[row], suffix))


def _same_length_groups(
    prefixes: Sequence[bytes], prefix_of: Ints, numbers: Ints
) -> Iterator[tuple[NDArray[np.intp], int, int]]:
    """Split the names into groups (rows, prefix length, digits) whose names have one layout."""
    lengths = np.fromiter(map(len, prefixes), dtype=np.int64, count=len(prefixes))[prefix_of]
    limits = 10 ** np.arange(1, 19, dtype=np.int64)
    digits = np.searchsorted(limits, numbers, side="right") + 1
    layout = np.where(numbers < 0, -1, lengths * 32 + digits)
    by_layout = np.argsort(layout, kind="stable")
    starts = np.flatnonzero(np.diff(layout[by_layout], prepend=-1))
    for rows in np.split(by_layout, starts)[1:]:
        yield rows, int(lengths[rows[0]]), int(digits[rows[0]])


class _Columns:
    """Names of one layout. Whole blocks that lie within a prefix are hashed once a prefix, not once a name."""

    def __init__(self, prefixes: Sequence[bytes], prefix_length: int, digits: int, suffix: bytes) -> None:
        self._digits = digits
        self._head_length = prefix_length // BLOCK_BYTES * BLOCK_BYTES
        self._tail_length = prefix_length - self._head_length
        of_length = [number for number, prefix in enumerate(prefixes) if len(prefix) == prefix_length]
        self._slot = np.zeros(len(prefixes), dtype=np.intp)
        self._slot[of_length] = np.arange(len(of_length))
        text = np.frombuffer(b"".join(prefixes[number] for number in of_length), dtype=np.uint8)
        text = text.reshape(len(of_length), prefix_length)
        self._midstates = _compress_blocks(_initial_state(len(of_length)), text[:, : self._head_length])
        self._tails = text[:, self._head_length :]
        self._ending = np.frombuffer(_pad(suffix, prefix_length + digits), dtype=np.uint8)

    def hash(self, prefix_of: Ints, numbers: Ints) -> Words:
        slot = self._slot[prefix_of]
        width = self._tail_length + self._digits + len(self._ending)
        text = np.empty((len(slot), width), dtype=np.uint8)
        text[:, : self._tail_length] = self._tails[slot]
        rest = numbers.astype(np.int64)
        for column in range(self._tail_length + self._digits - 1, self._tail_length - 1, -1):
            rest, digit = np.divmod(rest, 10)
            text[:, column] = digit + ord("0")
        text[:, self._tail_length + self._digits :] = self._ending
        a, b, c, d = self._midstates
        state = _compress_blocks((a[slot], b[slot], c[slot], d[slot]), text)
        return state[0].byteswap()


def _pad(suffix: bytes, length_before: int) -> bytes:
    """End a message as RFC 1321, 3.1 and 3.2 say: a one bit, zeros, its length in bits."""
    length = length_before + len(suffix)
    zeros = -(length + 9) % BLOCK_BYTES
    return suffix + b"\x80" + bytes(zeros) + (8 * length).to_bytes(8, "little")


def _initial_state(rows: int) -> State:
    a, b, c, d = (np.full(rows, word) for word in _INITIAL)
    return a, b, c, d


def _compress_blocks(state: State, text: NDArray[np.uint8]) -> State:
    """Feed uint8[rows, k * 64] to the state, block by block."""
    for start in range(0, text.shape[1], BLOCK_BYTES):
        block = np.ascontiguousarray(text[:, start : start + BLOCK_BYTES]).view("<u4")
        state = _compress(state, np.ascontiguousarray(block.T.astype(np.uint32, copy=False)))
    return state


def _compress(state: State, words: Words) -> State:
    """Do the four rounds of RFC 1321, 3.4, for uint32[16, rows]; all sums wrap at 2**32."""
    a, b, c, d = (word.copy() for word in state)
    mixed, rotated = np.empty_like(a), np.empty_like(a)
    for step in range(64):
        turn = step // 16
        _mix(turn, b, c, d, out=mixed)
        factor, offset = _WORD_STEPS[turn]
        mixed += a
        mixed += words[(factor * step + offset) % 16]
        mixed += _SINES[step]
        shift = _SHIFTS[turn][step % 4]
        np.left_shift(mixed, np.uint32(shift), out=rotated)
        mixed >>= np.uint32(32 - shift)
        mixed |= rotated
        mixed += b
        a, b, c, d, mixed = d, mixed, b, c, a
    return state[0] + a, state[1] + b, state[2] + c, state[3] + d


def _mix(turn: int, b: Words, c: Words, d: Words, *, out: Words) -> None:
    """Write F, G, H or I of RFC 1321 into ``out``, each in the form that needs fewest operations."""
    if turn == 0:  # b & c | ~b & d
        np.bitwise_xor(c, d, out=out)
        out &= b
        out ^= d
    elif turn == 1:  # d & b | ~d & c
        np.bitwise_xor(b, c, out=out)
        out &= d
        out ^= c
    elif turn == 2:
        np.bitwise_xor(b, c, out=out)
        out ^= d
    else:
        np.invert(d, out=out)
        out |= b
        out ^= c
