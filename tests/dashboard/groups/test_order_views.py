from __future__ import annotations

import pytest
from django.test import Client

from dashboard.clusters.leases import put_aside
from dashboard.clusters.models import Cluster, Command
from dashboard.common.clock import now_ms
from dashboard.groups.models import Group
from dashboard.people.roles import Role
from tests.dashboard.persons import PASSWORD, person
from tests.dashboard.story import T0

ORDER = {"verb": "group.recompute", "reason": "to see"}
JSON = {"Accept": "application/json"}


@pytest.fixture
def group(cluster: Cluster) -> Group:
    Cluster.objects.update(is_read_only=False, is_demo=True, watched_at=now_ms())
    cluster.refresh_from_db()
    return Group.objects.create(pk=1, cluster=cluster, name="billing", added_at=T0)


@pytest.fixture
def operator(client: Client, group: Group) -> Client:
    assert group.pk
    client.force_login(person(Role.OPERATOR))
    return client


def test_a_form_orders_and_leads_back_to_what_became_of_it(operator: Client) -> None:
    answer = operator.post("/groups/1/order", ORDER)

    assert (answer.status_code, answer["Location"]) == (302, "/groups/1/#orders")
    assert Command.objects.get().author is not None
    page = operator.get("/groups/1/orders").content.decode()
    assert "Recompute now" in page
    assert "waits for the watcher" in page
    assert "data-open" in page
    assert "by operator: to see" in page


def test_a_refusal_comes_in_words_to_scripts_and_to_people(operator: Client) -> None:
    asked = {**ORDER, "reason": ""}

    answer = operator.post("/groups/1/order", asked, headers=JSON)
    assert answer.status_code == 422
    assert "needs a reason" in answer.json()["refused"]
    assert "needs a reason" in operator.post("/groups/1/order", asked, follow=True).content.decode()
    assert operator.post("/groups/1/order", ORDER, headers=JSON).status_code == 200
    assert Command.objects.count() == 1


def test_an_order_is_a_post(operator: Client, group: Group) -> None:
    assert operator.get("/groups/1/order").status_code == 405
    assert operator.get(f"/demo/{group.cluster_id}/order").status_code == 405


def test_without_its_token_nothing_is_ordered(group: Group) -> None:
    assert group.pk
    person(Role.OPERATOR)
    browser = Client(enforce_csrf_checks=True)
    assert browser.login(username="operator", password=PASSWORD)

    assert browser.post("/groups/1/order", ORDER).status_code == 403
    assert not Command.objects.exists()


def test_a_viewer_sees_the_button_closed_and_why(client: Client, group: Group) -> None:
    client.force_login(person(Role.VIEWER))

    page = client.get("/groups/1/").content.decode()

    assert '<form method="post" action="/groups/1/order"' not in page
    assert "needs the role operator for this group; you have viewer" in page
    assert client.post("/groups/1/order", ORDER).status_code == 403
    assert client.post(f"/demo/{group.cluster_id}/order", {"verb": "demo.slow_broker"}).status_code == 403
    assert not Command.objects.exists()


def test_an_operator_of_other_groups_orders_nothing_of_this_one(client: Client, group: Group) -> None:
    bo = person(Role.VIEWER, name="bo")
    bo.grants.create(role="operator", groups="other-*")
    client.force_login(bo)

    answer = client.post("/groups/1/order", ORDER, headers=JSON)

    assert answer.status_code == 409
    assert "you have viewer" in answer.json()["refused"]
    assert "you have viewer" in client.get(f"/demo/{group.cluster_id}/").content.decode()


def test_the_demo_says_what_it_plays_and_takes_orders_for_brokers(operator: Client, group: Group) -> None:
    address = f"/demo/{group.cluster_id}/"

    page = operator.get(address).content.decode()
    answer = operator.post(f"{address}order", {"verb": "demo.slow_broker", "target": "broker-b"})

    assert "The first minute" in page
    assert 'href="/groups/1/"' in page
    assert answer["Location"] == f"{address}#orders"
    part = operator.get(f"{address}?part=orders").content.decode()
    assert "broker-b" in part
    assert "The first minute" not in part


def test_nothing_is_ordered_of_a_demo_that_is_put_aside_and_its_page_says_why(operator: Client, group: Group) -> None:
    put_aside(clusters=Cluster.objects.all())
    address = f"/demo/{group.cluster_id}/"
    orders = {"1": {"verb": "demo.add_consumer"}, "demo": {"verb": "demo.slow_broker", "target": "broker-b"}}

    page = operator.get(address).content.decode()
    answers = [
        operator.post("/groups/1/order", orders["1"], headers=JSON),
        operator.post(f"{address}order", orders["demo"], headers=JSON),
    ]

    assert "The cluster shop is put aside" in page and 'data-mode="stale"' in page
    assert "This cluster is put aside: nobody watches it who could carry out an order." in page
    assert "data-order" not in page and "button" in page
    assert [each.status_code for each in answers] == [409, 409]
    assert all("is put aside" in each.json()["refused"] for each in answers)
    assert not Command.objects.exists()


def test_the_demo_shows_nobody_what_was_ordered_of_groups_out_of_sight(operator: Client, group: Group) -> None:
    address = f"/demo/{group.cluster_id}/"
    operator.post("/groups/1/order", {"verb": "demo.add_consumer", "reason": "for my eyes"})
    operator.post(f"{address}order", {"verb": "demo.slow_broker", "target": "broker-b"})
    assert "for my eyes" in operator.get(f"{address}?part=orders").content.decode()

    operator.force_login(person(Role.VIEWER, name="elsewhere", groups="search*"))

    for part in ("", "?part=orders"):
        page = operator.get(address + part).content.decode()
        assert "broker-b" in page
        assert "for my eyes" not in page


def test_a_cluster_that_is_no_demo_has_no_such_page(operator: Client, group: Group) -> None:
    Cluster.objects.update(is_demo=False)

    assert operator.get(f"/demo/{group.cluster_id}/").status_code == 404
    assert operator.post(f"/demo/{group.cluster_id}/order", {}).status_code == 404
    assert "Add a consumer" not in operator.get("/groups/1/").content.decode()


def test_a_group_that_the_demo_does_not_play_has_no_buttons_of_it(operator: Client, group: Group) -> None:
    other = Group.objects.create(cluster_id=group.cluster_id, name="guest", added_at=T0)

    assert "Add a consumer" in operator.get("/groups/1/").content.decode()
    assert "Add a consumer" not in operator.get(f"/groups/{other.pk}/").content.decode()
