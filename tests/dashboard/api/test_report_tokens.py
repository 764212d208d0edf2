from __future__ import annotations

import json
from typing import Any

from django.test import Client

from dashboard.api.site import description
from dashboard.audit.models import AuditEntry
from dashboard.clusters.models import Cluster
from dashboard.people.roles import Role
from dashboard.reports.models import ReportToken
from dashboard.reports.tokens import find
from tests.dashboard.persons import person

WHERE = "/api/v1/report-tokens"


def post(client: Client, where: str, **body: object) -> tuple[int, Any]:
    answer = client.post(where, body, content_type="application/json")
    return answer.status_code, answer.json()


def test_a_token_is_made_told_once_listed_without_it_and_revoked(client: Client, cluster: Cluster) -> None:
    client.force_login(person(Role.ADMIN, name="ada"))

    status, made = post(client, WHERE, cluster=cluster.name, group="g", note=" for the canteen ")

    assert (status, made["group"], made["note"], made["made_by"]) == (201, "g", "for the canteen", "ada")
    row = find(authorization=f"Bearer {made['token']}")
    assert row is not None and row.pk == made["id"]
    listed = client.get(WHERE)
    assert made["token"] not in listed.content.decode()
    assert [each["hint"] for each in listed.json()["rows"]] == [made["token"][:10]]
    assert made["token"] not in client.get(WHERE, {"format": "csv"}).content.decode()
    assert client.get(f"{WHERE}/{made['id']}").json()["revoked_at"] is None
    gone = client.delete(f"{WHERE}/{made['id']}").json()
    assert (gone["revoked_by"], gone["revoked_at"] is None, "token" in gone) == ("ada", False, False)
    assert find(authorization=f"Bearer {made['token']}") is None
    assert client.delete(f"{WHERE}/{made['id']}").status_code == 409
    assert [entry.verb for entry in AuditEntry.objects.order_by("number")] == [
        "make a report token",
        "revoke a report token",
    ]


def test_an_admin_of_some_groups_has_the_tokens_of_those_alone(client: Client, cluster: Cluster) -> None:
    client.force_login(person(Role.ADMIN, name="ada"))
    made = post(client, WHERE, cluster=cluster.name, group="g")[1]
    client.force_login(person(Role.ADMIN, name="bo", groups="orders-*"))

    refused = post(client, WHERE, cluster=cluster.name, group="g")
    own = post(client, WHERE, cluster=cluster.name, group="orders-1")

    assert (refused[0], "no admin of the group" in refused[1]["problem"]) == (403, True)
    assert own[0] == 201
    assert [each["group"] for each in client.get(WHERE).json()["rows"]] == ["orders-1"]
    assert client.delete(f"{WHERE}/{made['id']}").status_code == 404
    assert ReportToken.objects.filter(revoked_at=None).count() == 2


def test_who_is_no_admin_gets_nothing_and_what_makes_no_sense_is_said(client: Client, cluster: Cluster) -> None:
    client.force_login(person(Role.OPERATOR))
    assert client.get(WHERE).status_code == 403
    assert post(client, WHERE, cluster=cluster.name, group="g")[0] == 403

    client.force_login(person(Role.ADMIN))
    status, said = post(client, WHERE, cluster="another", group="g")
    assert (status, "cluster is 'another'" in said["problem"]) == (422, True)
    assert post(client, WHERE, cluster=cluster.name, group=" ")[0] == 422
    assert post(client, WHERE, cluster=cluster.name, group="x" * 256)[0] == 422
    assert not ReportToken.objects.exists()


def test_the_description_has_them_with_their_role() -> None:
    operations = json.loads(description())["paths"]["/api/v1/report-tokens/{pk}"]
    assert {method: each["x-needs-role"] for method, each in operations.items()} == {"get": "admin", "delete": "admin"}
