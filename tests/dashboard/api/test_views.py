from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from dashboard.api import tokens
from dashboard.api.models import ApiToken
from dashboard.api.views import operations
from dashboard.groups.models import Group
from dashboard.people.roles import Role
from tests.dashboard.persons import person

pytestmark = pytest.mark.django_db


def test_the_page_lists_every_operation(client: Client) -> None:
    client.force_login(person(Role.VIEWER))

    page = client.get("/api/").content.decode()

    assert all(str(each["address"]) in page for each in operations())
    assert {"format", "page", "q"} <= set(re.split(r"\W+", page))


def test_the_roles_that_operations_need_are_chinese_for_chinese_readers(client: Client) -> None:
    client.force_login(person(Role.VIEWER))

    page = client.get("/api/", headers={"Accept-Language": "zh-hans"}).content.decode()

    assert "<td>查看者</td>" in page and "<td>管理员</td>" in page and "<td>操作员</td>" in page
    assert "<td>viewer</td>" not in page and "<td>admin</td>" not in page


def test_a_token_is_made_shown_once_and_opens(client: Client) -> None:
    client.force_login(person(Role.VIEWER, name="vera"))

    page = client.post("/api/tokens/make", {"note": "<b>", "may": "read", "days": "30"}).content.decode()

    found = re.search(r"data-token>([^<]+)<", page)
    assert found is not None
    assert found[1] not in client.get("/api/").content.decode()
    assert "<b>" not in page.replace("<b>\n", "")
    headers = {"Authorization": f"Bearer {found[1]}"}
    assert Client().get("/api/v1/clusters", headers=headers).status_code == 200
    row = ApiToken.objects.get()
    assert (row.is_read_only, row.note) == (True, "<b>")
    assert client.post(f"/api/tokens/{row.pk}/revoke").status_code == 302
    assert Client().get("/api/v1/clusters", headers=headers).status_code == 401


@pytest.mark.parametrize("days", ["0", "367", "x", "99999999999"])
def test_days_that_make_no_sense_are_refused(client: Client, days: str) -> None:
    client.force_login(person(Role.VIEWER))

    answer = client.post("/api/tokens/make", {"days": days, "may": "change"})

    assert (answer.status_code, "1 to 366 days" in answer.content.decode()) == (400, True)
    assert not ApiToken.objects.exists()


def test_there_is_an_end_to_tokens(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST", 0)
    client.force_login(person(Role.VIEWER))

    assert client.post("/api/tokens/make", {"days": "1"}).status_code == 400


def test_nobody_revokes_what_is_anothers(client: Client) -> None:
    _token, row = tokens.make(user=person(Role.ADMIN), is_read_only=True, days=1, note="", now=1_700_000_000_000)
    client.force_login(person(Role.VIEWER))

    assert client.post(f"/api/tokens/{row.pk}/revoke").status_code == 404


def test_pages_lead_to_their_tables(client: Client, group: Group) -> None:
    client.force_login(person(Role.ADMIN))
    pages = (
        "/",
        "/audit/",
        "/producers/",
        "/tokens/",
        *(f"/groups/{group.pk}/{part}" for part in ("", "rounds/", "rounds/1/", "pauses/", "by-config/")),
    )

    texts = {where: client.get(where).content.decode() for where in pages}
    found, whole = (
        {where: re.findall(rf'href="(/api/v1/[^"]*format={kind}[^"]*)"', text) for where, text in texts.items()}
        for kind in ("csv", "all")
    )

    for where, links in whole.items():
        assert {link.replace("format=all", "format=csv") for link in links} == set(found[where]), where
        for link in links:
            answer = client.get(unescape(link))
            assert (answer.status_code, answer["Content-Type"]) == (200, "application/json"), (where, link)
            assert answer.json()["count"] == len(answer.json()["rows"])
    for where, links in found.items():
        assert links, where
        for link in links:
            answer = client.get(unescape(link))
            assert (answer.status_code, answer["Content-Type"]) == (200, "text/csv; charset=utf-8"), (where, link)
