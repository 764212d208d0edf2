"""The canary on each cluster: no broker makes its topic by itself, none lists it, and how long it waits is told."""

from __future__ import annotations

import asyncio

import pytest

from rebalance_engine.events import SendOutcome
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.canary import CLIENT, TOPIC, Canary, Trouble
from rebalance_engine.network.transport import Transport
from tests.cluster.contract import Cluster
from tests.matrix.conftest import CLUSTERS

pytestmark = [pytest.mark.java, pytest.mark.parametrize("cluster", CLUSTERS, indirect=True, scope="session")]


def test_a_canary_sends_to_a_topic_that_it_makes_only_if_it_may(cluster: Cluster) -> None:
    asyncio.run(_send(cluster))


async def _send(cluster: Cluster) -> None:
    broker = cluster.addresses["broker-a"]
    async with Transport() as transport:
        admin = Admin(transport, cluster.namesrv)
        canary = Canary(admin)
        try:
            missing = await canary.send("broker-a", broker, may_create=False)
            assert (missing.trouble, missing.latency) == (Trouble.NO_TOPIC, None)
            assert TOPIC not in (await admin.topic_configs(broker)).topic_config_table

            made = await canary.send("broker-a", broker, may_create=True)
            again = await canary.send("broker-a", broker, may_create=False)
            for heard in (made, again):
                assert (heard.trouble, heard.latency and heard.latency.outcome) == (None, SendOutcome.OK)
            config = (await admin.topic_configs(broker)).topic_config_table[TOPIC]
            assert (config.read_queue_nums, config.write_queue_nums) == (1, 1)
            assert await admin.producers_of_group(broker, CLIENT) is None
        finally:
            await admin.delete_topic(broker, TOPIC)
            await admin.forget_topic(cluster.namesrv, TOPIC)
            await admin.close()
