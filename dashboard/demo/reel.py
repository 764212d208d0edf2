"""What the cast states about itself, kept for whoever follows: numbered lines of the event log, the newest ones."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

from rebalance_engine.eventlog import write
from rebalance_engine.events import Fact

MOST_KEPT = 20_000


@dataclass(slots=True)
class Reel:
    """The last facts, each with its number; numbers begin at 1 and are never given twice."""

    last: int = 0
    _lines: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_KEPT))
    _has_more: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, fact: Fact) -> None:
        """Take a fact in; the oldest one goes if there are too many."""
        self._lines.append(write(fact))
        self.last += 1
        self._has_more.set()

    def after(self, number: int, most: int) -> list[tuple[int, str]]:
        """Give facts with higher numbers, in their order, at most so many. Those that are gone are left out."""
        first = self.last - len(self._lines) + 1
        begin = max(number + 1, first)
        lines = [self._lines[index - first] for index in range(begin, min(begin + most, self.last + 1))]
        return list(enumerate(lines, begin))

    async def wait(self) -> None:
        """Wait until there is one more."""
        self._has_more.clear()
        await self._has_more.wait()
