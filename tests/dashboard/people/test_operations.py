from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.db import OperationalError, connection

from dashboard.audit.models import AuditEntry
from dashboard.people.models import Attempt, Grant
from dashboard.people.operations import (
    forget_attempts,
    grant,
    make_first_admin,
    reset_password,
    try_once,
    wait_for_trial,
    wait_for_turn,
)
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db


def test_the_first_admin_is_made_once_and_the_password_is_told_once() -> None:
    password = make_first_admin(now=T0)

    assert password is not None
    assert len(password) == 20
    user = authenticate(username="admin", password=password)
    assert isinstance(user, User)
    assert user.is_superuser
    assert make_first_admin(now=T0) is None
    assert AuditEntry.objects.get().verb == "make the first admin"


def test_where_somebody_is_there_no_admin_is_made() -> None:
    person(Role.VIEWER)

    assert make_first_admin(now=T0) is None


def test_a_new_password_replaces_the_old_one_and_is_audited() -> None:
    first = make_first_admin(now=T0)

    second = reset_password(username="admin", author="root", now=T0)

    assert authenticate(username="admin", password=second) is not None
    assert authenticate(username="admin", password=first) is None
    assert AuditEntry.objects.order_by("-number")[0].author == "root"
    with pytest.raises(User.DoesNotExist):
        reset_password(username="nobody", author="root", now=T0)


def test_a_grant_is_given_once_and_audited_once() -> None:
    user = person(None)

    grant(user=user, role=Role.OPERATOR, groups="o*", author="root", now=T0)
    grant(user=user, role=Role.OPERATOR, groups="o*", author="root", now=T0)

    assert Grant.objects.count() == 1
    assert AuditEntry.objects.get().subject == "nobody"


def test_attempts_are_limited_within_their_time() -> None:
    def attempt(at: int) -> bool:
        return try_once(what="x", most=2, within_ms=1_000, now=T0 + at)

    assert [attempt(0), attempt(1), attempt(2), attempt(999), attempt(1_000), attempt(1_001)] == [
        True,
        True,
        False,
        False,
        True,
        True,
    ]
    assert try_once(what="y", most=1, within_ms=1_000, now=T0)


@pytest.mark.django_db(transaction=True)
def test_attempts_at_the_same_time_do_not_find_the_same_room() -> None:
    ready = Barrier(6)

    def attempt(_: int) -> bool:
        try:
            connection.ensure_connection()
            ready.wait(30)
            return try_once(what="x", most=2, within_ms=60_000, now=T0)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        let_in = list(pool.map(attempt, range(6)))

    assert sum(let_in) == 2


def test_attempts_are_taken_back_and_old_ones_forgotten() -> None:
    for at in (0, 1, 2):
        try_once(what="x", most=9, within_ms=1_000, now=T0 + at)

    forget_attempts(what="x", only_last=True)
    assert sorted(Attempt.objects.values_list("at", flat=True)) == [T0, T0 + 1]
    try_once(what="y", most=9, within_ms=1_000, now=T0 + 25 * 3_600_000)
    assert Attempt.objects.count() == 1
    forget_attempts(what="y")
    assert not Attempt.objects.exists()


def test_who_has_to_wait_hears_how_long(db: None) -> None:  # noqa: ARG001 - it is counted there
    def wait(at: int) -> int:
        return wait_for_turn(what="x", most=2, within_ms=60_000, now=T0 + at)

    assert [wait(0), wait(20_000), wait(20_500), wait(59_999)] == [0, 0, 40, 1]
    assert wait(60_001) == 0


def test_a_dry_run_only_reads_where_nothing_can_be_written_it_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.people.operations.TRIALS_A_MINUTE", 1)
    with monkeypatch.context() as locked:

        def refuse(**_: object) -> int:
            raise OperationalError("database is locked")

        locked.setattr("dashboard.people.operations.wait_for_turn", refuse)
        assert wait_for_trial(person=7, now=T0) == 0

    assert [wait_for_trial(person=7, now=T0 + n) > 0 for n in range(2)] == [False, True]
