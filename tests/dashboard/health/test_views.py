from __future__ import annotations

import pytest
from django.db import DatabaseError, connection
from django.test import Client

from dashboard.people.roles import Role
from tests.dashboard.persons import person

pytestmark = pytest.mark.django_db


def test_healthz_answers_without_a_log_in(client: Client) -> None:
    answer = client.get("/healthz", REMOTE_ADDR="10.0.0.1")

    assert (answer.status_code, answer.content) == (200, b"ok\n")


def test_healthz_says_when_the_database_does_not_answer(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise DatabaseError("gone")

    monkeypatch.setattr(connection, "cursor", fail)

    assert client.get("/healthz").status_code == 503


def test_metrics_are_for_this_machine_and_for_whoever_is_logged_in(client: Client) -> None:
    assert client.get("/metrics").status_code == 200
    assert client.get("/metrics", REMOTE_ADDR="10.0.0.1").status_code == 401
    client.force_login(person(Role.VIEWER))
    assert b"# TYPE rebalance_total counter" in client.get("/metrics", REMOTE_ADDR="10.0.0.1").content


def test_metrics_tell_nothing_to_who_may_not_see_all(client: Client) -> None:
    client.force_login(person(Role.VIEWER, groups="g"))

    assert client.get("/metrics", REMOTE_ADDR="10.0.0.1").status_code == 401


def test_with_a_token_this_machine_needs_it_too(client: Client, settings: object) -> None:
    settings.METRICS_TOKEN = "t"  # type: ignore[attr-defined] # noqa: S105 - it opens nothing

    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", HTTP_AUTHORIZATION="Bearer t").status_code == 200
