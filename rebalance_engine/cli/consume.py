"""A member of a consumer group on the terminal: JSON lines of what it holds and gets.

    evenkeel consume --namesrv 127.0.0.1:9876 --group billing --topic orders

    {"ms":1767225600000,"saw":"started","client_id":"127.0.0.1@4711#99"}
    {"ms":1767225601042,"saw":"held","queues":["orders/broker-a/0","orders/broker-a/1"]}
    {"ms":1767225601580,"saw":"got","queue":"orders/broker-a/0","offset":7,"body":"..."}
    {"ms":1767225609000,"saw":"stopped"}

SIGTERM and SIGINT make it finish what it has in hand, store its offsets, unlock, and say good-bye; it then ends with 0.
Who reads its lines may be slow: no more messages are taken then, but the queues are kept. If he takes nothing for 4 s
after a signal, it ends without the last lines, with 1 and a word on standard error.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from typing import Protocol

from rebalance_engine.cli import BadArguments
from rebalance_engine.cli.clients import (
    add_cluster_arguments,
    log_troubles,
    name_servers_of,
    network_of,
    run_until_told,
)
from rebalance_engine.cli.lines import MOST, Lines, queue_name, saying
from rebalance_engine.cli.reporting import add_report_argument, check_url
from rebalance_engine.events import Fact, QueueDropped, QueueTaken
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.network.consumer import Consumer
from rebalance_engine.network.driver import MachineBroke
from rebalance_engine.network.filters import SubscriptionRefused
from rebalance_engine.network.options import ConsumerOptions
from rebalance_engine.network.process import Closed
from rebalance_engine.remoting.bodies.clients import ConsumeFromWhere

FROM = {"last": ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, "first": ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET}

PATIENCE_S, MOST_PATIENCE_S = 0.05, 0.8  # for a rebalance that takes queues: first, and while it goes on and on


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """State what the command takes."""
    add_cluster_arguments(parser)
    parser.add_argument("--group", required=True, metavar="G", help="the consumer group")
    parser.add_argument("--topic", required=True, metavar="T[,T]", help="the topics")
    parser.add_argument(
        "--strategy", default="AVG", metavar="S", help="AVG by default; AVG_BY_CIRCLE, CONSISTENT_HASH ..."
    )
    parser.add_argument(
        "--strategy-param",
        action="append",
        default=[],
        metavar="NAME=JSON",
        help="""of the strategy: 'virtual_nodes=20', 'consumer_idcs=["hz"]', 'config={"10.0.0.5@7":["T/B/0"]}' ...""",
    )
    parser.add_argument("--orderly", action="store_true", help="one message of a queue at a time, under its lock")
    parser.add_argument("--broadcasting", action="store_true", help="get the messages of all queues")
    parser.add_argument("--name", metavar="N", help="makes the client id ip@N; by default that of a new process")
    parser.add_argument("--from", dest="begin", choices=FROM, default="last", help="where a new group begins")
    add_report_argument(parser, "tell a control room what it takes and drops, exactly")
    parser.add_argument("--version", default="5.3.3", metavar="V", help="of the Java client whose behaviour is wanted")


def run(asked: argparse.Namespace) -> int:
    """Consume until told to stop."""
    changes = Changes()
    consumer = _consumer(asked, changes)
    log_troubles()
    return run_until_told(lambda stop: saying(lambda lines: _consume(consumer, changes, lines, stop)))


def _consumer(asked: argparse.Namespace, changes: Changes) -> Consumer:
    options: ConsumerOptions = {
        "strategy": asked.strategy,
        "strategy_params": _parameters(asked.strategy_param),
        "orderly": asked.orderly,
        "model": MessageModel.BROADCASTING if asked.broadcasting else MessageModel.CLUSTERING,
        "from_where": FROM[asked.begin],
        "version": asked.version,
        "network": network_of(asked),
        "on_fact": changes.note,
    }
    if asked.report is not None:
        check_url(asked.report)
        options["report_url"] = asked.report
    if asked.name is not None:
        options["instance"] = asked.name
    topics = [topic for topic in asked.topic.split(",") if topic]
    if not topics or asked.name == "":
        raise BadArguments(f"the topics are {asked.topic!r}, the name is {asked.name!r}; neither can be empty")
    try:
        return Consumer(name_servers_of(asked), asked.group, topics, **options)
    except ValueError as error:
        raise BadArguments(str(error)) from error


def _parameters(words: Sequence[str]) -> dict[str, object]:
    parameters: dict[str, object] = {}
    for word in words:
        name, _, text = word.partition("=")
        try:
            parameters[name] = json.loads(text)
        except ValueError as error:
            raise BadArguments(f"--strategy-param {word!r}: {error}; needed is NAME=JSON") from error
    if isinstance(config := parameters.get("config"), dict):
        parameters["config"] = {client: list(map(_queue, queues)) for client, queues in config.items()}
    return parameters


def _queue(name: object) -> MessageQueue:
    topic, _, rest = str(name).partition("/")
    broker, _, number = rest.rpartition("/")
    if not (topic and broker and number.isascii() and number.isdigit()):
        raise BadArguments(f"--strategy-param config has the queue {name!r}; needed is topic/broker/id")
    return MessageQueue(topic, broker, int(number))


class Member(Protocol):
    """Who takes and drops queues: a ``Consumer``."""

    @property
    def held(self) -> tuple[MessageQueue, ...]:
        """What it holds."""

    async def rebalanced(self) -> None:
        """Wait until no rebalance is under way."""


class Changes:
    """What the consumer holds, said once after each change.

    A rebalance takes queues one after the other, asking a broker before each; what it ends with is said, or every now
    and then how far it is. What it drops is said at once: others may have it from then on.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._said: frozenset[MessageQueue] = frozenset()
        self._at = 0
        self._happened = asyncio.Event()
        self._has_dropped = asyncio.Event()

    def note(self, fact: Fact) -> None:
        """Hear of a take or a drop."""
        if isinstance(fact, QueueTaken | QueueDropped):
            self._at = fact.at
            self._happened.set()
            if isinstance(fact, QueueDropped):
                self._has_dropped.set()

    def say(self, lines: Lines, held: tuple[MessageQueue, ...]) -> None:
        """Say what is held, if it is something else than before."""
        self._happened.clear()
        self._has_dropped.clear()
        if self._said != (now := frozenset(held)):
            self._said = now
            lines.say("held", self._at, queues=[queue_name(queue) for queue in held])

    def say_before(self, lines: Lines, queue: MessageQueue, consumer: Consumer) -> None:
        """Say that a queue is held before the first message of it is told."""
        if queue not in self._said:
            self.say(lines, consumer.held)

    async def follow(self, lines: Lines, consumer: Member) -> None:
        """Say changes as they happen, until cancelled."""
        patience_s = self._patience_s
        while True:
            await self._happened.wait()
            is_over = await self._wait_for_the_rest(consumer, patience_s)
            patience_s = self._patience_s if is_over else min(2 * patience_s, MOST_PATIENCE_S)
            await lines.room(MOST)
            self.say(lines, consumer.held)

    async def _wait_for_the_rest(self, consumer: Member, patience_s: float) -> bool:
        """Wait while a rebalance goes on that only takes; say whether it is over."""
        waits = [asyncio.create_task(consumer.rebalanced()), asyncio.create_task(self._has_dropped.wait())]
        try:
            await asyncio.wait(waits, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
            return waits[0].done()
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.wait(waits)


async def _consume(consumer: Consumer, changes: Changes, lines: Lines, stop: asyncio.Event) -> int:
    """Be a member from here until told to stop; the last lines say that nothing is held, and that it has stopped."""
    lines.when_lost(stop.set)
    closing = asyncio.create_task(_close_when_told(consumer, lines, stop), name="stop")
    following: asyncio.Task[None] | None = None
    try:
        if not stop.is_set():
            await _start(consumer)
            lines.say("started", client_id=consumer.client_id)
            following = asyncio.create_task(changes.follow(lines, consumer), name="changes")
            await _say_messages(consumer, changes, lines)
        await closing
    except Closed:
        await closing  # told to stop before it had started
    except MachineBroke:
        return 1  # the reason is logged
    finally:
        await _end(closing, following)
        await consumer.close()
        if lines.error is None:
            changes.say(lines, consumer.held)
    lines.say("stopped")
    return 0


async def _start(consumer: Consumer) -> None:
    try:
        await consumer.start()
    except (OSError, SubscriptionRefused, MachineBroke) as error:
        raise BadArguments(f"the consumer cannot start: {error}") from error


async def _say_messages(consumer: Consumer, changes: Changes, lines: Lines) -> None:
    async for message in consumer:
        changes.say_before(lines, message.queue, consumer)
        await lines.room()
        body = message.body.decode("utf-8", "replace")
        lines.say("got", queue=queue_name(message.queue), offset=message.offset, body=body)


async def _close_when_told(consumer: Consumer, lines: Lines, stop: asyncio.Event) -> None:
    await stop.wait()
    lines.hurry()
    await consumer.close()


async def _end(*tasks: asyncio.Task[None] | None) -> None:
    left = [task for task in tasks if task is not None]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
