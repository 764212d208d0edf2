from __future__ import annotations

import pytest
from django.test import Client, RequestFactory

from dashboard.api.errors import bad_request, csrf_failed, failed, forbidden, not_found
from dashboard.people.roles import Role
from tests.dashboard.persons import person

API, PAGE = RequestFactory().get("/api/v1/nothing"), RequestFactory().get("/nothing")


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (bad_request(API, ValueError()), 400),
        (forbidden(API, PermissionError("not you")), 403),
        (not_found(API, LookupError()), 404),
        (failed(API), 500),
        (csrf_failed(API, "no cookie"), 403),
    ],
)
def test_the_api_says_in_json_what_is_wrong(answer: object, status: int) -> None:
    assert getattr(answer, "status_code", 0) == status
    assert getattr(answer, "headers", {})["Content-Type"] == "application/json"
    assert b'"problem": "' in getattr(answer, "content", b"")


@pytest.mark.django_db
def test_pages_keep_their_own_words(client: Client) -> None:
    client.force_login(person(Role.VIEWER))

    assert client.get("/nothing")["Content-Type"].startswith("text/html")
    assert client.get("/api/v1/nothing").json()["problem"].startswith("there is nothing at /api/v1/nothing")
    assert bad_request(PAGE, ValueError())["Content-Type"].startswith("text/html")
    assert failed(PAGE).status_code == 500
    assert csrf_failed(PAGE, "no cookie").status_code == 403


@pytest.mark.django_db
def test_an_address_at_which_there_is_nothing_is_said_in_words(client: Client) -> None:
    client.force_login(person(Role.VIEWER))

    page = client.get("/no<thing>/").content.decode()

    assert "There is no page at /no&lt;thing&gt;/." in page and "Resolver404" not in page
    assert "There is no such group" in client.get("/groups/99/").content.decode()


def test_what_failed_is_a_page_of_its_own_look_that_needs_no_database() -> None:
    page = failed(PAGE).content.decode()

    assert "This failed" in page and "css/" in page
    assert 'action="/logout/"' not in page
