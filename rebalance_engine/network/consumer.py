"""A consumer of a RocketMQ group, as Java's ``DefaultMQPushConsumer`` is one, for any Python program.

    async with Consumer("127.0.0.1:9876", "billing", "orders") as consumer:
        async for message in consumer:
            await book(message.body)

A message counts as consumed when the loop asks for the next one. What the loop does not finish comes again, to this
consumer or another one of the group. With a listener instead of a loop, up to ``threads`` messages are in hand at once:

    async def book(message: ReceivedMessage) -> Retry | None: ...

    async with Consumer("127.0.0.1:9876", "billing", "orders", book, orderly=True) as consumer:
        await consumer.wait()

What it takes, drops, pulls and is refused, it states as facts, with the times at which it happened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self, Unpack

from rebalance_engine.consumer import Consumed, Deliver, Mode, Result, Resume, Subscribe, Suspend, Unsubscribe
from rebalance_engine.effects import Address
from rebalance_engine.events import Fact, QueueDropped
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.checking import check_call, check_listener, check_options, check_seconds
from rebalance_engine.network.driver import MachineBroke
from rebalance_engine.network.facts import MOST_KEPT, Following
from rebalance_engine.network.hands import (
    BatchListener,
    Hands,
    Listener,
    TaskHands,
    ThreadHands,
    one_by_one,
)
from rebalance_engine.network.inbox import Inbox, Loop
from rebalance_engine.network.membership import Membership, group_settings
from rebalance_engine.network.options import DRAIN_S, ConsumerOptions, Topics, topics_of
from rebalance_engine.network.outgoing import check_topic
from rebalance_engine.network.process import Closed, Process
from rebalance_engine.network.reporter import reporter_of
from rebalance_engine.network.rewriting import name_servers_of
from rebalance_engine.network.rules import is_async
from rebalance_engine.remoting.bodies.clients import SUBSCRIBE_ALL
from rebalance_engine.remoting.tags import subscription


class Consumer:
    """One consumer of one group, from ``start`` to ``close``, or inside of ``async with``. It is started once.

    Args:
        name_servers: ``host:port;host:port``, or a list.
        group: its group.
        topics: one topic, several, or topic -> expression (tags like ``A || B``, or an ``Sql``).
        listener: consumes a message, as a coroutine or as a plain function, which then runs in a thread. It answers
            None, or a ``Retry``; what it raises is logged, and the message comes again. Without a listener loop over
            the consumer.
        batch_listener: consumes up to ``batch`` messages of one queue at a time.
        options: see :class:`~rebalance_engine.network.options.ConsumerOptions`.

    Raises:
        TypeError: there is no such option, or something is of another kind.
        ValueError: a name, an address or an option makes no sense; an unknown strategy too.
    """

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
        options = check_options(options, ConsumerOptions)
        check_listener("listener", listener)
        check_listener("batch_listener", batch_listener)
        self._name_servers = name_servers_of(name_servers)
        self._options = options
        self._process = Process(
            f"consumer of group {group!r}",
            network=options.get("network"),
            on_fact=options.get("on_fact"),
            reporter=lambda complaints: reporter_of(options, group, complaints),
            on_own_fact=self._on_fact,
            on_broke=self._on_broke,
        )
        self._settings = group_settings(group, _some(topics_of(topics)), Mode.PUSH, options, self._process.complaints)
        self._listener = _listener(listener, batch_listener, self._settings.batch)
        self._membership: Membership | None = None
        self._hands: Hands | None = None
        self._closing: asyncio.Task[None] | None = None
        self._ended = asyncio.Event()

    # ---- its life ----

    async def start(self) -> None:
        """Join the group.

        Raises:
            OSError: a file of the TLS settings is not what it should be.
            SubscriptionRefused: a broker does not understand an SQL expression.
            Closed: it was closed meanwhile.
            RuntimeError: it was started before.
        """
        if self._membership is not None:
            raise RuntimeError(f"the {self._process.name} was started before; make another one")
        membership = Membership(self._name_servers, self._settings, self._options, self._process)
        self._membership = membership
        if self._listener is None:
            self._hands = Inbox(self._consumed)
        elif is_async(self._listener):
            self._hands = TaskHands(self._consumed, self._listener)
        else:
            self._hands = ThreadHands(self._consumed, self._listener, self._settings.threads)
        await membership.start({Deliver: self._hands.take})

    async def close(self, drain_s: float | None = None) -> None:
        """Leave the group in order: finish what is in hand, store the offsets, unlock, unregister.

        Args:
            drain_s: how long to wait for what is in hand; by default the option of this name. What is not finished by
                then comes again, elsewhere. So does what a listener or a loop has in hand that calls this itself.

        Raises:
            TypeError, ValueError: that is no time.
        """
        wait_s = check_seconds("drain_s", drain_s, self._options.get("drain_s", DRAIN_S))
        if self._membership is None or self._hands is None:
            return
        self._hands.stop()  # each time: one listener more may be the caller
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close(self._membership, self._hands, wait_s))
        await asyncio.shield(self._closing)

    async def abandon(self, *, keeps_connections: bool = False) -> None:
        """End as a process does that is killed: nothing is finished, stored or told to anybody.

        For demonstrations and tests: what was in hand comes again, and so does what was consumed but not stored yet.

        Args:
            keeps_connections: end as one that stands still: brokers notice only when its heartbeats are missed.
                To ``abandon`` it once more ends the connections too.

        Raises:
            TypeError: that is neither True nor False.
        """
        check_call(keeps_connections=keeps_connections)
        self._ended.set()
        if self._hands is not None:
            self._hands.stop()
            await self._hands.close()
        await self._process.abandon(keeps_connections=keeps_connections)

    async def _close(self, membership: Membership, hands: Hands, drain_s: float) -> None:
        try:
            membership.drain()
            if self._process.is_open:
                await hands.idle(drain_s)
            await membership.stop()
        finally:
            await hands.close()
            self._ended.set()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def wait(self) -> None:
        """Wait until it is closed, by whomever.

        Raises:
            MachineBroke: it cannot go on.
        """
        await self._ended.wait()
        if self._process.broke is not None:
            raise self._process.broke

    def _on_broke(self, error: MachineBroke) -> None:
        if self._hands is not None:
            self._hands.fail(error)
        self._ended.set()

    def _on_fact(self, fact: Fact) -> None:
        if isinstance(fact, QueueDropped) and self._hands is not None:
            self._hands.dropped(fact.queue)

    # ---- messages ----

    def _consumed(self, consumed: Consumed) -> None:
        """Let the machine hear what became of messages; an answer that means nothing to an orderly one is said once."""
        if self._settings.orderly and consumed.delay_level:
            given = f"Retry(delay_level={consumed.delay_level}) was answered"
            words = f"{given}; an orderly consumer has no levels, and heeds suspend_ms only"
            self._process.complaints.say("delay level", words)
        if self._settings.orderly and consumed.done is not None:
            words = f"Retry(done={consumed.done}) was answered; an orderly consumer gets all of a batch again, or none"
            self._process.complaints.say("done of a batch", words)
            consumed = replace(consumed, result=Result.LATER, done=None)
        self._running.consumed(consumed)

    def __aiter__(self) -> Loop:
        """Loop over messages. Several loops may run at once; each message goes to one of them.

        Raises:
            RuntimeError: there is a listener, or a loop would get batches.
        """
        if self._listener is not None:
            raise RuntimeError(f"the {self._process.name} has a listener; only one without can be looped over")
        if not isinstance(self._hands, Inbox):
            raise Closed(f"the {self._process.name} is not running: it was not started, or it is closed")
        return Loop(self._hands)

    # ---- what it is and holds ----

    @property
    def client_id(self) -> str:
        """What brokers know it by, ``ip@instance``.

        Raises:
            Closed: it was not started.
        """
        return self._running.client_id

    @property
    def group(self) -> str:
        """Its group."""
        return self._settings.group

    @property
    def held(self) -> tuple[MessageQueue, ...]:
        """The queues that it holds now, sorted; those of its retry topic are left out."""
        return self._membership.held() if self._membership is not None else ()

    @property
    def troubles(self) -> tuple[str, ...]:
        """What keeps it from messages now, a sentence each: who does not answer or refuses, which topic is missing."""
        return self._process.complaints.now

    @property
    def past_troubles(self) -> tuple[str, ...]:
        """What was wrong when it was last tried, 10 min ago or more: whether it still would be is not known."""
        return self._process.complaints.past

    async def rebalanced(self) -> None:
        """Wait until no rebalance of its own is under way: what it holds is what the last one ended with."""
        if self._membership is not None:
            await self._membership.between_rounds.wait()

    def facts(self, most_kept: int = MOST_KEPT) -> Following:
        """Follow what it states about itself from now on: takes, drops, first pulls, refusals, locks."""
        return self._process.follow(most_kept)

    @property
    def _running(self) -> Membership:
        if self._membership is None:
            raise Closed(f"the {self._process.name} is not running: it was not started, or it is closed")
        return self._membership

    # ---- what it can be told ----

    def suspend(self) -> None:
        """Stop pulling; what was pulled is consumed, and the queues are kept."""
        self._running.order(Suspend(self.group))

    def resume(self) -> None:
        """Pull again, after a rebalance at once."""
        self._running.order(Resume(self.group))

    def subscribe(self, topic: str, expression: str = SUBSCRIBE_ALL) -> None:
        """Subscribe to one more topic, or to one by another expression.

        Raises:
            TypeError, ValueError: the topic or the expression is none.
            Closed, MachineBroke: it is not running.
        """
        check_topic(topic)
        check_call(expression=expression)
        subscription(topic, expression, version=0)
        running, _ = self._running, self._process.driver  # whatever is not running wants nothing
        self._process.complaints.want(topic)
        running.order(Subscribe(self.group, topic, expression))

    def unsubscribe(self, topic: str) -> None:
        """Give a topic up; its queues go with the next rebalance.

        Raises:
            TypeError, ValueError: it is no topic.
            Closed, MachineBroke: it is not running.
        """
        check_topic(topic)
        self._running.order(Unsubscribe(self.group, topic))
        self._process.complaints.give_up(topic)


def _some(topics: dict[str, str]) -> dict[str, str]:
    if not topics:
        raise ValueError("there are no topics; needed is one at least")
    return topics


def _listener(listener: Listener | None, batch_listener: BatchListener | None, batch: int) -> BatchListener | None:
    if listener is not None and batch_listener is not None:
        raise ValueError("there are a listener and a batch_listener; only one can have the messages")
    if batch_listener is not None:
        return batch_listener
    if batch != 1:
        raise ValueError(f"batch is {batch}; only a batch_listener gets more than one message at a time")
    return None if listener is None else one_by_one(listener)
