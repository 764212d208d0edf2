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


@pytest.mark.django_db(transaction=True)
def test_a_cluster_that_nobody_added_is_named() -> None:
    with pytest.raises(CommandError, match="no cluster 'nope'") as raised:
        call_command("watch_cluster", "nope")

    assert raised.value.returncode == UNNEEDED


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("lost", "says", "status"),
    [
        (lambda rows: put_aside(clusters=rows), "'shop' was put aside", UNNEEDED),
        (lambda rows: rows.delete(), "no cluster 'shop': it was deleted", UNNEEDED),
        (lambda rows: begin_anew(clusters=rows, now=0), "another lease", 1),
    ],
)
def test_a_watcher_says_by_its_status_whether_it_is_needed_still(
    lost: Callable[[QuerySet[Cluster]], object], says: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    Cluster.objects.create(name="shop", namesrv="127.0.0.1:1", added_at=1)

    async def loses(*_: object) -> None:
        await sync_to_async(lost)(Cluster.objects.all())
        raise ExceptionGroup("tasks", [ExceptionGroup("writer", [LeaseLost("another lease than 1")])])

    monkeypatch.setattr(watch_cluster, "watch", loses)

    with pytest.raises(CommandError, match=says) as raised:
        call_command("watch_cluster", "shop")

    assert raised.value.returncode == status


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
