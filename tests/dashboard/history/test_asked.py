import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from dashboard.history.asked import FILE, GOOD_FOR_S, Asked, Standing, begin, end, keep, standing
from dashboard.history.jobs import LOCK, is_at_work

T0 = 1_700_000_000_000
EAST = Asked(number="a", only="east", author="ada", reason="to see", asked_at=T0)
WEST = replace(EAST, number="b", only="west")


@contextmanager
def at_work(reports: Path) -> Iterator[None]:
    with (reports / LOCK).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_one_is_kept_at_a_time_from_when_it_is_asked_for_until_it_ended(tmp_path: Path) -> None:
    assert standing(tmp_path, now=T0) == Standing(is_at_work=False, asked=None)

    assert keep(tmp_path, EAST) is None
    assert keep(tmp_path, WEST) == Standing(is_at_work=False, asked=EAST)
    begun = begin(tmp_path, "a", now=T0 + 1)
    with at_work(tmp_path):
        assert keep(tmp_path, WEST) == Standing(is_at_work=True, asked=begun)
    end(tmp_path, "a")

    assert keep(tmp_path, WEST) is None


def test_a_run_that_is_delivered_twice_begins_once(tmp_path: Path) -> None:
    keep(tmp_path, EAST)

    assert begin(tmp_path, "a", now=T0 + 1) == replace(EAST, begun_at=T0 + 1)
    assert begin(tmp_path, "a", now=T0 + 2) is None
    assert begin(tmp_path, "b", now=T0 + 2) is None


def test_one_that_nobody_asked_for_is_at_work_too(tmp_path: Path) -> None:
    with at_work(tmp_path):
        assert is_at_work(tmp_path)
        assert keep(tmp_path, EAST) == Standing(is_at_work=True, asked=None)
    assert not is_at_work(tmp_path)


def test_a_run_that_was_killed_or_that_no_worker_took_stands_in_nobodys_way(tmp_path: Path) -> None:
    keep(tmp_path, EAST)
    begin(tmp_path, "a", now=T0 + 1)
    assert keep(tmp_path, WEST) is None

    late = replace(EAST, number="c", asked_at=T0 + GOOD_FOR_S * 1_000)
    assert keep(tmp_path, late) is None
    end(tmp_path, "b")
    assert standing(tmp_path, now=late.asked_at).asked == late


def test_what_another_version_kept_is_nothing(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"who": "ada"}')

    assert standing(tmp_path, now=T0).is_idle
