import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from rebalance_engine.effects import Received, Woken
from rebalance_engine.embedded.cluster import MOST_BROKERS, PORTS, Cluster, ClusterSettings, TopicShrinks
from rebalance_engine.network.channels import OfChannel
from rebalance_engine.network.driver import MachineBroke
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.acl import Credentials
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo, GetConsumerRunningInfoResponse
from rebalance_engine.remoting.requests.consuming import GetMaxOffset, QueryConsumerOffset, UpdateConsumerOffset
from rebalance_engine.remoting.requests.contract import Refused, Request, Response
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroup, NotifyConsumerIdsChanged
from rebalance_engine.remoting.requests.nameserver import GetRouteInfoByTopic
from tests.rebalance_engine.embedded.desk import bodies, joining, pulling, sending
from tests.rebalance_engine.network.loop import on_a_loop

SETTINGS = ClusterSettings(brokers=2, topics={"orders": 2})
KEYS = Credentials(access_key="operator", secret_key="12345678")  # noqa: S106  # of a test
R = TypeVar("R", bound=Response)


class Client:
    """Somebody who calls the cluster."""

    def __init__(self, acl: Credentials | None = None) -> None:
        self.transport = Transport(NetworkSettings(acl=acl, redial_first_s=0.01, redial_most_s=0.02))
        self.notified: asyncio.Queue[str] = asyncio.Queue()
        self.transport.channels.on_heard = self._hear

    def _hear(self, heard: OfChannel) -> None:
        if isinstance(heard, Received) and isinstance(heard.request, NotifyConsumerIdsChanged):
            self.notified.put_nowait(heard.request.consumer_group)
        elif isinstance(heard, Received) and isinstance(heard.request, GetConsumerRunningInfo):
            assert heard.token is not None
            info = GetConsumerRunningInfoResponse(body=ConsumerRunningInfo(properties={"who": heard.request.client_id}))
            self.transport.channels.respond(heard.channel, heard.token, info)

    async def ask(self, address: str, request: Request[R]) -> R | Refused:
        return await self.transport.request(address, request, 20_000)

    async def get(self, address: str, request: Request[R]) -> R:
        answer = await self.ask(address, request)
        assert not isinstance(answer, Refused), answer
        return answer

    async def brokers_of(self, cluster: Cluster, topic: str) -> dict[str, int]:
        """Give broker -> permission, as routes have it."""
        answer = await self.ask(cluster.namesrv, GetRouteInfoByTopic(topic=topic))
        return {} if isinstance(answer, Refused) else {one.broker_name: one.perm for one in answer.body.queue_datas}


@asynccontextmanager
async def client(acl: Credentials | None = None) -> AsyncIterator[Client]:
    made = Client(acl)
    try:
        yield made
    finally:
        await made.transport.close()


@on_a_loop
async def test_what_is_sent_is_pulled() -> None:
    async with Cluster(SETTINGS) as cluster, client() as a:
        east = cluster.broker("broker-a").address
        await a.get(east, joining("G", "orders"))
        waiting = asyncio.create_task(a.get(east, pulling("orders", 0)))

        await a.get(east, sending("orders", "hello"))

        assert bodies(await waiting) == ["hello"]
        assert await a.brokers_of(cluster, "orders") == {"broker-a": 6, "broker-b": 6}


@on_a_loop
async def test_members_are_notified_and_asked() -> None:
    async with Cluster(SETTINGS) as cluster, client() as a, client() as b:
        east = cluster.broker("broker-a").address
        await a.get(east, joining("G", "orders", client="A"))
        assert await a.notified.get() == "G"

        await b.get(east, joining("G", "orders", client="B"))
        info = await b.get(east, GetConsumerRunningInfo(consumer_group="G", client_id="A"))

        assert (await a.notified.get(), info.body.properties) == ("G", {"who": "A"})
        assert (await b.get(east, GetConsumerListByGroup(consumer_group="G"))).body.consumer_id_list == ("A", "B")


@on_a_loop
async def test_a_member_whose_connection_closes_is_gone() -> None:
    async with Cluster(SETTINGS) as cluster, client() as a:
        east = cluster.broker("broker-a").address
        await a.get(east, joining("G", "orders", client="A"))
        async with client() as b:
            await b.get(east, joining("G", "orders", client="B"))
        for _ in range(3):
            await a.notified.get()

        assert (await a.get(east, GetConsumerListByGroup(consumer_group="G"))).body.consumer_id_list == ("A",)


@on_a_loop
async def test_a_client_that_closes_instead_of_answering_has_its_verdict() -> None:
    async with Cluster(SETTINGS) as cluster, client() as a, client() as b:
        east = cluster.broker("broker-a").address
        await b.get(east, joining("G", "orders", client="B"))
        asked = asyncio.Event()
        b.transport.channels.on_heard = lambda heard: asked.set() if isinstance(heard, Received) else None
        answer = asyncio.create_task(a.ask(east, GetConsumerRunningInfo(consumer_group="G", client_id="B")))
        await asked.wait()

        await b.transport.close()

        assert (await answer).code == ResponseCode.SYSTEM_ERROR


@on_a_loop
async def test_a_killed_broker_leaves_the_routes_and_comes_back_with_its_messages() -> None:
    async with Cluster(SETTINGS) as cluster, client() as a:
        broker = cluster.broker("broker-a")
        await a.get(broker.address, sending("orders", "kept"))

        await broker.kill()
        routes = await a.brokers_of(cluster, "orders")
        with pytest.raises(NoAnswer):
            await a.transport.request(broker.address, GetMaxOffset(topic="orders", queue_id=0), 300)
        await broker.start()

        assert routes == {"broker-b": 6}
        assert set(await a.brokers_of(cluster, "orders")) == {"broker-a", "broker-b"}
        assert (await a.get(broker.address, GetMaxOffset(topic="orders", queue_id=0))).offset == 1


@on_a_loop
async def test_a_name_server_may_not_notice_that_a_broker_is_gone() -> None:
    async with Cluster(SETTINGS) as cluster, client() as a:
        await cluster.broker("broker-a").kill(keeps_route=True)

        assert set(await a.brokers_of(cluster, "orders")) == {"broker-a", "broker-b"}
        with pytest.raises(RuntimeError, match="broker-a is down"):
            cluster.broker("broker-a").be_slow(1)
        with pytest.raises(RuntimeError, match="broker-a is down"):
            cluster.broker("broker-a").machine.check()


@on_a_loop
async def test_faults_come_and_go() -> None:
    async with Cluster(SETTINGS) as cluster, client() as a:
        broker = cluster.broker("broker-a")
        broker.be_busy()
        busy = await a.ask(broker.address, sending("orders", "x"))
        broker.be_well()
        broker.be_slow(30)
        slow = await a.ask(broker.address, sending("orders", "x"))

        assert (busy.code, slow.code) == (ResponseCode.SYSTEM_BUSY, 0)


@on_a_loop
async def test_a_read_only_broker_is_read_only_in_routes() -> None:
    async with Cluster(SETTINGS) as cluster, client() as a:
        broker = cluster.broker("broker-a")

        broker.permit(writing=False)

        assert await a.brokers_of(cluster, "orders") == {"broker-a": 4, "broker-b": 6}
        assert (await a.ask(broker.address, sending("orders", "x"))).code == ResponseCode.SUCCESS


@on_a_loop
async def test_a_topic_can_be_made_on_all_brokers() -> None:
    async with Cluster(SETTINGS) as cluster, client() as a:
        cluster.put_topic("pay", 3)

        assert await a.brokers_of(cluster, "pay") == {"broker-a": 6, "broker-b": 6}


@on_a_loop
async def test_a_cluster_goes_on_where_it_was(tmp_path: Path) -> None:
    settings = replace(SETTINGS, directory=tmp_path)
    commit = UpdateConsumerOffset(consumer_group="G", topic="orders", queue_id=0, commit_offset=1)
    async with Cluster(settings) as cluster, client() as a:
        before = cluster.broker("broker-b").address
        await a.get(before, joining("G", "orders"))
        await a.get(before, sending("orders", "kept"))
        await a.get(before, commit)

    async with Cluster(settings) as cluster, client() as a:
        after = cluster.broker("broker-b").address
        offset = await a.get(after, QueryConsumerOffset(consumer_group="G", topic="orders", queue_id=0))
        end = await a.get(after, GetMaxOffset(topic="orders", queue_id=0))

    assert (after, offset.offset, end.offset) == (before, 1, 1)


@on_a_loop
async def test_requests_to_brokers_have_to_be_signed_where_keys_are_set() -> None:
    settings = replace(SETTINGS, acl=KEYS)
    async with Cluster(settings) as cluster, client() as stranger, client(KEYS) as operator:
        forged = Client(replace(KEYS, secret_key=KEYS.secret_key[::-1]))
        broker, request = cluster.broker("broker-a").address, GetMaxOffset(topic="orders", queue_id=0)

        codes = [(await one.ask(broker, request)).code for one in (stranger, forged, operator)]
        route = await stranger.ask(cluster.namesrv, GetRouteInfoByTopic(topic="orders"))
        await forged.transport.close()

        assert codes == [ResponseCode.NO_PERMISSION, ResponseCode.NO_PERMISSION, 0]
        assert route.code == ResponseCode.SUCCESS


ACL = "org.apache.rocketmq.acl.common.AclException: "


@pytest.mark.parametrize(
    ("version", "code", "words"),
    [
        (
            "4.9.7",
            ResponseCode.SYSTEM_ERROR,
            [
                f"{ACL}No accessKey is configured",
                f"{ACL}No acl config for nobody",
                f"{ACL}Check signature failed for accessKey={KEYS.access_key}",
            ],
        ),
        (
            "5.5.0",
            ResponseCode.NO_PERMISSION,
            ["username cannot be null.", "User:nobody is not found.", "check signature failed."],
        ),
    ],
)
@on_a_loop
async def test_strangers_are_refused_in_the_words_of_the_version(
    version: str, code: ResponseCode, words: list[str]
) -> None:
    """As released brokers answered; 4.9.7 names the line that threw it, too."""
    wrong = [None, replace(KEYS, access_key="nobody"), replace(KEYS, secret_key=KEYS.secret_key[::-1])]
    answers = []
    async with Cluster(replace(SETTINGS, acl=KEYS, version=version)) as cluster:
        for keys in wrong:
            async with client(keys) as one:
                request = GetMaxOffset(topic="orders", queue_id=0)
                answers.append(await one.ask(cluster.broker("broker-a").address, request))

    assert answers == [Refused(code=code, remark=said) for said in words]


@on_a_loop
async def test_a_machine_that_breaks_ends_the_cluster_with_a_clear_error() -> None:
    async with Cluster(SETTINGS) as cluster:
        driver = cluster.broker("broker-b").driver
        assert driver is not None
        driver.hear(Woken(timer="lunch"))

        with pytest.raises(MachineBroke, match="lunch"):
            await cluster.run()


@on_a_loop
async def test_ports_are_none_that_callers_are_given() -> None:
    async with Cluster(SETTINGS) as cluster:
        addresses = [cluster.namesrv, *(broker.address for broker in cluster.brokers.values())]

        assert all(15_000 <= int(address.rpartition(":")[2]) < PORTS.stop + 1_000 for address in addresses)
        with pytest.raises(RuntimeError, match="up already"):
            await cluster.broker("broker-a").start()


@on_a_loop
async def test_a_port_that_is_taken_is_told_and_nothing_is_left_behind() -> None:
    async with Cluster(SETTINGS) as cluster:
        port = int(cluster.namesrv.rpartition(":")[2])

        with pytest.raises(OSError, match="no port to listen on"):
            async with Cluster(replace(SETTINGS, port=port)):
                pass


@on_a_loop
async def test_there_are_no_ports_above_the_last() -> None:
    with pytest.raises(OSError, match="no port to listen on"):
        async with Cluster(replace(SETTINGS, port=65_535)):
            pass


@on_a_loop
async def test_two_clusters_never_work_in_one_directory(tmp_path: Path) -> None:
    settings = replace(SETTINGS, directory=tmp_path)
    async with Cluster(settings):
        with pytest.raises(OSError, match="another cluster works in"):
            async with Cluster(settings):
                pass
    async with Cluster(settings) as again:
        assert again.broker("broker-a").is_up


@on_a_loop
async def test_facts_are_told() -> None:
    facts: list[object] = []
    async with Cluster(SETTINGS, on_fact=facts.append) as cluster, client() as a:
        await a.get(cluster.broker("broker-a").address, joining("G", "orders"))

    assert facts


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"brokers": 0}, "it needs to be 1 to 26"),
        ({"brokers": MOST_BROKERS + 1}, "it needs to be 1 to 26"),
        ({"version": "9.9"}, "there are brokers of 4.0.0 to 5.5.0"),
        ({"host": "0.0.0.0"}, "no address that clients could call"),  # noqa: S104  # it is refused
        ({"topics": {"orders": 0}}, "needs 1 to 1024"),
    ],
)
def test_what_no_cluster_can_be(change: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        replace(SETTINGS, **change)  # type: ignore[arg-type]  # that is the point


def test_a_broker_that_is_not_there_is_named_with_those_that_are() -> None:
    cluster = Cluster()

    with pytest.raises(KeyError, match="no broker 'broker-z'"):
        cluster.broker("broker-z")


@on_a_loop
async def test_queues_that_a_topic_has_already_are_never_taken_from_it(tmp_path: Path) -> None:
    """Neither by a restart of a broker, whatever was changed meanwhile, nor by a later cluster in the same place."""
    settings = replace(SETTINGS, brokers=1, directory=tmp_path)
    async with Cluster(settings) as cluster:
        broker = cluster.broker("broker-a")
        cluster.put_topic("orders", 6)
        await broker.stop()
        await broker.start()
        config = broker.machine.membership.topics.find("orders")
        assert config is not None and config.write_queue_nums == 6

    with pytest.raises(TopicShrinks, match="has topic 'orders' with 6 queues, and 2 are wanted"):
        async with Cluster(settings):
            pass
    async with Cluster(replace(settings, topics={"orders": 8})) as cluster:
        config = cluster.broker("broker-a").machine.membership.topics.find("orders")
        assert config is not None and config.write_queue_nums == 8
