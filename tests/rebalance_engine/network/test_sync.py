import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from rebalance_engine.embedded.cluster import Cluster
from rebalance_engine.events import QueueDropped
from rebalance_engine.network import Closed, ConsumeFromWhere, Message, ReceivedMessage, SyncConsumer, SyncProducer
from rebalance_engine.network.sync import LoopThread
from tests.rebalance_engine.network.clusters import QUICK, cluster

FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET


@contextmanager
def running() -> Iterator[Cluster]:
    """Run a cluster in a loop of its own."""
    thread = LoopThread("cluster")

    async def make() -> Cluster:
        return cluster()

    started = thread.run(make())
    try:
        thread.run(started.__aenter__())
        yield started
    finally:
        thread.run(started.__aexit__(None, None, None))
        thread.close()


def test_a_program_without_asyncio_sends_and_loops_over_messages() -> None:
    with running() as east, SyncProducer(east.namesrv) as producer:
        sent = [producer.send(Message(topic="orders", body=b"%d" % number)).message_id for number in range(4)]
        sent += producer.send_batch([Message(topic="orders", body=b"batch")]).message_ids
        sent.append(producer.send_oneway(Message(topic="orders", body=b"oneway")))
        assert producer.explain("orders").queue is not None and "@" in producer.client_id
        got = []
        with SyncConsumer(east.namesrv, "G", "orders", version=QUICK, from_where=FIRST) as consumer:
            for message in consumer:
                got.append(message.message_id)
                message.ack()
                if len(got) == 6:
                    break
            assert len(consumer.held) == 4 and "@" in consumer.client_id
            assert consumer.troubles == consumer.past_troubles == producer.troubles == producer.past_troubles == ()
            consumer.suspend()
            consumer.resume()

    assert sorted(got) == sorted(sent)


def test_a_program_without_asyncio_follows_facts_and_changes_what_it_subscribes_to() -> None:
    with running() as east, SyncProducer(east.namesrv) as producer:
        producer.send(Message(topic="orders", body=b"x"))
        said = producer.facts()
        with SyncConsumer(east.namesrv, "G", "orders", version=QUICK, from_where=FIRST) as consumer:
            facts = consumer.facts()
            queue = next(iter(consumer)).queue
            consumer.subscribe("bills")
            consumer.unsubscribe("bills")
        assert queue in [one.queue for one in facts if isinstance(one, QueueDropped)]
        assert producer.address_of(queue.broker) == east.broker("broker-a").address
    assert list(said) == []


def test_a_listener_runs_beside_a_thread_that_waits() -> None:
    seen = threading.Event()

    def listen(_: ReceivedMessage) -> None:
        seen.set()

    with running() as east, SyncProducer(east.namesrv) as producer:
        producer.send(Message(topic="orders", body=b"x"))
        with SyncConsumer(east.namesrv, "G", "orders", listen, version=QUICK, from_where=FIRST) as consumer:
            waiting = threading.Thread(target=consumer.wait)
            waiting.start()
            assert seen.wait(30)
            closing = threading.Thread(target=consumer.close)
            closing.start()
            closing.join(30)
            waiting.join(30)

    assert not waiting.is_alive() and not closing.is_alive()


def test_a_listener_closes_its_own_consumer_from_its_thread() -> None:
    """With a drain of an hour; the thread that waits hears of the end."""
    went_on = threading.Event()

    def listen(_: ReceivedMessage) -> None:
        consumer.close(drain_s=3_600)
        went_on.set()

    with running() as east, SyncProducer(east.namesrv) as producer:
        producer.send(Message(topic="orders", body=b"x"))
        consumer = SyncConsumer(east.namesrv, "G", "orders", listen, version=QUICK, from_where=FIRST)
        with consumer:
            consumer.wait()

        assert went_on.wait(30)


def test_an_async_listener_is_told_that_it_cannot_close_what_its_loop_runs() -> None:
    said: list[str] = []
    heard = threading.Event()

    async def listen(_: ReceivedMessage) -> None:
        try:
            consumer.close()
        except RuntimeError as error:
            said.append(str(error))
        heard.set()

    with running() as east, SyncProducer(east.namesrv) as producer:
        producer.send(Message(topic="orders", body=b"x"))
        with SyncConsumer(east.namesrv, "G", "orders", listen, version=QUICK, from_where=FIRST) as consumer:
            assert heard.wait(30)

    assert said == ["called in its own event loop; an async listener needs Consumer, not SyncConsumer"]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_an_async_listener_raises_does_not_end_the_loop_that_others_wait_for(kind: type[BaseException]) -> None:
    tries: list[bytes] = []
    again = threading.Event()

    async def listen(message: ReceivedMessage) -> None:
        tries.append(message.body)
        if len(tries) == 1:
            raise kind
        again.set()

    with running() as east, SyncProducer(east.namesrv) as producer:
        producer.send(Message(topic="orders", body=b"x"))
        with SyncConsumer(
            east.namesrv, "G", "orders", listen, version=QUICK, from_where=FIRST, orderly=True
        ) as consumer:
            assert again.wait(30)
            assert len(consumer.held) == 4

    assert tries == [b"x", b"x"]


def test_what_ends_together_with_its_loop_has_ended() -> None:
    """The answer was there, and the loop stops before it would have told the thread that waits."""
    thread = LoopThread("ending")

    async def end() -> str:
        asyncio.get_running_loop().stop()
        return "ended"

    assert thread.run(end()) == "ended"
    thread.close()


def test_who_waits_in_another_thread_hears_of_the_end() -> None:
    thread = LoopThread("waiting")
    waits, heard = threading.Event(), threading.Event()

    async def wait() -> None:
        waits.set()
        await asyncio.Event().wait()

    def waiting() -> None:
        with pytest.raises(Closed, match="closed meanwhile"):
            thread.run(wait())
        heard.set()

    other = threading.Thread(target=waiting)
    other.start()
    assert waits.wait(30)
    thread.close()

    assert heard.wait(30)
    other.join()


@pytest.mark.parametrize(
    "make",
    [lambda: SyncConsumer("nowhere", "G", "orders"), lambda: SyncProducer("nowhere")],
    ids=["consumer", "producer"],
)
def test_what_makes_no_sense_leaves_no_thread_behind(make: Callable[[], object]) -> None:
    before = threading.active_count()

    with pytest.raises(ValueError, match="host:port"):
        make()

    assert threading.active_count() == before


def test_what_is_closed_stays_closed() -> None:
    producer = SyncProducer("127.0.0.1:1")
    producer.start()
    producer.close()
    producer.close()

    with pytest.raises(Closed):
        producer.send(Message(topic="orders", body=b"x"))


def test_what_does_not_run_says_so_in_words_of_both_kinds_of_programs() -> None:
    producer = SyncProducer("127.0.0.1:1")
    try:
        with pytest.raises(Closed) as refused:
            producer.send(Message(topic="orders", body=b"x"))
    finally:
        producer.close()

    assert str(refused.value).endswith("is not running: it was not started, or it is closed")
