"""SIGTERM and SIGINT, heard from the first line of a command to its last: none ends it unseen, or with a traceback.

While modules load, a signal is remembered. A command that ends in order (``clients.run_until_told``) then hears of it,
also if it came before; one that just computes is broken off, or looks itself (``simulate``). Nothing heavy is imported
here: while that loads, nobody hears.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

NUMBERS = (signal.SIGTERM, signal.SIGINT)


class Interrupted(BaseException):
    """A signal broke a command off; ``status`` is how it ends, as a shell says it: 130 by SIGINT, 143 by SIGTERM."""

    def __init__(self, number: int) -> None:
        super().__init__(f"interrupted by {signal.Signals(number).name}")
        self.status = 128 + number


class Ear:
    """Hears the signals of one process.

    Attributes:
        heard: the first that came.
    """

    def __init__(self) -> None:
        self.heard: int | None = None
        self._breaks = False
        self._process = os.getpid()

    def hear(self, number: int, _frame: object = None) -> None:
        """Note a signal."""
        if os.getpid() != self._process:
            os._exit(128 + number)  # a worker that was forked; its parent says what there is to say
        if self.heard is None:
            self.heard = number
        if self._breaks:
            raise Interrupted(number)

    def break_off(self) -> None:
        """Let a signal raise where it comes, and at once if one came before.

        Raises:
            Interrupted: one came before.
        """
        self._breaks = True
        self.check()

    def check(self) -> None:
        """Raise if a signal came.

        Raises:
            Interrupted: one did.
        """
        if self.heard is not None:
            raise Interrupted(self.heard)


_ears: list[Ear] = []


@contextmanager
def listening(*, for_good: bool = False) -> Iterator[Ear]:
    """Hear signals inside, by the ear that is there already if there is one.

    Only a main thread may; elsewhere nothing is heard.

    Args:
        for_good: afterwards no signal changes any more how the process ends.
    """
    if _ears:
        yield _ears[-1]
        return
    ear = Ear()
    try:
        before = [(number, signal.signal(number, ear.hear)) for number in NUMBERS]
    except ValueError:
        before = []
    _ears.append(ear)
    try:
        yield ear
    finally:
        _ears.pop()
        for number, handler in before:
            signal.signal(number, signal.SIG_IGN if for_good else handler)
