from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from dashboard.audit.models import AuditEntry
from dashboard.audit.operations import append, digest_of
from dashboard.audit.queries import Verdict, tampering, verify
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db


@pytest.fixture
def path(tmp_path: Path, settings: Settings) -> Path:
    path = tmp_path / "audit" / "anchor"
    settings.AUDIT_ANCHOR = path
    return path


@pytest.fixture(autouse=True)
def log(path: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        for number in range(4):
            append(at=T0 + number, author="ada", verb="recompute", subject=f"g{number}")
    assert path.exists()


@pytest.fixture
def without_triggers() -> None:
    """What somebody with the database's own rights can do."""
    on_table = " ON audit_auditentry" if connection.vendor == "postgresql" else ""
    for verb in ("update", "delete"):
        connection.cursor().execute(f"DROP TRIGGER audit_auditentry_no_{verb}{on_table}")


def test_a_log_that_nobody_touched_is_whole() -> None:
    assert list(tampering()) == []


@pytest.mark.usefixtures("without_triggers")
def test_an_entry_that_was_changed_is_found() -> None:
    AuditEntry.objects.filter(number=2).update(author="eve")

    assert list(tampering()) == ["entry 2 is not what was written"]


@pytest.mark.usefixtures("without_triggers")
def test_an_entry_that_was_changed_with_its_digest_is_found() -> None:
    entry = AuditEntry.objects.get(number=2)
    entry.author = "eve"
    AuditEntry.objects.filter(number=2).update(author="eve", digest=digest_of(entry))

    assert list(tampering()) == ["entry 3 does not follow the one before it"]


@pytest.mark.usefixtures("without_triggers")
def test_an_entry_that_was_deleted_is_found() -> None:
    AuditEntry.objects.filter(number=2).delete()

    assert list(tampering()) == ["entries 2 to 2 are missing"]


def execute(statement: str, *values: int | str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def test_a_whole_log_is_told_to_be_one_up_to_where_it_was_noted(path: Path) -> None:
    last = AuditEntry.objects.get(number=4)

    verdict = verify(path=path)

    assert verdict == Verdict(count=4, digest=last.digest, noted=4, troubles=())
    assert verdict.is_whole


@pytest.mark.usefixtures("without_triggers")
@pytest.mark.parametrize(
    ("statement", "trouble"),
    [
        ("UPDATE audit_auditentry SET detail = '{}x' WHERE number = 2", "entry 2 is not what was written"),
        ("UPDATE audit_auditentry SET at = at + 1 WHERE number = 1", "entry 1 is not what was written"),
        ("DELETE FROM audit_auditentry WHERE number = 3", "entries 3 to 3 are missing"),
        ("DELETE FROM audit_auditentry WHERE number = 1", "entries 1 to 1 are missing"),
        ("DELETE FROM audit_auditentry WHERE number > 2", "entries 3 to 4 are missing: the end was cut off"),
        ("DELETE FROM audit_auditentry", "entries 1 to 4 are missing: the end was cut off"),
    ],
)
def test_what_somebody_does_to_the_table_is_found(path: Path, statement: str, trouble: str) -> None:
    execute(statement)

    verdict = verify(path=path)

    assert verdict.troubles[0] == trouble
    assert not verdict.is_whole


@pytest.mark.usefixtures("without_triggers")
def test_two_entries_that_changed_places_are_found(path: Path) -> None:
    for old, new in ((2, 99), (3, 2), (99, 3)):
        execute("UPDATE audit_auditentry SET number = %s WHERE number = %s", new, old)

    assert verify(path=path).troubles[0] == "entry 2 does not follow the one before it"


@pytest.mark.usefixtures("without_triggers")
def test_a_chain_that_was_computed_anew_as_a_whole_is_found(path: Path) -> None:
    execute("UPDATE audit_auditentry SET author = 'eve' WHERE number = 2")
    before = AuditEntry.objects.get(number=1).digest
    for entry in AuditEntry.objects.filter(number__gte=2).order_by("number"):
        entry.previous = before
        before = digest_of(entry)
        execute(
            "UPDATE audit_auditentry SET previous = %s, digest = %s WHERE number = %s",
            entry.previous,
            before,
            entry.number,
        )

    assert list(tampering()) == [], "it is right in itself"
    assert verify(path=path).troubles[0] == "entry 2 is another one than was noted when it was written"


@pytest.mark.parametrize(
    ("harm", "trouble"),
    [
        (lambda path: path.unlink(), "there is no anchor at"),
        (lambda path: path.write_text("no line\n"), "line 1 of the anchor is none of an entry"),
    ],
    ids=["gone", "overwritten"],
)
def test_an_anchor_that_cannot_tell_is_no_proof(path: Path, harm: Callable[[Path], object], trouble: str) -> None:
    harm(path)

    assert verify(path=path).troubles[0].startswith(trouble)


def test_of_many_troubles_the_first_are_told(path: Path) -> None:
    path.write_text("x\n" * 10)

    assert len(verify(path=path, most_troubles=3).troubles) == 3
