from dataclasses import replace

from rebalance_engine.embedded.cluster import Cluster, ClusterSettings
from rebalance_engine.network import checkup
from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.asked import Heard
from rebalance_engine.network.checkup import Check, Verdict, check_cluster
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.surveying import BrokerLook
from rebalance_engine.network.tls import Tls
from rebalance_engine.remoting.acl import Credentials
from rebalance_engine.remoting.codes import RequestCode
from tests.rebalance_engine.network.clusters import cluster
from tests.rebalance_engine.network.ghosts import ghost
from tests.rebalance_engine.network.loop import on_a_loop
from tests.rebalance_engine.network.test_looking import admin_of

SETTINGS = NetworkSettings(connect_timeout_s=1)
KEYS = Credentials(access_key="shop", secret_key="12345678")  # noqa: S106  # of a test


async def checked(names: str, settings: NetworkSettings = SETTINGS, deadline_s: float = 4) -> list[Check]:
    async with admin_of(names, settings) as admin:
        return await check_cluster(admin, settings, deadline_s=deadline_s)


def failed(checks: list[Check]) -> list[Check]:
    return [check for check in checks if check.verdict is Verdict.FAILED]


@on_a_loop
async def test_a_sound_cluster_passes_every_check() -> None:
    async with cluster(2) as east:
        checks = await checked(east.namesrv)

    assert {check.verdict for check in checks} == {Verdict.OK}
    assert "permissions at broker-a" in [check.subject for check in checks]


@on_a_loop
async def test_a_broker_that_advertises_where_nobody_is_gets_advice() -> None:
    async with cluster(2) as east:
        await east.broker("broker-b").kill(keeps_route=True)
        [one] = failed(await checked(east.namesrv))

    assert one.subject == "broker broker-b master"
    assert "--rewrite" in one.advice


@on_a_loop
async def test_a_name_server_that_is_not_there_gets_advice() -> None:
    [one] = failed(await checked("127.0.0.1:1"))

    assert "firewall" in one.advice


@on_a_loop
async def test_tls_where_there_is_none_is_named() -> None:
    async with cluster() as east:
        [one] = failed(await checked(east.namesrv, replace(SETTINGS, tls=Tls(verify=False, check_host=False))))

    assert "without TLS only" in one.advice


@on_a_loop
async def test_missing_keys_are_named() -> None:
    async with Cluster(ClusterSettings(acl=KEYS)) as east:
        [one] = failed(await checked(east.namesrv))
        sound = await checked(east.namesrv, replace(SETTINGS, acl=KEYS))

    assert "access key" in one.advice
    assert failed(sound) == []


@on_a_loop
async def test_a_member_that_does_not_answer_is_a_warning_not_a_failure() -> None:
    async with cluster() as east, ghost(east.broker("broker-a").address):
        checks = await checked(east.namesrv, deadline_s=2)

    [one] = [check for check in checks if check.verdict is not Verdict.OK]
    assert (one.verdict, one.subject) == (Verdict.WARNING, "answers of broker-a")
    assert "307" in one.seen


def look(version: str, started_ms_ago: int, runs_s: int) -> BrokerLook:
    table = {
        "brokerVersionDesc": version,
        "bootTimestamp": str(1_000_000_000 - started_ms_ago),
        "runtime": f"[ 0 days, 0 hours, 0 minutes, {runs_s} seconds ]",
    }
    by = Answerer(address="10.0.0.1:10911", code=RequestCode.GET_BROKER_RUNTIME_INFO, at=1_000_000_000)
    return BrokerLook(
        cluster="c",
        name="east",
        broker_id=0,
        address="10.0.0.1:10911",
        known_to=("n:1",),
        runtime=Heard(by, table),
        took_ms=10,
    )


def test_clocks_and_versions_are_judged() -> None:
    verdicts = [next(checkup._clock(look("V5_5_0", ago, 10))).verdict for ago in (10_500, 15_500, 70_000, -40_000)]
    versions = [next(checkup._version(look(name, 0, 0))).verdict for name in ("V5_5_0", "V4_3_2", "?")]

    assert verdicts == [Verdict.OK, Verdict.WARNING, Verdict.FAILED, Verdict.FAILED]
    assert versions == [Verdict.OK, Verdict.WARNING, Verdict.WARNING]
