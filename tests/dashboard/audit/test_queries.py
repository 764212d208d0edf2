from __future__ import annotations

import pytest
from django.db import connection

from dashboard.audit.models import AuditEntry
from dashboard.audit.operations import append, digest_of
from dashboard.audit.queries import tampering
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def log() -> None:
    for number in range(4):
        append(at=T0 + number, author="ada", verb="recompute", subject=f"g{number}")


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
