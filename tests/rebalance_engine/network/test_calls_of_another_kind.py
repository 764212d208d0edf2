"""Every public call of a client, with each of its arguments in turn of a kind that nobody could mean."""

import inspect
from collections.abc import Iterator

import pytest

from rebalance_engine.model import MessageQueue
from rebalance_engine.network import (
    BadMessage,
    Consumer,
    LitePullConsumer,
    Message,
    Producer,
    SyncConsumer,
    SyncProducer,
)
from rebalance_engine.network.admin import Admin
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupConfig, TopicConfig
from rebalance_engine.remoting.requests.contract import Response
from tests.rebalance_engine.network.answers import Answering
from tests.rebalance_engine.network.clusters import QUICK, cluster
from tests.rebalance_engine.network.loop import on_a_loop

ORDER = Message(topic="orders", body=b"x")
RIGHT: dict[str, object] = {
    "broker": "east:10911",
    "client": "A",
    "cluster": "shop",
    "group": "G",
    "message": ORDER,
    "messages": [ORDER],
    "name_server": "names:9876",
    "names": ["brokerName"],
    "offset": 0,
    "queue": MessageQueue("orders", "broker-a", 0),
    "queue_id": 0,
    "queues": [],
    "topic": "orders",
}
REFUSAL = "<odd>; needed (is|are) "
CONFIGS = {"put_topic": TopicConfig(topic_name="orders"), "put_group": SubscriptionGroupConfig(group_name="G")}


class Odd:
    """What no argument can be."""

    def __repr__(self) -> str:
        return "<odd>"


def calls(kind: type) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Give each public method with each of its arguments, and what the others are."""
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        arguments = [one for one in inspect.signature(method).parameters.values() if one.name != "self"]
        if name.startswith("_"):
            continue
        right = RIGHT | ({"config": CONFIGS[name]} if name in CONFIGS else {})
        needed = {one.name: right[one.name] for one in arguments if one.default is one.empty}
        yield from ((name, one.name, needed) for one in arguments)


async def refuses(client: object) -> int:
    """Call everything, and count it."""
    count = 0
    for name, argument, others in calls(type(client)):
        with pytest.raises((TypeError, BadMessage), match=REFUSAL):
            await called(client, name, others | {argument: Odd()})
        count += 1
    return count


async def called(client: object, name: str, arguments: dict[str, object]) -> None:
    answer = getattr(client, name)(**arguments)
    if inspect.isawaitable(answer):
        await answer


@on_a_loop
async def test_a_producer_refuses_them_and_lives_on() -> None:
    async with cluster() as east, Producer(east.namesrv) as producer:
        assert await refuses(producer) > 8
        assert (await producer.send(ORDER)).offset == 0


@on_a_loop
async def test_a_consumer_refuses_them_and_lives_on() -> None:
    async with cluster() as east, Consumer(east.namesrv, "G", ["orders"], version=QUICK) as consumer:
        assert await refuses(consumer) > 4
        consumer.resume()


@on_a_loop
async def test_a_lite_pull_consumer_refuses_them_and_lives_on() -> None:
    async with cluster() as east, LitePullConsumer(east.namesrv, "G") as consumer:
        assert await refuses(consumer) > 4
        consumer.assign(await consumer.queues("orders"))


@on_a_loop
async def test_an_admin_refuses_them_and_asks_nobody() -> None:
    calls_made = Answering(lambda _address, _request: Response())
    admin = Admin(calls_made, "names:9876")

    assert await refuses(admin) > 60
    assert calls_made.asked == []


def test_the_calls_without_asyncio_are_the_same() -> None:
    with SyncProducer("127.0.0.1:1") as producer:
        refuses_at_once(producer)
    consumer = SyncConsumer("127.0.0.1:1", "G", "orders")
    try:
        refuses_at_once(consumer)
    finally:
        consumer.close()


def refuses_at_once(client: object) -> None:
    for name, argument, others in calls(type(client)):
        with pytest.raises((TypeError, BadMessage), match=REFUSAL):
            getattr(client, name)(**others | {argument: Odd()})
