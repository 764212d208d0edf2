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


def test_the_chain_does_not_fork() -> None:
    first = append(at=T0, author="ada", verb="recompute")

    with pytest.raises(DatabaseError), transaction.atomic():
        AuditEntry.objects.create(
            number=2, at=T0, author="eve", verb="recompute", detail="{}", previous=first.previous, digest="x"
        )
