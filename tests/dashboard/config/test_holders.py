"""Who holds a lease is known to be dead only by who would see it alive."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dashboard.config import holders
from dashboard.config.holders import holder_name, is_dead

UNSHARE = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc")
ASKS = "import sys; from dashboard.config.holders import is_dead; print(is_dead(sys.argv[1]))"


@pytest.fixture
def mine() -> tuple[str, str, str]:
    """Give the parts of this process's name: host and number, place, start."""
    who, _, where = holder_name().rpartition("@")
    place, _, start = where.rpartition(".")
    return who, place, start


def test_who_runs_is_not_dead(mine: tuple[str, str, str]) -> None:
    assert mine[0].endswith(f":{os.getpid()}")
    assert not is_dead(holder_name())


def test_who_ran_here_and_is_no_more_is_dead(mine: tuple[str, str, str]) -> None:
    who, place, start = mine
    host = who.rpartition(":")[0]

    assert is_dead(f"{host}:999999999@{place}.{start}")
    assert is_dead(f"{who}@{place}.{int(start) - 1}")  # its number is another process's now


def test_of_who_ran_elsewhere_nothing_is_known(mine: tuple[str, str, str]) -> None:
    who, place, start = mine
    host = who.rpartition(":")[0]

    for name in (
        f"{host}:999999999@00000000.{start}",
        f"another-host:999999999@{place}.{start}",
        f"{host}:999999999",  # as releases before this one named themselves
        f"{host}:x@{place}.{start}",
        f"{host}:999999999@{place}.",
        f"{host}:999999999@.{start}",
        "nobody yet",
        "",
    ):
        assert not is_dead(name), name


def test_where_the_system_tells_nothing_nobody_is_known_to_be_dead(
    monkeypatch: pytest.MonkeyPatch, tmp_path: os.PathLike[str], request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(holders._place.cache_clear)
    holders._place.cache_clear()
    monkeypatch.setattr(holders, "PROC", tmp_path)

    assert not is_dead(holder_name())
    assert not is_dead(f"{holder_name().rpartition(':')[0]}:999999999@.0")


def test_a_process_of_another_pid_namespace_is_not_taken_for_dead() -> None:
    if subprocess.run([*UNSHARE, "true"], check=False, capture_output=True).returncode:
        pytest.skip("namespaces of its own are not allowed here")

    told = subprocess.run(
        [*UNSHARE, sys.executable, "-c", ASKS, holder_name()], check=True, capture_output=True, text=True, timeout=60
    )

    assert told.stdout == "False\n"
