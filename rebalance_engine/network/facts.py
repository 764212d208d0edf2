"""What a client states about itself, told to whoever wants to know: at once, or one after the other."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Self
from weakref import WeakSet

from rebalance_engine.events import Fact
from rebalance_engine.network.checking import check_call

logger = logging.getLogger(__name__)

OnFact = Callable[[Fact], None]
MOST_KEPT = 10_000


class Following(AsyncIterator[Fact]):
    """Facts from now on, in their order; it ends when the client has ended.

    Attributes:
        lost: how many facts were dropped, oldest first, because nobody took them.
    """

    def __init__(self, most_kept: int = MOST_KEPT) -> None:
        self.lost = 0
        self._kept: deque[Fact] = deque()
        self._most_kept = most_kept
        self._has_more = asyncio.Event()
        self._is_over = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Fact:
        while not self._kept:
            if self._is_over:
                raise StopAsyncIteration
            self._has_more.clear()
            await self._has_more.wait()
        return self._kept.popleft()

    def rest(self) -> tuple[Fact, ...]:
        """Take what is kept, without waiting for more."""
        kept = tuple(self._kept)
        self._kept.clear()
        return kept

    def put(self, fact: Fact) -> None:
        """Take a fact in."""
        if len(self._kept) >= self._most_kept:
            self._kept.popleft()
            self.lost += 1
        self._kept.append(fact)
        self._has_more.set()

    def end(self) -> None:
        """Say that there will be no more."""
        self._is_over = True
        self._has_more.set()


class Facts:
    """Those who want to know the facts of one client.

    Args:
        on_fact: is called with each; what it raises is logged and changes nothing.
    """

    def __init__(self, on_fact: OnFact | None = None) -> None:
        self._on_fact = on_fact
        self._followers: WeakSet[Following] = WeakSet()  # who has left a loop over them follows no more
        self._is_over = False

    def tell(self, fact: Fact) -> None:
        """Tell all."""
        if self._on_fact is not None:
            try:
                self._on_fact(fact)
            except Exception:
                logger.exception("on_fact raised on %s", type(fact).__name__)
        for follower in self._followers:
            follower.put(fact)

    def follow(self, most_kept: int = MOST_KEPT) -> Following:
        """Follow the facts from now on, keeping at most so many that are not taken yet.

        Raises:
            TypeError, ValueError: that is no number of them.
        """
        check_call(most_kept=most_kept)
        follower = Following(most_kept)
        self._followers.add(follower)
        if self._is_over:
            follower.end()
        return follower

    def end(self) -> None:
        """Say to all that there will be no more."""
        self._is_over = True
        for follower in self._followers:
            follower.end()
        self._followers.clear()
