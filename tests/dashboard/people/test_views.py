from __future__ import annotations

import pytest
from django.contrib.auth import authenticate
from django.db import DatabaseError
from django.test import Client

from dashboard.audit.models import AuditEntry
from dashboard.people.roles import Role
from tests.dashboard.persons import PASSWORD, person

pytestmark = pytest.mark.django_db


def test_the_log_in_leads_back_to_where_one_came_from_and_nowhere_else(client: Client) -> None:
    person()
    right = {"username": "viewer", "password": PASSWORD}

    assert client.get("/")["Location"] == "/login/?next=/"
    assert client.post("/login/?next=/password/", right)["Location"] == "/password/"
    client.logout()
    assert client.post("/login/?next=https://evil.example/", right)["Location"] == "/"


def test_logging_out_takes_a_post(client: Client) -> None:
    client.force_login(person())

    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/")["Location"] == "/login/"
    assert client.get("/").status_code == 302


def test_a_forged_post_is_refused() -> None:
    client = Client(enforce_csrf_checks=True)

    assert client.post("/login/", {"username": "viewer", "password": PASSWORD}).status_code == 403


def test_everybody_changes_the_own_password(client: Client) -> None:
    client.force_login(person())
    new = "another long password"

    page = client.get("/password/").content.decode()
    client.post("/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new})

    assert "viewer of clusters *, groups *" in page
    assert authenticate(username="viewer", password=new) is not None
    entry = AuditEntry.objects.get()
    assert (entry.author, entry.verb, entry.subject) == ("viewer", "change a password", "viewer")
    assert new not in entry.detail


def test_a_password_of_which_the_log_cannot_have_the_change_stays(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_entry: object) -> None:
        raise DatabaseError("the disk is full")

    client.force_login(person())
    monkeypatch.setattr("dashboard.people.views.append", full)
    new = "another long password"

    with pytest.raises(DatabaseError):
        client.post("/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new})
    assert authenticate(username="viewer", password=PASSWORD) is not None


def test_the_database_pages_have_no_door_of_their_own(client: Client) -> None:
    assert client.get("/admin/login/?next=/admin/")["Location"] == "/login/?next=/admin/"
    client.force_login(person(Role.ADMIN))
    assert client.get("/admin/password_change/")["Location"] == "/password/"


def test_a_page_that_is_not_there_says_so_in_the_frame(client: Client) -> None:
    client.force_login(person(Role.VIEWER))

    answer = client.get("/groups/77/")

    assert answer.status_code == 404
    assert "There is no such group, or you may not see it." in answer.content.decode()
