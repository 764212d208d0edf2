import fcntl
from pathlib import Path

import pytest

from dashboard.clusters.exporting import export, file_name, forget_days
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


def days_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


def test_whole_days_that_are_older_than_is_kept_are_deleted(tmp_path: Path) -> None:
    told(*(joined(f"A{day}", day * DAY_MS) for day in range(4)))
    export(folder=tmp_path, now=T0)

    assert forget_days(folder=tmp_path, now=T0 + 3 * DAY_MS, days=2) == 1
    assert forget_days(folder=tmp_path, now=T0 + 3 * DAY_MS, days=2) == 0

    assert days_in(tmp_path) == ["2023-11-15", "2023-11-16", "2023-11-17"]


def test_today_stays_and_without_a_limit_all_do(tmp_path: Path) -> None:
    told(joined("A", 0), joined("B", DAY_MS))
    export(folder=tmp_path, now=T0)

    assert forget_days(folder=tmp_path, now=T0 + DAY_MS, days=0) == 0
    assert forget_days(folder=tmp_path, now=T0, days=1) == 0
    assert forget_days(folder=tmp_path / "none", now=T0, days=1) == 0

    assert days_in(tmp_path) == ["2023-11-14", "2023-11-15"]


def test_what_is_no_history_file_is_not_deleted_with_it(tmp_path: Path) -> None:
    (tmp_path / "2001-01-01").mkdir()
    (tmp_path / "2001-01-01" / "shop.jsonl").write_text("{}\n")
    (tmp_path / "2001-01-01" / "notes.txt").write_text("mine")
    for name in ("notes", "2001-13-01", "2001-1-1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "shop.jsonl").write_text("{}\n")

    assert forget_days(folder=tmp_path, now=T0, days=1) == 1

    kept = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*"))
    assert kept == ["2001-01-01/notes.txt", "2001-1-1/shop.jsonl", "2001-13-01/shop.jsonl", "notes/shop.jsonl"]


def test_days_are_not_deleted_while_somebody_writes(tmp_path: Path) -> None:
    told(joined("A", 1))
    export(folder=tmp_path, now=T0)
    with (tmp_path / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)

        assert forget_days(folder=tmp_path, now=T0 + 9 * DAY_MS, days=1) is None

    assert forget_days(folder=tmp_path, now=T0 + 9 * DAY_MS, days=1) == 1
