"""People in the Django admin: what they may, their passwords and what goes with them stand in the audit log."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import Group, Permission, User
from django.db import DatabaseError
from django.test import Client

from dashboard.audit.models import AuditEntry
from dashboard.people import admin as ours
from dashboard.people.models import Grant
from dashboard.people.roles import Role
from tests.dashboard.persons import PASSWORD, person

pytestmark = pytest.mark.django_db
NEW = "another long password"


def entries() -> list[tuple[str, str, dict[str, object]]]:
    return [(row.verb, row.subject, json.loads(row.detail)) for row in AuditEntry.objects.order_by("number")]


def change(client: Client, user: User, **given: object) -> int:
    sent = {"username": user.username, "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00", "reason": "on call"}
    User.objects.filter(pk=user.pk).update(date_joined="2026-01-01T00:00:00Z")
    return client.post(f"/admin/auth/user/{user.pk}/change/", sent | given).status_code


def test_who_is_made_staff_and_superuser_stands_in_the_log(admin_client: Client) -> None:
    mallory = person(Role.VIEWER, name="mallory")
    desk = Group.objects.create(name="desk")

    status = change(
        admin_client, mallory, is_active="on", is_staff="on", is_superuser="on", groups=[desk.pk], email="m@example.org"
    )

    assert status == 302
    [(verb, subject, detail)] = entries()
    assert (verb, subject, detail["reason"]) == ("change a person", "mallory", "on call")
    assert detail["is_superuser"] == {"before": False, "after": True} == detail["is_staff"]
    assert (detail["is_active"], detail["groups"]) == (True, {"before": [], "after": ["desk"]})
    assert detail["email"] == "changed"


def test_who_may_not_come_in_any_more_stands_in_the_log_and_what_changes_nothing_does_not(
    admin_client: Client,
) -> None:
    bo = person(Role.VIEWER, name="bo")

    change(admin_client, bo, is_active="on")
    assert entries() == []
    change(admin_client, bo)

    [(verb, _subject, detail)] = entries()
    assert (verb, detail["is_active"]) == ("change a person", {"before": True, "after": False})


def test_anothers_password_is_changed_with_a_reason_and_is_not_in_the_log(admin_client: Client) -> None:
    bo = person(Role.VIEWER, name="bo")
    where, sent = f"/admin/auth/user/{bo.pk}/password/", {"usable_password": "true", "password1": NEW, "password2": NEW}

    asked = admin_client.get(where).content.decode()
    without = admin_client.post(where, {**sent, "set-password": "x"})
    assert 'name="reason"' in asked
    assert without.status_code == 200 and "This field is required" in without.content.decode()
    assert authenticate(username="bo", password=PASSWORD) is not None and entries() == []
    admin_client.post(where, {**sent, "set-password": "x", "reason": "forgotten"})
    admin_client.post(where, {"usable_password": "false", "unset-password": "x", "reason": "left"})

    assert entries() == [
        ("change a password", "bo", {"reason": "forgotten", "has a password": True}),
        ("change a password", "bo", {"reason": "left", "has a password": False}),
    ]
    assert all(NEW not in row.detail and "pbkdf2" not in row.detail for row in AuditEntry.objects.all())


def test_roles_that_fall_with_their_person_are_entries_of_their_own(admin_client: Client) -> None:
    mallory = person(Role.ADMIN, name="mallory")
    Grant.objects.create(user=mallory, role="viewer", clusters="shop", groups="*")

    done = admin_client.post(f"/admin/auth/user/{mallory.pk}/delete/", {"post": "yes", "reason": "left"})

    assert done.status_code == 302
    assert [(verb, subject) for verb, subject, _detail in entries()] == [
        ("take back a role", "mallory"),
        ("take back a role", "mallory"),
        ("delete a person", "mallory"),
    ]
    first, second, last = (detail for _verb, _subject, detail in entries())
    assert (first["role"], second["clusters"], last["is_staff"]) == ("admin", "shop", True)
    assert last["deleted with it"] == {"grants": 2}


def test_what_the_log_cannot_have_is_not_done(admin_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_entry: object) -> None:
        raise DatabaseError("the disk is full")

    bo = person(Role.VIEWER, name="bo")
    monkeypatch.setattr("dashboard.audit.audited.append", full)

    with pytest.raises(DatabaseError):
        change(admin_client, bo, is_active="on", is_superuser="on")
    with pytest.raises(DatabaseError):
        admin_client.post(f"/admin/auth/user/{bo.pk}/delete/", {"post": "yes", "reason": "left"})
    sent = {"usable_password": "true", "password1": NEW, "password2": NEW, "set-password": "x", "reason": "x"}
    with pytest.raises(DatabaseError):
        admin_client.post(f"/admin/auth/user/{bo.pk}/password/", sent)

    bo.refresh_from_db()
    assert (bo.is_superuser, bo.check_password(PASSWORD)) == (False, True)


def test_what_a_group_of_people_may_do_stands_in_the_log(admin_client: Client) -> None:
    desk = Group.objects.create(name="desk")
    may = Permission.objects.get(codename="delete_user")
    sent = {"name": "desk", "permissions": [may.pk], "reason": "they asked"}

    assert admin_client.post(f"/admin/auth/group/{desk.pk}/change/", sent).status_code == 302

    [(verb, subject, detail)] = entries()
    assert (verb, subject) == ("change a group of people", "desk")
    assert detail["permissions"] == {"before": [], "after": [str(may)]}


def test_a_role_that_is_given_to_another_one_says_whose_it_was(admin_client: Client) -> None:
    row = Grant.objects.create(user=person(None, name="ann"), role="admin")
    bo = person(None, name="bo")
    sent = {"user": bo.pk, "role": "admin", "clusters": "shop", "groups": "*", "reason": "moved"}

    admin_client.post(f"/admin/people/grant/{row.pk}/change/", sent)

    [(verb, subject, detail)] = entries()
    assert (verb, subject, detail["role"]) == ("change a role", "bo", "admin")
    assert detail["user"] == {"before": "ann", "after": "bo"}
    assert detail["clusters"] == {"before": "*", "after": "shop"}


def test_every_form_asks_why(admin_client: Client) -> None:
    bo = person(Role.VIEWER, name="bo")
    pages = ("user/add/", f"user/{bo.pk}/change/", f"user/{bo.pk}/delete/", f"user/{bo.pk}/password/", "group/add/")

    for page in pages:
        assert 'name="reason"' in admin_client.get(f"/admin/auth/{page}").content.decode(), page
    assert ours.PersonAdmin.told == ("is_active", "is_staff", "is_superuser")
