"""The dashboard's tests that open a database once more, on a throw-away PostgreSQL."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import postgres_programs
from tests.house.project import ROOT

QUICK = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c jit=off"  # what it says is thrown away
PLUGINS = ("-p", "no:cacheprovider", "-p", "tests.dashboard.database_only")

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """Start a server on a folder and a port of its own; as another user where we are root, which it refuses."""
    programs = postgres_programs()
    assert programs is not None
    folder = Path(tempfile.mkdtemp(prefix="evenkeel-postgres-"))  # pytest closes its own folders to other users
    user = "postgres" if os.geteuid() == 0 else None
    if user is not None:
        shutil.chown(folder, user)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    data = folder / "data"
    initdb: list[str | Path] = [
        programs / "initdb",
        "-D",
        data,
        "-U",
        "evenkeel",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--no-sync",
    ]
    subprocess.run(initdb, check=True, capture_output=True, user=user, cwd=folder)
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} {QUICK}"
    control: list[str | Path] = [programs / "pg_ctl", "-D", data, "-w", "-t", "60", "-l", folder / "log"]
    subprocess.run([*control, "-o", options, "start"], check=True, capture_output=True, user=user, cwd=folder)
    try:
        yield f"postgresql://evenkeel@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=True, capture_output=True, user=user, cwd=folder)
        shutil.rmtree(folder)


def test_storage_passes_on_postgresql_too(postgres: str) -> None:
    environment = os.environ | {"DATABASE_URL": postgres}
    for name in ("EVENKEEL_TEST_HOME", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_CURRENT_TEST"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "tests/dashboard", *PLUGINS]

    tests = subprocess.run(
        [*command, "-m", "not (postgres or browser or java or spark)"],
        cwd=ROOT,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=4500,  # beside three other processes it takes several times as long as alone
    )

    assert tests.returncode == 0, tests.stdout[-4000:] + tests.stderr[-2000:]
