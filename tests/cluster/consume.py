"""Python consumers, any number in one process: ``Consume.java`` with our :class:`Consumer`. They stop on SIGTERM.

Options: namesrv, group, name, topics, strategy, orderly, tags, retries, fail, threads, takes, acl, tls (the certificate
to trust), version, poll, quiet, until; as in ``tests/java/clients/evenkeel/clients/Consume.java``.
"""

from __future__ import annotations

import asyncio
import signal
import sys

from rebalance_engine.events import QueueDropped, QueueTaken
from rebalance_engine.events.fact import Fact
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.consumer import Consumer
from rebalance_engine.network.options import VERSION
from rebalance_engine.network.received import ReceivedMessage, Retry
from rebalance_engine.remoting.bodies.clients import ConsumeFromWhere
from tests.cluster.words import Stopwatch, Words, read, say

COUNT_EVERY_S = 1.0


class Told:
    """A consumer that tells what it sees."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.name = words.text("name")
        self.count = 0
        self.stopwatch: Stopwatch | None = None
        self.quiet, self.until = words.flag("quiet"), words.number("until", 0)
        self.takes_ms, self.fail = words.number("takes", 0), words.number("fail", 0)
        self.held: set[MessageQueue] = set()
        tags = words.text("tags", "*")
        self.consumer = Consumer(
            words.text("namesrv"),
            words.text("group"),
            dict.fromkeys(words.text("topics").split(","), tags),
            self._took,
            instance=self.name,
            strategy=words.text("strategy", "AVG"),
            orderly=words.flag("orderly"),
            max_reconsume_times=words.number("retries", -1),
            threads=words.number("threads", 4),
            from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET,
            version=words.text("version", VERSION),
            network=words.network(),
            routes_every_ms=words.number("poll", 30_000),
            on_fact=self._on_fact,
        )

    async def start(self) -> None:
        await self.consumer.start()
        say("started", name=self.name, client_id=self.consumer.client_id)
        self._say_held()

    async def stop(self) -> None:
        await self.consumer.close()
        say("stopped", name=self.name)

    async def _took(self, message: ReceivedMessage) -> Retry | None:
        self.stopwatch = self.stopwatch or Stopwatch()
        self.count += 1
        if self.count == self.until:
            self.stopwatch.say(self.name, self.count)
        if not self.quiet:
            say(
                "got",
                name=self.name,
                queue=_text(message.queue._replace(topic=message.topic)),
                offset=message.offset,
                body=message.body.decode(),
                again=message.reconsume_times,
                tags=message.tags,
                keys=" ".join(message.keys),
                properties=dict(message.properties),
            )
        if self.takes_ms:
            await asyncio.sleep(self.takes_ms / 1_000)
        return Retry() if message.reconsume_times < self.fail else None

    def _on_fact(self, fact: Fact) -> None:
        if isinstance(fact, QueueTaken):
            self.held.add(fact.queue)
        elif isinstance(fact, QueueDropped):
            self.held.discard(fact.queue)
        else:
            return
        self._say_held()

    def _say_held(self) -> None:
        say("held", name=self.name, queues=[_text(queue) for queue in sorted(self.held)])


def _text(queue: MessageQueue) -> str:
    return f"{queue.topic}/{queue.broker}/{queue.queue_id}"


async def main() -> None:
    ending = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.set)
    all_told = [Told(words) for words in read(sys.argv[1:])]
    for told in all_told:
        await told.start()
    counted = {told.name: 0 for told in all_told}
    while not ending.is_set():
        for told in all_told:
            if told.quiet and told.count != counted[told.name]:
                counted[told.name] = told.count
                say("counted", name=told.name, messages=told.count)
        try:
            await asyncio.wait_for(ending.wait(), COUNT_EVERY_S)
        except TimeoutError:
            continue
    await asyncio.gather(*(told.stop() for told in all_told))


if __name__ == "__main__":
    asyncio.run(main())
