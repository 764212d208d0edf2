"""Java's numbers where they decide which queue is taken: ints that wrap, ``Math.abs``, ``%``, hashes, map order.

Sources: the Java language; ``java.util.concurrent.ConcurrentHashMap`` (``spread``, ``addCount``), of the JDKs 8 to 21.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from rebalance_engine.model import utf16

MAX_INT = 2**31 - 1
MIN_INT = -(2**31)


def wrap(number: int) -> int:
    """Bring a sum back into the 32 bits of an int."""
    return (number - MIN_INT) % 2**32 + MIN_INT


def absolute(number: int) -> int:
    """Do ``Math.abs``, which leaves the smallest int negative."""
    return number if number == MIN_INT else abs(number)


def remainder(number: int, divisor: int) -> int:
    """Do ``%``, whose result has the sign of ``number``."""
    return abs(number) % divisor * (-1 if number < 0 else 1)


def next_int(luck: random.Random) -> int:
    """Do ``Random.nextInt()``: any int."""
    return wrap(luck.getrandbits(32))


def string_hash(text: str) -> int:
    """Do ``String.hashCode()``: over UTF-16 code units."""
    units, value = utf16(text), 0
    for place in range(0, len(units), 2):
        value = (value * 31 + int.from_bytes(units[place : place + 2], "big")) % 2**32
    return wrap(value)


def object_hash(argument: str | int | bool) -> int:
    """Do ``hashCode()`` of a String, a Boolean, an Integer, or of a Long where no Integer holds the number."""
    if isinstance(argument, str):
        return string_hash(argument)
    if isinstance(argument, bool):
        return 1231 if argument else 1237
    if MIN_INT <= argument <= MAX_INT:
        return argument
    bits = argument % 2**64
    return wrap(bits ^ bits >> 32)


def map_order(names: Iterable[str], *, buckets: int) -> list[str]:
    """Put names in the order in which a ConcurrentHashMap that began with ``buckets`` of them is walked.

    Names that share a bucket keep their order here; in Java they may come the other way round once the map has grown,
    and eight names in one bucket make it grow early.
    """
    names = list(names)
    while len(names) >= buckets * 3 // 4:
        buckets *= 2
    return sorted(names, key=lambda name: _bucket(name, buckets))


def _bucket(name: str, buckets: int) -> int:
    value = string_hash(name) % 2**32
    return (value ^ value >> 16) % buckets
