from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.varints import CHUNK, BadBytes, Reader, Writer
from tests.rebalance_engine.generators import texts

EDGES = sorted(
    {sign * (2**power + near) for power in range(63) for near in (-1, 0, 1) for sign in (1, -1)} | {2**63 - 1, -(2**63)}
)
INT64S = st.integers(-(2**63), 2**63 - 1) | st.sampled_from(EDGES)


def column_of(numbers: list[int]) -> bytes:
    out = Writer()
    out.column(numbers)
    return bytes(out)


def zigzag_varint(number: int) -> bytes:
    rest = number << 1 if number >= 0 else -2 * number - 1
    groups = bytearray()
    while rest > 127:
        groups.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*groups, rest])


def test_every_edge_of_64_bits_survives() -> None:
    reader = Reader(column_of(EDGES))

    assert reader.column().tolist() == EDGES
    reader.finish()


@given(st.lists(INT64S, max_size=30))
def test_a_column_is_its_count_and_its_numbers(numbers: list[int]) -> None:
    written = column_of(numbers)

    assert written == b"".join(map(zigzag_varint, [len(numbers), *numbers]))
    assert Reader(written).column().tolist() == numbers


@pytest.mark.parametrize("count", [CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_long_columns_are_read_in_parts(count: int) -> None:
    numbers = Random(count).choices(EDGES, k=count)
    out = Writer()
    out.column(numbers)
    out.column([1])

    reader = Reader(bytes(out))

    assert reader.column().tolist() == numbers
    assert reader.column().tolist() == [1]
    reader.finish()


@given(st.lists(st.tuples(INT64S, INT64S, INT64S), max_size=10))
def test_columns_of_one_length_share_their_count(rows: list[tuple[int, int, int]]) -> None:
    columns = [[row[i] for row in rows] for i in range(3)]
    out = Writer()
    out.columns(*columns)

    reader = Reader(bytes(out))

    assert [column.tolist() for column in reader.columns(3)] == columns
    reader.finish()


@given(st.lists(texts, max_size=6), st.integers(-3, 3))
def test_texts_survive_with_what_follows(written: list[str], number: int) -> None:
    out = Writer()
    out.texts(written)
    out.column([number, 7])

    reader = Reader(bytes(out))

    assert reader.texts() == written
    assert reader.pair() == (number, 7)
    reader.finish()


@pytest.mark.parametrize("numbers", [[], [1], [1, 2, 3]])
def test_a_pair_is_two_numbers(numbers: list[int]) -> None:
    with pytest.raises(BadBytes, match=f"two numbers are needed in front of byte .*, not {len(numbers)}"):
        Reader(column_of(numbers)).pair()


def test_ten_bytes_are_the_longest_number() -> None:
    longest, too_long = b"\x02" + b"\xff" * 9 + b"\x01", b"\x02" + b"\x80" * 10 + b"\x00"

    assert Reader(longest).column().tolist() == [-(2**63)]
    with pytest.raises(BadBytes):
        Reader(too_long).column()


def test_an_overlong_number_among_others_is_refused() -> None:
    with pytest.raises(BadBytes, match="byte 2: a number of more than 10 bytes"):
        Reader(b"\x04" + b"\x00" + b"\x80" * 10 + b"\x00").column()


@pytest.mark.parametrize("data", [b"", b"\x80", b"\x02", b"\x04\x00", b"\x01", b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f"])
def test_bytes_that_end_early_or_count_wrongly_are_refused(data: bytes) -> None:
    for read in (Reader.column, Reader.pair, Reader.texts):
        with pytest.raises(BadBytes):
            read(Reader(data))
    with pytest.raises(BadBytes):
        Reader(data).columns(3)


def test_columns_that_end_early_are_refused() -> None:
    out = Writer()
    out.columns([1, 2], [3, 4], [5, 6])

    with pytest.raises(BadBytes, match="2 numbers are needed, there are 1"):
        Reader(bytes(out)[:-1]).columns(3)


def test_bytes_left_over_are_refused() -> None:
    reader = Reader(column_of([1]) + b"\x00")
    reader.column()

    with pytest.raises(BadBytes, match="1 bytes are left over behind byte 2"):
        reader.finish()


@pytest.mark.parametrize("text", [b"\xff", b"\xc3", b"\xc0\x80", b"\xf5\x80\x80\x80"])
def test_text_that_is_not_utf8_is_refused(text: bytes) -> None:
    with pytest.raises(BadBytes, match="not UTF-8"):
        Reader(column_of([len(text)]) + text).texts()


@pytest.mark.parametrize("length", [-1, 3, 2**62])
def test_text_of_an_impossible_length_is_refused(length: int) -> None:
    with pytest.raises(BadBytes, match=f"a text of {length} bytes"):
        Reader(column_of([length]) + b"ab").texts()


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for read in (Reader.column, Reader.pair, Reader.texts, lambda reader: reader.columns(2)):
        reader = Reader(data)
        try:
            read(reader)
            reader.finish()
        except BadBytes:
            continue


def test_numbers_are_written_from_arrays_of_any_integers() -> None:
    out = Writer()
    out.column(np.array([1, -1], dtype=np.int32))

    assert Reader(bytes(out)).column().dtype == np.int64
    assert bytes(out) == column_of([1, -1])
