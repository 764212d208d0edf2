"""A Python producer: ``Produce.java`` with our :class:`Producer`. It ends after its messages, or on SIGTERM.

Options: namesrv, group, name, topic, count, rate, prefix, pad, compress, fault, timeout, acl, tls, version, poll,
quiet, senders, warm; as in ``tests/java/clients/evenkeel/clients/Produce.java``. Besides, it tells when it leaves a
broker alone (``backed off``) and when no more (``taken back``).
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Iterator

from rebalance_engine.events import BrokerBackedOff, BrokerBackoffEnded
from rebalance_engine.events.fact import Fact
from rebalance_engine.network.options import VERSION
from rebalance_engine.network.outgoing import Message
from rebalance_engine.network.producer import Producer
from rebalance_engine.network.sending import SendFailed
from tests.cluster.words import Stopwatch, Words, read, say

TAGS = ("red", "green", "blue")


async def main() -> None:
    words = read(sys.argv[1:])[0]
    ending = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.set)
    producer = Producer(
        words.text("namesrv"),
        words.text("group", "producers"),
        instance=words.text("name", "producer"),
        avoids_faults=words.flag("fault"),
        send_timeout_ms=words.number("timeout", 3000),
        compress_from=words.number("compress", 4096),
        version=words.text("version", VERSION),
        network=words.network(),
        routes_every_ms=words.number("poll", 30_000),
        on_fact=on_fact,
    )
    async with producer:
        say("started", client_id=producer.client_id)
        await send(producer, words, ending)
    say("stopped")


async def send(producer: Producer, words: Words, ending: asyncio.Event) -> None:
    for number in range(words.number("warm", 0)):
        await send_one(producer, words, number)
    stopwatch = Stopwatch()
    numbers = iter(range(words.number("count", 1)))
    senders = words.number("senders", 1)
    sent = await asyncio.gather(*(send_all(producer, words, numbers, ending) for _ in range(senders)))
    stopwatch.say(words.text("name", "producer"), sum(sent))


async def send_all(producer: Producer, words: Words, numbers: Iterator[int], ending: asyncio.Event) -> int:
    begun, rate, count = time.perf_counter(), words.number("rate", 0), 0
    while not ending.is_set() and (number := next(numbers, None)) is not None:
        await send_one(producer, words, number)
        count += 1
        if rate:
            await asyncio.sleep(max(0, begun + (number + 1) / rate - time.perf_counter()))
    return count


async def send_one(producer: Producer, words: Words, number: int) -> None:
    body = f"{words.text('prefix', 'm')}-{number}" + "." * words.number("pad", 0)
    message = Message(
        topic=words.text("topic"),
        body=body.encode(),
        tags=TAGS[number % len(TAGS)],
        keys=f"key{number}",
        properties={"colour": f"früh {number}"},
    )
    before = time.perf_counter()
    try:
        sent = await producer.send(message)
    except SendFailed as failure:
        say("failed", number=number, reason=str(failure), latency_ms=round((time.perf_counter() - before) * 1e3))
        return
    if not words.flag("quiet"):
        say(
            "sent",
            number=number,
            queue=f"{sent.queue.topic}/{sent.queue.broker}/{sent.queue.queue_id}",
            offset=sent.offset,
            body=body,
            status=sent.status.name,
            latency_ms=sent.latency_ms,
        )


def on_fact(fact: Fact) -> None:
    if isinstance(fact, BrokerBackedOff):
        say("backed off", broker=fact.broker, backoff_ms=fact.backoff_ms, isolated=fact.is_isolated)
    elif isinstance(fact, BrokerBackoffEnded):
        say("taken back", broker=fact.broker)


if __name__ == "__main__":
    asyncio.run(main())
