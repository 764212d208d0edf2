"""What runs inside a producer, written as RocketMQ's threads are: code that waits.

A task is a generator. It yields a wish, and goes on with the reply when the machine has one. So the send loop reads
from top to bottom as in Java, and yet nothing blocks, and time is whatever the machine says.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

from rebalance_engine.effects import Address, Answered, Unanswered

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transmit:
    """Wish for an answer to a request; the reply is Answered, Unanswered or INTERRUPTED."""

    to: Address
    request: object
    timeout_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TransmitOneway:
    """Wish that a request be sent; there is no reply."""

    to: Address
    request: object


@dataclass(frozen=True, slots=True)
class TakeLock:
    """Wish for the client's one route lock; the reply says whether it was had in time."""


@dataclass(frozen=True, slots=True)
class DropLock:
    """Give the route lock back; there is no reply."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wish for nothing until then, in ms; there is no reply."""

    until: int


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The reply to a Transmit of a thread that was interrupted."""


INTERRUPTED = Interrupted()

Wish = Transmit | TransmitOneway | TakeLock | DropLock | Sleep
Reply = Answered | Unanswered | Interrupted | bool | None
Task = Generator[Wish, Reply, T]
