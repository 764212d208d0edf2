import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from rebalance_engine.embedded.cluster import Cluster, ClusterSettings
from rebalance_engine.model import MessageQueue
from rebalance_engine.network import (
    Closed,
    ConsumeFromWhere,
    LitePullConsumer,
    MachineBroke,
    NoAnswer,
    NoSuchTopic,
    Producer,
    ReceivedMessage,
)
from tests.rebalance_engine.network.clusters import QUICK, cluster, divided, put, until
from tests.rebalance_engine.network.loop import on_a_loop

FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
EAST = MessageQueue("orders", "broker-a", 0)


async def gets(consumer: LitePullConsumer, count: int) -> list[ReceivedMessage]:
    got: list[ReceivedMessage] = []
    while len(got) < count:
        got += await consumer.poll()
    return got


@asynccontextmanager
async def of_one_queue(auto_commit_ms: int | None = 5_000) -> AsyncIterator[tuple[Producer, LitePullConsumer]]:
    async with (
        cluster(orders=1) as east,
        Producer(east.namesrv) as producer,
        LitePullConsumer(
            east.namesrv, "G", "orders", version=QUICK, from_where=FIRST, auto_commit_ms=auto_commit_ms
        ) as consumer,
    ):
        await divided(1, consumer)
        yield producer, consumer


async def cancelled(consumer: LitePullConsumer, timeout_s: float) -> None:
    """Begin a poll and cancel it; the machine goes on with it."""
    polling = asyncio.create_task(consumer.poll(timeout_s))
    await asyncio.sleep(0)
    polling.cancel()
    await asyncio.wait((polling,))


@on_a_loop
async def test_a_cluster_of_4_9_gives_messages_too() -> None:
    """Whose brokers know nothing of the code by which polling clients of 5.x pull."""
    settings = ClusterSettings(version="4.9.7", topics={"orders": 2})
    async with Cluster(settings) as old, Producer(old.namesrv) as producer:
        await put(producer, range(4))
        async with LitePullConsumer(old.namesrv, "G", "orders", version=QUICK, from_where=FIRST) as consumer:
            assert sorted(message.body for message in await gets(consumer, 4)) == [b"0", b"1", b"2", b"3"]


@on_a_loop
async def test_polls_give_what_is_there_and_what_was_committed_is_not_given_again() -> None:
    async with cluster() as east, Producer(east.namesrv) as producer:
        await put(producer, range(8))
        async with LitePullConsumer(
            east.namesrv, "G", "orders", version=QUICK, from_where=FIRST, auto_commit_ms=None
        ) as consumer:
            assert sorted(message.body for message in await gets(consumer, 8)) == [b"%d" % n for n in range(8)]
            consumer.commit()
        await put(producer, ["new"])
        async with LitePullConsumer(east.namesrv, "G", "orders", version=QUICK) as consumer:
            assert [message.body for message in await gets(consumer, 1)] == [b"new"]


@on_a_loop
async def test_a_poll_without_messages_ends_with_its_time() -> None:
    async with cluster() as east, LitePullConsumer(east.namesrv, "G", "orders", version=QUICK) as consumer:
        assert await consumer.poll(0.01) == ()


@on_a_loop
async def test_who_names_his_queues_gets_theirs_and_can_go_anywhere() -> None:
    async with cluster() as east, Producer(east.namesrv) as producer:
        for number in range(3):
            await put(producer, [number], key="one key")
        async with LitePullConsumer(east.namesrv, "G", from_where=FIRST) as consumer:
            queues = await consumer.queues("orders")
            assert [queue.queue_id for queue in queues] == [0, 1, 2, 3]
            consumer.assign(queues)
            got = await gets(consumer, 3)
            assert consumer.held == tuple(queues)

            consumer.seek(got[0].queue, got[1].offset)
            assert [message.body for message in await gets(consumer, 2)] == [b"1", b"2"]
            with pytest.raises(ValueError, match="is not assigned"):
                consumer.seek(MessageQueue("bills", "broker-a", 0), 0)
            with pytest.raises(ValueError, match="offset is -1"):
                consumer.seek(queues[0], -1)


@on_a_loop
async def test_queues_that_are_assigned_with_offsets_begin_there() -> None:
    async with cluster(orders=2) as east, Producer(east.namesrv) as producer:
        await put(producer, range(8))
        async with LitePullConsumer(east.namesrv, "G", from_where=FIRST) as consumer:
            first, second = await consumer.queues("orders")
            with pytest.raises(ValueError, match=r"offset of .* is -1"):
                consumer.assign({first: -1})
            consumer.assign({first: 3})
            assert [(one.queue, one.offset) for one in await gets(consumer, 1)] == [(first, 3)]

            consumer.assign({second: 2})  # what is given up is stored first
            assert [(one.queue, one.offset) for one in await gets(consumer, 2)] == [(second, 2), (second, 3)]
            consumer.assign({second: 1})
            assert (await gets(consumer, 3))[0].offset == 1


@on_a_loop
async def test_two_divide_the_queues_and_those_with_topics_cannot_be_assigned_any() -> None:
    async with (
        cluster() as east,
        LitePullConsumer(east.namesrv, "G", "orders", version=QUICK) as first,
        LitePullConsumer(east.namesrv, "G", "orders", version=QUICK) as second,
    ):
        await divided(4, first, second)
        with pytest.raises(RuntimeError, match="has topics"):
            first.assign([EAST])


@on_a_loop
async def test_a_poll_that_is_cancelled_loses_nothing() -> None:
    async with of_one_queue() as (producer, consumer):
        await cancelled(consumer, 60)
        await put(producer, ["x"])

        (message,) = await consumer.poll()
        assert message.body == b"x"
        with pytest.raises(RuntimeError, match="did not come from a loop"):
            message.ack()


@on_a_loop
async def test_a_poll_after_a_cancelled_one_has_its_own_time() -> None:
    async with of_one_queue() as (producer, consumer):
        polling = asyncio.create_task(consumer.poll(3_600))
        await asyncio.sleep(0)
        behind = asyncio.create_task(consumer.poll(0.01))
        assert await behind == ()
        polling.cancel()
        await asyncio.wait((polling,))

        assert await consumer.poll(0.01) == ()  # an hour later, if it had the time of the other
        await put(producer, ["x"])
        (message,) = await consumer.poll(60)
        assert message.body == b"x"


@on_a_loop
async def test_a_poll_goes_on_asking_when_the_cancelled_one_had_less_time() -> None:
    async with of_one_queue() as (producer, consumer):
        await cancelled(consumer, 0.05)
        await until(lambda: consumer._polls._asked is None)  # it ended with nothing

        polling = asyncio.create_task(consumer.poll(60))
        await asyncio.sleep(0)
        await put(producer, ["x"])
        assert [message.body for message in await polling] == [b"x"]


@on_a_loop
async def test_what_makes_no_sense_is_refused_at_once_and_the_consumer_lives_on() -> None:
    async with cluster() as east, Producer(east.namesrv) as producer:
        await put(producer, ["x"])
        async with LitePullConsumer(east.namesrv, "G", from_where=FIRST) as consumer:
            queues = await consumer.queues("orders")
            for wrong in ("x", EAST, 5):
                with pytest.raises(TypeError, match=r"queues is .*; needed is several MessageQueue"):
                    consumer.assign(wrong)  # type: ignore[arg-type]  # a mistake
            with pytest.raises(TypeError, match="one of queues is 5; needed is a MessageQueue"):
                consumer.assign([5])  # type: ignore[list-item]  # a mistake
            consumer.assign(queues)
            with pytest.raises(TypeError, match="offset is '0'; needed is a whole number from 0"):
                consumer.seek(queues[0], "0")  # type: ignore[arg-type]  # a mistake
            with pytest.raises(TypeError, match="queue is 'x'"):
                consumer.seek("x", 0)  # type: ignore[arg-type]  # a mistake
            with pytest.raises(ValueError, match="offset is 1000000000000000000000000000000"):
                consumer.seek(queues[0], 10**30)
            for seconds in ("1", True, -1, math.nan, math.inf):
                with pytest.raises((TypeError, ValueError), match=f"timeout_s is {seconds!r}; needed is"):
                    await consumer.poll(seconds)  # type: ignore[arg-type]  # a mistake

            assert [message.body for message in await gets(consumer, 1)] == [b"x"]


@on_a_loop
async def test_a_close_ends_a_poll_that_waits() -> None:
    async with cluster() as east:
        consumer = LitePullConsumer(east.namesrv, "G", "orders", version=QUICK)
        await consumer.start()
        polling = asyncio.create_task(consumer.poll(60))
        await asyncio.sleep(0)
        await consumer.close()

        assert await polling == ()
        with pytest.raises(Closed):
            await consumer.poll()


@on_a_loop
async def test_a_machine_that_breaks_reaches_the_poll() -> None:
    async with cluster() as east:
        consumer = LitePullConsumer(east.namesrv, "G", "orders", version=QUICK)
        await consumer.start()
        polling = asyncio.create_task(consumer.poll(60))
        await asyncio.sleep(0)

        def fall(_: int) -> list[object]:
            raise ZeroDivisionError

        consumer._process.do(fall)
        with pytest.raises(MachineBroke):
            await polling
        with pytest.raises(MachineBroke):
            await consumer.poll()
        await consumer.close()


@on_a_loop
async def test_where_a_topic_is_can_be_unknown() -> None:
    async with cluster() as east, LitePullConsumer(east.namesrv, "G") as consumer:
        with pytest.raises(NoSuchTopic, match="bills"):
            await consumer.queues("bills")
    async with LitePullConsumer("127.0.0.1:1", "G") as consumer:
        with pytest.raises(NoAnswer):
            await consumer.queues("bills")


@on_a_loop
async def test_a_suspended_consumer_pulls_nothing_until_it_is_resumed() -> None:
    async with of_one_queue() as (producer, consumer):
        consumer.suspend()
        await put(producer, ["x"])
        consumer.resume()
        assert [message.body for message in await gets(consumer, 1)] == [b"x"]
        assert consumer.client_id and consumer.facts().lost == 0
