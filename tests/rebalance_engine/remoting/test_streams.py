from collections.abc import Generator

import pytest

from rebalance_engine.remoting.streams import StreamReader


def step(reading: Generator[None, None, object]) -> object:
    """Go on until the generator waits (None) or answers."""
    try:
        next(reading)
    except StopIteration as answer:
        return answer.value
    return None


def test_reading_waits_until_enough_has_arrived() -> None:
    reader = StreamReader()
    reading = reader.read_exact(3)
    reader.feed_data(b"ab")

    assert step(reading) is None

    reader.feed_data(b"cd")

    assert step(reading) == b"abc"
    assert step(reader.read_exact(1)) == b"d"


def test_an_end_within_what_is_read_is_an_error_with_numbers() -> None:
    reader = StreamReader()
    reader.feed_data(b"ab")
    reader.feed_eof()

    with pytest.raises(EOFError, match="after 2 of 3 bytes"):
        step(reader.read_exact(3))


def test_the_end_is_known_once_it_comes_or_bytes_come() -> None:
    reader = StreamReader()
    asking = reader.at_eof()

    assert step(asking) is None

    reader.feed_eof()

    assert step(asking) is True


def test_bytes_that_wait_are_no_end() -> None:
    reader = StreamReader()
    reader.feed_data(b"a")
    reader.feed_eof()

    assert step(reader.at_eof()) is False

    reader.discard()

    assert step(reader.at_eof()) is True
