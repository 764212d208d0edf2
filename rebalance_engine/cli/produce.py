"""A producer on the terminal: sends numbered messages at a rate, and JSON lines say where each is stored.

    evenkeel produce --namesrv 127.0.0.1:9876 --topic orders --count 100 --rate 20

    {"ms":1767225600000,"saw":"sent","queue":"orders/broker-a/0","offset":7,"latency_ms":3}
    {"ms":1767225603050,"saw":"failed","reason":"..."}

It ends with 0 where all were stored, with 1 where one was not. SIGTERM and SIGINT make it send nothing more and wait
for what is under way. If nobody reads its lines, nothing more is sent; 4 s after a signal it ends then without the last
lines, with 1 and a word on standard error.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
from collections.abc import Sequence

from rebalance_engine.cli import BadArguments
from rebalance_engine.cli.clients import (
    add_cluster_arguments,
    log_troubles,
    name_servers_of,
    network_of,
    run_until_told,
)
from rebalance_engine.cli.lines import Lines, queue_name, saying
from rebalance_engine.cli.reporting import add_report_argument, check_url
from rebalance_engine.effects import Address
from rebalance_engine.network.driver import MachineBroke
from rebalance_engine.network.options import ProducerOptions
from rebalance_engine.network.outgoing import BadMessage, Message, check_topic
from rebalance_engine.network.process import Closed
from rebalance_engine.network.producer import DEFAULT_GROUP, Producer
from rebalance_engine.network.sending import SendFailed

MOST = 1_000_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """State what the command takes."""
    add_cluster_arguments(parser)
    parser.add_argument("--topic", required=True, metavar="T", help="where to send")
    parser.add_argument("--count", required=True, type=_count, metavar="N", help="how many messages to send")
    parser.add_argument(
        "--rate", required=True, type=_rate, metavar="R", help="how many a second; 0: one after the other"
    )
    parser.add_argument("--body", default="{number}", metavar="TEXT", help="the body; {number} is 0, 1, 2 ...")
    parser.add_argument("--key", metavar="TEXT", help="the sharding key: messages of one key go to one queue")
    parser.add_argument("--tags", metavar="TAG", help="what they are tagged with")
    parser.add_argument("--avoid-slow", action="store_true", help="leave slow and failed brokers alone for a while")
    parser.add_argument("--group", default=DEFAULT_GROUP, metavar="G", help=f"its producer group; else {DEFAULT_GROUP}")
    add_report_argument(parser, "tell a control room how long sends take and which brokers are left alone")
    parser.add_argument("--version", default="5.3.3", metavar="V", help="of the Java client whose behaviour is wanted")


def _count(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= len(str(MOST))) or int(word) > MOST:
        raise argparse.ArgumentTypeError(f"{word!r} is given; needed is a whole number from 0 to {MOST}")
    return int(word)


def _rate(word: str) -> float:
    try:
        rate = float(word)
    except ValueError:
        rate = math.nan
    if not 0 <= rate <= MOST:
        raise argparse.ArgumentTypeError(f"{word!r} is given; needed is a number from 0 to {MOST}")
    return rate


def run(asked: argparse.Namespace) -> int:
    """Send, and say what became of each message."""
    options: ProducerOptions = {
        "avoids_faults": asked.avoid_slow,
        "version": asked.version,
        "network": network_of(asked),
    }
    if asked.report is not None:
        check_url(asked.report)
        options["report_url"] = asked.report
    try:
        check_topic(asked.topic)
        producer = Producer(name_servers_of(asked), asked.group, **options)
    except ValueError as error:
        raise BadArguments(str(error)) from error
    log_troubles()
    return run_until_told(lambda stop: saying(lambda lines: _produce(producer, asked, lines, stop)))


async def _produce(producer: Producer, asked: argparse.Namespace, lines: Lines, stop: asyncio.Event) -> int:
    if stop.is_set():
        return 0
    try:
        await producer.start()
    except OSError as error:
        raise BadArguments(f"the producer cannot start: {error}") from error
    lines.when_lost(stop.set)
    hurrying = asyncio.create_task(_hurry_when_told(lines, stop), name="stop")
    try:
        return await _send_all(producer, asked, lines, stop)
    finally:
        hurrying.cancel()
        await asyncio.gather(hurrying, return_exceptions=True)
        await producer.close()


async def _hurry_when_told(lines: Lines, stop: asyncio.Event) -> None:
    await stop.wait()
    lines.hurry()


async def _send_all(producer: Producer, asked: argparse.Namespace, lines: Lines, stop: asyncio.Event) -> int:
    """Begin each message at its time, whether or not those before it are stored."""
    loop = asyncio.get_running_loop()
    under_way: set[asyncio.Task[bool]] = set()
    failed = False
    began = loop.time()
    try:
        for number in range(asked.count):
            if asked.rate:
                await _pause(stop, began + number / asked.rate - loop.time())
            await lines.room()
            while len(under_way) >= (1 if not asked.rate else MOST_UNDER_WAY) and not stop.is_set():
                done, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                failed |= not all(task.result() for task in done)
            if stop.is_set():
                break
            message = _message(asked, number)
            under_way.add(asyncio.create_task(_send(producer, message, lines), name=f"send {number}"))
    finally:
        results = await asyncio.gather(*under_way)
    return 1 if failed or not all(results) else 0


MOST_UNDER_WAY = 256


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    if seconds <= 0:
        return
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return


def _message(asked: argparse.Namespace, number: int) -> Message:
    body = os.fsencode(str(asked.body).replace("{number}", str(number)))  # as it was given, text or not
    return Message(topic=asked.topic, body=body, tags=asked.tags, keys=str(number), sharding_key=asked.key)


def reason_of(failure: str, troubles: Sequence[str], told: Sequence[tuple[Address | None, str]] = ()) -> str:
    """Join why a send failed with what is wrong now, but for what the failure itself says.

    Args:
        told: what its attempts said, each with the address of its broker: another's trouble is news in the same words.
    """
    others = [trouble for trouble in troubles if trouble not in failure and not _is_told(trouble, told)]
    return ". Now: ".join(filter(None, (failure, "; ".join(others))))


def _is_told(trouble: str, told: Sequence[tuple[Address | None, str]]) -> bool:
    words, _, why = trouble.partition(": ")
    at = words.partition(" ")[0]
    return any(at == address and (why or words) in said for address, said in told)


def told_by(producer: Producer, failed: Exception) -> list[tuple[Address | None, str]]:
    """Give what each attempt of a send said, with the address of its broker."""
    attempts = failed.story.attempts if isinstance(failed, SendFailed) else ()
    return [(producer.address_of(one.broker), one.outcome.text) for one in attempts if one.outcome is not None]


async def _send(producer: Producer, message: Message, lines: Lines) -> bool:
    try:
        result = await producer.send(message)
    except (SendFailed, BadMessage, Closed, MachineBroke) as error:
        lines.say("failed", reason=reason_of(str(error), producer.troubles, told_by(producer, error)))
        return False
    lines.say("sent", queue=queue_name(result.queue), offset=result.offset, latency_ms=result.latency_ms)
    return True
