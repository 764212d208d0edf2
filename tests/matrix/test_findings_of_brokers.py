"""What brokers list, refuse and are told of a real group, and a group that finds no rest: the watcher finds each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from dashboard.clusters.models import Cluster as ClusterRow
from dashboard.groups.models import Finding, PullRefusal, Round
from dashboard.reports.models import ReportToken
from dashboard.reports.tokens import digest_of
from rebalance_engine.network.reports import TOKEN
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupConfig
from rebalance_engine.remoting.requests.brokers import GetAllSubscriptionGroupConfig
from rebalance_engine.remoting.requests.changes import UpdateAndCreateSubscriptionGroup
from tests.cluster.contract import Cluster
from tests.cluster.members import evenkeel
from tests.dashboard.conftest import redis, redis_server  # noqa: F401 - fixtures
from tests.matrix.made_up import made_up
from tests.matrix.room import Room, ms
from tests.matrix.test_control_room import (  # noqa: F401 - a fixture
    QUEUES,
    Open,
    cast,
    on_a_real_cluster,
    open_room,
)

pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
FOUND_WITHIN_S = 180  # two looks half a minute apart; the machine is busy
MOST_CHANGES = 12
OFTEN_S = 5  # six times as often as others: what they spoil stays spoilt
APART_MS = 3_500  # what comes within 3 s is one round
OF_A_WELL_GROUP = "nothing is wrong with a group that is well"


@on_a_real_cluster
def test_brokers_that_differ_a_closed_group_and_a_storm_are_found(
    cluster: Cluster,
    open_room: Open,  # noqa: F811
    tmp_path: Path,
) -> None:
    east = cluster.addresses["broker-a"]
    with cast(cluster, "apart", tmp_path) as group, made_up("apart") as strangers, open_room("apart") as room:
        a = group.start("A")
        a_id = a.client_id()
        room.until(lambda: room.members() == {a_id} and room.is_settled(), "A having all")
        assert _now("apart") == set(), OF_A_WELL_GROUP

        # a member that one broker has and the other has not
        strangers.join("lost@1", group.topic, at=[east])
        room.until(_confirmed("apart", "different member lists"), "different lists", within_s=FOUND_WITHIN_S)
        assert "broker-b does not have lost@1" in room.page()
        strangers.leave("lost@1")
        room.until(lambda: room.members() == {a_id} and not _now("apart"), "all being well again", within_s=90)

        # a broker that is told to let nobody consume
        _let_consume(cluster, "apart", "broker-b", may=False)
        room.until(_confirmed("apart", "disabled on purpose"), "a closed group", within_s=FOUND_WITHIN_S)
        assert _now("apart") == {"disabled on purpose"}
        assert "Nobody of this group may consume at broker-b, on purpose" in room.page()
        _let_consume(cluster, "apart", "broker-b", may=True)
        room.until(lambda: not _now("apart"), "all being well again", within_s=90)

        # changes upon changes, while one member takes nothing
        everywhere = tuple(cluster.addresses.values())
        strangers.join("idle@2", group.topic, at=everywhere)
        room.until(lambda: "idle@2" in room.members(), "idle@2 being a member")
        for number in range(MOST_CHANGES):
            if _confirmed("apart", "storm")():
                break
            _change(room, f"gust@{number}", lambda client: strangers.join(client, group.topic, at=everywhere))
            _change(room, f"gust@{number}", strangers.leave, is_there=False)
        room.until(_confirmed("apart", "storm"), "a storm")
        assert "rounds in a row began before the one before them had settled" in room.page()


@on_a_real_cluster
def test_pulls_that_a_broker_refuses_after_a_rebalance_are_found(
    cluster: Cluster,
    open_room: Open,  # noqa: F811
    tmp_path: Path,
    live_server: LiveServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who joins with other topics makes a broker forget what the group consumes, until the next heartbeat."""
    topic = cluster.create_topic("topic-refused", QUEUES)
    other = cluster.create_topic("other-refused", 1)
    url = _report_to(live_server, monkeypatch)
    words = ["consume", "--namesrv", cluster.namesrv, "--group", "refused", "--topic", topic, "--report", url]
    with made_up("refused", beats_every_s=OFTEN_S) as strangers, open_room("refused") as room:
        _add_token("refused")
        p = evenkeel(words, "P", tmp_path)
        try:
            room.until(lambda: len(room.members()) == 1 and room.is_settled(), "P having all")
            [client] = room.members()
            assert len(room.held(client)) == 2 * QUEUES, p.last_words()
            assert _now("refused") == set(), OF_A_WELL_GROUP

            strangers.join("other@1", other, at=tuple(cluster.addresses.values()))
            room.until(_confirmed("refused", "pull refused"), "refused pulls", within_s=FOUND_WITHIN_S)

            found = Finding.objects.filter(kind="pull refused").latest("suspected_at")
            assert f"{client} has {topic}/" in found.sentence
            assert "code 24" in found.sentence
            assert "the next heartbeat should mend it" in found.sentence
            assert set(PullRefusal.objects.values_list("code", flat=True)) <= {24}
            strangers.leave("other@1")
            room.until(lambda: "pull refused" not in _now("refused"), "the next heartbeat mending it", within_s=120)

            # what the topics' coming and going leaves at the brokers is older than what P pulls by
            strangers.join("other@2", other, at=tuple(cluster.addresses.values()))
            strangers.join("older@3", topic, at=tuple(cluster.addresses.values()))
            room.until(_says("refused", "code 25"), "pulls by a newer subscription", within_s=FOUND_WITHIN_S)
            assert "it has an older subscription of the group" in room.page()
        finally:
            p.kill()


def _says(group: str, words: str) -> Callable[[], bool]:
    return Finding.objects.filter(group__name=group, cleared_at=None, sentence__contains=words).exists


def _change(room: Room, client: str, do: Callable[[str], None], *, is_there: bool = True) -> None:
    """Let a member come or go, and wait until that is a round of its own."""
    rounds = Round.objects.filter(group__name=room.group_name)
    before, begins_at = rounds.count(), ms() + APART_MS
    room.until(lambda: ms() >= begins_at, "the last change being over")
    do(client)
    room.until(lambda: (client in room.members()) == is_there, f"{client} being {'there' if is_there else 'gone'}")
    room.until(lambda: rounds.count() > before, "a round of that")


def _let_consume(cluster: Cluster, group: str, broker: str, *, may: bool) -> None:
    """Tell a broker whether anybody of a group may consume."""
    address = cluster.addresses[broker]
    there = cluster.ask(address, GetAllSubscriptionGroupConfig()).body.subscription_group_table
    config = there.get(group, SubscriptionGroupConfig(group_name=group))
    cluster.ask(address, UpdateAndCreateSubscriptionGroup(body=replace(config, consume_enable=may)))


def _report_to(live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv(TOKEN, "ekr_refused")
    return f"{live_server.url}/api/v1/reports"


def _add_token(group: str) -> None:
    """Write the row by hand: what ``make`` writes into the audit log could not be cleared away after the test."""
    columns = {"digest": digest_of(f"ekr_{group}"), "hint": f"ekr_{group}"[:10], "made_by": "ada", "made_at": ms()}
    ReportToken.objects.create(cluster=ClusterRow.objects.get(), group_name=group, **columns)


def _now(group: str) -> set[str]:
    return set(Finding.objects.filter(group__name=group, cleared_at=None).values_list("kind", flat=True))


def _confirmed(group: str, kind: str) -> Callable[[], bool]:
    rows = Finding.objects.filter(group__name=group, kind=kind, cleared_at=None, confirmed_at__isnull=False)
    return rows.exists
