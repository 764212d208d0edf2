"""Counts are of all processes together, and never fall."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, transaction

from dashboard.push import tallies
from dashboard.push.models import Tally
from dashboard.push.tallies import Kind, add, counts, note

pytestmark = pytest.mark.django_db


def test_what_never_happened_is_0_and_what_did_is_counted_on() -> None:
    assert set(counts().values()) == {0}

    add({Kind.TOO_SLOW: 2, Kind.BROKEN: 1})
    note(Kind.TOO_SLOW)

    assert (counts()[Kind.TOO_SLOW], counts()[Kind.BROKEN], counts()[Kind.NOT_TO_REDIS]) == (3, 1, 0)


def test_a_count_never_becomes_less() -> None:
    add({Kind.TOO_SLOW: 2})

    with pytest.raises(DatabaseError, match="never becomes less"), transaction.atomic():
        Tally.objects.update(count=1)


def test_what_cannot_be_counted_is_told_of_and_fails_nobody(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(_counts: object) -> None:
        raise DatabaseError("away")

    monkeypatch.setattr(tallies, "add", away)

    note(Kind.NOT_TO_REDIS)

    assert "message that Redis did not take" in caplog.text
