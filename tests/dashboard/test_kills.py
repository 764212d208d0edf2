"""Kill a worker, Redis or the watcher in the middle: the state is right again after, and no round is there twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.db.models import Count
from django.test import override_settings
from kombu.exceptions import OperationalError
from redis import Redis
from redis.exceptions import RedisError

from dashboard.clusters.models import Cluster, OutboxLine, Watch
from dashboard.common.clock import now_ms
from dashboard.groups.models import Group, Handoff, Holding, Member, Round, RoundCause
from dashboard.groups.operations import LeaseLost, record
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.viewing import note_viewed
from dashboard.push.models import Step
from tests.cluster.contract import Setup
from tests.cluster.embedded import running_embedded
from tests.cluster.lines import Client
from tests.cluster.members import Option, python_consumers
from tests.dashboard.conftest import redis_program
from tests.dashboard.prefix import SECRET, prefix_of, sender
from tests.dashboard.story import T0, add_cluster, held, joined, route, seen, told
from tests.house.project import ROOT

pytestmark = pytest.mark.slow
DEADLINE_S = 180  # of a loaded machine


def eventually(is_so: Callable[[], bool], what: str) -> None:
    """Wait until something that another process does is done."""
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, f"not within {DEADLINE_S} s: {what}"
        time.sleep(0.05)


class Server:
    """A Redis of this test's own, that forgets everything when it is killed."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port, self.url = folder, port, f"redis://127.0.0.1:{port}/0"
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder), "--save", ""]
        process = subprocess.Popen([redis_program(), *options], stdout=subprocess.DEVNULL)
        eventually(self._answers, "Redis answers")
        return process

    def _answers(self) -> bool:
        try:
            with Redis.from_url(self.url, socket_timeout=1) as redis:
                return bool(redis.ping())
        except RedisError:
            return False

    def restart(self) -> None:
        end(self.process)
        self.process = self._start()


def end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)


@pytest.fixture
def server(tmp_path: Path, free_port: int) -> Iterator[Server]:
    server = Server(tmp_path, free_port)
    try:
        yield server
    finally:
        end(server.process)


Start = Callable[[], "subprocess.Popen[bytes]"]


def environment_of(server: Server, home: Path) -> dict[str, str]:
    """Say to a process where this test's database and Redis are."""
    told_database = connection.settings_dict
    if connection.vendor == "sqlite":
        url = f"sqlite://{told_database['NAME']}"
    else:
        host, port = told_database["HOST"], told_database["PORT"]
        url = f"postgresql://{told_database['USER']}@{host}:{port}/{told_database['NAME']}"
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "dashboard.config.settings",
        "EVENKEEL_HOME": str(home),
        "REDIS_URL": server.url,
        "EVENKEEL_SECRET_KEY": SECRET,
        "DATABASE_URL": url,
    }


@contextmanager
def starting(command: list[str], environment: dict[str, str]) -> Iterator[Start]:
    """Start a program as often as it is wanted; what still runs in the end is killed."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(command, cwd=ROOT, env=environment))
        return started[-1]

    try:
        yield start
    finally:
        for process in started:
            if process.poll() is None:
                end(process)


@pytest.fixture
def start_worker(server: Server, tmp_path: Path) -> Iterator[Start]:
    """Start real Celery workers on this test's database and Redis."""
    words = ["-m", "celery", "-A", "dashboard.config.celery", "worker", "--pool", "solo", "-l", "ERROR"]
    with starting([sys.executable, *words], environment_of(server, tmp_path)) as start:
        yield start


@pytest.fixture
def start_watcher(server: Server, tmp_path: Path) -> Iterator[Start]:
    """Start real watchers of the cluster of these tests."""
    words = ["manage.py", "watch_cluster", "shop"]
    with starting([sys.executable, *words], environment_of(server, tmp_path)) as start:
        yield start


def settle() -> int:
    """Two members share four queues; then a third one joins, which is stored and not rebalanced yet."""
    add_cluster()
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    group = Group.objects.get().pk
    rebalance_once(group=group, now=T0 + 20)
    told(joined("C", 5_000), held("C", 5_100, []))
    return group


def send_what_beat_sends(server: Server) -> None:
    sender(server.url, connection.settings_dict["NAME"]).send_task("groups.rebalance_due_groups")


def check_that_all_is_there_once(group: int) -> None:
    row = Group.objects.get(pk=group)
    assert row.done_version == row.inputs_version
    assert [(each.number, each.cause) for each in Round.objects.all()] == [(1, "member joined")]
    steps = list(Step.objects.filter(stream__name=f"group-{group}").order_by("seq").values_list("seq", flat=True))
    assert steps == list(range(1, len(steps) + 1))
    assert OutboxLine.objects.filter(line__contains='"event":"RoundOpened"').count() == 1


def is_done(group: int, server: Server | None = None) -> Callable[[], bool]:
    """Ask whether all that is stored was rebalanced; with a server, beat's task goes there each time."""

    def ask() -> bool:
        if server is not None:
            send_what_beat_sends(server)
        row = Group.objects.get(pk=group)
        return row.done_version == row.inputs_version

    return ask


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_killed_while_it_rebalances_leaves_all_to_the_next(
    server: Server, start_worker: Start
) -> None:
    group = settle()
    worker = start_worker()
    with Redis.from_url(server.url, socket_timeout=30) as redis:
        with transaction.atomic():  # it has the group's lock by then, and waits for the row
            Group.objects.select_for_update().get(pk=group)
            send_what_beat_sends(server)
            eventually(lambda: bool(redis.keys("evenkeel:*:rebalance:*")), "the worker has the lock")
            end(worker)
        assert not Round.objects.exists()
        (lock,) = redis.keys("evenkeel:*:rebalance:*")
        redis.pexpire(lock, 1)  # as it does after a while

    start_worker()
    eventually(is_done(group, server), "the next worker rebalanced")

    check_that_all_is_there_once(group)


@pytest.mark.django_db(transaction=True)
def test_a_redis_that_forgets_everything_costs_nothing_but_time(server: Server, start_worker: Start) -> None:
    group = settle()
    to_workers = sender(server.url, connection.settings_dict["NAME"])
    to_workers.send_task("groups.rebalance_group", kwargs={"group": group, "cause": "member joined"})
    server.restart()
    start_worker()
    send_what_beat_sends(server)
    eventually(is_done(group), "the worker rebalanced what was forgotten")
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_000, [3]))

    server.restart()  # under the worker's feet, too
    eventually(is_done(group, server), "the worker is back")

    check_that_all_is_there_once(group)
    eventually(lambda: Handoff.objects.count() == 1, "the handoff is told")
    assert Round.objects.get().state == "closed"


@pytest.mark.django_db(transaction=True)
def test_a_watcher_that_is_killed_and_says_all_again_makes_no_second_round() -> None:
    group = settle()
    rebalance_once(group=group, now=T0 + 5_200)
    facts = [route(4), *seen("A"), *seen("B"), joined("C", 5_000), held("C", 5_100, [])]
    Cluster.objects.update(lease_epoch=2, lease_holder="the next", lease_until=T0 + 60_000)

    with pytest.raises(LeaseLost):
        record(cluster="shop", facts=facts, now=T0 + 6_000, lease_epoch=1)
    again = record(cluster="shop", facts=[*facts, *seen("C", 6_000)], now=T0 + 6_000, lease_epoch=2)
    rebalance_once(group=group, now=T0 + 6_100)

    assert again.facts <= len(seen("C", 6_000))
    check_that_all_is_there_once(group)


@pytest.mark.django_db(transaction=True)
def test_watcher_worker_and_redis_are_killed_while_somebody_joins_and_all_is_told_once(
    server: Server, start_watcher: Start, start_worker: Start, tmp_path: Path
) -> None:
    """On real processes and sockets: who joins while nobody looks has come within true bounds, and makes one round."""
    with running_embedded(Setup(release="5.5.0")) as cluster, Redis.from_url(server.url, socket_timeout=30) as redis:
        options: dict[str, Option] = {
            "namesrv": cluster.namesrv,
            "group": "g",
            "topics": cluster.create_topic("orders", 2),
        }
        row = Cluster.objects.create(name="shop", namesrv=cluster.namesrv, added_at=1)

        def holds(*shares: int) -> Callable[[], bool]:
            """Ask whether members hold so many queues, and held is target; beat sends, and somebody looks."""

            def ask() -> bool:
                with suppress(RedisError, OperationalError):
                    with override_settings(REDIS_PREFIX=prefix_of(connection.settings_dict["NAME"])):
                        note_viewed(redis=redis, cluster=row.pk, group="g", now=now_ms())
                    send_what_beat_sends(server)
                spans = Holding.objects.filter(until=None, queue__topic__name="orders", member__left_at=None)
                told = sorted(spans.values("member").annotate(n=Count("pk")).values_list("n", flat=True))
                return told == sorted(shares) and Group.objects.filter(is_converged=True, name="g").exists()

            return ask

        a = python_consumers([{**options, "name": "A"}], tmp_path)
        b: Client | None = None
        try:
            a.wait("started")
            eventually(lambda: len(a.held()) == 4, "A having taken all, before anybody looks")
            worker, watcher = start_worker(), start_watcher()
            eventually(holds(4), "A having all")
            eventually(Watch.objects.filter(lists_at__isnull=False).exists, "all lists being told and stored")
            for process in (watcher, worker):
                end(process)
            server.restart()
            launched = now_ms()
            b = python_consumers([{**options, "name": "B"}], tmp_path)
            started = int(str(b.wait("started")[0]["ms"]))
            start_worker()
            watcher = start_watcher()
            eventually(holds(2, 2), "both having their share")
            eventually(Round.objects.filter(state="closed").exists, "the round being over")
            end(watcher)  # before it sees its members go
            group = Group.objects.get(name="g")
            eventually(is_done(group.pk, server), "all that is stored being rebalanced")
        finally:
            for client in (a, b):
                if client is not None:
                    client.kill()

    joined = Member.objects.get(client_id=b.client_id())
    assert joined.at_low is not None
    assert joined.at_low <= started
    assert launched <= joined.at
    check_that_all_is_there_once(group.pk)
    assert [(each.cause, each.client_id) for each in RoundCause.objects.all()] == [("member joined", joined.client_id)]
    assert OutboxLine.objects.filter(line__contains='"event":"MemberJoined"').count() == 1
