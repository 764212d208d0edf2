"""A message that no reader understands keeps nobody from those behind it."""

from rebalance_engine.network import ConsumeFromWhere, Consumer, LitePullConsumer, Producer
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.requests.producing import SendMessageV2
from tests.rebalance_engine.network.clusters import QUICK, cluster, put
from tests.rebalance_engine.network.loop import on_a_loop

FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET


async def store_broken(address: str) -> None:
    """Store what says that it is compressed and is not."""
    request = SendMessageV2(
        producer_group="P", topic="orders", queue_id=0, sys_flag=1, born_timestamp=1, bname="broker-a", body=b"no zlib"
    )
    async with Transport() as transport:
        await transport.request(address, request)


@on_a_loop
async def test_messages_behind_one_that_cannot_be_read_are_consumed() -> None:
    async with cluster(orders=1) as east, Producer(east.namesrv) as producer:
        await put(producer, ["before"])
        await store_broken(east.broker("broker-a").address)
        await put(producer, ["after"])
        async with Consumer(east.namesrv, "G", "orders", version=QUICK, from_where=FIRST) as consumer:
            messages = aiter(consumer)
            assert [((m := await anext(messages)).offset, m.body) for _ in range(2)] == [(0, b"before"), (2, b"after")]
            (trouble,) = consumer.troubles
        async with LitePullConsumer(east.namesrv, "L", "orders", version=QUICK, from_where=FIRST) as polling:
            polled: list[int] = []
            while len(polled) < 2:
                polled += [message.offset for message in await polling.poll()]
            assert (polled, polling.troubles) == ([0, 2], (trouble,))

    assert trouble.startswith("the message at offset 1 of orders/0 at 127.0.0.1 cannot be read, and is skipped: ")
