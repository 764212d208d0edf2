"""A member of a consumer group on the terminal: JSON lines of what it holds and gets.

    evenkeel consume --namesrv 127.0.0.1:9876 --group billing --topic orders

    {"ms":1767225600000,"saw":"started","client_id":"127.0.0.1@4711#99"}
    {"ms":1767225601042,"saw":"held","queues":["orders/broker-a/0","orders/broker-a/1"]}
    {"ms":1767225601580,"saw":"got","queue":"orders/broker-a/0","offset":7,"body":"..."}
    {"ms":1767225609000,"saw":"stopped"}

SIGTERM and SIGINT make it finish what it has in hand, store its offsets, unlock, and say good-bye; it then ends with 0.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
from collections.abc import Sequence

from rebalance_engine.cli import BadArguments
from rebalance_engine.cli.clients import add_cluster_arguments, name_servers_of, network_of, run_until_told
from rebalance_engine.cli.lines import queue_name, say
from rebalance_engine.events import Fact, QueueDropped, QueueTaken
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.network.consumer import Consumer
from rebalance_engine.network.driver import MachineBroke
from rebalance_engine.network.membership import SubscriptionRefused
from rebalance_engine.network.options import ConsumerOptions
from rebalance_engine.remoting.bodies.clients import ConsumeFromWhere

FROM = {"last": ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, "first": ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET}


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
    parser.add_argument("--version", default="5.3.3", metavar="V", help="of the Java client whose behaviour is wanted")


def run(asked: argparse.Namespace) -> int:
    """Consume until told to stop."""
    changes = Changes()
    consumer = _consumer(asked, changes)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    return run_until_told(lambda stop: _consume(consumer, changes, stop))


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


class Changes:
    """What the consumer holds, said once after each time that it took or dropped something."""

    def __init__(self) -> None:
        self._said: tuple[MessageQueue, ...] | None = None
        self._at = 0
        self.happened = asyncio.Event()

    def note(self, fact: Fact) -> None:
        """Hear of a take or a drop."""
        if isinstance(fact, QueueTaken | QueueDropped):
            self._at = fact.at
            self.happened.set()

    def say(self, held: tuple[MessageQueue, ...]) -> None:
        """Say what is held, if it is something else than before."""
        self.happened.clear()
        if held != self._said and (held or self._said):
            self._said = held
            say("held", self._at, queues=[queue_name(queue) for queue in held])


async def _consume(consumer: Consumer, changes: Changes, stop: asyncio.Event) -> int:
    try:
        await consumer.start()
    except (OSError, SubscriptionRefused, MachineBroke) as error:
        raise BadArguments(f"the consumer cannot start: {error}") from error
    say("started", client_id=consumer.client_id)
    tasks = [
        asyncio.create_task(_close_when_told(consumer, stop), name="stop"),
        asyncio.create_task(_say_changes(consumer, changes), name="changes"),
    ]
    try:
        async for message in consumer:
            changes.say(consumer.held)
            body = message.body.decode("utf-8", "replace")
            say("got", queue=queue_name(message.queue), offset=message.offset, body=body)
        await tasks[0]
    except MachineBroke:
        return 1  # the reason is logged
    finally:
        for task in tasks:
            task.cancel()
        await consumer.close()
    changes.say(consumer.held)
    say("stopped")
    return 0


async def _close_when_told(consumer: Consumer, stop: asyncio.Event) -> None:
    await stop.wait()
    await consumer.close()


async def _say_changes(consumer: Consumer, changes: Changes) -> None:
    while True:
        await changes.happened.wait()
        changes.say(consumer.held)
