from pathlib import Path

import pytest

from rebalance_engine.cli import main
from tests.rebalance_engine.pipeline.test_reports import folder

__all__ = ["folder"]


def test_a_report_is_a_summary_and_a_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["report", str(folder)])

    assert status == 0
    assert "Groups by pause:" in capsys.readouterr().out
    assert (folder / "report.html").read_text().startswith("<!doctype html>")


def test_the_page_goes_where_it_is_asked_for(folder: Path, tmp_path: Path) -> None:
    main(["report", str(folder), "--page", str(tmp_path / "x.html")])

    assert (tmp_path / "x.html").exists()
    assert not (folder / "report.html").exists()


def test_a_folder_without_a_run_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["report", str(tmp_path)])

    assert ended.value.code == 2
    assert "holds no finished run" in capsys.readouterr().err


def test_a_page_that_cannot_be_written_ends_with_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["report", str(folder), "--page", "/proc/x/y.html"])

    assert ended.value.code == 2
    assert "/proc/x/y.html cannot be written: No such file or directory" in capsys.readouterr().err


def test_a_damaged_table_ends_with_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file,) = (folder / "reports").glob("**/part-storms.parquet")
    file.write_bytes(b"no Parquet")

    with pytest.raises(SystemExit) as ended:
        main(["report", str(folder)])

    assert ended.value.code == 2
    assert "/reports cannot be read" in capsys.readouterr().err
