"""What Python clients do besides listening and sending one by one: polling, broadcasting, batches, sharding, SQL."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import pytest

from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.network import (
    ConsumeFromWhere,
    Consumer,
    LitePullConsumer,
    Message,
    NoAnswer,
    Producer,
    ReceivedMessage,
    SendFailed,
    Sql,
    SubscriptionRefused,
)
from rebalance_engine.remoting.requests.brokers import GetBrokerConfig
from rebalance_engine.remoting.requests.upkeep import UpdateBrokerConfig
from tests.cluster.contract import Cluster
from tests.matrix.conftest import CLUSTERS, EMBEDDED, once

pytestmark = [pytest.mark.java, pytest.mark.slow]
each_cluster = pytest.mark.parametrize("cluster", CLUSTERS, indirect=True, scope="session")
each_real_cluster = pytest.mark.parametrize(
    "cluster", [name for name in CLUSTERS if name != EMBEDDED], indirect=True, scope="session"
)
POLLING, BROADCASTING = ("by its topics", "by its queues"), ("A", "B")
QUEUES, EACH = 2, 5
KEYS = ("4711", "4712")
ALL = EACH + EACH * len(KEYS) + 1  # a batch, some of each key, and one that goes one way
FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
GIVEN_S, PATIENT_MS = 90, 20_000  # a broker on a busy machine takes its time for the first message of a topic
FILTERS = "enablePropertyFilter"
T = TypeVar("T")


@dataclass(slots=True)
class Received:
    """What was sent, by how, as topic queue and offset where an answer told; and what each consumer got, in order."""

    sent: dict[bytes, tuple[MessageQueue, int] | None] = field(default_factory=dict)
    got: dict[str, list[ReceivedMessage]] = field(default_factory=dict)


@pytest.fixture(scope="session")
def received(cluster: Cluster) -> Received:
    """Send in every way, and receive in every way."""
    return once(f"Python features on {cluster.name}", lambda: asyncio.run(_scene(cluster)))


async def _scene(cluster: Cluster) -> Received:
    topic, seen = cluster.create_topic("polled", QUEUES), Received()
    where = cluster.namesrv
    async with AsyncExitStack() as stack:
        ears = [_Ear(seen.got.setdefault(name, [])) for name in BROADCASTING]
        for name, ear in zip(BROADCASTING, ears, strict=True):
            consumer = Consumer(
                where,
                "polled-broadcast",
                topic,
                ear.hear,
                model=MessageModel.BROADCASTING,
                instance=name,
                from_where=FIRST,
                offsets_dir=cluster.folder / "offsets",
            )
            await stack.enter_async_context(consumer)
        # one decides as the release of the cluster, one as the default does, which may be newer than the cluster
        by_topics = LitePullConsumer(where, "polled-topics", topic, from_where=FIRST, version=cluster.java)
        by_queues = LitePullConsumer(where, "polled-queues", from_where=FIRST)
        for polling in (by_topics, by_queues):
            await stack.enter_async_context(polling)
        by_queues.assign(await _patiently(partial(by_queues.queues, topic)))
        producer = await stack.enter_async_context(Producer(where, send_timeout_ms=PATIENT_MS))

        await _send(producer, topic, seen)
        with suppress(TimeoutError):  # then something is missing, and the tests say what
            async with asyncio.timeout(GIVEN_S), asyncio.TaskGroup() as tasks:
                for name, polling in zip(POLLING, (by_topics, by_queues), strict=True):
                    tasks.create_task(_poll(polling, seen.got.setdefault(name, [])))
                for ear in ears:
                    tasks.create_task(ear.has_all.wait())
    return seen


class _Ear:
    """Keeps what it hears, and says when it has everything."""

    def __init__(self, got: list[ReceivedMessage]) -> None:
        self.got, self.has_all = got, asyncio.Event()

    async def hear(self, message: ReceivedMessage) -> None:
        self.got.append(message)
        if len(self.got) == ALL:
            self.has_all.set()


async def _send(producer: Producer, topic: str, seen: Received) -> None:
    batch = [Message(topic=topic, body=b"batch %d" % number) for number in range(EACH)]
    stored = await _patiently(partial(producer.send_batch, batch))
    for number, message in enumerate(batch):
        seen.sent[message.body] = (stored.queue, stored.offset + number)
    for number in range(EACH):
        for key in KEYS:
            message = Message(topic=topic, body=f"{key} {number}".encode(), sharding_key=key)
            stored = await producer.send(message)
            seen.sent[message.body] = (stored.queue, stored.offset)
    await producer.send_oneway(Message(topic=topic, body=b"one way"))
    seen.sent[b"one way"] = None


async def _patiently(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask until the name server answers: on a busy machine it may not in time."""
    async with asyncio.timeout(GIVEN_S):
        while True:
            try:
                return await ask()
            except NoAnswer:
                continue
            except SendFailed as failed:
                if failed.story.attempts:
                    raise  # it may be stored


async def _poll(consumer: LitePullConsumer, got: list[ReceivedMessage]) -> None:
    while len(got) < ALL:
        got += await consumer.poll(1)
    got += await consumer.poll(0.5)  # what comes twice


@each_cluster
@pytest.mark.parametrize("name", POLLING)
def test_whoever_asks_for_messages_gets_all_of_them_in_the_order_of_their_queues(received: Received, name: str) -> None:
    got = received.got[name]
    offsets: dict[MessageQueue, list[int]] = {}
    for message in got:
        offsets.setdefault(message.queue, []).append(message.offset)

    assert Counter(message.body for message in got) == Counter(received.sent.keys())
    assert all(its == list(range(len(its))) for its in offsets.values()), offsets


@each_cluster
@pytest.mark.parametrize("name", BROADCASTING)
def test_each_of_a_broadcasting_pair_gets_every_message_once(received: Received, name: str) -> None:
    assert Counter(message.body for message in received.got[name]) == Counter(received.sent.keys())


@each_cluster
def test_messages_lie_where_the_producer_was_told(received: Received) -> None:
    """Those of a batch one after the other, those of a sharding key in one queue and in order."""
    told = {body: place for body, place in received.sent.items() if place is not None}
    there = {message.body: (message.queue, message.offset) for message in received.got[BROADCASTING[0]]}

    assert {body: there.get(body) for body in told} == told
    for key in KEYS:
        places = [told[f"{key} {number}".encode()] for number in range(EACH)]
        assert len({queue for queue, _ in places}) == 1
        assert places == sorted(places)


@each_cluster
def test_an_sql_filter_is_refused_where_brokers_say_that_they_have_none(cluster: Cluster) -> None:
    topic = cluster.create_topic("queried", QUEUES)

    async def refused() -> str:
        async with asyncio.timeout(GIVEN_S):
            while True:
                consumer = Consumer(cluster.namesrv, "queried", {topic: Sql("weight > 5")})
                try:
                    await consumer.start()
                except SubscriptionRefused as error:
                    return str(error)
                await consumer.close()  # on a busy machine a broker may not say in time what it thinks of it

    assert {_filters(cluster, address) for address in cluster.addresses.values()} == {"false"}
    assert "SQL92" in asyncio.run(refused())


@each_real_cluster
def test_an_sql_filter_lets_through_what_it_says_where_brokers_have_it(cluster: Cluster) -> None:
    topic = cluster.create_topic("queried", QUEUES)
    got: asyncio.Queue[bytes] = asyncio.Queue()

    async def hear(message: ReceivedMessage) -> None:
        got.put_nowait(message.body)

    async def served() -> list[bytes]:
        heavy = Consumer(cluster.namesrv, "weighed", {topic: Sql("weight > 5")}, hear, from_where=FIRST)
        async with heavy, Producer(cluster.namesrv, send_timeout_ms=PATIENT_MS) as producer:
            for weight in (3, 7, 5, 9, 1, 6):
                message = Message(topic=topic, body=b"%d" % weight, properties={"weight": str(weight)})
                await _patiently(partial(producer.send, message))
            async with asyncio.timeout(GIVEN_S):
                return sorted([await got.get() for _ in range(3)])

    with _filtering(cluster):
        assert asyncio.run(served()) == [b"6", b"7", b"9"]


@contextmanager
def _filtering(cluster: Cluster) -> Iterator[None]:
    """Let the brokers filter by properties, for a while."""
    try:
        _set(cluster, "true")
        yield
    finally:
        _set(cluster, "false")


def _set(cluster: Cluster, value: str) -> None:
    for address in cluster.addresses.values():
        cluster.ask(address, UpdateBrokerConfig(body=f"{FILTERS}={value}\n"))


def _filters(cluster: Cluster, address: str) -> str:
    lines = cluster.ask(address, GetBrokerConfig()).body.splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)[FILTERS]
