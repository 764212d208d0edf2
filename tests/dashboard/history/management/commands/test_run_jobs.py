import os
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from dashboard.history.jobs import LAST

LINE = '{"v":1,"event":"MemberSeen","at":1,"source":{"origin":"admin answer"},"exactness":{"bound":"exact"}}\n'


def ask(home: Path, *words: str) -> str:
    said = StringIO()
    with override_settings(HISTORY=home / "history", REPORTS=home / "reports"):
        call_command("run_jobs", *words, stdout=said)
    return said.getvalue()


def test_without_history_it_says_that_there_is_none(tmp_path: Path) -> None:
    assert "There is no history" in ask(tmp_path)


def test_a_cluster_without_history_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "history" / "2026-11-21").mkdir(parents=True)
    (tmp_path / "history" / "2026-11-21" / "east.jsonl").write_text(LINE)

    with pytest.raises(CommandError, match="no history of 'west'; it has of east"):
        ask(tmp_path, "--cluster", "west")


def test_logs_alone_are_refused_where_no_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="EVENKEEL_LOGS"):
        ask(tmp_path, "--logs")


def test_why_a_run_failed_is_told_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program itself runs, in a place without Java."""
    (tmp_path / "history" / "2026-11-21").mkdir(parents=True)
    (tmp_path / "history" / "2026-11-21" / "-east.jsonl").write_text(LINE)
    monkeypatch.setitem(os.environ, "PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)

    with pytest.raises(CommandError, match="failed for -east; what had been finished is whole"):
        ask(tmp_path)

    assert "Spark is off: there is no java on the PATH" in (tmp_path / "reports" / LAST).read_text()
