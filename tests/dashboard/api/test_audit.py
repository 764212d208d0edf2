from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from dashboard.audit.operations import append
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _log(
    tmp_path: Path, settings: Settings, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    settings.AUDIT_ANCHOR = tmp_path / "anchor"
    with django_capture_on_commit_callbacks(execute=True):
        append(at=T0, author="ada", verb="group.recompute", subject="shop billing", detail={"reason": "lag"})
        append(at=T0 + 1, author="bo", verb="grant a role", subject="=eve")


def test_an_admin_reads_the_log_and_what_it_is_worth(client: Client) -> None:
    client.force_login(person(Role.ADMIN))

    page = client.get("/api/v1/audit", {"person": "ada"}).json()
    verdict = client.get("/api/v1/audit/verdict").json()
    table = list(csv.DictReader(io.StringIO(client.get("/api/v1/audit", {"format": "csv"}).content.decode())))

    assert [(row["number"], row["detail"]) for row in page["rows"]] == [(1, '{"reason": "lag"}')] or page["count"] == 1
    assert (verdict["is_whole"], verdict["count"], verdict["noted"]) == (True, 2, 2)
    assert [row["subject"] for row in table] == ["'=eve", "shop billing"]


def test_a_log_that_was_touched_is_said_to_be(client: Client) -> None:
    client.force_login(person(Role.ADMIN))
    on_table = "" if connection.vendor == "sqlite" else " ON audit_auditentry"
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER audit_auditentry_no_update{on_table}")
        cursor.execute("UPDATE audit_auditentry SET author = 'eve' WHERE number = 1")

    verdict = client.get("/api/v1/audit/verdict").json()

    assert verdict["is_whole"] is False
    assert "entry 1 is not what was written" in verdict["troubles"]


def test_a_day_that_is_none_is_refused(client: Client) -> None:
    client.force_login(person(Role.ADMIN))

    answer = client.get("/api/v1/audit", {"since": "yesterday"})

    assert (answer.status_code, "needed is YYYY-MM-DD" in answer.json()["problem"]) == (422, True)


def test_an_admin_of_some_groups_does_not_read_it(client: Client) -> None:
    client.force_login(person(Role.ADMIN, groups="orders-*"))

    assert client.get("/api/v1/audit").status_code == 403
    assert client.get("/api/v1/audit/verdict").status_code == 403


def test_a_detail_is_in_the_table_as_it_was_digested(
    client: Client, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    client.force_login(person(Role.ADMIN))
    with django_capture_on_commit_callbacks(execute=True):
        append(
            at=T0 + 2, author="ada", verb="group.recompute", subject="shop billing", detail={"reason": "一\0\\u4e00"}
        )

    rows = client.get("/api/v1/audit").json()["rows"]
    table = list(csv.DictReader(io.StringIO(client.get("/api/v1/audit", {"format": "csv"}).content.decode())))

    assert json.loads(table[0]["detail"]) == json.loads(rows[0]["detail"]) == {"reason": "一\0\\u4e00"}
