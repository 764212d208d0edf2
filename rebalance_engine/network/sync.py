"""Consumers and producers for programs without asyncio; an event loop of their own runs in a thread.

    with SyncProducer("127.0.0.1:9876") as producer:
        producer.send(Message(topic="orders", body=b"..."))

    with SyncConsumer("127.0.0.1:9876", "billing", "orders") as consumer:
        for message in consumer:
            book(message.body)

The calls mean what the asynchronous ones mean, and may come from any thread; ``on_fact`` is called in that of the loop.
Not here are a polling consumer, and what demonstrations need (``abandon``, ``rebalanced``).
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent import futures
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from rebalance_engine.effects import Address
from rebalance_engine.events import Fact
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.checking import check_call
from rebalance_engine.network.consumer import Consumer
from rebalance_engine.network.facts import MOST_KEPT, Following
from rebalance_engine.network.hands import BatchListener, Listener
from rebalance_engine.network.options import ConsumerOptions, ProducerOptions, Topics
from rebalance_engine.network.outgoing import Message
from rebalance_engine.network.process import Closed
from rebalance_engine.network.producer import DEFAULT_GROUP, Producer
from rebalance_engine.network.received import ReceivedMessage
from rebalance_engine.network.sending import SendResult
from rebalance_engine.producer import Choice
from rebalance_engine.producer.selectors import Selector
from rebalance_engine.remoting.bodies.clients import SUBSCRIBE_ALL

logger = logging.getLogger(__name__)

T = TypeVar("T")
OWN_LOOP = "called in its own event loop; an async listener needs Consumer, not SyncConsumer"


class LoopThread:
    """An event loop in a daemon thread, for one consumer or producer."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._run_once():
            pass
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()  # or whoever waits for one in another thread would wait for ever
        if tasks:
            self._loop.run_until_complete(asyncio.wait(tasks))
        self._loop.run_until_complete(asyncio.sleep(0))  # who has just ended tells his thread so in the next turn
        self._loop.close()

    def _run_once(self) -> bool:
        """Run the loop; say whether it is to end."""
        try:
            self._loop.run_forever()
        except (KeyboardInterrupt, SystemExit) as error:
            # what a listener raises ends the program where its loop is the program's; here it would leave a loop that
            # nobody runs, and threads that wait for it
            logger.warning("%r ends nothing in a loop of its own; close the consumer instead", error)
            return self._is_closed
        return True

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there and wait for it; when the wait is interrupted, it is cancelled.

        Raises:
            Closed: the thread has ended, or ends before it is done.
            RuntimeError: it was called in this very thread, which would wait for itself.
        """
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError(OWN_LOOP)
        with self._lock:
            if self._is_closed:
                coroutine.close()
                raise Closed("it is closed; make another one")
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except futures.CancelledError:
            raise Closed("it was closed meanwhile") from None
        finally:
            future.cancel()

    def call(self, function: Callable[..., T], *arguments: object) -> T:
        """Call a function there and give what it gives."""

        async def call() -> T:
            return function(*arguments)

        return self.run(call())

    def close(self) -> None:
        """End the loop and its thread.

        Raises:
            RuntimeError: it was called in this very thread.
        """
        if threading.current_thread() is self._thread:
            raise RuntimeError(OWN_LOOP)
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                with suppress(RuntimeError):  # it ended by itself
                    self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


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
        check_call(drain_s=drain_s)
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
        messages.owner = threading.current_thread()
        return _each(self._thread, messages)

    def facts(self, most_kept: int = MOST_KEPT) -> Iterator[Fact]:
        """Follow what it states about itself from now on, until it is closed."""
        return _facts(self._thread, self._thread.call(lambda: self._consumer.facts(most_kept)))

    def wait(self) -> None:
        """Wait until it is closed, by another thread or a listener."""
        with suppress(Closed):
            self._thread.run(self._consumer.wait())

    @property
    def client_id(self) -> str:
        """What brokers know it by, ``ip@instance``."""
        return self._consumer.client_id

    @property
    def held(self) -> tuple[MessageQueue, ...]:
        """The queues that it holds now, sorted; those of its retry topic are left out."""
        return self._thread.call(lambda: self._consumer.held)

    @property
    def troubles(self) -> tuple[str, ...]:
        """What is wrong now, a sentence each; see the asynchronous form."""
        return self._thread.call(lambda: self._consumer.troubles)

    @property
    def past_troubles(self) -> tuple[str, ...]:
        """What was wrong when it was last tried, long ago; see the asynchronous form."""
        return self._thread.call(lambda: self._consumer.past_troubles)

    def suspend(self) -> None:
        """Stop pulling; what was pulled is consumed, and the queues are kept."""
        self._thread.call(self._consumer.suspend)

    def resume(self) -> None:
        """Pull again, after a rebalance at once."""
        self._thread.call(self._consumer.resume)

    def subscribe(self, topic: str, expression: str = SUBSCRIBE_ALL) -> None:
        """Subscribe to one more topic, or to one by another expression."""
        self._thread.call(self._consumer.subscribe, topic, expression)

    def unsubscribe(self, topic: str) -> None:
        """Give a topic up; its queues go with the next rebalance."""
        self._thread.call(self._consumer.unsubscribe, topic)


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
        check_call(drain_s=drain_s)
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

    def address_of(self, broker: str | None) -> Address | None:
        """Say where a broker's master is, as far as is known."""
        return self._thread.call(lambda: self._producer.address_of(broker))

    def facts(self, most_kept: int = MOST_KEPT) -> Iterator[Fact]:
        """Follow what it states about itself from now on, until it is closed."""
        return _facts(self._thread, self._thread.call(lambda: self._producer.facts(most_kept)))

    @property
    def client_id(self) -> str:
        """What brokers know it by, ``ip@instance``."""
        return self._producer.client_id

    @property
    def troubles(self) -> tuple[str, ...]:
        """What is wrong now, a sentence each; see the asynchronous form."""
        return self._thread.call(lambda: self._producer.troubles)

    @property
    def past_troubles(self) -> tuple[str, ...]:
        """What was wrong when it was last tried, long ago; see the asynchronous form."""
        return self._thread.call(lambda: self._producer.past_troubles)


def _made(thread: LoopThread, make: Callable[[], T]) -> T:
    """Make something in the loop, and end the loop if that fails."""
    try:
        return thread.call(make)
    except BaseException:
        thread.close()
        raise


def _each(thread: LoopThread, things: AsyncIterator[T]) -> Iterator[T]:
    """Give what comes, until there is no more, or the loop has ended."""

    async def following() -> tuple[T] | None:
        try:
            return (await anext(things),)
        except StopAsyncIteration:
            return None

    with suppress(Closed):
        while (one := thread.run(following())) is not None:
            yield one[0]


def _facts(thread: LoopThread, following: Following) -> Iterator[Fact]:
    """Give facts as they come, those that a close had to state too."""
    yield from _each(thread, following)
    yield from following.rest()
