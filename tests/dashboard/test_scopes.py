"""Who is allowed on one cluster learns nothing of another and changes nothing there, by whatever address, method,
number or name. Addresses come from the routing tables, names of what is asked for from the views themselves.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import ClassVar, cast

import pytest
from asgiref.sync import async_to_sync
from django.apps import apps
from django.contrib.sessions.models import Session
from django.core import serializers
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse, QueryDict
from django.test import Client
from django.urls import URLPattern

from dashboard.api.tokens import make
from dashboard.clusters.models import Cluster, Command, Producer
from dashboard.common.clock import now_ms
from dashboard.groups.models import Group
from dashboard.groups.operations import record
from dashboard.groups.rebalancing import rebalance_once
from dashboard.live.routing import websocket_urlpatterns
from dashboard.people.gate import is_of_djangos_admin, is_open
from dashboard.people.models import Attempt
from dashboard.people.roles import Role
from dashboard.push.messages import Pulse
from dashboard.push.models import Stream
from dashboard.reports.models import ReportToken
from rebalance_engine.events import Fact, Origin
from rebalance_engine.model import MessageQueue
from tests.dashboard.persons import person
from tests.dashboard.sockets import Browser
from tests.dashboard.story import T0, held, joined, route, seen, subscribes
from tests.dashboard.test_access import ALL, METHODS, sample

MARK = "quokka"  # begins the name of whatever is there of the other cluster
THEIRS = ("1", "quokka-cluster", "quokka-group", "quokka-A")
NOT_OF_A_CLUSTER = {Attempt, Session}  # limits, and log-ins
OURS = [model for model in apps.get_models() if model.__module__.startswith("dashboard.")]
CLOSED = [(address, each) for address, each in ALL if not is_open(each.callback)]
ASKED = [(address, each) for address, each in CLOSED if not is_of_djangos_admin(each.callback)]  # that asks for more


class Asked(QueryDict):
    """Notes by which names views ask."""

    names: ClassVar[set[str]] = set()

    def __getitem__(self, key: str) -> str:
        self.names.add(str(key))
        return str(super().__getitem__(key))

    def __contains__(self, key: object) -> bool:
        self.names.add(str(key))
        return super().__contains__(key)

    def getlist(self, key: str, default: list[str] | None = None) -> list[str]:  # type: ignore[override] # likewise
        self.names.add(str(key))
        return super().getlist(key, default)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Give the names by which views ask for what was sent; empty it before a request."""
    monkeypatch.setattr(Asked, "names", set())
    monkeypatch.setattr(
        WSGIRequest, "GET", property(lambda request: Asked(request.META.get("QUERY_STRING", ""), encoding="utf-8"))
    )
    return Asked.names


@pytest.fixture
def stranger(db: None) -> None:  # noqa: ARG001 - it opens the database
    """Let a cluster live of which the guest may not know; what belongs to it has the number of the addresses."""
    cluster = Cluster.objects.create(pk=1, name="quokka-cluster", namesrv="10.9.8.7:9876", added_at=T0, is_demo=True)
    group = Group.objects.create(pk=1, cluster=cluster, name="quokka-group", added_at=T0)
    facts = [
        route(4, topic="quokka-topic", broker="quokka-broker"),
        *seen("quokka-A", group=group.name),
        subscribes("quokka-A", 1, "quokka-topic", group=group.name),
        _held("quokka-A", 10, range(4), group.name),
    ]
    record(cluster=cluster.name, facts=facts, now=T0 + 10)
    rebalance_once(group=group.pk, now=T0 + 20)
    later = [
        joined("quokka-B", 5_000, group=group.name),
        subscribes("quokka-B", 5_001, "quokka-topic", group=group.name),
        _held("quokka-A", 6_000, range(2), group.name),
        _held("quokka-B", 6_100, range(2, 4), group.name),
    ]
    record(cluster=cluster.name, facts=later, now=T0 + 6_200)
    rebalance_once(group=group.pk, now=T0 + 6_300)
    Command.objects.create(
        pk=1, cluster=cluster, verb="group.recompute", group_name=group.name, author_name="quokka-author",
        ordered_at=T0, deadline=T0 + 1,
    )  # fmt: skip
    ReportToken.objects.create(
        pk=1,
        cluster=cluster,
        group_name=group.name,
        digest="d",
        hint="quokka-hint",
        made_by="quokka-author",
        made_at=T0,
    )
    Producer.objects.create(
        cluster=cluster, client_id="quokka-P", group_name="quokka-producers", broker="quokka-broker",
        address="10.9.8.7:1", at=T0, observed_at=T0, origin=Origin.ADMIN_ANSWER.value,
    )  # fmt: skip


def _held(client: str, at: int, numbers: range, group: str) -> Fact:
    queues = tuple(MessageQueue("quokka-topic", "quokka-broker", number) for number in numbers)
    return replace(held(client, at, [], group=group, topic="quokka-topic"), queues=queues)


@pytest.fixture
def guest(client: Client, stranger: None) -> Client:  # noqa: ARG001 - it is there
    """Log in an admin of one cluster alone, in which one group lives."""
    make(user=person(Role.ADMIN, name="quokka-author"), is_read_only=False, days=1, note="quokka-note", now=now_ms())
    mine = Cluster.objects.create(pk=2, name="mine", namesrv="127.0.0.1:9876", added_at=T0, is_demo=True)
    Group.objects.create(pk=2, cluster=mine, name="g", added_at=T0)
    client.force_login(person(Role.ADMIN, name="gustav", clusters="mine"))
    client.raise_request_exception = True
    return client


def rows() -> dict[str, str]:
    """Write all rows down."""
    kept = [model for model in OURS if model not in NOT_OF_A_CLUSTER]
    return {model.__name__: serializers.serialize("json", model._default_manager.order_by("pk")) for model in kept}


def ask(client: Client, address: str, query: dict[str, str] | None = None) -> HttpResponse:
    return cast("HttpResponse", client.get(address, query))


def told(answer: HttpResponse, *given: str) -> list[str]:
    """Give what an answer says of what is hidden, without what was given in the question."""
    content = b"".join(answer) if answer.streaming else answer.content
    text = content.decode() + json.dumps(dict(answer.headers))
    for each in given:
        text = text.replace(each, "")
    return re.findall(rf".{{0,40}}(?:{MARK}|10\.9\.8\.7).{{0,40}}", text)


def test_what_is_hidden_is_seen_by_whom_it_belongs_to(client: Client, stranger: None) -> None:
    client.force_login(person(Role.ADMIN))

    seen_at = {address for address, each in CLOSED if told(ask(client, address))}

    assert {"/", "/groups/1/", "/groups/1/rounds/1/", "/api/v1/groups", "/producers/", "/tokens/"} <= seen_at
    assert len(seen_at) >= 25  # else the tests below would find nothing anywhere
    del stranger


@pytest.mark.parametrize("method", METHODS)
def test_no_address_tells_or_changes_anything_of_another_cluster(guest: Client, method: str) -> None:
    before = rows()

    for address, each in CLOSED:
        answer = getattr(guest, method)(address)
        assert told(answer) == [], (method, address)
        assert answer.status_code >= 300 or not _names_theirs(each) or method == "options", (method, address)

    assert changed(before) == set()


def _names_theirs(each: URLPattern) -> bool:
    return "<" in str(each.pattern)


def changed(before: dict[str, str]) -> set[str]:
    """Give the tables whose rows are others; what a person orders of the own cluster stands in the audit log."""
    return {name for name, text in rows().items() if text != before[name]}


def test_no_number_or_name_in_a_query_tells_anything_of_another_cluster(guest: Client, asked: set[str]) -> None:
    tried = set()
    for address, _each in ASKED:
        asked.clear()
        guest.get(address)
        guest.get(address.replace("/1/", "/2/").removesuffix("/1"))
        for name in sorted({*asked, *in_the_schema(guest, address)}):
            for value in THEIRS:
                answer = ask(guest, address, {name: value})
                assert told(answer, value) == [], (address, name, value)
                tried.add(name)

    assert {"cluster", "at", "window", "id", "ids", "q", "page"} <= tried


def in_the_schema(guest: Client, address: str) -> set[str]:
    """Give what the API says it can be asked for."""
    if not address.startswith("/api/v1/"):
        return set()
    paths = guest.get("/api/v1/openapi.json").json()["paths"]
    said: dict[str, dict[str, list[dict[str, str]]]] = next(
        (paths[path] for path in paths if re.fullmatch(re.sub(r"{\w+}", "[^/]+", path), address)), {}
    )
    return {one["name"] for one in said.get("get", {}).get("parameters", []) if one["in"] == "query"}


SENT = ("cluster", "group", "group_name", "id", "pk", "target", "token", "name", "client", "broker", "queue")
TEXTS = {"reason": "to see", "verb": "group.recompute", "note": "x", "days": "7", "is_on": "on"}


@pytest.mark.parametrize(
    ("method", "form"),
    [("post", "form"), ("post", "json"), ("put", "json"), ("patch", "json"), ("delete", "json")],
)
def test_no_number_or_name_in_what_is_sent_changes_anything_of_another_cluster(
    guest: Client, method: str, form: str
) -> None:
    theirs_before = theirs()

    for address, _each in ASKED:
        for value in THEIRS[:3]:
            sent = {**dict.fromkeys(SENT, value), **TEXTS}
            body = {"data": sent} if form == "form" else {
                "data": json.dumps(sent), "content_type": "application/json",
            }  # fmt: skip
            answer = getattr(guest, method)(address, **body)
            assert told(answer, value) == [], (method, address, value)

    assert theirs() == theirs_before


def theirs() -> dict[str, list[str]]:
    """Write down the rows of what is hidden."""
    kept = {name: [row for row in json.loads(text) if MARK in json.dumps(row)] for name, text in rows().items()}
    return {name: [json.dumps(row) for row in found] for name, found in kept.items()}


@pytest.mark.django_db(transaction=True)
def test_no_socket_follows_anything_of_another_cluster(client: Client, stranger: None) -> None:
    Cluster.objects.create(pk=2, name="mine", namesrv="127.0.0.1:9876", added_at=T0)
    gustav = person(Role.ADMIN, name="gustav", clusters="mine")
    names = [*Stream.objects.values_list("name", flat=True), "overview-1", "group-1"]
    assert len(set(names)) >= 2

    nothing = ("gone", 0, None, (), ())

    @async_to_sync
    async def follow(pattern: URLPattern, name: str) -> tuple[object, ...]:
        async with Browser(gustav, application=pattern.callback, path=f"/{sample(pattern)}") as browser:
            await browser.ask(follow=name, seq=None)
            heard = await browser.hear()
            assert isinstance(heard, Pulse)
            assert await browser.hears_nothing()
            return heard.standing, heard.seq, heard.watched_at, heard.seen, heard.behind

    assert {follow(pattern, name) for pattern in websocket_urlpatterns for name in names} == {nothing}
    del client, stranger
