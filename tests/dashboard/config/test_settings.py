"""The settings as production has them, in a process of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from tests.house.project import ROOT


def manage(*arguments: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("EVENKEEL", "DJANGO"))}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**clean, "EVENKEEL_HOME": str(home), **environment},
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_production_settings_pass_the_deployment_check(tmp_path: Path) -> None:
    checked = manage(
        "check", "--deploy", "--fail-level", "WARNING", home=tmp_path, EVENKEEL_HTTPS="1", EVENKEEL_HOSTS="shop.example"
    )

    assert (checked.returncode, checked.stderr) == (0, "")


def test_a_setting_that_makes_no_sense_stops_the_start_by_name(tmp_path: Path) -> None:
    started = manage("check", home=tmp_path, EVENKEEL_RETENTION_DAYS="forever")

    assert started.returncode != 0
    assert "EVENKEEL_RETENTION_DAYS is 'forever'; it needs a number from 1 to 3650" in started.stderr


@pytest.mark.django_db
def test_sqlite_runs_as_it_was_measured() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("the database is PostgreSQL in this run")

    with connection.cursor() as cursor:
        modes = [cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]

    assert modes == ["wal", 1]
    assert connection.settings_dict["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
