import pytest

from rebalance_engine.network import Closed, Message, Producer
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.errors import BrokenContent
from rebalance_engine.remoting.requests.membership import HeartBeat, UnregisterClient
from tests.rebalance_engine.network.clusters import cluster, until
from tests.rebalance_engine.network.loop import on_a_loop

ORDER = Message(topic="orders", body=b"x")


@on_a_loop
async def test_brokers_know_a_producer_by_its_heartbeats_until_it_says_good_bye() -> None:
    async with cluster() as east:
        known = east.broker("broker-a").machine.membership.producers
        async with Producer(east.namesrv, "billing", instance="P") as producer:
            await producer.send(ORDER)
            await until(lambda: known.find("billing") is not None)
            (present,) = known.find("billing") or ()
            assert present.client == producer.client_id == "127.0.0.1@P"

        assert not known.find("billing")


@on_a_loop
async def test_heartbeats_go_on() -> None:
    async with cluster() as east:
        known = east.broker("broker-a").machine.membership.producers
        async with Producer(east.namesrv, "billing", heartbeat_every_ms=10) as producer:
            await producer.send(ORDER)
            await until(lambda: bool(known.find("billing")))
            (present,) = known.find("billing") or ()
            first = present.heard_at
            await until(lambda: present.heard_at > first)


@on_a_loop
async def test_the_end_comes_though_a_broker_does_not_hear_of_it() -> None:
    async with cluster() as east:
        async with Producer(east.namesrv, "billing") as producer:
            await producer.send(ORDER)
            await east.broker("broker-a").kill(keeps_route=True)

        with pytest.raises(Closed):
            await producer.send(ORDER)


@on_a_loop
async def test_an_answer_that_cannot_be_read_ends_neither_heartbeats_nor_the_close(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard: list[type] = []
    request_really = Transport.request

    async def request(self: Transport, address: str, asked: HeartBeat, timeout_ms: int = 3_000) -> object:
        answer = await request_really(self, address, asked, timeout_ms)
        if isinstance(asked, HeartBeat | UnregisterClient):
            heard.append(type(asked))
            raise BrokenContent("IS_SUB_CHANGE is '1'")
        return answer

    monkeypatch.setattr(Transport, "request", request)
    async with cluster() as east:
        async with Producer(east.namesrv, "billing", heartbeat_every_ms=10) as producer:
            await producer.send(ORDER)
            await until(lambda: len(heard) > 3)

        assert heard[-1] is UnregisterClient
        with pytest.raises(Closed):
            await producer.send(ORDER)


@on_a_loop
async def test_a_broker_that_does_not_hear_heartbeats_is_a_trouble_and_delays_no_other() -> None:
    async with cluster(brokers=2) as both:
        known = both.broker("broker-b").machine.membership.producers
        async with Producer(both.namesrv, "billing", heartbeat_every_ms=10) as producer:
            await producer.send(ORDER)
            await until(lambda: bool(known.find("billing")))
            await both.broker("broker-a").kill(keeps_route=True)
            await until(lambda: len(producer.troubles) == 1)
            (present,) = known.find("billing") or ()
            first = present.heard_at
            await until(lambda: present.heard_at > first)
