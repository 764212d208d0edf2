"""The number that picks the next queue, and how each version moves it on (``ThreadLocalIndex.java``).

Every publish info has one of its own, and in it every thread a number of its own: with n sending threads there are n
independent round robins with random phases.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable

from rebalance_engine.producer.java_numbers import MAX_INT, absolute, next_int, wrap
from rebalance_engine.producer.profiles import IndexRule

Thread = Hashable
_EVERYBODY = "all threads"


class Index:
    """One round-robin number a thread, or one for all of them, as the rule says."""

    def __init__(self, rule: IndexRule, luck: random.Random) -> None:
        self.rule = rule
        self._luck = luck
        self._stored: dict[Thread, int] = {}

    def advance(self, thread: Thread) -> int:
        """Move on and give what the client's own call returns; negative only at the wrap of 4.8 to 4.9.3."""
        thread = _EVERYBODY if self.rule in _FOR_ALL else thread
        before = self._stored[thread] if thread in self._stored else _START[self.rule](self._luck)
        stored, value = _STEP[self.rule](before)
        self._stored[thread] = stored
        return value

    def reset(self, thread: Thread) -> None:
        """Start again at random, in [0, 2^31 - 1) (``reset()``, 5.1.4 and later)."""
        self._stored[thread] = self._luck.randrange(MAX_INT)

    @property
    def shared(self) -> int:
        """Read the one number for all threads without moving it on (``getWhichQueue()`` of C++)."""
        return self._stored.get(_EVERYBODY, 0)

    def __repr__(self) -> str:
        """Show what each thread has stored."""
        return f"Index({self.rule.name}, {self._stored})"


def _start_clamped(luck: random.Random) -> int:
    return max(absolute(next_int(luck)), 0)


def _start_absolute(luck: random.Random) -> int:
    return absolute(next_int(luck))


def _start_at_zero(_luck: random.Random) -> int:
    return 0


def _step_clamped(stored: int) -> tuple[int, int]:
    value = max(absolute(wrap(stored + 1)), 0)
    return value, value


def _step_absolute(stored: int) -> tuple[int, int]:
    value = absolute(wrap(stored + 1))
    return value, value


def _step_absolute_read(stored: int) -> tuple[int, int]:
    stored = wrap(stored + 1)
    return stored, absolute(stored)


def _step_masked(stored: int) -> tuple[int, int]:
    stored = wrap(stored + 1)
    return stored, stored & MAX_INT


def _step_shared(stored: int) -> tuple[int, int]:
    return (0 if stored == MAX_INT else stored) + 1, stored


def _step_unsigned(stored: int) -> tuple[int, int]:
    value = (stored + 1) % 2**32
    return value, value


_FOR_ALL = {IndexRule.SHARED, IndexRule.PER_SELECTOR}
_START: dict[IndexRule, Callable[[random.Random], int]] = {
    IndexRule.CLAMPED: _start_clamped,
    IndexRule.ABSOLUTE: _start_absolute,
    IndexRule.ABSOLUTE_READ: _start_absolute,
    IndexRule.MASKED: _start_absolute,
    IndexRule.MASKED_SIGNED: next_int,
    IndexRule.SHARED: _start_at_zero,
    IndexRule.PER_SELECTOR: _start_at_zero,
}
_STEP: dict[IndexRule, Callable[[int], tuple[int, int]]] = {
    IndexRule.CLAMPED: _step_clamped,
    IndexRule.ABSOLUTE: _step_absolute,
    IndexRule.ABSOLUTE_READ: _step_absolute_read,
    IndexRule.MASKED: _step_masked,
    IndexRule.MASKED_SIGNED: _step_masked,
    IndexRule.SHARED: _step_shared,
    IndexRule.PER_SELECTOR: _step_unsigned,
}
