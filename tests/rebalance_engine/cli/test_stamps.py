import os
import time
from pathlib import Path

import pytest

from rebalance_engine.cli.stamps import HOME, Stamp, stamp_of


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME, str(tmp_path))
    return tmp_path


def shift(stamp: Stamp, by_s: float) -> None:
    at = time.time() + by_s
    os.utime(stamp.path, (at, at))


def test_what_was_done_a_moment_ago_cannot_be_claimed_and_later_it_can() -> None:
    stamp = stamp_of("shop", "billing")

    assert stamp.claim(3_600)
    assert not stamp.claim(3_600)
    shift(stamp, -4_000)
    assert stamp.claim(3_600)


def test_other_names_have_another_stamp_whatever_they_are() -> None:
    names = [("shop", "billing"), ("shop", "orders"), ("shopbilling", ""), ("../x", "/etc/passwd"), ("\ud800", "\0")]

    paths = {stamp_of(*each).path for each in names}

    assert len(paths) == len(names)
    assert len({path.parent for path in paths}) == 1


def test_a_clock_that_was_set_back_forbids_nothing() -> None:
    stamp = stamp_of("shop", "billing")
    stamp.claim(3_600)
    shift(stamp, 1_000)

    assert stamp.claim(3_600)


def test_where_nothing_can_be_written_there_is_no_limit_and_no_error(home: Path) -> None:
    (home / "file").touch()
    stamp = Stamp(home / "file" / "below")

    assert stamp.claim(3_600) and stamp.claim(3_600)
