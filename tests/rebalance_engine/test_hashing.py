from __future__ import annotations

import hashlib
import zlib
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.hashing import BLOCK_BYTES, CHUNK_ROWS, FEW_NAMES, crc32_heads, md5_head, md5_heads

DIGIT_EDGES = [0, *(edge for power in range(1, 19) for edge in (10**power - 1, 10**power)), 2**63 - 1]
INT64S = st.integers(-(2**63), 2**63 - 1)


def by_hashlib(prefixes: list[bytes], prefix_of: list[int], numbers: list[int], suffix: bytes = b"") -> list[int]:
    names = [prefixes[of] + str(number).encode() + suffix for of, number in zip(prefix_of, numbers, strict=True)]
    return [int.from_bytes(hashlib.md5(name).digest()[:4], "big") for name in names]  # noqa: S324 - RocketMQ's choice


def heads(prefixes: list[bytes], prefix_of: list[int], numbers: list[int], suffix: bytes = b"") -> list[int]:
    return md5_heads(prefixes, np.array(prefix_of, dtype=np.intp), np.array(numbers, dtype=np.int64), suffix).tolist()


def random_bytes(luck: Random, length: int) -> bytes:
    return luck.randbytes(length)


@pytest.mark.parametrize(("name", "head"), [(b"", 0xD41D8CD9), (b"a", 0x0CC175B9), (b"abc", 0x90015098)])
def test_one_name_hashes_as_in_rfc_1321(name: bytes, head: int) -> None:
    assert md5_head(name) == head


def test_crc32_is_that_of_zlib_and_keeps_the_order() -> None:
    answers = crc32_heads([b"123456789", b"", b"A"])

    assert answers.dtype == np.uint32
    assert answers.tolist() == [0xCBF43926, 0, zlib.crc32(b"A")]


def test_no_names_have_no_hashes() -> None:
    assert heads([], [], []) == []
    assert crc32_heads([]).tolist() == []


@pytest.mark.parametrize("suffix", [b"", b"]", b"-" * 70])
@pytest.mark.parametrize("length", [*range(40, 70), *range(110, 131), 0, 1, 200, 1000])
def test_prefixes_of_every_length_around_the_ends_of_blocks(length: int, suffix: bytes) -> None:
    prefixes = [random_bytes(Random(length + i), length) for i in range(3)]
    numbers = [0, 7, 42, 123, 4567, 1_000_000] * FEW_NAMES
    prefix_of = [i % 3 for i in range(len(numbers))]

    assert heads(prefixes, prefix_of, numbers, suffix) == by_hashlib(prefixes, prefix_of, numbers, suffix)


def test_numbers_of_every_count_of_digits() -> None:
    numbers = DIGIT_EDGES * 8
    prefix_of = [0] * len(numbers)
    assert len(numbers) > FEW_NAMES

    assert heads([b"A"], prefix_of, numbers) == by_hashlib([b"A"], prefix_of, numbers)


def test_negative_numbers_among_others_and_alone() -> None:
    mixed = [-1, 0, 1, -(2**31), 2**31 - 1, -9, -10] * 40
    negative = [-1, -(2**63)] * FEW_NAMES

    for numbers in (mixed, negative):
        prefix_of = [i % 2 for i in range(len(numbers))]
        assert heads([b"A", b"BB"], prefix_of, numbers) == by_hashlib([b"A", b"BB"], prefix_of, numbers)


@pytest.mark.parametrize("names", [1, FEW_NAMES - 1, FEW_NAMES, FEW_NAMES + 1, CHUNK_ROWS - 1, CHUNK_ROWS + 1])
def test_few_and_many_names_hash_alike(names: int) -> None:
    luck = Random(names)
    prefixes = [random_bytes(luck, luck.choice([0, 5, 63, 64, 65])) for _ in range(20)]
    prefix_of = [luck.randrange(20) for _ in range(names)]
    numbers = [luck.choice([luck.randrange(10), luck.randrange(2**31)]) for _ in range(names)]

    assert heads(prefixes, prefix_of, numbers, b"]") == by_hashlib(prefixes, prefix_of, numbers, b"]")


@given(
    st.lists(st.binary(max_size=2 * BLOCK_BYTES + 1), min_size=1, max_size=4),
    st.lists(INT64S | st.integers(0, 20), min_size=1, max_size=40),
    st.binary(max_size=70),
)
def test_any_names_hash_as_hashlib_does(prefixes: list[bytes], numbers: list[int], suffix: bytes) -> None:
    numbers = numbers * (FEW_NAMES // len(numbers) + 1)
    prefix_of = [i % len(prefixes) for i in range(len(numbers))]

    assert heads(prefixes, prefix_of, numbers, suffix) == by_hashlib(prefixes, prefix_of, numbers, suffix)


def test_prefixes_that_nobody_uses_do_not_matter() -> None:
    prefixes = [b"unused" * 20, b"A", b"unused"]
    numbers = list(range(2 * FEW_NAMES))

    assert heads(prefixes, [1] * len(numbers), numbers) == by_hashlib(prefixes, [1] * len(numbers), numbers)


def test_the_columns_given_are_not_changed() -> None:
    numbers = np.arange(2 * FEW_NAMES, dtype=np.int64)
    prefix_of = np.zeros(len(numbers), dtype=np.intp)

    md5_heads([b"A"], prefix_of, numbers)

    assert numbers.tolist() == list(range(2 * FEW_NAMES))
    assert not prefix_of.any()


def test_queue_ids_may_be_int32() -> None:
    numbers = np.array([0, 9, 10, 2**31 - 1, -1] * FEW_NAMES, dtype=np.int32)

    answers = md5_heads([b"A"], np.zeros(len(numbers), dtype=np.int32), numbers)

    assert answers.tolist() == by_hashlib([b"A"], [0] * len(numbers), numbers.tolist())
