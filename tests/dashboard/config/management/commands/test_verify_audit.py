from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from dashboard.audit.operations import append
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def path(
    tmp_path: Path, settings: Settings, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> Path:
    settings.AUDIT_ANCHOR = tmp_path / "anchor"
    with django_capture_on_commit_callbacks(execute=True):
        for number in range(3):
            append(at=T0 + number, author="ada", verb="recompute")
    return tmp_path / "anchor"


def run(*words: str) -> str:
    out = StringIO()
    call_command("verify_audit", *words, stdout=out)
    return out.getvalue()


def test_a_whole_log_is_told_to_be_whole() -> None:
    said = run()

    assert said.startswith("3 entries, none changed, none missing; the last one is ")
    assert said.rstrip().endswith("the anchor tells up to entry 3")


def test_a_log_whose_end_was_cut_off_fails() -> None:
    on_table = " ON audit_auditentry" if connection.vendor == "postgresql" else ""
    connection.cursor().execute(f"DROP TRIGGER audit_auditentry_no_delete{on_table}")
    connection.cursor().execute("DELETE FROM audit_auditentry WHERE number = 3")

    with pytest.raises(CommandError, match="entries 3 to 3 are missing: the end was cut off") as failed:
        run()
    assert failed.value.returncode == 1


def test_without_an_anchor_it_fails_until_one_is_begun(path: Path) -> None:
    path.unlink()

    with pytest.raises(CommandError, match="there is no anchor"):
        run()
    assert "up to entry 3" in run("--begin-anchor")
    with pytest.raises(CommandError, match="there is an anchor"):
        run("--begin-anchor")
