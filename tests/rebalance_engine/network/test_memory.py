"""What a consumer keeps of messages that nobody asked for yet is bounded; it says itself how many there are."""

import asyncio
from collections.abc import Mapping

import pytest

from rebalance_engine.embedded.cluster import Cluster
from rebalance_engine.embedded.store import Draft
from rebalance_engine.model import MessageQueue
from rebalance_engine.network import ConsumeFromWhere, Consumer, LitePullConsumer, Producer, ReceivedMessage
from rebalance_engine.network.options import ConsumerOptions
from rebalance_engine.network.outgoing import Message
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.messages import Host
from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.requests.nameserver import GetBrokerClusterInfo
from tests.rebalance_engine.network.clusters import QUICK, cluster, until
from tests.rebalance_engine.network.loop import on_a_loop

FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
QUEUES, EACH = 4, 1_000
PULLED = 32  # messages at a time, at most; one pull may go past a limit
LOOKS = 100


def fill(east: Cluster, *, each: int, size: int) -> None:
    """Store as many messages in each queue, without a producer."""
    machine = east.broker("broker-a").machine
    for number in range(QUEUES * each):
        draft = Draft(
            topic="orders",
            queue_id=number % QUEUES,
            body=b"x" * size,
            properties={},
            born_timestamp=0,
            born_host=Host("127.0.0.1", 1),
        )
        machine.core.store.append(draft, 1)


async def cached(transport: Transport, east: Cluster, client_id: str) -> Mapping[MessageQueue, int]:
    request = GetConsumerRunningInfo(consumer_group="G", client_id=client_id)
    answer = await transport.request(east.broker("broker-a").address, request, 10_000)
    table = {} if isinstance(answer, Refused) else answer.body.mq_table  # its heartbeat may be on its way
    return {queue: info.cached_msg_count for queue, info in table.items() if queue.topic == "orders"}


async def look(east: Cluster, client_id: str, limit: int) -> list[int]:
    """Wait until each queue is filled, and look at what is cached of each, again and again."""
    async with Transport() as transport:
        while not (seen := await cached(transport, east, client_id)) or min(seen.values()) <= limit - PULLED:
            pass
        looks = [await cached(transport, east, client_id) for _ in range(LOOKS)]
    return [count for one in looks for count in one.values()]


@pytest.mark.parametrize(
    ("options", "size", "limit"),
    [
        ({"queue_messages": 100}, 10, 100),
        ({"topic_messages": 200}, 10, 50),  # of four queues
        ({"queue_mib": 1}, 65_536, 32),  # whole MiB are counted: below two
        ({"topic_mib": 4}, 65_536, 32),
    ],
    ids=["queue_messages", "topic_messages", "queue_mib", "topic_mib"],
)
@on_a_loop
async def test_no_more_is_kept_than_the_limits_and_one_pull(options: ConsumerOptions, size: int, limit: int) -> None:
    async def hang(_: ReceivedMessage) -> None:
        await asyncio.Event().wait()

    each = EACH if size < 1_000 else 100
    given: ConsumerOptions = {"version": QUICK, "from_where": FIRST, "drain_s": 0, **options}
    async with cluster(orders=QUEUES) as east:
        fill(east, each=each, size=size)
        async with Consumer(east.namesrv, "G", "orders", hang, **given) as consumer:
            counts = await look(east, consumer.client_id, limit)

    assert limit - PULLED < max(counts) <= limit + PULLED < each


@on_a_loop
async def test_a_lite_pull_consumer_keeps_no_more_either() -> None:
    options: ConsumerOptions = {"version": QUICK, "from_where": FIRST, "queue_messages": 100}
    async with cluster(orders=QUEUES) as east:
        fill(east, each=EACH, size=10)
        async with LitePullConsumer(east.namesrv, "G", "orders", **options) as consumer:
            counts = await look(east, consumer.client_id, 100)

    assert 100 - PULLED < max(counts) <= 100 + PULLED


@on_a_loop
async def test_a_producer_has_no_more_under_way_than_it_may() -> None:
    """The others wait where they were called; none is lost."""
    may, calls = 5, 300

    def order() -> Message:
        return Message(topic="orders", body=b"x")

    async with cluster() as east, Producer(east.namesrv, most_under_way=may, send_timeout_ms=60_000) as producer:
        await producer.send(order())
        broker = east.broker("broker-a")
        broker.be_slow(600_000)
        sends = asyncio.gather(*(producer.send(order()) for _ in range(calls)))
        await until(lambda: broker.machine.faults.waiting() >= may)
        under_way = []
        async with Transport() as transport:
            for _ in range(LOOKS):  # each is a turn for whatever else would be sent
                await transport.request(east.namesrv, GetBrokerClusterInfo())
                under_way.append(broker.machine.faults.waiting())
        broker.be_well()
        results = await sends

    assert max(under_way) == may
    assert len({result.message_id for result in results}) == calls
