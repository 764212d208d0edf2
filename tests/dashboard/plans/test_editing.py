from __future__ import annotations

import json
import re
from typing import cast

import pytest
from django.http import HttpResponse
from django.test import Client

from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.people.models import Grant
from dashboard.people.roles import Role
from dashboard.plans.models import ByConfig
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")
GOOD = '{"A": ["orders/east/0"], "B": ["orders/east/1-3"]}'


@pytest.fixture
def group(client: Client) -> Group:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 20)
    client.force_login(person(Role.ADMIN, name="ada"))
    return group


def at(group: Group, rest: str = "") -> str:
    return f"/groups/{group.pk}/by-config/{rest}"


def send(client: Client, group: Group, document: str = GOOD, **given: str | list[str]) -> HttpResponse:
    values = {"document": document, "base": "0", "reason": "more room", "does": "keep"} | given
    return cast("HttpResponse", client.post(at(group, "edit"), values))


def test_before_anybody_said_anything_the_page_says_what_it_is_for(client: Client, group: Group) -> None:
    page = client.get(at(group)).content.decode()

    assert "Nobody has said yet" in page
    assert "members divide by AVG" in page
    assert client.get(at(group, "export.json")).status_code == 404
    assert client.get(at(group), {"version": "1"}).status_code == 404


@pytest.mark.parametrize(
    ("start", "document"),
    [
        ("", {"A": ["orders/east/0-1"], "B": ["orders/east/2-3"]}),
        ("held", {"A": ["orders/east/0-1"], "B": ["orders/east/2-3"]}),
        ("AVG_BY_CIRCLE", {"A": ["orders/east/0", "orders/east/2"], "B": ["orders/east/1", "orders/east/3"]}),
    ],
)
def test_editing_begins_with_what_is_asked_for(
    client: Client, group: Group, start: str, document: dict[str, list[str]]
) -> None:
    page = client.get(at(group, "edit"), {"from": start}).content.decode()

    found = re.search(r'<textarea id="document".*?>(.*?)</textarea>', page, re.DOTALL)
    assert found is not None
    assert json.loads(found[1].replace("&quot;", '"')) == document
    assert re.findall(r'href="\?from=(\w+)" aria-current="true"', page) == [start][: bool(start)]


def test_a_version_is_kept_and_shown(client: Client, group: Group) -> None:
    answer = send(client, group)

    assert (answer.status_code, answer["Location"]) == (302, at(group))
    page = client.get(at(group)).content.decode()
    assert "version 1" in page and "more room" in page and "ada" in page
    assert "every queue has an owner" in page
    assert client.get(at(group, "edit"), {"from": "1"}).status_code == 200
    assert client.get(at(group, "edit"), {"from": "2"}).status_code == 404


def test_checking_keeps_nothing(client: Client, group: Group) -> None:
    answer = send(client, group, '{"A": ["orders/east/0"]}', does="check")

    assert answer.status_code == 200
    assert "3 queues have no owner" in answer.content.decode()
    assert not ByConfig.objects.exists()


def test_what_is_risky_needs_its_tick(client: Client, group: Group) -> None:
    document = '{"A": ["orders/east/0"]}'

    refused = send(client, group, document)
    keys = re.findall(r'name="acknowledged" value="([^"]+)"', refused.content.decode())
    kept = send(client, group, document, acknowledged=keys)

    assert refused.status_code == 400
    assert len(keys) == 1
    assert kept.status_code == 302


def test_two_who_edit_at_once_do_not_overwrite_each_other(client: Client, group: Group) -> None:
    send(client, group)

    late = send(client, group, '{"B": ["orders/east/0-3"]}', reason="mine")

    page = late.content.decode()
    assert late.status_code == 409
    assert "Version 1 came in between, by ada: more room" in page
    assert "orders/east/0-3" in page and "mine" in page  # nothing is lost
    assert ByConfig.objects.count() == 1
    other = '{"A": ["orders/east/0-2"], "B": ["orders/east/3"]}'
    assert send(client, group, other, base="1").status_code == 302


def test_what_the_latest_version_says_is_said_to_be_unchanged(client: Client, group: Group) -> None:
    send(client, group)

    again = send(client, group, base="1")

    assert again.status_code == 409
    assert "Unchanged: version 1 says the same already. Nothing is kept." in again.content.decode()
    assert ByConfig.objects.count() == 1


@pytest.mark.parametrize("base", ["7", "-1", "x", "9" * 40])
def test_a_version_that_never_was_is_a_conflict(client: Client, group: Group, base: str) -> None:
    answer = send(client, group, base=base)

    assert answer.status_code == 409
    assert "There is no version yet" in answer.content.decode()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"document": "{"}, "This is no JSON"),
        ({"document": '{"A": ["orders/east/0-3"], "B": ["orders/east/0"]}'}, "listed twice"),
        ({"reason": " "}, "it needs a reason"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_a_reason(
    client: Client, group: Group, given: dict[str, str], why: str
) -> None:
    answer = send(client, group, **given)

    assert answer.status_code == 400
    assert why in answer.content.decode()
    assert not ByConfig.objects.exists()


def test_a_version_can_be_taken_away_as_json_and_as_java(client: Client, group: Group) -> None:
    send(client, group)
    send(client, group, '{"A": ["orders/east/0-3"], "B": []}', base="1")

    first = client.get(at(group, "export.json"), {"version": "1"})
    java = client.get(at(group, "export.java"))

    assert first.json()["clients"]["B"] == [["orders", "east", 1], ["orders", "east", 2], ["orders", "east", 3]]
    assert first["Content-Disposition"] == 'attachment; filename="by-config-g-1.json"'
    assert 'add(queues, "orders", "east", 0, 3);' in java.content.decode()
    assert "ByConfigAssignment.java" in java["Content-Disposition"]


def test_an_admin_of_other_groups_may_look_and_not_edit(client: Client, group: Group) -> None:
    both = person(Role.VIEWER, name="eve")
    Grant.objects.create(user=both, role=Role.ADMIN.value, groups="orders-*")
    client.force_login(both)

    assert "Edit <kbd>" not in client.get(at(group)).content.decode()
    assert client.get(at(group, "edit")).status_code == 403
    assert send(client, group).status_code == 403
    assert not ByConfig.objects.exists()


def test_a_name_that_turns_its_line_is_written_out(client: Client, group: Group) -> None:
    document = json.dumps({"x\u202e1": [], "A": ["orders/east/0-3"]})

    page = send(client, group, document, does="check").content.decode()

    assert "⟨U+202E⟩" in page
    assert "\u202e" not in page


def test_a_hostile_name_is_text_wherever_it_stands(client: Client, group: Group) -> None:
    document = json.dumps({"</textarea><img src=x>": [], "A": ["orders/east/0-3"]})

    page = send(client, group, document, does="check").content.decode()

    assert "<img" not in page
