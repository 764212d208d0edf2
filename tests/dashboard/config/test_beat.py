import logging
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest
from django.conf import settings
from django.db import connection
from django_celery_beat.models import PeriodicTask
from pytest_django import DjangoAssertNumQueries

from dashboard.config import beat
from dashboard.config.celery import app
from dashboard.config.home import ROOT
from tests.dashboard.config.supervising.processes import LONG_S


@pytest.fixture
def handlers() -> Iterator[None]:
    """Put back who hears signals, and how long a write waits."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    options = connection.settings_dict["OPTIONS"]
    yield
    connection.settings_dict["OPTIONS"] = options
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers")
@pytest.mark.django_db(transaction=True)
def test_a_signal_writes_nothing_in_the_midst_of_what_is_written(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    scheduler = beat.Scheduler(app=app)
    scheduler.reserve(scheduler.schedule["export history"])  # it was started: that is to be written

    with django_assert_num_queries(0), pytest.raises(SystemExit):
        os.kill(os.getpid(), signal.SIGTERM)

    scheduler.close()


@pytest.mark.usefixtures("handlers")
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="elsewhere writers do not wait for each other's whole files")
def test_the_schedule_is_read_with_patience_and_after_that_no_write_waits_for_long() -> None:
    patient = connection.settings_dict["OPTIONS"]["timeout"]

    beat.Scheduler(app=app)

    assert settings.CELERY_BEAT_SCHEDULER == "dashboard.config.beat:Scheduler"
    assert patient > connection.settings_dict["OPTIONS"]["timeout"] == beat.TURN_S


@pytest.mark.usefixtures("handlers")
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="it holds SQLite's lock")
def test_what_does_not_get_its_turn_is_written_the_next_time_and_no_error(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beat, "TURN_S", 0.05)
    scheduler = beat.Scheduler(app=app)
    names = ("export history", "forget old rows")
    for name in names:
        scheduler.reserve(scheduler.schedule[name])

    with closing(sqlite3.connect(str(connection.settings_dict["NAME"]), isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        scheduler.sync()
        writer.execute("ROLLBACK")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    scheduler.sync()

    assert not scheduler._dirty
    written = PeriodicTask.objects.filter(last_run_at__isnull=False).values_list("name", flat=True)
    assert set(names) <= set(written)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="it holds SQLite's lock")
def test_sigterm_ends_it_in_order_while_somebody_else_writes() -> None:
    database = str(connection.settings_dict["NAME"])
    env = {"DJANGO_SETTINGS_MODULE": "tests.dashboard.settings", "DATABASE_URL": f"sqlite:///{database}"}
    command = [sys.executable, "-m", "celery", "-A", "dashboard.config.celery", "beat", "--pidfile=", "--loglevel=INFO"]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **env, "EVENKEEL_DEBUG": "yes"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert any("Sending due task" in line for line in process.stdout)
        with closing(sqlite3.connect(database, isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=LONG_S)
    finally:
        process.kill()
        process.communicate()

    assert process.returncode == 0
