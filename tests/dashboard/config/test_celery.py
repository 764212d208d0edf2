"""Workers as the supervisor starts them, on a real Redis: what becomes of a task at SIGTERM."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from celery import Celery

from dashboard.config.supervising.children import JOBS, WORKER, Places, Wanted, start_of
from tests.dashboard.config.supervising.processes import LONG_S
from tests.dashboard.prefix import SECRET, sender

ANSWERS_WITHIN_S = 5


@contextmanager
def worker_in_the_midst(
    name: str, queue: str, *, redis_server: str, home: Path
) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Start a worker and give it a task; go on once it works at it."""
    places = Places(redis_url=redis_server, redis_port=0, host="", web=0, door=0, gate=0, namesrv_port=0)
    start = start_of(name, Wanted(home=home, has_own_redis=False, has_demo=False, has_jobs=True), places)
    for pipe in ("begun", "end", "done"):
        os.mkfifo(home / pipe)
    clean = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    process = subprocess.Popen(
        [*start.arguments, "--include=tests.dashboard.config.long_task"],
        cwd=start.folder,
        env={
            **clean,
            **start.env,
            "DJANGO_SETTINGS_MODULE": "dashboard.config.settings",
            "EVENKEEL_SECRET_KEY": SECRET,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        with sender(redis_server, home / "evenkeel.sqlite3") as app:
            app.send_task("tests.long", kwargs={"folder": str(home)}, queue=queue)
            assert (home / "begun").read_text() == "begun"
            _wait_until_active(app)
        yield process, home
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _wait_until_active(app: Celery) -> None:
    """Wait until the worker itself has read that its child took the task: of others Celery cancels none when it stops.

    One that is stopped between the two waits for the task's end; our supervisor kills it in time.
    """
    ends_at = time.monotonic() + LONG_S
    while not any((app.control.inspect(timeout=ANSWERS_WITHIN_S, limit=1).active() or {}).values()):
        assert time.monotonic() < ends_at, "the worker does not say that it is in the midst of the task"


@pytest.mark.usefixtures("redis")
def test_what_a_worker_is_in_the_midst_of_is_finished_first(redis_server: str, tmp_path: Path) -> None:
    with worker_in_the_midst(WORKER, "celery", redis_server=redis_server, home=tmp_path) as (process, home):
        process.terminate()
        assert process.stdout is not None
        assert any("Warm shutdown" in line for line in process.stdout)
        (home / "end").write_text("in order")

        assert (home / "done").read_text() == "in order"
        assert process.wait(LONG_S) == 0


@pytest.mark.usefixtures("redis")
def test_a_job_that_may_run_for_hours_is_broken_off(redis_server: str, tmp_path: Path) -> None:
    with worker_in_the_midst(JOBS, "jobs", redis_server=redis_server, home=tmp_path) as (process, _):
        process.terminate()
        said, _ = process.communicate(timeout=LONG_S)

    assert "Cold shutdown" in said
