import logging
from pathlib import Path

import pytest

from rebalance_engine.network.offset_files import OffsetFiles

NAME = "10.0.0.7@DEFAULT/G/offsets.json"


def test_what_is_saved_is_read_again(tmp_path: Path) -> None:
    files = OffsetFiles(tmp_path)
    assert files.read(NAME) == {}

    files.save(NAME, "first")
    files.save(NAME, "second")

    assert OffsetFiles(tmp_path).read(NAME) == {NAME: "second"}
    assert (tmp_path / f"{NAME}.bak").read_text() == "first"


def test_a_file_that_is_gone_or_broken_is_read_from_before(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = OffsetFiles(tmp_path)
    files.save(NAME, "first")
    files.save(NAME, "second")
    (tmp_path / NAME).write_bytes(b"\xff")

    with caplog.at_level(logging.WARNING):
        assert files.read(NAME) == {NAME: "first"}

    assert "cannot be read" in caplog.text


def test_a_disk_that_takes_nothing_stops_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "10.0.0.7@DEFAULT").write_text("in the way")

    with caplog.at_level(logging.ERROR):
        OffsetFiles(tmp_path).save(NAME, "text")

    assert "cannot be written" in caplog.text


def test_no_name_leaves_the_directory(tmp_path: Path) -> None:
    OffsetFiles(tmp_path / "inside").save("../../outside", "text")

    assert (tmp_path / "inside" / "outside").read_text() == "text"
