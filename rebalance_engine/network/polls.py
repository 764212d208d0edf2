"""The polls of a polling consumer: one after the other, each in its own time, and none counts before it has given.

Java gives messages and notes them as polled in one step (``DefaultLitePullConsumerImpl.poll``, ``synchronized``). A
coroutine can be cancelled in between: what it was to get is kept for the next one, and until then no commit counts it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from rebalance_engine.consumer import Polled
from rebalance_engine.consumer.polling import Polling, Position
from rebalance_engine.model import MessageQueue


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the machine gave and no poll has returned yet; ``after`` is where the queue is once one has."""

    polled: Polled
    position: Position
    after: int | None


class Polls:
    """The polls of one consumer.

    Args:
        polling: gives what the machine knows of the assigned queues.
        order: lets the machine poll for so many ms.
        commit: lets the machine note what was polled if it is time; for a poll for which none is ordered.
    """

    def __init__(
        self, polling: Callable[[], Polling], order: Callable[[int], None], commit: Callable[[], None]
    ) -> None:
        self._polling = polling
        self._order = order
        self._commit = commit
        self._turn = asyncio.Lock()
        self._asked: asyncio.Future[None] | None = None  # the machine is at a poll
        self._before: dict[Position, int | None] = {}  # where each queue was when it began
        self._kept: _Kept | None = None
        self._is_over = False
        self._failure: Exception | None = None

    async def next(self, timeout_s: float) -> Polled | None:
        """Give what comes next, and count it as polled; None: nothing came in time.

        Raises:
            Closed, MachineBroke: the consumer is not running.
        """
        until = asyncio.get_running_loop().time() + timeout_s
        try:
            async with asyncio.timeout_at(until):
                await self._turn.acquire()
        except TimeoutError:
            return None
        try:
            return await self._next(until)
        finally:
            self._turn.release()

    async def _next(self, until: float) -> Polled | None:
        now = asyncio.get_running_loop().time
        if (self._asked is not None or self._kept is not None) and not self._is_over:
            self._commit()  # Java does at each poll, and the one that was cancelled may wait for an hour yet
        if self._asked is not None:  # a cancelled poll has; it may have longer than this one
            await asyncio.wait((self._asked,), timeout=max(0.0, until - now()))
            if self._asked is not None:
                return None
        given = self._give()
        if given is None and not self._is_over:
            await asyncio.wait((self._ask(max(0, round((until - now()) * 1_000))),))
            given = self._give()
        if self._failure is not None:
            raise self._failure
        return given

    def _ask(self, timeout_ms: int) -> asyncio.Future[None]:
        asked = asyncio.get_running_loop().create_future()
        self._before = {
            each: each.consumed if each.sought is None else each.sought for each in self._polling().positions.values()
        }
        self._asked = asked
        try:
            self._order(timeout_ms)
        except BaseException:
            self._asked = None
            raise
        return asked

    def take(self, polled: Polled) -> None:
        """Take what the machine gives; it counts as polled only once a poll has returned it."""
        position = None if polled.queue is None else self._polling().positions.get(polled.queue)
        if position is not None:
            self._kept = _Kept(polled, position, position.consumed)
            position.consumed = self._before.get(position)
        self._wake()

    def _give(self) -> Polled | None:
        kept, self._kept = self._kept, None
        if kept is None or kept.polled.queue is None:
            return None
        position = kept.position
        if self._polling().positions.get(kept.polled.queue) is not position or position.pq.is_dropped:
            return None  # it was sought elsewhere meanwhile, or is somebody else's: Java polls such messages no more
        position.consumed = kept.after
        return kept.polled

    def sought(self, queue: MessageQueue, offset: int) -> None:
        """Note that the application goes on elsewhere."""
        self._before[self._polling().positions[queue]] = offset

    def end(self, failure: Exception | None = None) -> None:
        """Give nothing more to a poll that waits, or raise what keeps the machine from it."""
        self._is_over, self._failure, self._kept = True, failure, None
        self._wake()

    def _wake(self) -> None:
        asked, self._asked = self._asked, None
        if asked is not None and not asked.done():
            asked.set_result(None)
