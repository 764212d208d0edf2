from __future__ import annotations

from pathlib import Path

import pytest

from dashboard.audit.anchor import note, read


def test_what_is_noted_is_read_again_and_others_cannot_read_it(tmp_path: Path) -> None:
    path = tmp_path / "audit" / "anchor"
    assert read(path) is None

    note(path, 1, "a" * 64)
    note(path, 2, "b" * 64)
    note(path, 2, "c" * 64)

    assert read(path) == ({1: {"a" * 64}, 2: {"b" * 64, "c" * 64}}, [])
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("line", ["", "1", "x " + "a" * 64, "0 " + "a" * 64, "1 " + "A" * 64, "1 " + "a" * 63, "é"])
def test_a_line_that_is_none_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "anchor"
    path.write_text(f"1 {'a' * 64}\n{line}\n")

    assert read(path) == ({1: {"a" * 64}}, [2])


def test_what_cannot_be_noted_is_logged_and_breaks_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()

    note(tmp_path / "file" / "anchor", 7, "a" * 64)

    assert "entry 7 of the audit log cannot be noted" in caplog.text
