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
    assert "To the overview" in client.get("/", headers={"Host": "evil example"}).content.decode()
    assert failed(PAGE).status_code == 500


@pytest.mark.django_db
def test_a_body_that_is_too_large_is_refused_with_the_reason_and_is_no_error_here(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    client.force_login(person(Role.ADMIN))

    told = client.post("/api/v1/groups/1/orders", " " * 2_700_000, content_type="application/json")
    page = client.post("/language/", {"language": "x" * 2_700_000})

    assert (told.status_code, page.status_code) == (413, 413)
    assert told.json() == {"problem": "the body is too large; needed are at most 2,621,440 bytes"}
    assert "What you sent is too large: 2,621,440 bytes are taken at most." in page.content.decode()
    assert [each for each in caplog.records if each.levelname == "ERROR"] == []


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


@pytest.mark.django_db
@pytest.mark.parametrize(("language", "words"), [("en", "Nothing was changed."), ("zh-hans", "什么都没有更改")])
def test_a_form_without_its_token_is_refused_by_a_page_that_says_how_to_go_on(language: str, words: str) -> None:
    client = Client(enforce_csrf_checks=True, headers={"Accept-Language": language})
    client.force_login(person(Role.OPERATOR))
    page = "http://testserver/groups/5/?tab=members"

    answer = client.post("/groups/5/order", {"verb": "group.recompute"}, headers={"Referer": page})
    of_another = client.post("/groups/5/order", headers={"Referer": "https://evil.test/x"})
    from_another = client.post("/groups/5/order", headers={"Origin": "https://evil.test"})

    assert {each.status_code for each in (answer, of_another, from_another)} == {403}
    said = answer.content.decode()
    assert words in said and "css/" in said and f'href="{page}"' in said
    assert "DEBUG" not in said and "evil.test" not in of_another.content.decode()
    assert "https://evil.test" in from_another.content.decode() and "EVENKEEL_HOSTS" in from_another.content.decode()


@pytest.mark.django_db
def test_the_api_says_what_a_browsers_change_needs() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person(Role.ADMIN))

    said = client.delete("/api/v1/report-tokens/1").json()["problem"]

    assert said.startswith("CSRF ") and ".:" not in said and "needed is the header X-CSRFToken" in said


@pytest.mark.django_db
def test_the_page_of_a_form_without_its_token_needs_nobody_who_is_logged_in() -> None:
    answer = Client(enforce_csrf_checks=True).post("/login/", {"username": "ada"})

    assert (answer.status_code, "Nothing was changed." in answer.content.decode()) == (403, True)
