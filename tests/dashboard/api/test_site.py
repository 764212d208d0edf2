from __future__ import annotations

import json

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client, RequestFactory
from ninja.errors import HttpError

from dashboard.api import clusters, site
from dashboard.api.site import ROLES, _failed, _forbid, _unreadable, addresses, description
from dashboard.groups.models import Group
from dashboard.people import operations
from dashboard.people.gate import needed_role
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.story import T0


def test_the_description_has_every_operation_with_its_role_and_its_refusals() -> None:
    paths = json.loads(description())["paths"]
    assert list(paths.pop("/api/v1/reports")) == ["post"]  # of another room
    told = {(method.upper(), each["x-needs-role"]) for methods in paths.values() for method, each in methods.items()}

    assert sum(map(len, paths.values())) == sum(map(len, ROLES.values())) >= 20
    assert told == {
        *(("GET", "viewer"), ("GET", "admin"), ("POST", "operator"), ("POST", "admin")),
        *(("DELETE", "viewer"), ("DELETE", "admin")),
    }
    for where, methods in paths.items():
        assert where.startswith("/api/v1/")
        for each in methods.values():
            assert each["description"]
            assert {"400", "401", "403", "404", "422"} <= each["responses"].keys()
    assert "429" in paths["/api/v1/groups/{pk}/plan"]["get"]["responses"], "dry runs are bounded"


def test_the_description_has_no_part_that_leads_nowhere() -> None:
    document = json.loads(description())
    text = json.dumps(document)
    names = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}

    assert document["openapi"].startswith("3.1")
    assert names
    assert names <= document["components"]["schemas"].keys()


def test_the_gate_knows_the_role_of_each_method() -> None:
    views = {each.name: each.callback for each in addresses()}

    assert needed_role(views["api orders"], "GET") is Role.VIEWER
    assert needed_role(views["api orders"], "POST") is Role.OPERATOR
    assert needed_role(views["api by config versions"], "POST") is Role.ADMIN
    assert needed_role(views["api orders"], "DELETE") is Role.VIEWER  # 405


@pytest.mark.django_db
def test_the_description_can_be_asked_for(client: Client) -> None:
    client.force_login(person(Role.VIEWER))

    answer = client.get("/api/v1/openapi.json")

    assert answer.json() == json.loads(description())
    assert client.post("/api/v1/openapi.json").status_code == 405


@pytest.mark.django_db
def test_what_makes_no_sense_is_named_without_its_value(client: Client) -> None:
    client.force_login(person(Role.VIEWER))

    answer = client.get("/api/v1/groups", {"size": "5000", "sort": "<b>"})

    assert answer.status_code == 422
    assert "size" in answer.json()["problem"] and "sort" in answer.json()["problem"]
    assert "<b>" not in answer.json()["problem"]


@pytest.mark.django_db
def test_a_body_that_cannot_be_read_is_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.force_login(person(Role.ADMIN))

    answer = client.post("/api/v1/groups/1/orders", "{", content_type="application/json")

    assert answer.status_code == 400
    assert "problem" in answer.json()
    client.raise_request_exception = False
    monkeypatch.setattr(clusters, "all_clusters", lambda **_named: 1 / 0)
    broken = client.get("/api/v1/clusters")
    assert (broken.status_code, "its log says how" in broken.json()["problem"]) == (500, True)


def test_refusals_of_the_pages_own_functions_come_as_problems() -> None:
    request = RequestFactory().get("/api/v1/groups")

    assert _forbid(request, PermissionDenied("not you")).status_code == 403
    assert _unreadable(request, HttpError(415, "no")).status_code == 415
    with pytest.raises(ZeroDivisionError):
        _failed(request, ZeroDivisionError())


def test_changes_and_trials_of_one_person_are_bounded_each_by_itself(
    client: Client, group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "CHANGES_A_MINUTE", 2)
    monkeypatch.setattr(operations, "TRIALS_A_MINUTE", 1)
    monkeypatch.setattr(site, "now_ms", lambda: T0)
    client.force_login(person(Role.ADMIN, name="ada"))

    def change() -> tuple[int, str | None]:
        answer = client.delete("/api/v1/report-tokens/1")
        return answer.status_code, answer.get("Retry-After")

    assert [change() for _ in range(3)] == [(404, None), (404, None), (429, "60")]
    answers = [client.get(f"/api/v1/groups/{group.pk}/plan") for _ in range(2)]
    assert [each.status_code for each in answers] == [200, 429]
    assert answers[1].json()["problem"] == "those were 1 dry runs within a minute, the most of one person; wait 60 s"
    assert client.get(f"/api/v1/groups/{group.pk}").status_code == 200
    client.force_login(person(Role.ADMIN, name="bob"))
    assert change() == (404, None)


@pytest.fixture
def viewer(client: Client) -> Client:
    client.force_login(person(Role.VIEWER))
    return client


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ("nightly?sizes=2", "there is no parameter 'sizes' here; there are format, page, size"),
        ("clusters?lang=en&at=1", "there is no parameter 'at', 'lang' here; there are format"),
        ("nightly/under-way?now", "there is no parameter 'now' here; there are none"),
        ("openapi.json?format=yaml", "there is no parameter 'format' here; there are none"),
        ("tokens?%E2%80%AEx=1", "there is no parameter '⟨U+202E⟩x' here; there are format, page, size"),
    ],
)
def test_a_parameter_that_there_is_not_is_refused_by_its_name(viewer: Client, asked: str, problem: str) -> None:
    answer = viewer.get(f"/api/v1/{asked}")

    assert (answer.status_code, answer.json()) == (400, {"problem": problem})


@pytest.mark.django_db
def test_very_many_and_long_ones_are_named_in_part(viewer: Client) -> None:
    asked = "&".join(f"{letter * 500}=1" for letter in "abcdefg")
    problem = viewer.get(f"/api/v1/nightly?{asked}").json()["problem"]

    assert " and 2 more here;" in problem
    assert len(problem) < 400


@pytest.mark.django_db
def test_a_change_with_one_is_refused_too_and_counts_as_none(client: Client) -> None:
    client.force_login(person(Role.ADMIN))
    answer = client.post("/api/v1/report-tokens?note=x", "{}", content_type="application/json")

    assert answer.status_code == 400
    assert answer.json() == {"problem": "there is no parameter 'note' here; there are none"}


@pytest.mark.django_db
def test_who_may_not_ask_is_told_that_first(client: Client) -> None:
    assert client.get("/api/v1/nightly?sizes=2").status_code == 401
    client.force_login(person(Role.VIEWER))
    assert client.get("/api/v1/audit?sizes=2").status_code == 403


@pytest.mark.django_db
def test_all_that_is_described_is_taken(client: Client) -> None:
    client.force_login(person(Role.ADMIN))
    for where, methods in json.loads(description())["paths"].items():
        for each in methods.get("get", {}).get("parameters", ()):
            if each["in"] == "query":
                answer = client.get(f"{where.replace('{pk}', '7').replace('{number}', '1')}?{each['name']}=1")
                assert answer.status_code != 400, (where, each["name"], answer.content)


@pytest.mark.django_db
@pytest.mark.parametrize("page", ["/", "/findings/", "/producers/", "/audit/", "/api/"])
def test_pages_take_whatever_stands_in_an_address(client: Client, page: str) -> None:
    client.force_login(person(Role.ADMIN))

    assert client.get(f"{page}?nothing=of&this=sort").status_code == 200
