"""Tasks on a real Redis, with a real worker."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test import override_settings
from redis import Redis

from dashboard.config.celery import app
from dashboard.groups.models import Group, Round
from dashboard.groups.tasks import GROUPS_A_BATCH, rebalance_due_groups, rebalance_group
from tests.dashboard.prefix import SECRET, prefix_of, sender
from tests.dashboard.story import add_cluster, held, joined, route, seen, told
from tests.house.project import ROOT

MOST_LOOKS = 600  # a tenth of a second apart


def test_beat_knows_only_tasks_that_there_are() -> None:
    app.autodiscover_tasks(force=True)

    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        assert entry["task"] in app.tasks
    assert settings.CELERY_BEAT_SCHEDULE["rebalance due groups"]["schedule"] == 20.0


@pytest.mark.usefixtures("cluster", "redis")
def test_one_task_goes_through_all_groups_that_are_due_and_no_other(redis_server: str) -> None:
    told(route(4), *seen("A"), *seen("A", group="other"))

    with override_settings(REDIS_URL=redis_server):
        assert rebalance_due_groups() == 2
        assert rebalance_due_groups() == 0
        assert rebalance_group(group=Group.objects.first().pk, cause="manual") == 0  # type: ignore[union-attr]


@pytest.mark.usefixtures("cluster", "redis")
def test_a_locked_database_is_one_warning_and_the_group_stays_due(
    redis_server: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(**_given: object) -> None:
        raise OperationalError("database is locked")

    told(route(4), *seen("A"), *seen("A", group="other"))
    group = Group.objects.get(name="g").pk
    with override_settings(REDIS_URL=redis_server):
        with monkeypatch.context() as others:
            others.setattr("dashboard.groups.rebalancing.rebalance_once", refuse)
            assert rebalance_group(group=group, cause="manual") == 0
            assert rebalance_due_groups() == 0
        warned = [record for record in caplog.records if record.levelno >= logging.WARNING]
        assert rebalance_due_groups() == 2

    assert [record.getMessage().partition(" is done later")[0] for record in warned] == [
        f"the rebalance of group {group}",
        "a rebalance of groups that are due",
    ]
    assert not any(record.exc_info for record in warned)


@pytest.mark.usefixtures("cluster", "redis")
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has other errors for it")
def test_a_group_with_a_statement_that_never_goes_well_keeps_no_other_waiting(
    redis_server: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tried: list[int] = []

    def refuse(*, group: int, **_given: object) -> None:
        tried.append(group)
        raise OperationalError("too many SQL variables")

    told(route(4), *seen("A"), *seen("A", group="other"))
    monkeypatch.setattr("dashboard.groups.rebalancing.rebalance_once", refuse)
    with override_settings(REDIS_URL=redis_server):
        assert rebalance_due_groups() == 0

    assert len(tried) == 2
    assert sum("could not be rebalanced" in record.getMessage() for record in caplog.records) == 2


@pytest.mark.usefixtures("cluster")
def test_what_changes_meanwhile_comes_between_two_batches(
    redis: Redis, redis_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(route(1), *(fact for number in range(GROUPS_A_BATCH + 3) for fact in seen("A", group=f"g{number}")))
    rest: list[list[int]] = []
    monkeypatch.setattr(rebalance_due_groups, "delay", lambda *, groups: rest.append(groups))
    assert redis.ping()

    with override_settings(REDIS_URL=redis_server):
        assert rebalance_due_groups() == GROUPS_A_BATCH
        assert [len(each) for each in rest] == [3]
        assert rebalance_due_groups(groups=rest[0]) == 3
        assert rebalance_due_groups() == 0

    assert len(rest) == 1


@pytest.mark.django_db(transaction=True)
def test_facts_that_are_stored_are_rebalanced_by_a_worker(redis: Redis, redis_server: str, tmp_path: Path) -> None:
    add_cluster()
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]), joined("B", 1_000))
    database = connection.settings_dict
    url = f"sqlite:///{database['NAME']}".replace("////", "///")
    if connection.vendor == "postgresql":
        url = f"postgresql://{database['USER']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("DJANGO")},
        "EVENKEEL_HOME": str(tmp_path),
        "DATABASE_URL": url,
        "REDIS_URL": redis_server,
        "EVENKEEL_SECRET_KEY": SECRET,
    }
    named = {"group": Group.objects.get().pk, "cause": "member joined"}
    with sender(redis_server, database["NAME"]) as beside:
        beside.send_task("groups.rebalance_group", kwargs=named)
    assert redis.llen(f"{prefix_of(database['NAME'])}celery") == 1
    command = [sys.executable, "-m", "celery", "-A", "dashboard.config.celery", "worker", "--pool", "solo"]
    log = tmp_path / "log"
    with log.open("w") as output:
        worker = subprocess.Popen([*command, "-l", "INFO"], cwd=ROOT, env=environment, stdout=output, stderr=output)
    try:
        wait_for_round(log, worker)
    finally:
        worker.terminate()
        worker.wait(timeout=60)

    assert Round.objects.get().cause == "member joined"


def wait_for_round(log: Path, worker: subprocess.Popen[bytes]) -> None:
    """Wait until the worker has stored one; it has a minute, and must not end."""
    for _ in range(MOST_LOOKS):
        if Round.objects.exists():
            return
        try:
            worker.wait(timeout=0.1)
        except subprocess.TimeoutExpired:
            continue
        pytest.fail(f"the worker ended with {worker.returncode}: {log.read_text()[-2000:]}")
    pytest.fail(f"no round was stored: {log.read_text()[-2000:]}")
