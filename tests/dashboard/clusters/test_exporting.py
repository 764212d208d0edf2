import fcntl
from pathlib import Path

import pytest

from dashboard.clusters.exporting import export, file_name
from dashboard.clusters.models import OutboxLine
from rebalance_engine.eventlog import read
from rebalance_engine.events import MemberJoined
from tests.dashboard.story import T0, joined, told

pytestmark = pytest.mark.usefixtures("cluster")
DAY_MS = 86_400_000


def test_lines_go_to_the_file_of_their_day_in_their_order_and_once(tmp_path: Path) -> None:
    told(joined("A", 1), joined("B", 2), joined("C", DAY_MS))

    assert export(folder=tmp_path, now=T0) == 3
    assert export(folder=tmp_path, now=T0) == 0

    first = (tmp_path / "2023-11-14" / "shop.jsonl").read_text().splitlines()
    assert [getattr(read(line), "client", None) for line in first] == ["A", "B"]
    assert (tmp_path / "2023-11-15" / "shop.jsonl").read_text().count("\n") == 1
    assert not OutboxLine.objects.filter(exported_at=None).exists()


def test_a_line_that_a_crash_cut_does_not_swallow_the_next(tmp_path: Path) -> None:
    file = tmp_path / "2023-11-14" / "shop.jsonl"
    file.parent.mkdir()
    file.write_text('{"v":1,"ev')
    told(joined("A", 1))

    export(folder=tmp_path, now=T0)

    cut, whole = file.read_text().splitlines()
    assert cut == '{"v":1,"ev'
    assert isinstance(read(whole), MemberJoined)


def test_two_exporters_do_not_write_at_the_same_time(tmp_path: Path) -> None:
    told(joined("A", 1))
    with (tmp_path / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)

        assert export(folder=tmp_path, now=T0) == 0

    assert export(folder=tmp_path, now=T0) == 1


@pytest.mark.parametrize("name", ["../../etc", "a/b", "\ud800", "x" * 1000, ".."])
def test_no_cluster_is_written_outside_of_its_folder(name: str) -> None:
    assert "/" not in file_name(name)
    assert not file_name(name).startswith(".")
    assert len(file_name(name)) < 100
