"""Every address and every socket, against every role: made from the routing tables, so that none is forgotten.

Who should get in stands in ``access.txt``, which asks nothing of the marks that the gate reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RegexPattern

from dashboard.api.models import ApiToken
from dashboard.api.tokens import make
from dashboard.clusters.models import Cluster, Command
from dashboard.common.clock import now_ms
from dashboard.groups.models import Group
from dashboard.live.routing import websocket_urlpatterns
from dashboard.people.gate import is_of_djangos_admin, is_open, needed_role
from dashboard.people.models import Attempt, Grant
from dashboard.people.roles import Role
from tests.dashboard.expected import ALL_EXPECTED, SOCKET, expected
from tests.dashboard.persons import ROLES, person
from tests.dashboard.sockets import Browser
from tests.dashboard.story import T0

METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
SAMPLES = {"app_label": "groups", "url": "x"}  # all others are numbers


def routes(
    patterns: list[URLPattern | URLResolver] | None = None, before: str = "/"
) -> Iterator[tuple[str, URLPattern]]:
    """List all addresses with sample arguments."""
    for each in patterns if patterns is not None else get_resolver().url_patterns:
        address = before + sample(each)
        if isinstance(each, URLResolver):
            yield from routes(each.url_patterns, address)
        else:
            yield address, each


def sample(each: URLPattern | URLResolver) -> str:
    """Fill a route's arguments with samples."""
    if isinstance(each.pattern, RegexPattern):  # Django's admin has two
        return "groups/" if "app_label" in str(each.pattern) else "x"
    return re.sub(r"<(?:\w+:)?(\w+)>", lambda found: SAMPLES.get(found[1], "1"), str(each.pattern))


ALL = list({address: (address, each) for address, each in reversed(list(routes()))}.values())  # the first one answers


@pytest.fixture
def cluster(db: None) -> Cluster:  # noqa: ARG001 - it opens the database
    """Add the cluster that the addresses name: what ran before in this process may have counted on."""
    return Cluster.objects.create(pk=1, name="shop", namesrv="127.0.0.1:9876", added_at=T0)


@pytest.fixture
def group(cluster: Cluster) -> Group:
    return Group.objects.create(pk=1, cluster=cluster, name="g", added_at=T0)


def is_of_the_api(each: URLPattern) -> bool:
    return bool(getattr(each.callback, "is_of_the_api", False))


OF_THE_API = [address for address, each in ALL if is_of_the_api(each)]


def test_the_addresses_are_found() -> None:
    addresses = {address for address, _each in ALL}

    assert {"/api/v1/groups", "/api/v1/audit", "/api/v1/groups/1/orders", "/api/v1/openapi.json"} <= set(OF_THE_API)
    assert {"/", "/login/", "/groups/1/", "/groups/1/rounds/1/", "/healthz", "/metrics", "/admin/"} <= addresses


def test_the_table_of_who_gets_in_has_every_address_and_every_socket_and_no_other() -> None:
    there_are = {address for address, _each in ALL} | {_socket(each) for each in websocket_urlpatterns}

    assert {"forgotten": there_are - ALL_EXPECTED.keys(), "not there": ALL_EXPECTED.keys() - there_are} == {
        "forgotten": set(),
        "not there": set(),
    }


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["/a viewer -"], "it needs a role, open or -"),
        (["/a viewer - everybody"], "it needs a role, open or -"),
        (["/{a,b} viewer - -", "/b admin - -"], "/b stands there twice"),
    ],
)
def test_a_table_that_does_not_say_who_gets_in_is_refused(lines: list[str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        expected(lines)


def test_open_to_all_is_only_what_was_thought_over() -> None:
    is_expected = {address for address, each in ALL_EXPECTED.items() if each.is_open}

    assert {address for address, each in ALL if is_open(each.callback)} == is_expected


@pytest.mark.usefixtures("group")
def test_open_to_all_leads_nobody_to_the_log_in(client: Client) -> None:
    for address, each in ALL_EXPECTED.items():
        for method, word in each.by_method.items():
            if each.is_open:
                answer = getattr(client, method.lower())(address)
                assert (answer.status_code == 405) == (word == "-"), (method, address)
                assert "next=" not in answer.get("Location", ""), (method, address)
                assert answer.get("WWW-Authenticate") != 'Bearer realm="api"', (method, address)


def test_every_other_address_says_which_role_it_needs() -> None:
    closed = [address for address, each in ALL if not is_open(each.callback) and needed_role(each.callback) is None]

    assert closed == []


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.value if role else "nobody")
@pytest.mark.parametrize("method", METHODS)
def test_a_role_comes_in_where_it_may_and_nowhere_else(client: Client, role: Role | None, method: str) -> None:
    Cluster.objects.update(is_demo=True)
    client.force_login(person(role))

    for address, each in ALL:
        if ALL_EXPECTED[address].is_open:
            continue
        if role is Role.ADMIN and is_of_djangos_admin(each.callback):
            continue  # from here on Django's own permissions decide; tests/dashboard/test_admin.py opens them
        check(address, role, method, getattr(client, method)(address))
        Attempt.objects.all().delete()  # nobody made so many


def check(address: str, role: Role | None, method: str, answer: HttpResponse) -> None:
    """Hold what somebody of a role got by a method against the table."""
    who = ALL_EXPECTED[address]
    may = who.lets_in(role, method.upper())
    assert (answer.status_code != 403) == may, (address, answer.status_code)
    if may and who.has(method.upper()) is not None:
        assert (answer.status_code != 405) == who.has(method.upper()), (address, answer.status_code)


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize("method", METHODS)
def test_without_a_log_in_every_address_leads_to_the_log_in(client: Client, method: str) -> None:
    for address, each in ALL:
        if not is_open(each.callback) and not is_of_the_api(each):
            answer = getattr(client, method)(address)
            assert answer.status_code == 302, (address, answer.status_code)
            assert urlsplit(answer["Location"]).path == "/login/", address


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("authorization", ["", "Bearer eka_nobody"], ids=["nothing", "a bad token"])
def test_without_a_log_in_every_address_of_the_api_says_what_it_needs(
    client: Client, method: str, authorization: str
) -> None:
    if authorization:
        client.force_login(person(Role.ADMIN))  # a bad token is not taken for the log-in beside it
    headers = {"Authorization": authorization} if authorization else {}

    for address in OF_THE_API:
        answer = getattr(client, method)(address, headers=headers)
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, 'Bearer realm="api"'), address
        assert method == "head" or "needed is a log-in" in answer.json()["problem"]


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.value if role else "nobody")
@pytest.mark.parametrize("method", METHODS)
def test_a_token_comes_in_where_its_person_may_and_nowhere_else(client: Client, role: Role | None, method: str) -> None:
    Cluster.objects.update(is_demo=True)
    token, row = make(user=person(role), is_read_only=False, days=1, note="", now=now_ms())
    ApiToken.objects.filter(pk=row.pk).update(id=77)  # that of 1, which an address revokes, is another one

    for address, each in ALL:
        if not is_of_the_api(each):
            continue
        answer = getattr(client, method)(address, headers={"Authorization": f"Bearer {token}"})
        check(address, role, method, answer)
        Attempt.objects.all().delete()
        assert answer.status_code != 403 or answer["Content-Type"] == "application/json"


@pytest.mark.usefixtures("group")
def test_an_address_that_says_no_role_is_closed_even_to_admins(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.force_login(person(Role.ADMIN))
    view = next(each.callback for _address, each in ALL if each.name == "overview")
    monkeypatch.delattr(view, "needs_role")

    assert client.get("/").status_code == 403


@pytest.mark.usefixtures("group")
def test_who_has_no_role_is_told_so_and_led_to_no_page_that_is_closed(client: Client) -> None:
    client.force_login(person(None))

    page = client.get("/").content.decode()

    assert "You have no role here yet" in page
    assert "To the overview" not in page and '<nav aria-label="Pages">' not in page
    assert "Log out" in page


@pytest.mark.usefixtures("group")
def test_the_database_pages_need_staff_besides_the_role(client: Client) -> None:
    admin = person(Role.ADMIN)
    User.objects.filter(pk=admin.pk).update(is_staff=False)
    client.force_login(admin)

    statuses = {client.get(address).status_code for address, each in ALL if is_of_djangos_admin(each.callback)}

    assert statuses == {403}


@pytest.mark.usefixtures("group")
def test_a_group_outside_of_the_scope_is_not_there(client: Client, cluster: Cluster) -> None:
    client.force_login(person(Role.ADMIN, groups="orders-*"))
    Group.objects.create(pk=2, cluster=cluster, name="orders-1", added_at=T0)
    about_groups = [address for address, _each in ALL if address.startswith(("/groups/1/", "/api/v1/groups/1"))]

    statuses = {address: client.get(address).status_code for address in about_groups}

    assert set(statuses.values()) - {405} == {404}  # 405 is of what is only posted to, of any group
    assert client.get("/groups/2/").status_code == 200
    page = client.get("/").content.decode()
    assert "orders-1" in page
    assert 'href="/groups/1/"' not in page


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("scope", [{"groups": "orders-*"}, {"clusters": "another"}], ids=str)
def test_what_is_outside_of_the_scope_answers_as_what_does_not_exist(
    client: Client, scope: dict[str, str], method: str
) -> None:
    Cluster.objects.update(is_demo=True)
    client.force_login(person(Role.ADMIN, **scope))
    kinds = ["/groups/1/", "/api/v1/groups/1", *(["/demo/1/"] if "clusters" in scope else [])]
    about = [address for address, _each in ALL if any(address.startswith(kind) for kind in kinds)]
    assert len(about) >= 7

    for address in about:
        there, not_there = (getattr(client, method)(each) for each in (address, address.replace("/1/", "/77/", 1)))
        assert (there.status_code, without_token(there)) == (not_there.status_code, without_token(not_there)), address
        assert there.status_code in {404, 405, *([400, 422] if "/api/" in address and method == "post" else [])}, (
            address
        )


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize("role", ROLES[1:], ids=lambda role: role.value)
def test_no_page_shows_a_form_that_its_reader_may_not_send(client: Client, role: Role) -> None:
    Cluster.objects.update(is_demo=True, is_read_only=False)
    Group.objects.update(name="billing")
    client.force_login(person(role))
    pages = {each.name: client.get(address).content.decode() for address, each in ALL if _is_ours(each)}

    forms = {
        action
        for page in pages.values()
        for action in re.findall(r'<form[^>]*method="post"[^>]*action="([^"]+)"', page)
    }

    refused = {action for action in forms if action != "/logout/" and client.post(action).status_code == 403}
    assert refused == set()
    assert ("/groups/1/order" in forms) == role.includes(Role.OPERATOR)
    assert ("/demo/1/order" in forms) == role.includes(Role.OPERATOR)
    assert "/logout/" in forms
    closed = "needs the role operator" in pages["group"] and "needs the role operator" in pages["demo"]
    assert closed == (role is Role.VIEWER)


@pytest.mark.usefixtures("group")
def test_an_operator_of_some_groups_orders_of_those_alone(client: Client, cluster: Cluster) -> None:
    Cluster.objects.update(is_demo=True, is_read_only=False, watched_at=now_ms())
    Group.objects.create(pk=2, cluster=cluster, name="orders-1", added_at=T0)
    bo = person(Role.VIEWER, name="bo")
    Grant.objects.create(user=bo, role=Role.OPERATOR.value, groups="orders-*")
    client.force_login(bo)
    order = {"verb": "group.recompute", "reason": "to see"}

    answers = {pk: client.post(f"/groups/{pk}/order", order, headers={"Accept": "application/json"}) for pk in (1, 2)}
    broker = {"verb": "demo.slow_broker", "target": "broker-a"}
    of_all = client.post("/demo/1/order", broker, headers={"Accept": "application/json"})

    assert {pk: answer.status_code for pk, answer in answers.items()} == {1: 409, 2: 200}
    assert "you have viewer" in answers[1].json()["refused"]
    assert of_all.status_code == 409
    assert [row.group_name for row in Command.objects.all()] == ["orders-1"]


def without_token(answer: HttpResponse) -> bytes:
    """Give what an answer says, without a form's token, and without the address to which choosing a language leads."""
    return re.sub(rb'name="(csrfmiddlewaretoken|next)" value="[^"]*"', b"", answer.content)


def _is_ours(each: URLPattern) -> bool:
    return not is_open(each.callback) and not is_of_djangos_admin(each.callback)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("role", [*ROLES, "anonymous"], ids=str)
def test_a_socket_lets_in_who_may_come(role: Role | str | None) -> None:
    user = AnonymousUser() if isinstance(role, str) else person(role)

    for pattern in websocket_urlpatterns:
        may = isinstance(role, Role) and ALL_EXPECTED[_socket(pattern)].lets_in(role, "GET")
        code = async_to_sync(knock)(pattern, user)
        assert code == (None if may else 4401 if role == "anonymous" else 4403)


def _socket(pattern: URLPattern) -> str:
    return f"{SOCKET}/{sample(pattern)}"


async def knock(pattern: URLPattern, user: User | AnonymousUser) -> int | None:
    """Open a socket; give its close code, None where it stays open."""
    async with Browser(user, application=pattern.callback, path=f"/{sample(pattern)}") as browser:
        return None if await browser.hears_nothing() else await browser.is_closed()
