"""Selectors: how an application chooses the queue itself.

Sources: ``client/.../producer/selector/SelectMessageQueueByHash.java``, ``SelectMessageQueueByRandom.java``;
``producer/selector.go``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from rebalance_engine.model import MessageQueue, java_utf8
from rebalance_engine.producer.java_numbers import object_hash, remainder

Selector = Callable[[Sequence[MessageQueue]], MessageQueue]
"""Takes the topic's present queues, at least one, and gives one of them."""


class Unselectable(Exception):
    """A selector of the application gave no queue; the call fails, and nothing else."""


def by_hash(argument: str | int | bool) -> Selector:
    """Choose by ``|hash(argument) % n|``: the mapping changes whenever the number of queues does."""
    return lambda queues: queues[abs(remainder(object_hash(argument), len(queues)))]


def by_random(luck: random.Random) -> Selector:
    """Choose any."""
    return lambda queues: queues[luck.randrange(len(queues))]


def by_sharding_key(key: str, luck: random.Random) -> Selector:
    """Choose by the FNV-1a hash of the sharding key, as Go does; without a key any."""
    return by_random(luck) if not key else lambda queues: queues[fnv_1a(java_utf8(key)) % len(queues)]


def fnv_1a(text: bytes) -> int:
    """Hash to 32 bits."""
    value = 0x811C9DC5
    for byte in text:
        value = (value ^ byte) * 0x01000193 % 2**32
    return value
