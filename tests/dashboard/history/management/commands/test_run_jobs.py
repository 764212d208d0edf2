import os
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from dashboard.audit.models import AuditEntry
from dashboard.history.jobs import LAST
from dashboard.history.management.commands import run_jobs
from dashboard.history.tasks import run_history_jobs

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

    with pytest.raises(CommandError, match="-east did not come to the end; what had been finished is whole"):
        ask(tmp_path)

    assert "Spark is off: there is no java on the PATH" in (tmp_path / "reports" / LAST).read_text()


@pytest.mark.django_db
def test_it_puts_a_run_into_the_queue_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "history" / "2026-11-21").mkdir(parents=True)
    (tmp_path / "history" / "2026-11-21" / "east.jsonl").write_text(LINE)
    monkeypatch.setattr(run_jobs, "spark_trouble", lambda: None)
    sent: list[object] = []
    monkeypatch.setattr(run_history_jobs, "apply_async", lambda **told: sent.append(told))

    with pytest.raises(CommandError, match="--reason"):
        ask(tmp_path, "--queue")
    with pytest.raises(CommandError, match="nothing to read of west; there is: east"):
        ask(tmp_path, "--queue", "--cluster=west", "--reason=x")
    assert "In the queue" in ask(tmp_path, "--queue", "--cluster=east", "--reason=a deploy was slow")
    with pytest.raises(CommandError, match="one at a time"):
        ask(tmp_path, "--queue", "--reason=x")

    assert len(sent) == 1
    assert AuditEntry.objects.values_list("author", "subject").get() == ("manage.py run_jobs", "east")


@pytest.mark.parametrize(
    ("status", "finished_at", "words"),
    [(0, 8, "done"), (1, 8, "done, but something was left out"), (1, 5, "did not come to its end")],
)
def test_a_run_is_called_as_the_page_calls_it(
    monkeypatch: pytest.MonkeyPatch, status: int, finished_at: int, words: str
) -> None:
    said = StringIO()
    one = {"status": status, "said": "refused: 3 lines", "at": 8, "finished_at": finished_at}
    monkeypatch.setattr(run_jobs, "run_jobs", lambda **_: {"east": one})

    try:
        call_command("run_jobs", stdout=said)
        ended = 0
    except CommandError as error:
        ended = error.returncode

    assert ended == status
    assert said.getvalue().startswith(f"east: {words}\nrefused: 3 lines\n")
    assert ("Written to " in said.getvalue()) == (finished_at == 8)
