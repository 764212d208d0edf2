import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from asgiref.sync import sync_to_async
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db.models import QuerySet

from dashboard.clusters.leases import begin_anew, put_aside
from dashboard.clusters.models import Cluster
from dashboard.config.management.commands import watch_cluster
from dashboard.config.supervising.machine import UNNEEDED
from dashboard.groups.operations import LeaseLost
from tests.house.project import ROOT

Lose = Callable[[QuerySet[Cluster]], object]


@pytest.fixture
def lose(monkeypatch: pytest.MonkeyPatch) -> list[Lose]:
    """What happens to the cluster while it is watched; the lease is lost by it."""
    Cluster.objects.create(name="shop", namesrv="127.0.0.1:1", added_at=1)
    happens = list[Lose]()

    async def loses(*_: object) -> None:
        for each in happens:
            await sync_to_async(each)(Cluster.objects.all())
        raise ExceptionGroup("tasks", [ExceptionGroup("writer", [LeaseLost("another lease than 1")])])

    monkeypatch.setattr(watch_cluster, "watch", loses)
    return happens


@pytest.mark.django_db(transaction=True)
def test_a_cluster_that_nobody_added_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command("watch_cluster", "no\npe")

    assert ended.value.code == UNNEEDED
    assert r"cluster 'no\\npe' is not there: it was deleted, or never added" in capsys.readouterr().err


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("lost", "says"),
    [
        (lambda rows: put_aside(clusters=rows), "cluster 'shop' was put aside; nobody needs"),
        (lambda rows: rows.delete(), "cluster 'shop' is not there"),
    ],
)
def test_a_watcher_that_nobody_needs_says_so_by_its_status(
    lost: Lose, says: str, lose: list[Lose], capsys: pytest.CaptureFixture[str]
) -> None:
    lose.append(lost)

    with pytest.raises(SystemExit) as ended:
        call_command("watch_cluster", "shop")

    assert ended.value.code == UNNEEDED
    assert says in capsys.readouterr().err


@pytest.mark.django_db(transaction=True)
def test_a_watcher_whose_lease_another_has_is_started_again(lose: list[Lose]) -> None:
    lose.append(lambda rows: begin_anew(clusters=rows, now=0))

    with pytest.raises(CommandError, match="another lease") as raised:
        call_command("watch_cluster", "shop")

    assert raised.value.returncode == 1


@pytest.mark.django_db(transaction=True)
def test_settings_that_make_no_sense_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKETMQ_ACCESS_KEY", "shop")

    with pytest.raises(CommandError, match="ROCKETMQ_SECRET_KEY"):
        call_command("watch_cluster", "shop")


ADD = """
from dashboard.clusters.models import Cluster
Cluster.objects.create(name="shop", namesrv="127.0.0.1:1", added_at=1)
"""
LEASED = "from dashboard.clusters.models import Cluster; c = Cluster.objects.get(); print(c.lease_epoch, c.lease_until)"


def test_sigterm_ends_it_in_order_and_gives_the_lease_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENKEEL_HOME", str(tmp_path))
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE", raising=False)

    def manage(*words: str) -> str:
        command = [sys.executable, "manage.py", *words]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

    manage("migrate", "--verbosity", "0")
    manage("shell", "--no-imports", "-c", ADD)
    process = subprocess.Popen(
        [sys.executable, "manage.py", "watch_cluster", "shop"], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "has lease" in line)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()

    assert "lease 1 of cluster shop" in line
    assert process.returncode == 0
    epoch, until = manage("shell", "--no-imports", "-c", LEASED).split()
    assert epoch == "1"
    assert int(until) > 1
