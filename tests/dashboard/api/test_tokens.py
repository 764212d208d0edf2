from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import OperationalError

from dashboard.api import tokens
from dashboard.api.models import ApiToken
from dashboard.api.tokens import DAY_MS, TooMany, find, make, note_use, revoke
from dashboard.audit.models import AuditEntry
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db


def test_a_token_is_found_by_its_header_until_it_expires_and_kept_nowhere() -> None:
    ada = person(Role.ADMIN, name="ada")
    token, row = make(user=ada, is_read_only=True, days=2, note="a script", now=T0)

    assert find(authorization=f"Bearer {token}", now=T0 + 2 * DAY_MS - 1) == row
    assert find(authorization=f"Bearer {token}", now=T0 + 2 * DAY_MS) is None
    kept = [str(value) for value in ApiToken.objects.values_list().get()]
    logged = [f"{entry.author} {entry.verb} {entry.detail}" for entry in AuditEntry.objects.all()]
    assert not any(token in text for text in kept + logged)
    assert logged[0].startswith("ada make an API token") and "a script" in logged[0]


@pytest.mark.parametrize("wrong", ["", "Bearer", "Bearer ", "Basic {}", "{}", "Bearer {}x", "Bearer \0é"])
def test_what_is_no_good_token_is_not_found(wrong: str) -> None:
    token, _row = make(user=person(Role.VIEWER), is_read_only=True, days=1, note="", now=T0)

    assert find(authorization=wrong.format(token), now=T0) is None


def test_a_person_revokes_own_tokens_alone_and_once() -> None:
    ada, eve = person(Role.ADMIN, name="ada"), person(Role.ADMIN, name="eve")
    token, row = make(user=ada, is_read_only=False, days=1, note="", now=T0)

    assert not revoke(token=row.pk, user=eve, now=T0 + 1)
    assert revoke(token=row.pk, user=ada, now=T0 + 2)
    assert not revoke(token=row.pk, user=ada, now=T0 + 3)
    assert find(authorization=f"Bearer {token}", now=T0 + 4) is None
    assert [entry.verb for entry in AuditEntry.objects.order_by("number")][1:] == ["revoke an API token"]


def test_tokens_are_bounded_in_number_and_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST", 1)
    ada = person(Role.ADMIN, name="ada")
    make(user=ada, is_read_only=True, days=1, note="", now=T0)

    with pytest.raises(TooMany, match="revoke one first"):
        make(user=ada, is_read_only=True, days=1, note="", now=T0)
    for days in (0, 367):
        with pytest.raises(ValueError, match="needed are 1 to 366"):
            make(user=ada, is_read_only=True, days=days, note="", now=T0 + DAY_MS)
    make(user=ada, is_read_only=True, days=1, note="the first one has expired", now=T0 + DAY_MS)


@contextmanager
def locked() -> Iterator[None]:
    raise OperationalError("database is locked")
    yield


def test_its_use_is_noted_once_a_minute() -> None:
    _token, row = make(user=person(Role.VIEWER), is_read_only=True, days=1, note="", now=T0)

    note_use(token=row, now=T0 + 1)
    row.refresh_from_db()
    note_use(token=row, now=T0 + 60_000)
    assert ApiToken.objects.get().used_at == T0 + 1
    note_use(token=row, now=T0 + 60_002)
    assert ApiToken.objects.get().used_at == T0 + 60_002


def test_a_use_that_cannot_be_noted_now_is_no_reason_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    _token, row = make(user=person(Role.VIEWER), is_read_only=True, days=1, note="", now=T0)

    with monkeypatch.context() as others:
        others.setattr("dashboard.api.tokens.no_waiting", locked)
        note_use(token=row, now=T0 + 1)
    assert ApiToken.objects.get().used_at is None

    note_use(token=row, now=T0 + 2)
    assert ApiToken.objects.get().used_at == T0 + 2
