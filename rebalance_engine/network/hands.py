"""The hands of the application: who gets what the machine delivers, and says when it is consumed.

    Hands            counts what is in hand, so that a close can wait for it
    +-- Inbox        a loop over messages takes them one by one (inbox.py)
    +-- TaskHands    an async listener, one task a batch
    +-- ThreadHands  a plain function, in threads of its own

As many batches are in hand at a time as the consumer has threads; more the machine does not deliver.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, cast

from rebalance_engine.consumer import Consumed, Deliver, Result
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.received import ReceivedMessage, Retry
from rebalance_engine.network.rules import is_async

logger = logging.getLogger(__name__)

Answer = Retry | None
Listener = Callable[[ReceivedMessage], Answer | Awaitable[Answer]]
BatchListener = Callable[[Sequence[ReceivedMessage]], Answer | Awaitable[Answer]]
Finish = Callable[[Consumed], None]

_OWN: ContextVar[tuple[object, int]] = ContextVar("what a thread has in hand", default=(None, 0))


class Hands(ABC):
    """Takes what is delivered, and says what became of it.

    Args:
        finish: lets the machine hear it.
    """

    def __init__(self, finish: Finish) -> None:
        self._finish = finish
        self._in_hand: set[int] = set()
        self._is_stopped = False
        self._changed = asyncio.Event()

    @property
    def in_hand(self) -> int:
        """How many batches the application works on."""
        return len(self._in_hand)

    @abstractmethod
    def take(self, deliver: Deliver) -> None:
        """Take a batch."""

    def dropped(self, queue: MessageQueue) -> None:  # noqa: B027  # who keeps nothing waiting has nothing to do
        """Hear that a queue is not ours any more; what the application has in hand it may finish."""

    def stop(self) -> None:
        """Let the application begin nothing more; what the caller himself has in hand, nobody waits for."""
        self._is_stopped = True

    def _leave(self, token: int) -> None:
        """Count as not in hand what a listener has that waits for the end itself: it would wait for itself."""
        self._in_hand.discard(token)
        self._changed.set()

    async def idle(self, timeout_s: float) -> bool:
        """Wait until nothing is in hand, for so long at most; say whether it is so."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self._in_hand:
                    self._changed.clear()
                    await self._changed.wait()
        return not self._in_hand

    def fail(self, error: Exception) -> None:  # noqa: B027  # only who waits for messages must know
        """Hear that the machine is broken."""

    async def close(self) -> None:
        """Give up what is in hand still."""
        self._in_hand.clear()

    def _begin(self, token: int) -> None:
        self._in_hand.add(token)

    def _end(self, consumed: Consumed) -> None:
        self._in_hand.discard(consumed.token)
        self._changed.set()
        self._finish(consumed)


def consumed(token: int, answer: object) -> Consumed:
    """Read a listener's answer; one that nobody understands is logged, and counts as a failure."""
    if answer is None:
        return Consumed(token=token)
    if not isinstance(answer, Retry):
        logger.error("the listener answered %r; needed is None or a Retry. The message comes again", answer)
        return Consumed(token=token, result=Result.LATER)
    if answer.done > 0:
        result, done = Result.SUCCESS, answer.done
    else:
        result, done = Result.LATER, None
    level, pause = answer.delay_level, answer.suspend_ms
    return Consumed(token=token, result=result, done=done, delay_level=level, suspend_ms=pause)


def received(deliver: Deliver) -> tuple[ReceivedMessage, ...]:
    """Make of a batch what the application gets."""
    return tuple(ReceivedMessage(deliver.queue, message) for message in deliver.messages)


class TaskHands(Hands):
    """An async listener."""

    def __init__(self, finish: Finish, listener: BatchListener) -> None:
        super().__init__(finish)
        self._listener = cast("Callable[[Sequence[ReceivedMessage]], Coroutine[Any, Any, Answer]]", listener)
        self._tasks: dict[asyncio.Task[None], int] = {}
        self._closing: set[asyncio.Task[None]] = set()  # listeners that wait for the end
        self._is_over = False

    def take(self, deliver: Deliver) -> None:
        """Begin with it at once."""
        if self._is_stopped:
            return
        self._begin(deliver.token)
        task = asyncio.get_running_loop().create_task(self._consume(deliver), name=f"consume {deliver.token}")
        self._tasks[task] = deliver.token
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        del self._tasks[task]
        if not task.cancelled():
            task.exception()  # one that is meant for the program has reached it

    def stop(self) -> None:
        """Begin nothing more; a listener that calls this goes on, and its message comes again."""
        super().stop()
        caller = asyncio.current_task()
        if caller is not None and caller in self._tasks:
            self._closing.add(caller)
            self._leave(self._tasks[caller])

    async def _consume(self, deliver: Deliver) -> None:
        try:
            result = consumed(deliver.token, await self._listener(received(deliver)))
        except (KeyboardInterrupt, SystemExit) as error:
            self._end(_raised(deliver, error))
            raise  # it is meant for the program
        except BaseException as error:  # whatever a listener raises, the message comes again
            if self._is_over:
                raise  # we cancelled it
            result = _raised(deliver, error)
        self._end(result)

    async def close(self) -> None:
        """Cancel what is in hand still, but for who waits for this."""
        self._is_over = True
        tasks = tuple(self._tasks.keys() - self._closing)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await super().close()


class ThreadHands(Hands):
    """A listener that blocks, in as many threads as the consumer has.

    Results of many threads come back to the loop together, so that a busy loop is woken once for all of them.
    """

    def __init__(self, finish: Finish, listener: BatchListener, threads: int) -> None:
        super().__init__(finish)
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="consume")
        self._results: deque[Consumed] = deque()
        self._is_woken = False

    def take(self, deliver: Deliver) -> None:
        """Begin with it as soon as a thread is free."""
        if self._is_stopped:
            return
        self._begin(deliver.token)
        self._executor.submit(self._consume, deliver)

    def stop(self) -> None:
        """Begin nothing more; a listener that calls this from its thread goes on, and its message comes again."""
        super().stop()
        hands, token = _OWN.get()
        if hands is self:
            self._leave(token)

    def _consume(self, deliver: Deliver) -> None:
        _OWN.set((self, deliver.token))  # a coroutine that the listener hands to the loop takes it along
        try:
            result = consumed(deliver.token, self._listener(received(deliver)))
        except BaseException as error:  # noqa: BLE001  # whatever a listener raises, the message comes again
            result = _raised(deliver, error)
        self._results.append(result)
        if not self._is_woken:
            self._is_woken = True
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for the result any more
                self._loop.call_soon_threadsafe(self._collect)

    def _collect(self) -> None:
        self._is_woken = False  # first: whoever comes after this wakes us again
        while self._results:
            self._end(self._results.popleft())

    async def close(self) -> None:
        """Let threads end by themselves; what did not begin does not."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        await super().close()


def _raised(deliver: Deliver, error: BaseException) -> Consumed:
    first = deliver.messages[0]
    words = "the listener raised on %s of %s at offset %s; it comes again"
    logger.error(words, first.message_id, deliver.queue, first.offset, exc_info=error)
    return Consumed(token=deliver.token, result=Result.LATER)


def one_by_one(listener: Listener) -> BatchListener:
    """Make a batch listener of one that takes a message."""
    if is_async(listener):

        async def consume_async(messages: Sequence[ReceivedMessage]) -> Answer:
            return await cast("Awaitable[Answer]", listener(messages[0]))

        return consume_async
    return lambda messages: listener(messages[0])
