import pytest

from rebalance_engine.network import Closed, Message, Producer
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
