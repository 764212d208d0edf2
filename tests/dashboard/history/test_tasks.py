from pathlib import Path

from django.test import override_settings

from dashboard.config.celery import app
from dashboard.history.jobs import LAST
from dashboard.history.tasks import run_history_jobs


def test_without_history_there_is_nothing_to_run(tmp_path: Path) -> None:
    with override_settings(HISTORY=tmp_path / "history", REPORTS=tmp_path / "reports"):
        assert run_history_jobs() == {}

    assert not (tmp_path / "reports" / LAST).exists()


def test_jobs_have_a_queue_of_their_own_and_run_every_night() -> None:
    route = app.amqp.router.route({}, "history.run_jobs")
    nightly = app.conf.beat_schedule["run jobs over history"]

    assert route["queue"].name == "jobs"
    assert app.amqp.router.route({}, "groups.rebalance_group")["queue"].name == "celery"
    assert nightly["task"] == run_history_jobs.name
    assert (nightly["schedule"].hour, nightly["schedule"].minute) == ({2}, {30})
