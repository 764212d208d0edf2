import pytest

from rebalance_engine.model import MessageQueue
from rebalance_engine.network import LitePullConsumer, Producer
from tests.rebalance_engine.network.clusters import cluster, put, until
from tests.rebalance_engine.network.loop import on_a_loop
from tests.rebalance_engine.network.test_lite_pull import FIRST, cancelled, gets, of_one_queue

ONLY = MessageQueue("orders", "broker-a", 0)


def noted(consumer: LitePullConsumer) -> int | None:
    """Where a commit says that the queue is."""
    consumer.commit()
    return consumer._running.member.offsets.in_memory(ONLY)


async def one_that_nobody_took(producer: Producer, consumer: LitePullConsumer, word: str) -> None:
    await cancelled(consumer, 60)
    await put(producer, [word])
    await until(lambda: consumer._polls._kept is not None)


@on_a_loop
async def test_a_commit_counts_nothing_that_no_poll_has_returned() -> None:
    async with of_one_queue(auto_commit_ms=None) as (producer, consumer):
        await one_that_nobody_took(producer, consumer, "x")
        assert noted(consumer) is None

        (message,) = await consumer.poll()
        assert (message.body, noted(consumer)) == (b"x", 1)

        await one_that_nobody_took(producer, consumer, "y")
        assert noted(consumer) == 1
        assert [message.body for message in await consumer.poll()] == [b"y"]
        assert noted(consumer) == 2


@pytest.mark.parametrize("comes", [False, True], ids=["nothing comes", "the cancelled one has got something"])
@on_a_loop
async def test_polls_after_a_cancelled_long_one_commit_in_their_time_too(comes: bool) -> None:
    async with of_one_queue(auto_commit_ms=3_600_000) as (producer, consumer):
        await put(producer, ["x"])
        await gets(consumer, 1)
        await cancelled(consumer, 60)
        if comes:
            await put(producer, ["y"])
            await until(lambda: consumer._polls._kept is not None)
        member = consumer._running.member
        assert member.offsets.in_memory(ONLY) is None

        member.polling.commit_due = 0  # the hour is over
        assert len(await consumer.poll(0.01)) == comes

        assert member.offsets.in_memory(ONLY) == 1
        assert member.polling.commit_due > 0


@on_a_loop
async def test_who_closes_before_the_next_poll_gets_the_messages_again() -> None:
    async with cluster(orders=1) as east, Producer(east.namesrv) as producer:
        async with LitePullConsumer(east.namesrv, "G", from_where=FIRST, auto_commit_ms=None) as first:
            first.assign([ONLY])
            await put(producer, ["x"])
            await gets(first, 1)
            await one_that_nobody_took(producer, first, "y")
            first.commit()
        async with LitePullConsumer(east.namesrv, "G", from_where=FIRST) as second:
            second.assign([ONLY])
            assert [message.body for message in await gets(second, 1)] == [b"y"]


@on_a_loop
async def test_who_goes_elsewhere_gets_nothing_from_before() -> None:
    async with of_one_queue(auto_commit_ms=None) as (producer, consumer):
        await put(producer, ["x"])
        await gets(consumer, 1)
        await one_that_nobody_took(producer, consumer, "y")
        consumer.seek(ONLY, 0)

        assert [message.body for message in await gets(consumer, 2)] == [b"x", b"y"]


@on_a_loop
async def test_where_the_application_went_counts_before_a_poll_from_there_has_returned() -> None:
    async with of_one_queue(auto_commit_ms=None) as (producer, consumer):
        await put(producer, ["x"])
        await gets(consumer, 1)
        await put(producer, ["y"])
        await cancelled(consumer, 0.01)
        consumer.seek(ONLY, 0)
        await cancelled(consumer, 60)
        await until(lambda: consumer._polls._kept is not None)

        assert noted(consumer) == 0


@on_a_loop
async def test_what_was_given_and_not_taken_is_not_for_who_has_lost_the_queue() -> None:
    async with (
        cluster(orders=1) as east,
        Producer(east.namesrv) as producer,
        LitePullConsumer(east.namesrv, "G", from_where=FIRST, auto_commit_ms=None) as consumer,
    ):
        consumer.assign([ONLY])
        await one_that_nobody_took(producer, consumer, "x")
        consumer.assign([])

        assert await consumer.poll(0.01) == ()
