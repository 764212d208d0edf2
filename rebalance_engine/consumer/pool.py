"""A thread pool: so many pieces of code run at once, the others wait their turn.

Source: ``ThreadPoolExecutor`` as ``ConsumeMessageConcurrentlyService.java`` makes it, with a queue without a bound.
"""

from __future__ import annotations

from collections import deque

from rebalance_engine.consumer.threads import Bell, Code, Listen, Scheduler


class Pool:
    """So many threads; a stopped pool begins nothing more."""

    def __init__(self, scheduler: Scheduler, size: int) -> None:
        self._scheduler = scheduler
        self._size = size
        self._busy = 0
        self._queue: deque[Code[None]] = deque()
        self._free = Bell()
        self.is_stopped = False

    @property
    def waiting(self) -> int:
        """How many pieces of code wait for a thread."""
        return len(self._queue)

    @property
    def busy(self) -> int:
        """How many threads have something to do."""
        return self._busy

    def submit(self, code: Code[None]) -> None:
        """Run code in the next free thread; a stopped pool refuses it."""
        if self.is_stopped:
            code.close()
        elif self._busy < self._size:
            self._busy += 1
            self._scheduler.spawn(code, self._next)
        else:
            self._queue.append(code)

    def stop(self) -> None:
        """Begin nothing more; what runs goes on."""
        self.is_stopped = True
        self._queue.clear()

    def join(self) -> Code[None]:
        """Wait until nothing runs any more in a pool that is stopped."""
        while self._busy:
            yield Listen(self._free)

    def _next(self) -> None:
        if self._queue:
            self._scheduler.spawn(self._queue.popleft(), self._next)
        else:
            self._busy -= 1
            self._scheduler.ring(self._free)

    def check(self) -> None:
        """Assert what always holds."""
        assert 0 <= self._busy <= self._size, f"{self._busy} of {self._size} threads are busy"
        assert self._busy == self._size or not self._queue, f"{len(self._queue)} wait, {self._busy} are busy"
