from __future__ import annotations

import json
from typing import Any

from django.test import Client

from dashboard.audit.models import AuditEntry
from dashboard.groups.models import Group
from dashboard.people.models import Grant
from dashboard.people.roles import Role
from dashboard.plans.models import ByConfig
from tests.dashboard.persons import person

GOOD = {"A": ["orders/east/0"], "B": ["orders/east/1-2"], "C": ["orders/east/3"]}


def keep(client: Client, group: Group, assignment: object = None, **given: object) -> tuple[int, Any]:
    body = {"assignment": GOOD if assignment is None else assignment, "base": 0, "reason": "more room"} | given
    answer = client.post(f"/api/v1/groups/{group.pk}/by-config/versions", body, content_type="application/json")
    return answer.status_code, answer.json()


def test_a_version_is_kept_given_and_listed(client: Client, group: Group) -> None:
    client.force_login(person(Role.ADMIN, name="ada"))

    status, said = keep(client, group)

    assert (status, said["version"], said["author"]) == (201, 1, "ada")
    assert said["assignment"] == GOOD
    shown = client.get(f"/api/v1/groups/{group.pk}/by-config").json()
    assert shown == said
    assert client.get(f"/api/v1/groups/{group.pk}/by-config", {"version": 2}).status_code == 404
    versions = client.get(f"/api/v1/groups/{group.pk}/by-config/versions").json()
    assert [(row["version"], row["reason"]) for row in versions["rows"]] == [(1, "more room")]
    assert AuditEntry.objects.latest("number").verb == "by-config.publish"


def test_a_name_that_no_answer_could_have_is_refused(client: Client, group: Group) -> None:
    client.force_login(person(Role.ADMIN, name="ada"))

    status, said = keep(client, group, {"half \ud800": ["orders/east/0"]})

    assert (status, ByConfig.objects.count()) == (422, 0)
    assert "half a character" in said["problem"]


def test_a_version_that_was_made_from_an_older_one_is_a_conflict(client: Client, group: Group) -> None:
    client.force_login(person(Role.ADMIN, name="ada"))
    keep(client, group)

    status, said = keep(client, group, reason="mine")

    assert (status, said["latest"]) == (409, 1)
    assert "this was made from version 0" in said["problem"]
    assert ByConfig.objects.count() == 1


def test_what_is_wrong_is_refused_and_what_is_risky_has_to_be_named(client: Client, group: Group) -> None:
    client.force_login(person(Role.ADMIN, name="ada"))

    wrong = keep(client, group, {"A": ["orders/east/0", "orders/east/0"]})
    unread = keep(client, group, {"A": ["orders/east/0-2"]})
    bad = keep(client, group, {"A": ["orders"]})
    silent = keep(client, group, reason=" ")

    assert [status for status, _said in (wrong, unread, bad, silent)] == [422] * 4
    keys = [each["key"] for each in unread[1]["checks"]]
    assert keys
    assert "needed is TOPIC/BROKER/NUMBER" in bad[1]["problem"]
    assert "needed are 1 to 500" in silent[1]["problem"]
    status, said = keep(client, group, {"A": ["orders/east/0-2"]}, acknowledged=keys)
    assert (status, len(said["acknowledged"])) == (201, len(keys))


def test_an_admin_of_other_groups_keeps_nothing_here(client: Client, group: Group) -> None:
    bo = person(Role.VIEWER, name="bo")
    Grant.objects.create(user=bo, role=Role.ADMIN.value, groups="orders-*")
    client.force_login(bo)

    status, said = keep(client, group)

    assert (status, said["problem"]) == (403, "this needs the role admin for this group")


def test_an_assignment_with_a_strange_name_comes_back_as_it_was(client: Client, group: Group) -> None:
    client.force_login(person(Role.ADMIN, name="ada"))
    strange = 'a"b\\\u202e'

    status, said = keep(client, group, GOOD | {strange: []})
    if status == 422:
        keys = [each["key"] for each in said["checks"]]
        status, said = keep(client, group, GOOD | {strange: []}, acknowledged=keys)

    assert status == 201
    assert strange in said["assignment"] and strange in json.loads(ByConfig.objects.get().document)


def test_an_assignment_is_checked_without_being_kept(client: Client, group: Group) -> None:
    client.force_login(person(Role.ADMIN, name="ada"))
    where = f"/api/v1/groups/{group.pk}/by-config/checks"

    def check(assignment: object) -> tuple[int, Any]:
        answer = client.post(where, {"assignment": assignment}, content_type="application/json")
        return answer.status_code, answer.json()

    fine, risky, wrong = (check(each) for each in (GOOD, {"A": ["orders/east/0-2"]}, {"A": ["orders/east/0"] * 2}))
    bad = check({"A": ["orders"]})

    assert [each[0] for each in (fine, risky, wrong, bad)] == [200, 200, 200, 422]
    assert (fine[1]["base"], fine[1]["is_refused"], fine[1]["to_acknowledge"]) == (0, False, [])
    assert (risky[1]["is_refused"], wrong[1]["is_refused"]) == (False, True)
    assert not ByConfig.objects.exists()
    status, _said = keep(client, group, {"A": ["orders/east/0-2"]}, acknowledged=risky[1]["to_acknowledge"])
    assert (status, check(GOOD)[1]["base"]) == (201, 1)
    client.force_login(person(Role.OPERATOR))
    assert check(GOOD)[0] == 403


def test_a_version_can_be_taken_away_as_its_page_gives_it(client: Client, group: Group) -> None:
    client.force_login(person(Role.ADMIN, name="ada"))
    where = f"/api/v1/groups/{group.pk}/by-config/export"
    assert client.get(where).status_code == 404
    keep(client, group)

    for kind in ("json", "java"):
        of_api, of_page = client.get(where, {"as": kind}), client.get(f"/groups/{group.pk}/by-config/export.{kind}")
        assert (of_api.status_code, of_api.content) == (200, of_page.content)
        assert of_api["Content-Disposition"] == of_page["Content-Disposition"]
    assert client.get(where, {"as": "yaml"}).status_code == 422
    assert client.get(where, {"version": "2"}).status_code == 404
