"""Waiting for one's turn within a budget.

Whoever waits for a bound of its own code never stands in the way of other codes: each code has its queue. Places are
given in order within a queue, and from queue to queue by turns.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from rebalance_engine.effects import Address, Failure
from rebalance_engine.network.budget import Budget
from rebalance_engine.network.link import NoAnswer

MOST_WAITING = 10_000  # at one address; whoever collects from ten thousand clients waits for some of them first


class NotAsked(NoAnswer):
    """Nothing was sent: the budget, a circuit breaker or a deadline forbade it; the detail says which."""

    def __init__(self, address: Address, detail: str) -> None:
        super().__init__(Failure.TIMEOUT, address, f"not asked: {detail}")
        self.args = (f"{address}: {self.detail}",)  # nothing was awaited that did not come in time


class Gate:
    """The way to one address.

    Args:
        budget: what may pass; this gate alone calls its ``begin`` and ``end``.
        clock: seconds, by the clock that the budget was begun with; the clock of the loop.
    """

    def __init__(self, address: Address, budget: Budget, clock: Callable[[], float]) -> None:
        self._address = address
        self.budget = budget
        self._clock = clock
        self._queues: dict[int, deque[asyncio.Future[None]]] = {}
        self._timer: asyncio.TimerHandle | None = None

    async def enter(self, code: int, deadline: float) -> None:
        """Wait until a request of this code may begin; it has begun then, and ``leave`` must follow.

        Raises:
            NotAsked: the deadline (by the clock) comes first, or too many wait.
        """
        if self.waiting >= MOST_WAITING:
            raise NotAsked(self._address, f"{self.waiting} requests wait already")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(code, deque()).append(turn)
        self._pump()
        try:
            await asyncio.wait((turn,), timeout=max(0.0, deadline - self._clock()))
        except asyncio.CancelledError:
            if turn.done():
                self.leave(code)
            else:
                self._forget(code, turn)
            raise
        if not turn.done():
            self._forget(code, turn)
            raise NotAsked(self._address, f"the budget for code {code} gave no turn before the deadline")

    def leave(self, code: int) -> None:
        """Say that a request is no longer under way."""
        self.budget.end(code)
        self._pump()

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return sum(map(len, self._queues.values()))

    def close(self) -> None:
        """Give nobody a turn any more; who waits runs into the deadline."""
        if self._timer is not None:
            self._timer.cancel()
        self._queues.clear()

    def _forget(self, code: int, turn: asyncio.Future[None]) -> None:
        queue = self._queues.get(code, deque())
        if turn in queue:
            queue.remove(turn)

    def _pump(self) -> None:
        """Give all turns that can be given, and come again when the next one can be."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        given = True
        while given:
            turns = [self._give_turn(code) for code in tuple(self._queues)]  # each queue gets its own
            given = any(turns)
        waits = [self.budget.wait_s(code, self._clock()) for code in self._queues]
        times = [wait for wait in waits if wait is not None]
        if times:
            # a wait that rounds to nothing must still let the clock move
            self._timer = asyncio.get_running_loop().call_later(max(min(times), 0.001), self._pump)

    def _give_turn(self, code: int) -> bool:
        queue = self._queues[code]
        if not queue:
            del self._queues[code]
            return False
        if self.budget.wait_s(code, self._clock()) != 0:
            return False
        self.budget.begin(code, self._clock())
        queue.popleft().set_result(None)
        return True
