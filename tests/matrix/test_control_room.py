"""Java consumers on a real cluster join, are killed, hang, disagree, come in a wave; a broker goes and comes back.

Storage and page show each with what can be known of it, and nothing that cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from pytest_django import Settings
from redis import Redis

from dashboard.clusters.models import Broker
from dashboard.groups.models import Finding, Member, Round, RoundCause
from rebalance_engine.rounds import SAME_CAUSE_MS
from tests.cluster.contract import Cluster
from tests.cluster.lines import Client
from tests.cluster.members import Option, java_consumers
from tests.dashboard.conftest import redis, redis_server  # noqa: F401 - fixtures
from tests.matrix.room import Room, ms

pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
on_a_real_cluster = pytest.mark.parametrize("cluster", ["5.5.0"], indirect=True, scope="session")

QUEUES = 4
EXPIRED_WITHIN_S = 180  # brokers wait 120 s for a heartbeat, look every 10 s; the machine is busy
Open = Callable[[str], AbstractContextManager[Room]]


@pytest.fixture
def open_room(cluster: Cluster, redis: Redis, redis_server: str, settings: Settings) -> Open:  # noqa: F811
    settings.REDIS_URL = redis_server
    return lambda group: Room(cluster, redis, group).open()


class Cast:
    """The consumers of one group, each a Java process."""

    def __init__(self, cluster: Cluster, group: str, folder: Path) -> None:
        self.cluster, self.group, self.folder = cluster, group, folder
        self.topic = cluster.create_topic(f"topic-{group}", QUEUES)
        self.clients: list[Client] = []

    def start(self, *names: str, strategy: str = "AVG") -> Client:
        common: dict[str, Option] = {
            "namesrv": self.cluster.namesrv,
            "group": self.group,
            "topics": self.topic,
            "strategy": strategy,
        }
        members = [{**common, "name": f"{name}-{self.group}"} for name in names]
        self.clients.append(java_consumers("5.5.0", members, self.folder))
        self.clients[-1].wait("started", count=len(names))
        return self.clients[-1]


@contextmanager
def cast(cluster: Cluster, group: str, folder: Path) -> Iterator[Cast]:
    them = Cast(cluster, group, folder)
    try:
        yield them
    finally:
        for client in them.clients:
            client.kill()


def _first_of_a_new_group(room: Room, group: Cast) -> Client:
    """Let A come to a group that nobody knew: it joined since every broker's last word without that, and is a round."""
    launched = ms()
    a = group.start("A")
    a_id, started = a.client_id(), int(str(a.seen("started")[0]["ms"]))
    room.until(lambda: room.members() == {a_id} and len(room.held(a_id)) == 2 * QUEUES, "A having all")
    room.until(room.is_settled, "its round being over")
    first, row = room.member(a_id), room.latest()
    assert (first.language, first.version, first.strategy) == ("JAVA", "5.5.0", "AVG")
    assert first.at_low is not None
    assert first.at_low <= started
    assert launched <= first.at
    assert row is not None
    assert (row.cause, row.number, row.closed_at is None) == ("member joined", 1, False)
    over_at = row.last_cause_at + SAME_CAUSE_MS
    room.until(lambda: ms() > over_at, "what comes now being a round of its own")
    return a


@on_a_real_cluster
def test_who_joins_is_killed_or_hangs_is_shown_with_what_can_be_known_of_it(
    cluster: Cluster, open_room: Open, tmp_path: Path
) -> None:
    with cast(cluster, "comes", tmp_path) as group, open_room("comes") as room:
        a = _first_of_a_new_group(room, group)
        a_id = a.client_id()

        # it joins: between a look without it and one with it, and so does the round begin
        before, launched = Round.objects.count(), ms()
        b = group.start("B")
        b_id, started = b.client_id(), int(str(b.seen("started")[0]["ms"]))
        room.until(lambda: len(room.members()) == 2 and room.is_settled(), "B having its share")
        joined, row = room.member(b_id), room.latest()
        assert row is not None
        assert (row.cause, row.number) == ("member joined", before + 1)
        for low, high in ((joined.at_low, joined.at), (row.opened_low, row.opened_at)):
            assert low is not None
            assert low <= started
            assert launched <= high
        assert {room.held(a_id), room.held(b_id)} == {a.held(), b.held()}
        assert b_id in room.page()
        assert f"{b_id} joined" in room.round_page(row.number)

        # it is killed: gone, and nobody can say whether it said good-bye
        killed_at = ms()
        b.kill()
        room.until(lambda: room.members() == {a_id} and room.is_settled(), "B being gone")
        left, row = room.member(b_id), room.latest()
        assert row is not None
        cause = RoundCause.objects.get(round=row)
        assert (left.departure, cause.cause) == ("unknown", "member left")
        assert cause.at_low is not None
        assert cause.at_low <= killed_at + 1_000  # closed by the kernel, seen by the broker, within a moment
        assert killed_at <= cause.at
        assert "whether cleanly or lost is unknown" in room.round_page(row.number)

        # it hangs: it is a member still, and what it holds is unknown, until its heartbeat expires
        c = group.start("C")
        c_id = c.client_id()
        room.until(lambda: len(room.members()) == 2 and room.is_settled(), "C having its share")
        rounds, hung_at = Round.objects.count(), ms()
        c.pause()
        room.until(lambda: room.member(c_id).missing is not None and room.group.silent_count == 1, "C not answering")
        hung = room.member(c_id)
        assert (hung.missing, hung.left_at, room.group.orphan_count) == ("timeout", None, None)
        assert Round.objects.count() == rounds
        assert "1 of 2 members does not answer" in room.page()
        assert "1 of 2 members does not answer" in room.overview()
        gone = Member.objects.filter(client_id=c_id, left_at__isnull=False)
        room.until(gone.exists, "C's heartbeat expiring", within_s=EXPIRED_WITHIN_S)
        room.until(lambda: Round.objects.count() == rounds + 1, "a round of that")
        row = room.latest()
        assert row is not None
        assert (room.member(c_id).departure, row.cause) == ("heartbeat expired", "heartbeat expired")
        assert row.opened_at - hung_at >= 80_000
        assert "as time tells: it had answered nothing for" in room.round_page(row.number)


@on_a_real_cluster
def test_of_who_hangs_and_is_killed_nobody_knows_how_it_left_though_it_was_silent(
    cluster: Cluster, open_room: Open, tmp_path: Path
) -> None:
    with cast(cluster, "hangs", tmp_path) as group, open_room("hangs") as room:
        a, b = group.start("A"), group.start("B")
        ids = {a.client_id(), b.client_id()}
        room.until(lambda: room.members() == ids and room.is_settled(), "both having their shares")
        b.pause()
        room.until(lambda: room.member(b.client_id()).missing is not None, "B not answering")
        b.kill()
        room.until(lambda: room.members() == {a.client_id()} and room.is_settled(), "B being gone")
        row = room.latest()
        assert row is not None
        assert (room.member(b.client_id()).departure, row.cause) == ("unknown", "member left")
        assert "whether cleanly or lost is unknown; it had answered nothing for" in room.round_page(row.number)


@on_a_real_cluster
def test_who_disagrees_on_the_strategy_is_found_and_a_deploy_is_one_wave(
    cluster: Cluster, open_room: Open, tmp_path: Path
) -> None:
    with cast(cluster, "disagrees", tmp_path) as group, open_room("disagrees") as room:
        a = group.start("A")
        room.until(lambda: room.members() == {a.client_id()} and room.is_settled(), "A having all")

        d = group.start("D", strategy="AVG_BY_CIRCLE")
        room.until(
            lambda: d.client_id() in room.members() and room.group.strategy.startswith("mixed") and room.is_settled(),
            "D having what it takes by its own strategy",
        )

        assert room.group.strategy == "mixed: AVG, AVG_BY_CIRCLE"
        fault = Finding.objects.get(kind="strategy mismatch", cleared_at=None)
        assert {f"{a.client_id()} uses AVG", f"{d.client_id()} uses AVG_BY_CIRCLE"} == set(fault.proof)
        assert "Members use 2 strategies" in room.page()
        assert (room.held(a.client_id()), room.held(d.client_id())) == (a.held(), d.held())

        d.kill()
        room.until(lambda: room.members() == {a.client_id()} and room.is_settled(), "A having all again")
        rounds = Round.objects.count()
        group.start("P", "Q", "R")
        room.until(lambda: len(room.members()) == 4 and room.is_settled(), "all four having their shares")
        wave = list(Round.objects.order_by("number")[rounds:])
        told = [(row.number, row.wave, row.cause, row.opened_at, row.closed_at) for row in wave]
        assert {row.wave for row in wave} == {rounds + 1}, told  # one, as each round superseded the one before it
        assert {row.cause for row in wave} <= {"member joined", "many at once"}, told
        assert "many at once" in {row.cause for row in wave}, told
        assert "several members at once" in room.page()


@on_a_real_cluster
def test_a_broker_that_is_gone_and_comes_back_is_a_cause_with_its_bounds(
    cluster: Cluster, open_room: Open, tmp_path: Path
) -> None:
    with cast(cluster, "waits", tmp_path) as group, open_room("waits") as room:
        a, b = group.start("A"), group.start("B")
        ids = {a.client_id(), b.client_id()}
        room.until(lambda: room.members() == ids and room.is_settled(), "both having their shares")

        killed_at = ms()
        cluster.kill("broker-b")
        try:
            causes = RoundCause.objects.filter(group__name="waits")
            room.until(causes.filter(cause="broker gone").exists, "broker-b being gone")
            gone = causes.get(cause="broker gone")
            assert gone.at_low is not None
            assert gone.at_low <= killed_at + 5_000  # until the NameServer hears of the closed connection
            assert killed_at <= gone.at
            assert room.members() == ids
            assert Broker.objects.get(name="broker-b").gone_at == gone.at
            room.until(lambda: room.group.untold_count == 0, "a list of members from each broker that is left")
            assert "broker-b" in gone.evidence
        finally:
            restarted_at = ms()
            cluster.restart("broker-b")
        room.until(causes.filter(cause="broker back").exists, "broker-b being back")
        back = causes.get(cause="broker back")
        assert back.at_low is not None
        assert back.at_low <= ms()
        assert restarted_at <= back.at
        room.until(
            lambda: room.is_settled() and len(room.held(a.client_id()) | room.held(b.client_id())) == 2 * QUEUES,
            "both having the queues of broker-b again",
        )
        assert room.members() == ids
