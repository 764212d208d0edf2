"""Python consumers and producers on an embedded cluster: processor time and wall time of each message.

The cluster runs in a process of its own, and its Python is about as slow as ours: wall time says what both reach
together, processor time what ours costs alone. Java's clients on a real cluster are in another benchmark.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from time import perf_counter, process_time
from typing import NamedTuple

from rebalance_engine.embedded.cluster import Cluster, ClusterSettings
from rebalance_engine.network import ConsumeFromWhere, Consumer, Message, Producer, ReceivedMessage
from rebalance_engine.network.hands import Listener
from tests.bench.report import Aim, Row, at_most

TOPIC = "orders"
BODY = b"x" * 100
AT_ONCE = 64
QUICK = "4.9.7"  # pulls at once
AIM_S = 200e-6  # of processor time: 5,000 messages a second for each core


class Cost(NamedTuple):
    """Seconds for each message."""

    processor: float
    wall: float


def run(*, quick: bool) -> Iterator[Row]:
    """Measure it all; quick sends fewer messages."""
    count = 1_000 if quick else 50_000
    with _cluster() as namesrv:
        yield from _rows("send, 64 at a time", count, asyncio.run(_produce(namesrv, count, AT_ONCE)), at_most(AIM_S))
        yield from _rows("send, one by one", count // 5, asyncio.run(_produce(namesrv, count // 5, 1)), None)
        for what, consume in _ways().items():
            yield from _rows(what, count, asyncio.run(consume(namesrv, count)), at_most(AIM_S))


def _rows(what: str, count: int, cost: Cost, aim: Aim | None) -> Iterator[Row]:
    note = f"{1 / cost.processor:,.0f} a second for each core; {1 / cost.wall:,.0f} reached"
    yield Row(f"{what}: processor time", f"{count:,} messages", cost.processor, "s", aim=aim, note=note)


# ---- producing ----


async def _produce(namesrv: str, count: int, at_once: int) -> Cost:
    async with Producer(namesrv) as producer:
        await producer.send(Message(topic=TOPIC, body=BODY))

        async def work() -> None:
            for _ in range(count // at_once):
                await producer.send(Message(topic=TOPIC, body=BODY))

        begun = (process_time(), perf_counter())
        await asyncio.gather(*(work() for _ in range(at_once)))
        return _since(begun, count // at_once * at_once)


# ---- consuming ----

Consume = Callable[[str, int], Coroutine[None, None, Cost]]


def _ways() -> dict[str, Consume]:
    return {"consume in a loop": _loop, "consume in tasks": _tasks, "consume in threads": _threads}


async def _loop(namesrv: str, count: int) -> Cost:
    async with _consumer(namesrv, "loop", None) as consumer:
        messages = aiter(consumer)
        await anext(messages)
        begun = (process_time(), perf_counter())
        for _ in range(count - 1):
            await anext(messages)
        return _since(begun, count - 1)


async def _tasks(namesrv: str, count: int) -> Cost:
    counter = _Counter(count)

    async def listen(_: ReceivedMessage) -> None:
        counter.note()

    async with _consumer(namesrv, "tasks", listen):
        return await counter.cost()


async def _threads(namesrv: str, count: int) -> Cost:
    counter, loop = _Counter(count), asyncio.get_running_loop()

    def listen(_: ReceivedMessage) -> None:
        loop.call_soon_threadsafe(counter.note)

    async with _consumer(namesrv, "threads", listen):
        return await counter.cost()


class _Counter:
    """Measures from the first message to the last."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._left = count
        self._begun = (0.0, 0.0)
        self._end = asyncio.Event()

    def note(self) -> None:
        if self._left == self._count:
            self._begun = (process_time(), perf_counter())
        self._left -= 1
        if not self._left:
            self._end.set()

    async def cost(self) -> Cost:
        await self._end.wait()
        return _since(self._begun, self._count)


def _consumer(namesrv: str, group: str, listener: Listener | None) -> Consumer:
    first = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
    return Consumer(namesrv, group, TOPIC, listener, from_where=first, version=QUICK)


def _since(begun: tuple[float, float], count: int) -> Cost:
    return Cost((process_time() - begun[0]) / count, (perf_counter() - begun[1]) / count)


# ---- the cluster ----


@contextmanager
def _cluster() -> Iterator[str]:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        assert ours.poll(60), "the cluster has not started within a minute"
        yield ours.recv()
    finally:
        ours.send("stop")
        process.join(30)


def _serve(pipe: Connection) -> None:
    asyncio.run(_serve_until_told(pipe))


async def _serve_until_told(pipe: Connection) -> None:
    async with Cluster(ClusterSettings(brokers=2, topics={TOPIC: 4})) as cluster:
        pipe.send(cluster.namesrv)
        await asyncio.to_thread(pipe.recv)
