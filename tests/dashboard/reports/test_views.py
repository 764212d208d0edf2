"""The door of reports, and the page of tokens, by HTTP."""

from __future__ import annotations

import json
import re
from typing import cast

import pytest
from django.http import HttpResponse
from django.test import Client

from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from dashboard.groups.models import Holding
from dashboard.people.roles import Role
from dashboard.reports.models import ReportToken
from dashboard.reports.reading import MOST_BYTES
from tests.dashboard.persons import person
from tests.dashboard.reports.facts import body, taken, token_of
from tests.dashboard.story import T0, listed, route, seen, told

URL = "/api/v1/reports"


@pytest.fixture
def now() -> int:
    return now_ms() - T0


@pytest.fixture
def token(cluster: Cluster) -> str:
    told(route(1), *seen("A"), listed(0, "A"))
    return token_of(cluster)[0]


def post(client: Client, token: str, text: bytes, kind: str = "application/json") -> HttpResponse:
    answer = client.post(URL, text, content_type=kind, headers={"Authorization": f"Bearer {token}"})
    return cast("HttpResponse", answer)


def said(answer: HttpResponse) -> dict:
    return json.loads(answer.content)


def test_a_report_is_taken_without_log_in_or_cookie(token: str, now: int) -> None:
    client = Client(enforce_csrf_checks=True)
    text = body(taken("A", now))

    first, again = post(client, token, text), post(client, token, text)

    assert (first.status_code, said(first)) == (201, {"report": "r1", "facts": 1, "stored": 1, "was_there": False})
    assert (again.status_code, said(again)["was_there"]) == (200, True)
    assert Holding.objects.count() == 1
    assert ReportToken.objects.get().used_at is not None


@pytest.mark.parametrize("forged", ["", "ekr_", "ekr_" + "A" * 43, "é"])
def test_who_has_no_token_is_told_what_is_needed(client: Client, token: str, now: int, forged: str) -> None:
    answer = post(client, forged, body(taken("A", now)))

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert "needed is Authorization: Bearer <token>" in said(answer)["problem"]
    assert token not in answer.content.decode()
    assert not Holding.objects.exists()


@pytest.mark.usefixtures("token")
def test_being_logged_in_is_no_token(client: Client, now: int) -> None:
    client.force_login(person(Role.ADMIN))

    assert client.post(URL, body(taken("A", now)), content_type="application/json").status_code == 401


def test_each_refusal_has_its_status_and_its_sentence(
    client: Client, token: str, now: int, caplog: pytest.LogCaptureFixture
) -> None:
    good = body(taken("A", now))
    assert post(client, token, good).status_code == 201
    refused = {
        403: body(taken("A", now), group="other"),
        409: body(taken("A", now - 1)),
        413: b" " * (MOST_BYTES + 1),
        422: b"{}",
        503: body(taken("Z", now), report="r2"),
    }

    answers = {status: post(client, token, text) for status, text in refused.items()}

    assert {status: answer.status_code for status, answer in answers.items()} == {status: status for status in refused}
    assert all("needed" in said(answers[status])["problem"] or status in {403, 503} for status in refused)
    assert answers[503]["Retry-After"] == "2"
    assert [each for each in caplog.records if each.levelname == "ERROR"] == []
    assert post(client, token, good, kind="text/plain").status_code == 415
    assert client.get(URL).status_code == 405


def test_an_admin_makes_a_token_that_is_shown_once_and_revokes_it(client: Client, cluster: Cluster) -> None:
    client.force_login(person(Role.ADMIN))

    made = client.post("/tokens/make", {"cluster": cluster.pk, "group": "g", "note": "hosts <1>"})

    [token] = re.findall(r"<code[^>]*data-token>(ekr_[\w-]+)</code>", made.content.decode())
    assert f"EVENKEEL_REPORT_TOKEN={token}\nevenkeel consume --namesrv HOST:PORT --group g " in made.content.decode()
    assert made["Cache-Control"].startswith("max-age=0")
    page = client.get("/tokens/").content.decode()
    assert token not in page and token[:10] in page and "hosts &lt;1&gt;" in page
    row = ReportToken.objects.get()
    assert client.post(f"/tokens/{row.pk}/revoke").status_code == 302
    assert post(client, token, body(taken("A", 0))).status_code == 401


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("given", [{}, {"cluster": "x", "group": "g"}, {"group": "g"}, {"cluster": "1"}], ids=str)
def test_what_is_no_group_gets_no_token(client: Client, given: dict[str, str]) -> None:
    client.force_login(person(Role.ADMIN))

    assert client.post("/tokens/make", {**given}).status_code == 400
    assert not ReportToken.objects.exists()


def test_an_admin_of_some_groups_makes_and_revokes_tokens_of_those_alone(client: Client, cluster: Cluster) -> None:
    _, other = token_of(cluster, "billing")
    client.force_login(person(Role.ADMIN, groups="orders-*"))

    assert client.post("/tokens/make", {"cluster": cluster.pk, "group": "billing"}).status_code == 400
    assert client.post(f"/tokens/{other.pk}/revoke").status_code == 404
    assert client.post("/tokens/make", {"cluster": cluster.pk, "group": "orders-1"}).status_code == 200

    assert "billing" not in client.get("/tokens/").content.decode()
    assert ReportToken.objects.get(pk=other.pk).revoked_at is None
