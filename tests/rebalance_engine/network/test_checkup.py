from dataclasses import replace
from pathlib import Path

import pytest
import trustme

from rebalance_engine.embedded.cluster import Cluster, ClusterSettings
from rebalance_engine.network import checkup
from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.asked import Heard
from rebalance_engine.network.checkup import Check, Verdict, check_cluster
from rebalance_engine.network.listener import Listener
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.surveying import BrokerLook
from rebalance_engine.network.tls import ServerTls, Tls, TlsMode
from rebalance_engine.remoting.acl import Credentials
from rebalance_engine.remoting.codes import RequestCode, ResponseCode
from rebalance_engine.remoting.requests.contract import Refused, Response
from tests.rebalance_engine.network.clusters import cluster
from tests.rebalance_engine.network.ghosts import ghost
from tests.rebalance_engine.network.loop import on_a_loop
from tests.rebalance_engine.network.peers import answering
from tests.rebalance_engine.network.test_looking import admin_of

SETTINGS = NetworkSettings(connect_timeout_s=20)  # a machine with other work may stand still for seconds
KEYS = Credentials(access_key="shop", secret_key="12345678")  # noqa: S106  # of a test


async def checked(names: str, settings: NetworkSettings = SETTINGS, deadline_s: float = 60) -> list[Check]:
    async with admin_of(names, settings) as admin:
        return await check_cluster(admin, settings, deadline_s=deadline_s)


def failed(checks: list[Check]) -> list[Check]:
    return [check for check in checks if check.verdict is Verdict.FAILED]


@on_a_loop
async def test_a_sound_cluster_passes_every_check() -> None:
    async with cluster(2) as east:
        checks = await checked(east.namesrv)

    assert {check.verdict for check in checks} == {Verdict.OK}
    assert checks[0].seen == "answers, without TLS; it knows 2 brokers"
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
async def test_a_broker_is_no_name_server_and_is_said_to_answer(tmp_path: Path) -> None:
    """A server that takes TLS beside what is plain is not said to take TLS only."""
    trustme.CA().issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "server.pem"))
    async with Cluster(ClusterSettings(tls=ServerTls(certificate=tmp_path / "server.pem"))) as east:
        [one] = failed(await checked(east.broker("broker-a").address))

    assert "REQUEST_CODE_NOT_SUPPORTED" in one.seen
    assert one.advice == "It answers, but is no name server (a broker?); those usually listen on port 9876."


@on_a_loop
async def test_a_name_server_that_refuses_for_another_reason_is_not_said_to_be_away() -> None:
    async with Listener() as listener:
        answering(listener, lambda _: Refused(code=ResponseCode.SYSTEM_BUSY, remark="busy"))
        [one] = failed(await checked(await listener.start()))

    assert one.advice == "It answers, and refuses what it is asked: see what its log says."


@on_a_loop
async def test_tls_where_there_is_none_is_named() -> None:
    async with cluster() as east:
        [one] = failed(await checked(east.namesrv, replace(SETTINGS, tls=Tls(verify=False, check_host=False))))

    assert one.advice.startswith("It answers without TLS only: leave --tls away")


@pytest.mark.parametrize("mode", [TlsMode.PERMISSIVE, TlsMode.ENFORCING])
@on_a_loop
async def test_a_certificate_that_is_not_trusted_is_named_and_nobody_is_told_to_leave_tls_away(
    mode: TlsMode, tmp_path: Path
) -> None:
    """A permissive server answers without TLS as well; that is no reason to give up being safe."""
    ours, theirs = trustme.CA(), trustme.CA()
    ours.cert_pem.write_to_path(str(tmp_path / "ours.pem"))
    theirs.cert_pem.write_to_path(str(tmp_path / "theirs.pem"))
    theirs.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "server.pem"))
    theirs.issue_cert("broker.example").private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "elsewhere.pem"))

    async def advised(server: str, tls: Tls) -> str:
        async with Listener(tls=ServerTls(certificate=tmp_path / server, mode=mode)) as listener:
            answering(listener, lambda _: Response())
            address = await listener.start()
            return await checkup._other_way(address, replace(SETTINGS, tls=tls))

    by_system = await advised("server.pem", Tls())
    by_file = await advised("server.pem", Tls(ca=tmp_path / "ours.pem"))
    elsewhere = await advised("elsewhere.pem", Tls(ca=tmp_path / "theirs.pem"))
    sound = await advised("server.pem", Tls(ca=tmp_path / "theirs.pem", check_host=False))

    told = "name who did by --tls-ca FILE."
    assert by_system == f"Its certificate is not trusted, this system does not know who signed it: {told}"
    assert by_file == f"Its certificate is not trusted, {tmp_path / 'ours.pem'} did not sign it: {told}"
    assert elsewhere.startswith("Its certificate is not for 127.0.0.1:")
    assert "--tls away" not in by_system + by_file + elsewhere + sound


@pytest.mark.parametrize("version", ["4.9.7", "5.5.0"])
@on_a_loop
async def test_missing_keys_are_named(version: str) -> None:
    async with Cluster(ClusterSettings(acl=KEYS, version=version)) as east:
        [one] = failed(await checked(east.namesrv))
        sound = await checked(east.namesrv, replace(SETTINGS, acl=KEYS))

    assert "set ROCKETMQ_ACCESS_KEY (or --access-key) and ROCKETMQ_SECRET_KEY" in one.advice
    assert failed(sound) == []


@pytest.mark.parametrize("version", ["4.9.7", "5.5.0"])
@on_a_loop
async def test_a_wrong_secret_and_an_unknown_account_are_told_from_lacking_rights(version: str) -> None:
    async with Cluster(ClusterSettings(acl=KEYS, version=version)) as east:
        forged = await checked(east.namesrv, replace(SETTINGS, acl=replace(KEYS, secret_key="87654321")))  # noqa: S106
        unknown = await checked(east.namesrv, replace(SETTINGS, acl=replace(KEYS, access_key="nobody")))

    advised = "The secret is wrong: set ROCKETMQ_SECRET_KEY to that of the account shop."
    assert [check.advice for check in failed(forged)] == [advised]
    [one] = failed(unknown)
    assert one.advice.startswith("There is no account nobody: see that the access key is right")


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("User:shop not found.", "There is no account shop"),
        ("User:shop is disabled.", "The account shop is disabled"),
        ("User:shop has no permission to access Topic:orders", ""),
    ],
)
def test_what_servers_say_of_keys_is_told_apart(said: str, advice: str) -> None:
    assert checkup._keys(said, replace(SETTINGS, acl=KEYS)).partition(":")[0] == advice


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
