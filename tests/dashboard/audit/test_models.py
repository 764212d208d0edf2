from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction

from dashboard.audit.models import AuditEntry
from dashboard.audit.operations import append
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("statement", ["UPDATE audit_auditentry SET author = 'eve'", "DELETE FROM audit_auditentry"])
def test_nobody_changes_or_deletes_an_entry_not_even_past_django(statement: str) -> None:
    append(at=T0, author="ada", verb="recompute", subject="g")

    with pytest.raises(DatabaseError, match="can only be appended to"), transaction.atomic():
        connection.cursor().execute(statement)

    assert AuditEntry.objects.get().author == "ada"


REPLACING = {
    "sqlite": "INSERT OR REPLACE INTO audit_auditentry ({columns}) SELECT {values} FROM audit_auditentry",
    "postgresql": "INSERT INTO audit_auditentry ({columns}) SELECT {values} FROM audit_auditentry "
    "ON CONFLICT ({same}) DO UPDATE SET author = excluded.author",
}
OTHERS = {"id": "99", "number": "99", "previous": "'x'", "digest": "'y'"}


@pytest.mark.parametrize("same", OTHERS)
def test_nobody_replaces_an_entry_by_another_one(same: str) -> None:
    entry = append(at=T0, author="ada", verb="recompute", subject="g")
    columns = [field.attname for field in AuditEntry._meta.fields]
    others = {name: value for name, value in OTHERS.items() if name != same}
    values = [others.get(name, "'eve'" if name == "author" else name) for name in columns]
    statement = REPLACING[connection.vendor].format(columns=", ".join(columns), values=", ".join(values), same=same)

    with pytest.raises(DatabaseError, match=r"has it already|can only be appended to"), transaction.atomic():
        connection.cursor().execute(statement)

    kept = AuditEntry.objects.get()
    assert (kept.pk, kept.author, kept.digest) == (entry.pk, "ada", entry.digest)


def test_the_chain_does_not_fork() -> None:
    first = append(at=T0, author="ada", verb="recompute")

    with pytest.raises(DatabaseError), transaction.atomic():
        AuditEntry.objects.create(
            number=2, at=T0, author="eve", verb="recompute", detail="{}", previous=first.previous, digest="x"
        )
