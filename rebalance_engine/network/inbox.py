"""Messages that wait for a loop: it takes them one by one, and says of each what became of it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import weakref
from collections import deque
from collections.abc import AsyncIterator

from rebalance_engine.consumer import Consumed, Deliver, Result
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.hands import Answer, Finish, Hands, consumed
from rebalance_engine.network.received import ReceivedMessage, Retry

logger = logging.getLogger(__name__)

BREATH_EVERY = 64  # messages of a loop that never waits, after which others have their turn


class Delivery:
    """One message in the hands of a loop; it is given back once nobody can say any more what became of it.

    Args:
        owner: who asked, a task or a thread.
    """

    __slots__ = ("_inbox", "_message", "_token", "is_settled", "owner")

    def __init__(self, inbox: Inbox, deliver: Deliver, owner: object) -> None:
        self._inbox = inbox
        self._token = deliver.token
        self._message: weakref.ref[ReceivedMessage] | None = None
        self.is_settled = False
        self.owner = owner

    def watch(self, message: ReceivedMessage) -> None:
        """Hear when the application has forgotten the message, in whatever thread that is."""
        inbox = self._inbox
        self._message = weakref.ref(message, lambda _: inbox.forgotten(self))

    def settle(self, answer: Answer) -> None:
        """Say what became of it; only the first answer counts."""
        if not self.is_settled:
            self.is_settled = True
            self._message = None
            self._inbox.settled(consumed(self._token, answer))


class Inbox(Hands):
    """Messages that wait for a loop to ask for them."""

    def __init__(self, finish: Finish) -> None:
        super().__init__(finish)
        self._waiting: deque[Deliver] = deque()
        self._has_more = asyncio.Event()
        self._error: Exception | None = None
        self._given: dict[int, Delivery] = {}
        self._left: deque[Delivery] = deque()  # by loops that are no more
        self._loop = asyncio.get_running_loop()
        self._since_breath = 0

    def take(self, deliver: Deliver) -> None:
        """Keep it until a loop asks."""
        self._waiting.append(deliver)
        self._has_more.set()

    async def next(self, owner: object = None) -> tuple[Delivery, ReceivedMessage]:
        """Give the next message. What a loop has left that asked for the same owner is given back before.

        Args:
            owner: who asks; None: the calling task.

        Raises:
            StopAsyncIteration: the consumer is closing.
            MachineBroke: the consumer cannot go on.
        """
        owner = owner or asyncio.current_task()
        for delivery in [one for one in self._left if one.is_settled or one.owner is owner]:
            self._left.remove(delivery)
            self._give_back(delivery)
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
        delivery = Delivery(self, deliver, owner)
        message = ReceivedMessage(deliver.queue, deliver.messages[0], delivery.settle)
        delivery.watch(message)
        self._begin(deliver.token)
        self._given[deliver.token] = delivery
        return delivery, message

    def left(self, delivery: Delivery) -> None:
        """Hear, from whatever thread, that the loop is no more that has a message, which may be settled yet."""
        self._left.append(delivery)

    def forgotten(self, delivery: Delivery) -> None:
        """Hear, from whatever thread, that nobody has a message any more."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for the message any more
            self._loop.call_soon_threadsafe(self._give_back, delivery)

    def _give_back(self, delivery: Delivery) -> None:
        """Let a message come again, unless a close does that already."""
        if not delivery.is_settled and not self._is_stopped:
            logger.warning("a loop was left with a message that nobody settled; it comes again")
            delivery.settle(Retry())

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
            if delivery.owner is caller:
                del self._given[token]
                self._leave(token)

    def fail(self, error: Exception) -> None:
        """Let loops raise it."""
        self._error = error
        self._is_stopped = True
        self._has_more.set()


class Loop(AsyncIterator[ReceivedMessage]):
    """One loop over a consumer's messages.

    Attributes:
        owner: who asks for messages; None: the task that does.
    """

    def __init__(self, inbox: Inbox) -> None:
        self.owner: object = None
        self._inbox = inbox
        self._given: tuple[Delivery, ReceivedMessage] | None = None  # kept, or the message would count as forgotten

    async def __anext__(self) -> ReceivedMessage:
        if self._given is not None:
            self._given[0].settle(None)
            self._given = None
        self._given = await self._inbox.next(self.owner)
        return self._given[1]

    def __del__(self) -> None:
        if self._given is not None and not self._given[0].is_settled:
            self._inbox.left(self._given[0])
