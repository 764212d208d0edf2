"""A control room over a real cluster that lets in only who has the keys, by TLS: with them, and with a wrong secret."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings
from redis import Redis

from dashboard.clusters.models import Route, Watch
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.tls import Tls
from rebalance_engine.remoting.acl import Credentials
from tests.cluster.contract import Cluster, queues_of
from tests.cluster.lines import Client
from tests.cluster.members import Option, java_consumers
from tests.dashboard.conftest import redis, redis_server  # noqa: F401 - fixtures
from tests.matrix.conftest import KEYS, SECURED
from tests.matrix.room import Room

pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
on_a_secured_cluster = pytest.mark.parametrize("cluster", [f"5.5.0{SECURED}"], indirect=True, scope="session")
GROUP, TOPIC, QUEUES = "watched", "watched", 4
MEMBERS = ("one", "two")


@pytest.fixture
def members(cluster: Cluster) -> Iterator[list[Client]]:
    """Let two Java consumers share a topic."""
    cluster.create_topic(TOPIC, QUEUES)
    option: dict[str, Option] = {
        "namesrv": cluster.namesrv,
        "group": GROUP,
        "topics": TOPIC,
        "acl": f"{KEYS.access_key}:{KEYS.secret_key}",
        "tls": True,
    }
    jvm = [f"-Dtls.client.trustCertPath={certificate(cluster)}", "-Dtls.client.authServer=true"]
    jvm += ["-Dtls.test.mode.enable=false"]
    folder = cluster.folder / "watched"
    them = [java_consumers(cluster.java, [{**option, "name": name}], folder, jvm) for name in MEMBERS]
    try:
        for each in them:
            each.wait("started")
        yield them
    finally:
        for each in them:
            each.kill()


def certificate(cluster: Cluster) -> Path:
    assert cluster.setup.tls is not None
    return cluster.setup.tls.certificate


@on_a_secured_cluster
def test_with_the_keys_all_is_found_and_with_a_wrong_secret_it_is_said_and_unknown_stays_unknown(
    cluster: Cluster,
    members: list[Client],
    redis: Redis,  # noqa: F811
    redis_server: str,  # noqa: F811
    settings: Settings,
) -> None:
    settings.REDIS_URL = redis_server
    tls = Tls(ca=certificate(cluster))
    room = Room(cluster, redis, GROUP, network=NetworkSettings(acl=KEYS, tls=tls))
    ids = {each.client_id() for each in members}

    with room.open():
        room.until(lambda: room.members() == ids and room.is_settled(), "both having their shares")
        held = {client: room.held(client) for client in ids}
        assert [len(queues) for queues in held.values()] == [QUEUES / 2] * 2
        assert frozenset().union(*held.values()) == queues_of(cluster, TOPIC, QUEUES)
        routes = Route.objects.filter(topic__name=TOPIC).values_list("broker", "read_queues")
        assert set(routes) == {("broker-a", QUEUES)}
        assert all(client in room.page() for client in ids)

    wrong = Credentials(access_key=KEYS.access_key, secret_key="guessed")  # noqa: S106  # of nobody
    room.network = NetworkSettings(acl=wrong, tls=tls)
    with room.open():
        room.until(lambda: room.group.untold_count and room.group.silent_count == len(ids), "nobody being told of")
        (silent,) = Watch.objects.get().silent
        assert (silent["broker"], silent["answered_at"]) == ("broker-a", None)
        assert "NO_PERMISSION" in silent["why"]
        assert "signature" in silent["why"]
        assert "check signature failed" in room.overview()
        assert room.members() == ids
        assert {room.member(client).missing for client in ids} == {"no permission"}
        group = room.group
        assert (group.is_converged, group.orphan_count, group.double_count) == (None, None, None)
        assert room.latest() is None
