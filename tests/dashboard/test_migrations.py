"""An empty database is made by the squashed migrations; older ones go on by those that these replace."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ONE_BY_ONE = """
import django; django.setup()
from django.db import connection
from tests.dashboard.migrating import one_by_one
executor = one_by_one()
executor.migrate(executor.loader.graph.leaf_nodes())
"""
AT_ONCE = "import django; django.setup(); from django.core.management import call_command; call_command('migrate')"
CONSTRAINT = re.compile(r'CONSTRAINT "[^"]+" (?:CHECK|UNIQUE) .*?(?=, CONSTRAINT|$)')


def made_by(program: str, home: Path) -> dict[tuple[str, str], Any]:
    """Give what a database consists of, whatever the order of its columns and constraints."""
    settings = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    settings |= {"EVENKEEL_HOME": str(home), "DJANGO_SETTINGS_MODULE": "dashboard.config.settings"}
    subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=settings, check=True, capture_output=True, timeout=300
    )
    made: dict[tuple[str, str], Any] = {}
    with sqlite3.connect(home / "evenkeel.sqlite3") as database:
        for kind, name, sql in database.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"):
            if kind != "table":
                made[kind, name] = sql
                continue
            columns = database.execute(f'PRAGMA table_xinfo("{name}")').fetchall()
            keys = database.execute(f'PRAGMA foreign_key_list("{name}")').fetchall()
            made[kind, name] = (
                sorted(column[1:6] for column in columns),
                sorted(key[2:8] for key in keys),
                sorted(CONSTRAINT.findall(sql)),
            )
    return made


@pytest.mark.slow
def test_the_squashed_migrations_make_what_those_make_that_they_replace(tmp_path: Path) -> None:
    at_once, one_by_one = made_by(AT_ONCE, tmp_path / "at-once"), made_by(ONE_BY_ONE, tmp_path / "one-by-one")

    differ = {name for name in at_once | one_by_one if at_once.get(name) != one_by_one.get(name)}
    assert differ == set()
    assert sum(len(parts[2]) for (kind, _), parts in at_once.items() if kind == "table") > 150
    assert sum(kind == "trigger" for kind, _ in at_once) >= 29
