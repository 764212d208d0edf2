from __future__ import annotations

import pytest
from django.test import Client

from dashboard.api import tokens
from dashboard.api.models import ApiToken
from dashboard.audit.models import AuditEntry
from dashboard.common.clock import now_ms
from dashboard.people.roles import Role
from tests.dashboard.persons import person

pytestmark = pytest.mark.django_db
WHERE = "/api/v1/tokens"


def test_a_persons_own_tokens_are_listed_without_what_opens_and_revoked(client: Client) -> None:
    vera = person(Role.VIEWER, name="vera")
    token, row = tokens.make(user=vera, is_read_only=False, days=1, note="for the canteen", now=now_ms())
    _other, another = tokens.make(user=person(Role.ADMIN, name="ada"), is_read_only=True, days=1, note="", now=now_ms())
    as_vera = {"Authorization": f"Bearer {token}"}

    listed = client.get(WHERE, headers=as_vera)

    assert [(each["id"], each["note"], each["is_good"]) for each in listed.json()["rows"]] == [
        (row.pk, "for the canteen", True)
    ]
    assert token not in listed.content.decode()
    table = client.get(WHERE, {"format": "csv"}, headers=as_vera).content.decode()
    assert row.hint in table and token not in table
    assert client.get(f"{WHERE}/{another.pk}", headers=as_vera).status_code == 404
    assert client.delete(f"{WHERE}/{another.pk}", headers=as_vera).status_code == 404
    gone = client.delete(f"{WHERE}/{row.pk}", headers=as_vera)
    assert (gone.status_code, gone.json()["is_good"], gone.json()["revoked_at"] is None) == (200, False, False)
    assert client.get(WHERE, headers=as_vera).status_code == 401
    client.force_login(vera)
    assert client.get(f"{WHERE}/{row.pk}").json()["is_good"] is False
    assert client.delete(f"{WHERE}/{row.pk}").status_code == 409
    assert AuditEntry.objects.latest("number").verb == "revoke an API token"
    assert ApiToken.objects.filter(revoked_at=None).count() == 1


def test_a_token_makes_no_token_and_one_that_only_reads_revokes_itself_alone(client: Client) -> None:
    token, row = tokens.make(user=person(Role.ADMIN), is_read_only=True, days=1, note="", now=now_ms())
    headers = {"Authorization": f"Bearer {token}"}

    assert client.post(WHERE, {}, content_type="application/json", headers=headers).status_code == 403
    _other, other = tokens.make(user=row.user, is_read_only=True, days=1, note="", now=now_ms())
    assert client.delete(f"{WHERE}/{other.pk}", headers=headers).status_code == 403
    assert client.delete(f"{WHERE}/{row.pk}", headers=headers).status_code == 200
    assert client.get(WHERE, headers=headers).status_code == 401
    writing, _row = tokens.make(user=row.user, is_read_only=False, days=1, note="", now=now_ms())
    headers = {"Authorization": f"Bearer {writing}"}
    assert client.post(WHERE, {}, content_type="application/json", headers=headers).status_code == 405
