"""Messages that wait for a loop: it takes them one by one, and says of each what became of it."""

from __future__ import annotations

import asyncio
from collections import deque

from rebalance_engine.consumer import Consumed, Deliver, Result
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.hands import Answer, Finish, Hands, consumed
from rebalance_engine.network.received import ReceivedMessage

BREATH_EVERY = 64  # messages of a loop that never waits, after which others have their turn


class Delivery:
    """One message in the hands of a loop."""

    __slots__ = ("_inbox", "_token", "is_settled", "message", "task")

    def __init__(self, inbox: Inbox, deliver: Deliver) -> None:
        self._inbox = inbox
        self._token = deliver.token
        self.is_settled = False
        self.task = asyncio.current_task()
        self.message = ReceivedMessage(deliver.queue, deliver.messages[0], self.settle)

    def settle(self, answer: Answer) -> None:
        """Say what became of it; only the first answer counts."""
        if not self.is_settled:
            self.is_settled = True
            self._inbox.settled(consumed(self._token, answer))


class Inbox(Hands):
    """Messages that wait for a loop to ask for them."""

    def __init__(self, finish: Finish) -> None:
        super().__init__(finish)
        self._waiting: deque[Deliver] = deque()
        self._has_more = asyncio.Event()
        self._error: Exception | None = None
        self._given: dict[int, Delivery] = {}
        self._since_breath = 0

    def take(self, deliver: Deliver) -> None:
        """Keep it until a loop asks."""
        self._waiting.append(deliver)
        self._has_more.set()

    async def next(self) -> Delivery:
        """Give the next message.

        Raises:
            StopAsyncIteration: the consumer is closing.
            MachineBroke: the consumer cannot go on.
        """
        self._since_breath += 1
        if self._since_breath >= BREATH_EVERY:
            self._since_breath = 0
            await asyncio.sleep(0)
        while not self._waiting or self._is_stopped:
            if self._error is not None:
                raise self._error
            if self._is_stopped:
                raise StopAsyncIteration
            self._has_more.clear()
            self._since_breath = 0
            await self._has_more.wait()
        deliver = self._waiting.popleft()
        delivery = Delivery(self, deliver)
        self._begin(deliver.token)
        self._given[deliver.token] = delivery
        return delivery

    def settled(self, consumed: Consumed) -> None:
        """Hear what became of a message."""
        self._given.pop(consumed.token, None)
        self._end(consumed)

    def dropped(self, queue: MessageQueue) -> None:
        """Forget what nobody asked for yet; the queue's next owner has it."""
        gone = [deliver for deliver in self._waiting if deliver.queue == queue]
        if gone:
            self._waiting = deque(deliver for deliver in self._waiting if deliver.queue != queue)
            for deliver in gone:
                self._finish(Consumed(token=deliver.token, result=Result.LATER))

    def stop(self) -> None:
        """Let loops end; what the calling task has in hand it has left behind, and nobody waits for it."""
        super().stop()
        self._has_more.set()
        caller = asyncio.current_task()
        for token, delivery in tuple(self._given.items()):
            if delivery.task is caller:
                del self._given[token]
                self._leave(token)

    def fail(self, error: Exception) -> None:
        """Let loops raise it."""
        self._error = error
        self._is_stopped = True
        self._has_more.set()
