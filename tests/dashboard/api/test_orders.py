from __future__ import annotations

import html
from typing import Any

import pytest
from django.test import Client

from dashboard.clusters.models import Cluster, Command, CommandReceipt
from dashboard.common.clock import now_ms
from dashboard.common.spans import plain
from dashboard.groups.models import Group
from dashboard.people.models import Grant
from dashboard.people.roles import Role
from tests.dashboard.api.conftest import Get
from tests.dashboard.groups.test_receipts import ordered
from tests.dashboard.persons import person
from tests.dashboard.story import T0


@pytest.fixture
def writable(group: Group) -> Group:
    Cluster.objects.update(is_read_only=False, watched_at=now_ms())
    return Group.objects.get(pk=group.pk)


def order(client: Client, group: Group, **body: object) -> tuple[int, Any]:
    answer = client.post(f"/api/v1/groups/{group.pk}/orders", body, content_type="application/json")
    return answer.status_code, answer.json()


def test_an_order_waits_for_the_watcher_and_tells_what_became_of_it(client: Client, writable: Group) -> None:
    client.force_login(person(Role.OPERATOR, name="ops"))

    status, said = order(client, writable, reason="lag grows")

    assert (status, said["verb"], said["state"], said["reason"]) == (202, "group.recompute", "waiting", "lag grows")
    row = Command.objects.get()
    CommandReceipt.objects.create(command=row, client_id="A", answer="unchanged", at=T0)
    shown = client.get(f"/api/v1/groups/{writable.pk}/orders/{said['id']}").json()
    assert (shown["receipts"], shown["members"][0]["client_id"]) == ({"unchanged": 1}, "A")
    assert client.get(f"/api/v1/groups/{writable.pk}/orders").json()["rows"][0]["id"] == row.pk
    assert client.get(f"/api/v1/groups/{writable.pk}/orders/0").status_code == 404


def test_an_order_with_a_field_that_there_is_not_is_refused_with_its_name(client: Client, writable: Group) -> None:
    client.force_login(person(Role.OPERATOR, name="ops"))

    status, said = order(client, writable, reason="lag grows", dry_run=True)

    assert (status, said["problem"].split("; ")[0].endswith("body.dry_run")) == (422, True)
    assert not Command.objects.exists()


def test_receipts_come_in_pages_and_as_tables(get: Get, writable: Group) -> None:
    row = ordered(writable, B="unchanged", A="unchanged", C="not asked")
    where = f"/groups/{writable.pk}/orders"

    page = get(f"{where}/{row.pk}/receipts", size=2)
    tables = [get(address, format="csv").splitlines() for address in (where, f"{where}/{row.pk}/receipts")]

    assert (page["count"], [each["client_id"] for each in page["rows"]]) == (3, ["A", "B"])
    assert tables[0][0].endswith("changed,unchanged,unknown,not_asked") and tables[0][1].endswith(",0,2,0,1")
    assert tables[1][1].startswith("A,unchanged,") and len(tables[1]) == 4


def test_what_cannot_be_ordered_is_refused_in_words(client: Client, writable: Group) -> None:
    client.force_login(person(Role.OPERATOR, name="ops"))

    no_reason = order(client, writable)
    blank = order(client, writable, reason=" \n")
    too_long = order(client, writable, reason="x" * 501)
    no_demo = order(client, writable, verb="demo.kill_consumer", reason="x")
    Cluster.objects.update(is_read_only=True)
    read_only = order(client, writable, reason="x")

    assert [status for status, _said in (no_reason, blank, too_long, no_demo)] == [422] * 4
    assert read_only[0] == 409
    assert no_demo[1]["problem"] == "demo.kill_consumer cannot be ordered here; needed is one of group.recompute."
    assert "needs a reason" in no_reason[1]["problem"]
    assert "--writable" in read_only[1]["problem"]
    assert not Command.objects.exists()


def test_a_second_recompute_too_soon_is_refused_at_once_and_says_when_to_come_again(
    client: Client, writable: Group
) -> None:
    client.force_login(person(Role.OPERATOR, name="ops"))
    order(client, writable, reason="lag grows")

    again = client.post(f"/api/v1/groups/{writable.pk}/orders", {"reason": "x"}, content_type="application/json")

    assert again.status_code == 429
    assert "told to recompute less than 5 s ago" in again.json()["problem"]
    assert 1 <= int(again["Retry-After"]) <= 5
    assert Command.objects.count() == 1


def test_where_notification_is_off_nothing_is_taken(client: Client, writable: Group) -> None:
    client.force_login(person(Role.OPERATOR, name="ops"))
    Group.objects.update(is_notified=False)

    status, said = order(client, writable, reason="x")

    assert status == 409
    assert "notifyConsumerIdsChangedEnable" in said["problem"]
    assert not Command.objects.exists()
    page = html.unescape(client.get(f"/groups/{writable.pk}/").content.decode())
    assert said["problem"] in plain(page)


def test_an_operator_of_other_groups_orders_nothing_here(client: Client, writable: Group) -> None:
    bo = person(Role.VIEWER, name="bo")
    Grant.objects.create(user=bo, role=Role.OPERATOR.value, groups="orders-*")
    client.force_login(bo)

    status, said = order(client, writable, reason="x")

    assert status == 403
    assert "you have viewer" in said["problem"]


def test_a_viewer_sees_orders_and_gives_none(get: Get, client: Client, writable: Group) -> None:
    assert get(f"/groups/{writable.pk}/orders")["rows"] == []
    assert order(client, writable, reason="x")[0] == 403
