"""Consumers and producers for programs without asyncio; an event loop of their own runs in a thread.

    with SyncProducer("127.0.0.1:9876") as producer:
        producer.send(Message(topic="orders", body=b"..."))

    with SyncConsumer("127.0.0.1:9876", "billing", "orders") as consumer:
        for message in consumer:
            book(message.body)

The calls mean what the asynchronous ones mean, and may come from any thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from rebalance_engine.effects import Address
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.consumer import Consumer
from rebalance_engine.network.hands import BatchListener, Listener
from rebalance_engine.network.options import ConsumerOptions, ProducerOptions, Topics
from rebalance_engine.network.outgoing import Message
from rebalance_engine.network.process import Closed
from rebalance_engine.network.producer import DEFAULT_GROUP, Producer
from rebalance_engine.network.received import ReceivedMessage
from rebalance_engine.network.sending import SendResult
from rebalance_engine.producer import Choice
from rebalance_engine.producer.selectors import Selector

T = TypeVar("T")


class LoopThread:
    """An event loop in a daemon thread, for one consumer or producer."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there and wait for it; when the wait is interrupted, it is cancelled.

        Raises:
            Closed: the thread has ended.
        """
        if not self._thread.is_alive():
            coroutine.close()
            raise Closed("it is closed; make another one")
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        finally:
            future.cancel()

    def call(self, function: Callable[..., T], *arguments: object) -> T:
        """Call a function there and give what it gives."""

        async def call() -> T:
            return function(*arguments)

        return self.run(call())

    def close(self) -> None:
        """End the loop and its thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


class SyncConsumer:
    """A :class:`~rebalance_engine.network.consumer.Consumer` without asyncio; its arguments are the same."""

    def __init__(
        self,
        name_servers: str | Sequence[Address],
        group: str,
        topics: Topics,
        listener: Listener | None = None,
        *,
        batch_listener: BatchListener | None = None,
        **options: Unpack[ConsumerOptions],
    ) -> None:
        def make() -> Consumer:
            return Consumer(name_servers, group, topics, listener, batch_listener=batch_listener, **options)

        self._thread = LoopThread(f"consumer {group}")
        self._consumer = _made(self._thread, make)

    def start(self) -> None:
        """Join the group; see the asynchronous form for what may be raised."""
        self._thread.run(self._consumer.start())

    def close(self, drain_s: float | None = None) -> None:
        """Leave the group in order; closing twice does nothing."""
        try:
            self._thread.run(self._consumer.close(drain_s))
        except Closed:
            return
        finally:
            self._thread.close()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self._thread.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[ReceivedMessage]:
        """Loop over messages until the consumer is closed; each is consumed when the loop asks for the next one."""
        messages = self._thread.call(self._consumer.__aiter__)
        while True:
            message = self._thread.run(_next(messages))
            if message is None:
                return
            yield message

    def wait(self) -> None:
        """Wait until it is closed, by another thread."""
        self._thread.run(self._consumer.wait())

    @property
    def client_id(self) -> str:
        """What brokers know it by, ``ip@instance``."""
        return self._consumer.client_id

    @property
    def held(self) -> tuple[MessageQueue, ...]:
        """The queues that it holds now, sorted; those of its retry topic are left out."""
        return self._thread.call(lambda: self._consumer.held)

    def suspend(self) -> None:
        """Stop pulling; what was pulled is consumed, and the queues are kept."""
        self._thread.call(self._consumer.suspend)

    def resume(self) -> None:
        """Pull again, after a rebalance at once."""
        self._thread.call(self._consumer.resume)


class SyncProducer:
    """A :class:`~rebalance_engine.network.producer.Producer` without asyncio; its arguments are the same."""

    def __init__(
        self, name_servers: str | Sequence[Address], group: str = DEFAULT_GROUP, **options: Unpack[ProducerOptions]
    ) -> None:
        self._thread = LoopThread(f"producer {group}")
        self._producer = _made(self._thread, lambda: Producer(name_servers, group, **options))

    def start(self) -> None:
        """Begin; see the asynchronous form for what may be raised."""
        self._thread.run(self._producer.start())

    def close(self, drain_s: float | None = None) -> None:
        """Wait for what is under way, and close; closing twice does nothing."""
        try:
            self._thread.run(self._producer.close(drain_s))
        except Closed:
            return
        finally:
            self._thread.close()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self._thread.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def send(
        self,
        message: Message,
        *,
        queue: MessageQueue | None = None,
        selector: Selector | None = None,
        timeout_ms: int | None = None,
    ) -> SendResult:
        """Send a message and wait until it is stored."""
        return self._thread.run(self._producer.send(message, queue=queue, selector=selector, timeout_ms=timeout_ms))

    def send_batch(
        self, messages: Iterable[Message], *, queue: MessageQueue | None = None, timeout_ms: int | None = None
    ) -> SendResult:
        """Send messages of one topic together, into one queue."""
        return self._thread.run(self._producer.send_batch(messages, queue=queue, timeout_ms=timeout_ms))

    def send_oneway(
        self, message: Message, *, queue: MessageQueue | None = None, selector: Selector | None = None
    ) -> str:
        """Send a message without waiting for an answer, and give its id."""
        return self._thread.run(self._producer.send_oneway(message, queue=queue, selector=selector))

    def explain(self, topic: str) -> Choice:
        """Say which queue the next message to a topic would go to, and why."""
        return self._thread.call(self._producer.explain, topic)

    @property
    def client_id(self) -> str:
        """What brokers know it by, ``ip@instance``."""
        return self._producer.client_id


def _made(thread: LoopThread, make: Callable[[], T]) -> T:
    """Make something in the loop, and end the loop if that fails."""
    try:
        return thread.call(make)
    except BaseException:
        thread.close()
        raise


async def _next(messages: AsyncIterator[ReceivedMessage]) -> ReceivedMessage | None:
    try:
        return await anext(messages)
    except StopAsyncIteration:
        return None
