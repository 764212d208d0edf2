"""A cluster that lets in only who has the keys, over TLS: Java and Python work there, nobody else does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from rebalance_engine.network.outgoing import Message
from rebalance_engine.network.producer import Producer
from rebalance_engine.network.sending import SendFailed
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.tls import Tls
from rebalance_engine.remoting.acl import Credentials
from tests.cluster.certificates import make_certificate
from tests.cluster.contract import Cluster, queues_of
from tests.cluster.members import Option, java_consumers, java_producer, python_consumers, python_producer
from tests.cluster.processes import wait_until
from tests.matrix.conftest import CLUSTERS, KEYS, SECURED

pytestmark = [pytest.mark.java, pytest.mark.slow]
TOPIC, QUEUES, EACH = "sealed", 4, 10
each_cluster = pytest.mark.parametrize(
    "cluster", [f"{name}{SECURED}" for name in CLUSTERS], indirect=True, scope="session"
)


@each_cluster
def test_java_and_python_share_a_topic(cluster: Cluster) -> None:
    folder, ca = cluster.folder / "secured", str(_certificate(cluster))
    keys = f"{KEYS.access_key}:{KEYS.secret_key}"
    common: dict[str, Option] = {"namesrv": cluster.namesrv, "acl": keys}
    reading: dict[str, Option] = {**common, "group": "sealed", "topics": TOPIC}
    sending: dict[str, Option] = {**common, "topic": TOPIC, "count": EACH, "timeout": 20_000}
    jvm = [f"-Dtls.client.trustCertPath={ca}", "-Dtls.client.authServer=true"]
    jvm += ["-Dtls.test.mode.enable=false"]
    java = java_consumers(cluster.java, [{**reading, "name": "java", "tls": True}], folder, jvm)
    python = python_consumers([{**reading, "name": "python", "tls": ca}], folder)
    senders = [
        java_producer(cluster.java, {**sending, "name": "sends-java", "prefix": "java", "tls": True}, folder, jvm),
        python_producer({**sending, "name": "sends-python", "prefix": "python", "tls": ca}, folder),
    ]
    try:
        for sender in senders:
            sender.wait("stopped")
            assert len(sender.seen("sent")) == EACH, sender.seen("failed")

        queues = queues_of(cluster, TOPIC, QUEUES)
        wanted = {f"{name}-{number}" for name in ("java", "python") for number in range(EACH)}
        wait_until(
            lambda: {got.body for reader in (java, python) for got in reader.got()} == wanted,
            within_s=60,
            what="all messages being consumed",
        )
        shares = (java.held, python.held)
        wait_until(lambda: [len(held()) for held in shares] == [QUEUES / 2] * 2, within_s=60, what="equal shares")
        assert java.held() | python.held() == queues
    finally:
        for program in (*senders, java, python):
            program.kill()


@each_cluster
def test_a_wrong_secret_is_refused_in_words(cluster: Cluster) -> None:
    wrong = Credentials(access_key=KEYS.access_key, secret_key="guessed")  # noqa: S106  # of nobody
    network = NetworkSettings(acl=wrong, tls=Tls(ca=_certificate(cluster)))

    with pytest.raises(SendFailed) as refused:
        _send(cluster, network)

    assert "signature" in str(refused.value).lower() or "acl" in str(refused.value).lower()


@each_cluster
def test_plain_connections_are_taken_only_beside_tls(cluster: Cluster) -> None:
    network = NetworkSettings(acl=KEYS)

    if cluster.setup.tls_mode == "permissive":
        _send(cluster, network)
    else:
        with pytest.raises(SendFailed):
            _send(cluster, network)


@each_cluster
def test_a_server_that_nobody_vouches_for_is_not_spoken_to(cluster: Cluster, tmp_path: Path) -> None:
    other = make_certificate(tmp_path).certificate

    with pytest.raises(SendFailed):
        _send(cluster, NetworkSettings(acl=KEYS, tls=Tls(ca=other)))


def _certificate(cluster: Cluster) -> Path:
    assert cluster.setup.tls is not None
    return cluster.setup.tls.certificate


def _send(cluster: Cluster, network: NetworkSettings) -> None:
    async def send() -> None:
        async with Producer(cluster.namesrv, network=network, retries=0) as producer:
            await producer.send(Message(topic=TOPIC, body=b"one more"))

    asyncio.run(send())
