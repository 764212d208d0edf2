import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rebalance_engine.events import Fact, MemberLeft, QueueDropped, QueuePulled, QueueTaken
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.network import (
    Closed,
    ConsumeFromWhere,
    Consumer,
    MachineBroke,
    Message,
    Producer,
    ReceivedMessage,
    Retry,
)
from rebalance_engine.network.process import Process
from tests.rebalance_engine.network.clusters import QUICK, cluster, divided, put, until
from tests.rebalance_engine.network.loop import on_a_loop
from tests.rebalance_engine.network.peers import never, peer

FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
HOUR_S = 3_600


@on_a_loop
async def test_a_loop_gets_every_message_and_the_next_consumer_goes_on_after_the_last_one_asked_for() -> None:
    async with cluster() as east, Producer(east.namesrv) as producer:
        await put(producer, range(8))
        seen = []
        async with Consumer(east.namesrv, "G", "orders", version=QUICK, from_where=FIRST, threads=1) as consumer:
            async for message in consumer:
                seen.append(message.body)
                if len(seen) == 7:
                    break  # the seventh was not finished
        async with Consumer(east.namesrv, "G", "orders", version=QUICK) as consumer:
            async for message in consumer:
                seen.append(message.body)
                message.ack()
                if len(set(seen)) == 8:
                    break

    assert sorted(seen[:7] + seen[-2:]) == sorted([*(b"%d" % number for number in range(8)), seen[6]])


@on_a_loop
async def test_three_consumers_divide_the_queues_through_joins_and_leaves() -> None:
    async with cluster(2) as both:
        consumers = [Consumer(both.namesrv, "G", "orders", version=QUICK, instance=name) for name in "ABC"]
        await consumers[0].start()
        await divided(8, consumers[0])
        await consumers[1].start()
        await divided(8, *consumers[:2])
        await consumers[2].start()
        await divided(8, *consumers)
        # once more: B may give two queues to C before A gives one to B
        await until(lambda: sorted(len(consumer.held) for consumer in consumers) == [2, 3, 3])
        await divided(8, *consumers)

        await consumers[0].close()

        await divided(8, *consumers[1:])
        for consumer in consumers[1:]:
            await consumer.close()


@on_a_loop
async def test_retries_come_again_and_end_as_dead_letters() -> None:
    tries: list[int] = []

    async def refuse(message: ReceivedMessage) -> Retry:
        tries.append(message.reconsume_times)
        return Retry(delay_level=1)

    async with cluster() as east, Producer(east.namesrv) as producer:
        await put(producer, ["bad"])
        async with Consumer(
            east.namesrv, "G", "orders", refuse, version=QUICK, from_where=FIRST, max_reconsume_times=1
        ) as consumer:
            east.broker("broker-a").put_topic("%DLQ%G", 1)
            async with Consumer(east.namesrv, "H", "%DLQ%G", version=QUICK, from_where=FIRST) as undertaker:
                dead = await anext(aiter(undertaker))
            assert consumer.held

    assert tries == [0, 1]
    assert dead.body == b"bad"


@on_a_loop
async def test_an_orderly_handoff_keeps_the_order_of_every_queue() -> None:
    seen: dict[MessageQueue, list[int]] = {}
    in_hand: set[MessageQueue] = set()

    async def note(message: ReceivedMessage) -> None:
        assert message.queue not in in_hand, "two members consume one orderly queue"
        in_hand.add(message.queue)
        await asyncio.sleep(0.001)
        seen.setdefault(message.queue, []).append(int(message.body))
        in_hand.discard(message.queue)

    async with cluster() as east, Producer(east.namesrv) as producer:
        first = Consumer(east.namesrv, "G", "orders", note, version="5.3.3", orderly=True, from_where=FIRST)
        second = Consumer(east.namesrv, "G", "orders", note, version="5.3.3", orderly=True, from_where=FIRST)
        async with first:
            await divided(4, first)
            sending = asyncio.create_task(put(producer, range(400)))
            async with second:
                await divided(4, first, second)
                await sending
                await until(lambda: len({each for numbers in seen.values() for each in numbers}) == 400)

    for numbers in seen.values():
        firsts = list(dict.fromkeys(numbers))  # what is delivered twice is so from some point on, again in order
        assert firsts == sorted(firsts)


@on_a_loop
async def test_a_plain_listener_runs_in_threads_and_a_batch_listener_gets_several() -> None:
    bodies: list[bytes] = []
    sizes: list[int] = []

    def listen(message: ReceivedMessage) -> None:
        bodies.append(message.body)

    def listen_to_batches(messages: Sequence[ReceivedMessage]) -> None:
        sizes.append(len(messages))

    async with cluster(orders=1) as east, Producer(east.namesrv) as producer:
        await put(producer, range(20))
        async with Consumer(east.namesrv, "G", "orders", listen, version=QUICK, from_where=FIRST):
            await until(lambda: len(bodies) == 20)
        async with Consumer(
            east.namesrv, "H", "orders", batch_listener=listen_to_batches, batch=8, version=QUICK, from_where=FIRST
        ):
            await until(lambda: sum(sizes) == 20)

    assert max(sizes) == 8


@on_a_loop
async def test_closing_waits_for_what_is_in_hand_and_stores_it() -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def listen(_: ReceivedMessage) -> None:
        begun.set()
        await go.wait()

    async with cluster(orders=1) as east, Producer(east.namesrv) as producer:
        await put(producer, ["once"])
        consumer = Consumer(east.namesrv, "G", "orders", listen, version=QUICK, from_where=FIRST)
        await consumer.start()
        await begun.wait()
        closing = asyncio.create_task(consumer.close(drain_s=30))
        await asyncio.sleep(0)
        assert consumer.held
        go.set()
        await closing
        await put(producer, ["twice"])

        async with Consumer(east.namesrv, "G", "orders", version=QUICK) as successor:
            assert (await anext(aiter(successor))).body == b"twice"


@on_a_loop
async def test_listeners_that_close_their_own_consumer_do_not_wait_for_themselves() -> None:
    """A drain of an hour would be the end of this test; what they had in hand comes again."""
    went_on: list[bytes] = []
    both = asyncio.Barrier(2)

    async def listen(message: ReceivedMessage) -> None:
        await both.wait()
        await consumer.close()
        went_on.append(message.body)

    async with cluster(orders=1) as east, Producer(east.namesrv) as producer:
        await put(producer, ["a", "b"])
        consumer = Consumer(
            east.namesrv, "G", "orders", listen, version=QUICK, from_where=FIRST, threads=2, drain_s=HOUR_S
        )
        await consumer.start()
        await consumer.wait()
        await until(lambda: len(went_on) == 2)
        async with Consumer(east.namesrv, "G", "orders", version=QUICK, from_where=FIRST) as successor:
            first = await anext(aiter(successor))

    assert (sorted(went_on), first.body) == ([b"a", b"b"], b"a")


@on_a_loop
async def test_a_start_that_is_closed_meanwhile_says_so() -> None:
    async with peer(never) as silent:
        consumer = Consumer(silent, "G", "orders", version=QUICK)
        starting = asyncio.create_task(consumer.start())
        await asyncio.sleep(0)
        await consumer.close()

        with pytest.raises(Closed, match="was closed before it had started"):
            await starting


@on_a_loop
async def test_broadcasting_consumers_get_everything_and_find_their_offsets_again(tmp_path: Path) -> None:
    async with cluster() as east, Producer(east.namesrv) as producer:
        await put(producer, range(4))

        async def gets(count: int, ip: str) -> list[bytes]:
            seen = []
            async with Consumer(
                east.namesrv,
                "G",
                "orders",
                version=QUICK,
                from_where=FIRST,
                model=MessageModel.BROADCASTING,
                offsets_dir=tmp_path,
                ip=ip,
            ) as consumer:
                async for message in consumer:
                    seen.append(message.body)
                    message.ack()
                    if len(seen) == count:
                        return sorted(seen)
            return seen

        assert await gets(4, "10.0.0.1") == await gets(4, "10.0.0.2") == [b"0", b"1", b"2", b"3"]
        await put(producer, ["new"])
        assert await gets(1, "10.0.0.1") == [b"new"]


@on_a_loop
async def test_tags_choose_messages() -> None:
    async with cluster(orders=1) as east, Producer(east.namesrv) as producer:
        for tag in "abcab":
            await producer.send(Message(topic="orders", body=tag.encode(), tags=tag))
        async with Consumer(east.namesrv, "G", {"orders": "b || c"}, version=QUICK, from_where=FIRST) as consumer:
            messages = aiter(consumer)
            assert [(await anext(messages)).tags for _ in range(3)] == ["b", "c", "b"]


@on_a_loop
async def test_a_strategy_of_one_s_own_divides_the_queues() -> None:
    def only_the_first(client_id: str, queues: Sequence[MessageQueue], _: Sequence[str]) -> list[MessageQueue]:
        assert client_id.endswith("@A")
        return list(queues[:1])

    async with (
        cluster() as east,
        Consumer(east.namesrv, "G", "orders", version=QUICK, strategy=only_the_first, instance="A") as consumer,
    ):
        await divided(1, consumer)
        assert consumer.held == (MessageQueue("orders", "broker-a", 0),)


@on_a_loop
async def test_takes_first_pulls_and_drops_are_stated_with_their_times() -> None:
    told: list[Fact] = []
    async with cluster(orders=1) as east:
        async with Consumer(east.namesrv, "G", "orders", version=QUICK, instance="A", on_fact=told.append) as consumer:
            following = consumer.facts()
            await divided(1, consumer)
            await until(lambda: any(isinstance(fact, QueuePulled) for fact in told))
        followed = [fact async for fact in following]

    of_orders = [fact for fact in told if getattr(fact, "queue", EAST).topic == "orders"]
    assert [type(fact) for fact in of_orders] == [QueueTaken, QueuePulled, QueueDropped, MemberLeft]
    assert sorted(fact.at for fact in of_orders) == [fact.at for fact in of_orders]
    assert followed == told[-len(followed) :]


EAST = MessageQueue("orders", "broker-a", 0)


@on_a_loop
async def test_a_suspended_consumer_gets_nothing_until_it_is_resumed() -> None:
    async with (
        cluster(orders=1) as east,
        Producer(east.namesrv) as producer,
        Consumer(east.namesrv, "G", "orders", version=QUICK, from_where=FIRST) as consumer,
    ):
        await divided(1, consumer)
        consumer.suspend()
        consumer.subscribe("bills", "a || b")
        consumer.unsubscribe("bills")
        consumer.resume()
        await put(producer, ["x"])
        assert (await anext(aiter(consumer))).body == b"x"


@on_a_loop
async def test_a_machine_that_breaks_reaches_the_loop_and_who_waits() -> None:
    async with cluster(orders=1) as east:
        consumer = Consumer(east.namesrv, "G", "orders", version=QUICK)
        await consumer.start()
        process: Process = consumer._process

        def fall(_: int) -> list[object]:
            raise ZeroDivisionError

        process.do(fall)
        with pytest.raises(MachineBroke, match="ZeroDivisionError"):
            await anext(aiter(consumer))
        with pytest.raises(MachineBroke):
            await consumer.wait()
        await consumer.close()


@on_a_loop
async def test_a_consumer_that_is_not_running_says_so() -> None:
    consumer = Consumer("127.0.0.1:1", "G", "orders")
    with pytest.raises(Closed, match="is not running"):
        _ = consumer.client_id
    with pytest.raises(Closed, match="is not running"):
        aiter(consumer)
    with pytest.raises(Closed, match="is not running"):
        consumer.suspend()
    assert consumer.held == ()
    await consumer.close()


@on_a_loop
async def test_what_makes_no_sense_is_refused_before_anything_starts() -> None:
    def listen(_: ReceivedMessage) -> None: ...

    def listen_to_many(_: Sequence[ReceivedMessage]) -> None: ...

    makes: dict[str, Callable[[], Consumer]] = {
        "there is no strategy": lambda: Consumer("127.0.0.1:1", "G", "orders", strategy="NONE"),
        "plan for a whole group": lambda: Consumer("127.0.0.1:1", "G", "orders", strategy="STICKY"),
        "only a batch_listener": lambda: Consumer("127.0.0.1:1", "G", "orders", listen, batch=2),
        "only one can have": lambda: Consumer("127.0.0.1:1", "G", "orders", listen, batch_listener=listen_to_many),
        "has no tag": lambda: Consumer("127.0.0.1:1", "G", {"orders": "||"}),
        "the group is": lambda: Consumer("127.0.0.1:1", "", "orders"),
    }
    for words, make in makes.items():
        with pytest.raises(ValueError, match=words):
            make()
    with pytest.raises(RuntimeError, match="has a listener"):
        aiter(Consumer("127.0.0.1:1", "G", "orders", listen))


@on_a_loop
async def test_a_consumer_that_is_abandoned_leaves_its_queues_to_the_others_at_once() -> None:
    async with cluster(2) as both, Consumer(both.namesrv, "G", "orders", version=QUICK, instance="B") as stays:
        goes = Consumer(both.namesrv, "G", "orders", version=QUICK, instance="A")
        await goes.start()
        await divided(8, goes, stays)

        await goes.abandon()

        await divided(8, stays)
        await goes.wait()


@on_a_loop
async def test_a_consumer_that_stands_still_is_still_counted_by_its_brokers() -> None:
    async with cluster(2) as both, Consumer(both.namesrv, "G", "orders", version=QUICK, instance="B") as stays:
        silent = Consumer(both.namesrv, "G", "orders", version=QUICK, instance="A")
        await silent.start()
        await divided(8, silent, stays)

        await silent.abandon(keeps_connections=True)
        async with Consumer(both.namesrv, "G", "orders", version=QUICK, instance="C") as later:
            await until(lambda: len(later.held) == 2)  # the last of three; the silent one's share stays with it

            await until(lambda: len(set(stays.held) | set(later.held)) == 5)  # each takes in its own time
        await silent.abandon()


@on_a_loop
async def test_who_waits_for_the_end_of_a_rebalance_sees_all_that_it_took() -> None:
    """The first queue is held while a broker is asked about the second; the rebalance is over after the last."""
    waiting: list[asyncio.Task[tuple[MessageQueue, ...]]] = []

    async def held_afterwards(consumer: Consumer) -> tuple[MessageQueue, ...]:
        await consumer.rebalanced()
        return consumer.held

    def note(fact: Fact) -> None:
        if isinstance(fact, QueueTaken) and fact.queue.topic == "orders":
            waiting.append(asyncio.create_task(held_afterwards(consumer)))

    async with cluster(orders=8) as east:
        consumer = Consumer(east.namesrv, "G", "orders", version=QUICK, on_fact=note)
        async with consumer:
            await until(lambda: len(waiting) == 8)
            assert [len(held) for held in await asyncio.gather(*waiting)] == [8] * 8
