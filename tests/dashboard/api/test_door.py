from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client

from dashboard.api.tokens import make
from dashboard.clusters.models import Cluster, Command
from dashboard.common.clock import now_ms
from dashboard.groups import asking
from dashboard.groups.models import Group
from dashboard.people.models import Grant
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.story import T0


@pytest.fixture
def group(cluster: Cluster) -> Group:
    Cluster.objects.update(is_read_only=False, watched_at=now_ms())
    return Group.objects.create(pk=1, cluster=cluster, name="g", added_at=T0)


@pytest.fixture
def strict(group: Group) -> Client:
    """A client that Django asks for its token against forged requests, as it does browsers."""
    assert group.pk
    return Client(enforce_csrf_checks=True)


def bearer(user: User, *, is_read_only: bool = False) -> dict[str, str]:
    token, _row = make(user=user, is_read_only=is_read_only, days=1, note="", now=now_ms())
    return {"Authorization": f"Bearer {token}"}


def order(client: Client, headers: dict[str, str] | None = None) -> tuple[int, dict[str, object]]:
    body = {"reason": "to see"}
    answer = client.post("/api/v1/groups/1/orders", body, content_type="application/json", headers=headers or {})
    return answer.status_code, answer.json()


def test_a_token_does_what_its_person_may_and_the_person_is_who_did_it(strict: Client) -> None:
    ops = person(Role.OPERATOR, name="ops")

    status, said = order(strict, bearer(ops))

    assert (status, said["author"], said["state"]) == (202, "ops", "waiting")
    assert Command.objects.get().author == ops


def test_a_token_that_may_only_read_changes_nothing(strict: Client) -> None:
    headers = bearer(person(Role.ADMIN), is_read_only=True)

    status, said = order(strict, headers)

    assert (status, str(said["problem"]).partition(";")[0]) == (403, "this token may only read")
    assert strict.get("/api/v1/groups/1", headers=headers).status_code == 200
    assert not Command.objects.exists()


def test_a_log_in_alone_cannot_be_used_by_another_site(strict: Client) -> None:
    strict.force_login(person(Role.OPERATOR))

    status, said = order(strict)

    assert status == 403
    assert "X-CSRFToken" in str(said["problem"])
    assert not Command.objects.exists()


def test_a_token_sees_no_more_than_its_person_does_now(strict: Client) -> None:
    vera = person(Role.VIEWER, name="vera")
    headers = bearer(vera)
    Grant.objects.filter(user=vera).update(groups="orders-*")

    assert strict.get("/api/v1/groups/1", headers=headers).status_code == 404
    User.objects.filter(pk=vera.pk).update(is_active=False)
    assert strict.get("/api/v1/groups", headers=headers).status_code == 401


def test_a_token_opens_no_page(strict: Client) -> None:
    answer = strict.get("/groups/1/", headers=bearer(person(Role.ADMIN)))

    assert (answer.status_code, answer["Location"].partition("?")[0]) == (302, "/login/")


def test_what_an_address_does_not_do_is_said_as_every_refusal_is(client: Client, group: Group) -> None:
    client.force_login(person(Role.ADMIN))

    answer = client.get(f"/api/v1/groups/{group.pk}/by-config/checks")

    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert answer.json() == {"problem": "GET is not done here; needed is POST"}


def test_a_database_that_does_not_answer_is_a_matter_of_time(strict: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(**_: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(asking, "ask", locked)

    answer = strict.post(
        "/api/v1/groups/1/orders", {"reason": "to see"}, "application/json", headers=bearer(person(Role.OPERATOR))
    )

    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert answer.json() == {"problem": "the database does not answer now; needed is to ask again, in 10 s or later"}


def test_a_page_says_likewise_what_was_not_stored_and_errors_are_logged_once(
    client: Client, group: Group, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def locked(**_: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(asking, "ask", locked)
    client.force_login(person(Role.OPERATOR))

    with caplog.at_level("WARNING"):
        answer = client.post(f"/groups/{group.pk}/order", {"reason": "to see"})

    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert "What you sent is not stored" in answer.content.decode()
    assert [(each.name, each.levelname) for each in caplog.records] == [("dashboard.api.door", "WARNING")]
    assert "languages" not in answer.content.decode(), "its form has no token, and would be refused"
    told = client.post(f"/groups/{group.pk}/order", {"reason": "to see"}, headers={"Accept": "application/json"})
    assert (told.status_code, told["Retry-After"]) == (503, "10")
    assert "What you sent is not stored" in told.json()["refused"]


@pytest.mark.parametrize("address", ["/", "/api/v1/groups", "/groups/1/"])
def test_who_asks_is_the_first_that_is_asked_of_a_database_that_is_gone(
    strict: Client, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise OperationalError("connection refused")

    strict.force_login(person(Role.VIEWER))
    headers = bearer(person(Role.OPERATOR, name="olga"))
    monkeypatch.setattr("dashboard.api.tokens.find", gone)
    monkeypatch.setattr("django.contrib.auth.middleware.get_user", gone)

    answers = [strict.get(address), strict.get(address, headers=headers)]

    assert [(answer.status_code, answer["Retry-After"]) for answer in answers] == [(503, "10")] * 2
    assert not any("What you sent" in answer.content.decode() for answer in answers), "nothing was sent"


def test_who_asks_for_the_head_alone_gets_it(client: Client, group: Group) -> None:
    client.force_login(person(Role.VIEWER))

    for address in (f"/groups/{group.pk}/", f"/api/v1/groups/{group.pk}"):
        answer = client.head(address)
        assert (answer.status_code, answer.content) == (200, b""), address
