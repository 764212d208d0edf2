import asyncio
import math
from collections.abc import Sequence
from typing import Any

import pytest

from rebalance_engine.events import BrokerBackedOff, BrokerBackoffEnded, BrokerLatency, Fact
from rebalance_engine.model import MessageQueue
from rebalance_engine.network import (
    BadMessage,
    Closed,
    ConsumeFromWhere,
    Consumer,
    MachineBroke,
    Message,
    Producer,
    SendFailed,
    SendStatus,
)
from rebalance_engine.producer import Why
from rebalance_engine.remoting.requests.contract import Request, Response
from rebalance_engine.remoting.requests.nameserver import GetRouteInfoByTopic
from tests.rebalance_engine.network.clusters import QUICK, cluster, until
from tests.rebalance_engine.network.loop import on_a_loop

FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
EAST = MessageQueue("orders", "broker-a", 0)


def order(body: bytes = b"x", key: str | None = None) -> Message:
    return Message(topic="orders", body=body, sharding_key=key)


@on_a_loop
async def test_messages_go_round_all_queues_and_the_result_says_where_they_are() -> None:
    async with cluster(2) as both, Producer(both.namesrv) as producer:
        results = [await producer.send(order()) for _ in range(16)]

    assert {result.status for result in results} == {SendStatus.OK}
    assert {result.queue for result in results} == {
        MessageQueue("orders", broker, number) for broker in ("broker-a", "broker-b") for number in range(4)
    }
    assert sorted(result.offset for result in results) == [0] * 8 + [1] * 8
    assert len({result.message_id for result in results}) == 16


@on_a_loop
async def test_many_sends_at_once_are_all_answered() -> None:
    async with cluster() as east, Producer(east.namesrv, most_under_way=7) as producer:
        results = await asyncio.gather(*(producer.send(order()) for _ in range(100)))

    assert len({(result.queue, result.offset) for result in results}) == 100


@on_a_loop
async def test_of_many_sends_at_once_the_first_asks_where_the_topic_is_and_the_others_wait() -> None:
    async with cluster() as east, Producer(east.namesrv) as producer:
        routes: list[object] = []
        transport = producer._process.driver.transport
        ask = transport.request

        async def count(address: str, request: Request[Response], timeout_ms: int = 3_000) -> Response:
            if isinstance(request, GetRouteInfoByTopic):
                routes.append(request)
            return await ask(address, request, timeout_ms)

        transport.request = count  # type: ignore[assignment,method-assign]  # it only counts
        await asyncio.gather(*(producer.send(order()) for _ in range(300)))

    assert len(routes) <= 2  # the refresh of all topics comes soon after the start


@on_a_loop
async def test_one_key_is_one_queue_and_a_queue_or_a_selector_can_be_named() -> None:
    def last(queues: Sequence[MessageQueue]) -> MessageQueue:
        return queues[-1]

    async with cluster() as east, Producer(east.namesrv) as producer:
        by_key = {(await producer.send(order(key="4711"))).queue for _ in range(5)}
        by_name = await producer.send(order(), queue=EAST)
        by_choice = await producer.send(order(), selector=last)
        with pytest.raises(ValueError, match="only one can say"):
            await producer.send(order(), queue=EAST, selector=last)

    assert len(by_key) == 1
    assert (by_name.queue, by_choice.queue.queue_id) == (EAST, 3)


@on_a_loop
async def test_a_selector_that_fails_fails_its_own_send_only() -> None:
    def fall(_: Sequence[MessageQueue]) -> MessageQueue:
        raise ZeroDivisionError

    async with cluster() as east, Producer(east.namesrv) as producer:
        with pytest.raises(SendFailed, match="the selector raised ZeroDivisionError"):
            await producer.send(order(), selector=fall)
        with pytest.raises(SendFailed, match="the selector gave None"):
            await producer.send(order(), selector=lambda _: None)  # type: ignore[arg-type,return-value]  # a mistake
        assert (await producer.send(order())).offset == 0


@on_a_loop
async def test_a_call_that_makes_no_sense_is_refused_and_the_others_go_on() -> None:
    async with cluster() as east, Producer(east.namesrv) as producer:
        bad: list[tuple[dict[str, Any], str]] = [
            ({"timeout_ms": "5"}, "timeout_ms is '5'; needed is a whole number from 0 to 2147483647, or None"),
            ({"timeout_ms": math.nan}, "timeout_ms is nan"),
            ({"timeout_ms": True}, "timeout_ms is True"),
            ({"timeout_ms": -1}, "timeout_ms is -1"),
            ({"queue": "x"}, r"queue is 'x'; needed is a MessageQueue\(topic, broker, queue_id\)"),
            ({"queue": MessageQueue("orders", "broker-a", -1)}, "queue_id of queue is -1"),
        ]
        for given, said in bad:
            with pytest.raises((TypeError, ValueError), match=said):
                await producer.send(order(), **given)
            with pytest.raises((TypeError, ValueError), match=said):
                await producer.send_batch([order()], **given)
        for selector in (5, asyncio.sleep):
            with pytest.raises(TypeError, match="needed is a plain function queues -> one of them"):
                await producer.send_oneway(order(), selector=selector)  # type: ignore[arg-type]  # a mistake

        assert (await producer.send(order(), timeout_ms=3_000)).status is SendStatus.OK


@on_a_loop
async def test_batches_and_one_way_messages_arrive_compressed_ones_whole() -> None:
    async with cluster(orders=1) as east, Producer(east.namesrv) as producer:
        batch = await producer.send_batch([order(b"a"), order(b"b")])
        await producer.send(order(b"x" * 9_000))
        oneway = await producer.send_oneway(order(b"c"))
        async with Consumer(east.namesrv, "G", "orders", version=QUICK, from_where=FIRST) as consumer:
            messages = aiter(consumer)
            got = [await anext(messages) for _ in range(4)]

    assert [message.body for message in got] == [b"a", b"b", b"x" * 9_000, b"c"]
    assert tuple(message.message_id for message in got[:2]) == batch.message_ids
    assert got[3].message_id == oneway


@on_a_loop
async def test_a_message_that_no_broker_takes_is_refused_here() -> None:
    async with cluster() as east, Producer(east.namesrv, max_size=10) as producer:
        with pytest.raises(BadMessage, match="11 bytes; at most 10"):
            await producer.send(order(b"x" * 11))


@on_a_loop
async def test_a_broker_that_is_killed_is_left_alone_and_comes_back_and_nothing_acknowledged_is_lost() -> None:
    told: list[Fact] = []
    options = {"latency_max_ms": (50, 100), "not_available_ms": (0, 300)}
    async with cluster(2) as both:
        async with Producer(
            both.namesrv,
            avoids_faults=True,
            on_fact=told.append,
            routes_every_ms=200,
            **options,  # type: ignore[arg-type]  # as they are
        ) as producer:
            stored = [(await producer.send(order(b"%d" % number))).message_id for number in range(8)]
            await both.broker("broker-b").kill(keeps_route=True)
            stored += [(await producer.send(order(b"%d" % number))).message_id for number in range(8, 24)]
            await both.broker("broker-b").start()
            await until(lambda: any(isinstance(fact, BrokerBackoffEnded) for fact in told))
            brokers: set[str] = set()
            while "broker-b" not in brokers:
                result = await producer.send(order(b"again"))
                stored.append(result.message_id)
                brokers.add(result.queue.broker)
        got = set()
        async with Consumer(both.namesrv, "G", "orders", version=QUICK, from_where=FIRST) as consumer:
            async for message in consumer:
                got.add(message.message_id)
                if got >= set(stored):
                    break

    backed_off = [fact for fact in told if isinstance(fact, BrokerBackedOff)]
    assert {fact.broker for fact in backed_off} == {"broker-b"} and backed_off[0].is_isolated
    assert any(isinstance(fact, BrokerLatency) and fact.broker == "broker-a" for fact in told)


@on_a_loop
async def test_a_failure_tells_the_story_and_what_comes_next_is_explained() -> None:
    async with cluster() as east, Producer(east.namesrv, send_timeout_ms=500) as producer:
        assert producer.explain("orders").why is Why.NOTHING
        await producer.send(order())
        assert producer.explain("orders").why is Why.IN_TURN
        east.broker("broker-a").be_busy()

        with pytest.raises(SendFailed) as failed:
            await producer.send(order())

    assert len(failed.value.story.attempts) == 3
    assert "1. broker-a/" in str(failed.value) and "3. broker-a/" in str(failed.value)


@on_a_loop
async def test_no_name_server_is_a_failure_too() -> None:
    async with Producer("127.0.0.1:1", send_timeout_ms=300) as producer:
        with pytest.raises(SendFailed, match="Tried: nothing"):
            await producer.send(order())


@on_a_loop
async def test_closing_waits_for_what_is_under_way() -> None:
    async with cluster() as east:
        producer = Producer(east.namesrv)
        await producer.start()
        await producer.send(order())
        east.broker("broker-a").be_slow(200)
        sending = asyncio.create_task(producer.send(order()))
        await asyncio.sleep(0)
        await producer.close()

        assert (await sending).status is SendStatus.OK
        with pytest.raises(Closed):
            await producer.send(order())


@on_a_loop
async def test_what_has_no_answer_when_a_close_ends_says_that_it_may_be_stored() -> None:
    async with cluster() as east:
        producer = Producer(east.namesrv)
        await producer.start()
        await producer.send(order())
        east.broker("broker-a").be_slow(60_000)
        sending = asyncio.create_task(producer.send(order()))
        await asyncio.sleep(0)
        closing = asyncio.create_task(producer.close(drain_s=0))
        with pytest.raises(Closed, match="may be stored"):
            await sending
        east.broker("broker-a").be_slow(0)
        await closing


@on_a_loop
async def test_a_machine_that_breaks_reaches_every_send() -> None:
    async with cluster() as east:
        producer = Producer(east.namesrv)
        await producer.start()
        await producer.send(order())
        east.broker("broker-a").be_slow(60_000)
        sending = asyncio.create_task(producer.send(order()))
        await asyncio.sleep(0)

        def fall(_: int) -> list[object]:
            raise ZeroDivisionError

        producer._process.do(fall)
        with pytest.raises(MachineBroke):
            await sending
        with pytest.raises(MachineBroke):
            await producer.send(order())
        await producer.close()


@on_a_loop
async def test_a_producer_that_is_not_running_says_so() -> None:
    producer = Producer("127.0.0.1:1")

    with pytest.raises(Closed, match="is not running"):
        await producer.send(order())
    await producer.close()
