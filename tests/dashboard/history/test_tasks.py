import logging
from pathlib import Path

import pytest
from django.test import override_settings

from dashboard.config.celery import app
from dashboard.history import tasks
from dashboard.history.jobs import LAST, Logs
from dashboard.history.tasks import logs_to_read, run_history_jobs

DAY_S = 86_400


def test_without_history_there_is_nothing_to_run(tmp_path: Path) -> None:
    with override_settings(HISTORY=tmp_path / "history", REPORTS=tmp_path / "reports"):
        assert run_history_jobs() == {}

    assert not (tmp_path / "reports" / LAST).exists()


def test_a_report_that_failed_is_logged_as_an_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ended = {"east": {"status": 0, "said": "done"}, "west": {"status": 3, "said": "Spark is off: no java"}}
    monkeypatch.setattr(tasks, "run_jobs", lambda **_: ended)

    with caplog.at_level(logging.ERROR, "dashboard.history.tasks"):
        assert run_history_jobs() == ended

    assert caplog.messages == ["the report of west ended with 3: Spark is off: no java"]


def test_the_folder_of_logs_is_the_one_of_the_settings(tmp_path: Path) -> None:
    assert logs_to_read() is None
    with override_settings(LOGS=tmp_path, LOGS_ZONES={"web1": "+08:00"}):
        assert logs_to_read() == Logs(tmp_path, {"web1": "+08:00"})


def test_jobs_have_a_queue_of_their_own_and_run_every_night() -> None:
    route = app.amqp.router.route({}, "history.run_jobs")
    nightly = app.conf.beat_schedule["run jobs over history"]

    assert route["queue"].name == "jobs"
    assert app.amqp.router.route({}, "groups.rebalance_group")["queue"].name == "celery"
    assert nightly["task"] == run_history_jobs.name
    assert (nightly["schedule"].hour, nightly["schedule"].minute) == ({2}, {30})


def test_the_run_of_the_night_waits_as_long_as_the_one_before_it_may_take() -> None:
    """One that somebody ordered just before it may be at work for hours; the next night has a run of its own."""
    assert run_history_jobs.time_limit < app.conf.beat_schedule["run jobs over history"]["options"]["expires"] < DAY_S
