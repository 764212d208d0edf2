from __future__ import annotations

import pytest
from django.test import Client

from dashboard.groups.models import Group
from dashboard.people.roles import Role
from dashboard.plans.models import ByConfig
from tests.dashboard.persons import person


@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [
        ('{"assignment": {"A": ["orders/east/0"], "A": ["orders/east/1"]}}', 422, "'A' stands twice in one object"),
        ('{"assignment": {}, "assignment": {}}', 422, "'assignment' stands twice"),
        ('{"assignment": ', 400, "no JSON (line 1, column 16)"),
        ('{"assignment": NaN}', 400, "it has NaN"),
        (b"\xff\xfe{", 400, "no JSON (UTF-8)"),
        ("[" * 200_000, 400, "needed is one JSON object"),
    ],
)
def test_a_body_that_is_not_read_in_one_way_alone_is_refused(
    client: Client, group: Group, body: str | bytes, status: int, problem: str
) -> None:
    client.force_login(person(Role.ADMIN))

    answer = client.generic("POST", f"/api/v1/groups/{group.pk}/by-config/checks", body, "application/json")

    assert (answer.status_code, problem in answer.json()["problem"]) == (status, True), answer.json()


@pytest.mark.parametrize("base", [True, "0", 0.0])
def test_a_number_is_a_number(client: Client, group: Group, base: object) -> None:
    client.force_login(person(Role.ADMIN))
    body = {"assignment": {"A": ["orders/east/0"]}, "base": base, "reason": "more room"}

    answer = client.post(f"/api/v1/groups/{group.pk}/by-config/versions", body, content_type="application/json")

    assert (answer.status_code, answer.json()["problem"]) == (422, "body.base: needed is a whole number")
    assert not ByConfig.objects.exists()
