"""A client that hangs is found out, and nobody else waits for it."""

from __future__ import annotations

import asyncio

import pytest

from rebalance_engine.network.admin import Admin, Denied
from rebalance_engine.network.gate import NotAsked
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.codes import ResponseCode
from tests.cluster.contract import Cluster, queues_of
from tests.cluster.lines import plain
from tests.cluster.members import Option, java_consumers, python_consumers
from tests.cluster.processes import wait_until
from tests.matrix.conftest import CLUSTERS

pytestmark = [pytest.mark.java, pytest.mark.slow]
TOPIC, GROUP, QUEUES = "asked", "asked", 2
WHILE_IT_HANGS = 20  # calls to others; the verdict takes the broker ten seconds


@pytest.mark.parametrize("cluster", CLUSTERS, indirect=True, scope="session")
def test_a_stopped_client_gets_its_verdict_while_other_calls_flow(cluster: Cluster) -> None:
    queues = queues_of(cluster, cluster.create_topic(TOPIC, QUEUES), QUEUES)
    options: dict[str, Option] = {"namesrv": cluster.namesrv, "group": GROUP, "topics": TOPIC}
    java = java_consumers(cluster.java, [{**options, "name": "stopped"}], cluster.folder / "stopped")
    python = python_consumers([{**options, "name": "well"}], cluster.folder / "stopped")
    try:
        for client in (java, python):
            client.wait("started")
        wait_until(lambda: _share(java.held(), python.held(), queues), within_s=60, what="both having their share")
        java.pause()

        asyncio.run(_ask_both(cluster, java.client_id(), python.client_id(), python.held()))
    finally:
        java.kill()
        python.kill()


async def _ask_both(cluster: Cluster, stopped: str, well: str, held: frozenset[str]) -> None:
    broker = next(iter(cluster.addresses.values()))
    transport = Transport(NetworkSettings())
    admin = Admin(transport, cluster.namesrv)
    try:
        verdict = asyncio.ensure_future(admin.running_info(broker, GROUP, stopped))
        for _ in range(WHILE_IT_HANGS):
            assert set(await admin.member_ids(broker, GROUP) or ()) == {stopped, well}
        info = await admin.running_info(broker, GROUP, well)

        assert plain(f"{queue.topic}/{queue.broker}/{queue.queue_id}" for queue in info.mq_table) == held
        assert not verdict.done()
        with pytest.raises(Denied) as denied:
            await verdict
        assert denied.value.code == ResponseCode.CONSUME_MSG_TIMEOUT
        with pytest.raises(NotAsked, match="does not answer"):
            await admin.running_info(broker, GROUP, stopped)
    finally:
        await admin.close()
        await transport.close()


def _share(one: frozenset[str], other: frozenset[str], queues: frozenset[str]) -> bool:
    return bool(one and other) and one.isdisjoint(other) and one | other == queues
