"""The time of a driven machine: milliseconds since 1970 that never go back and never jump.

Anchored once: a wall clock that is set later moves nothing here, so that no machine sees time go back, and no timer
comes too early or an hour late.
"""

from __future__ import annotations

import asyncio
import time


class Clock:
    """Epoch milliseconds, counted by the loop's monotone clock."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._offset_s = time.time() - loop.time()

    def now(self) -> int:
        """Say what time it is, in ms."""
        return int((self._loop.time() + self._offset_s) * 1000)

    def loop_time(self, at: int) -> float:
        """Say when that is by the clock of the loop, in s."""
        return at / 1000 - self._offset_s
