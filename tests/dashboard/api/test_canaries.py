from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from dashboard.api.site import description
from dashboard.clusters.models import Canary, Cluster
from dashboard.common.clock import now_ms
from dashboard.people.roles import Role
from tests.dashboard.api.conftest import Get
from tests.dashboard.persons import person
from tests.dashboard.producers.conftest import stock
from tests.dashboard.producers.test_canaries import sang
from tests.dashboard.story import told

ON = {"is_on": True, "reason": "producers say that it is slow"}


def switch(client: Client, cluster: Cluster, body: dict[str, object]) -> tuple[int, Any]:
    answer = client.post(f"/api/v1/clusters/{cluster.pk}/canary", body, content_type="application/json")
    return answer.status_code, answer.json()


def test_an_admin_switches_it_and_everybody_reads_what_it_estimates(client: Client, cluster: Cluster) -> None:
    client.force_login(person(Role.ADMIN, name="ada"))
    before = client.get(f"/api/v1/clusters/{cluster.pk}/canary").json()

    status, said = switch(client, cluster, ON)

    assert (before["is_on"], before["changed_by"], before["brokers"]) == (False, None, [])
    assert (status, said["is_on"], said["may_create"], said["changed_by"]) == (200, True, False, "ada")
    now = now_ms()
    told(sang(now - 2_000, 6), sang(now - 1_000, 8))
    Canary.objects.update(told_at=now, troubles={"west": ["no topic", ""]})
    east, west = client.get(f"/api/v1/clusters/{cluster.pk}/canary").json()["brokers"]
    assert (east["broker"], east["median_ms"], east["failed"], east["trouble"]) == ("east", 6, 0, None)
    assert (west["median_ms"], west["trouble"]) == (None, "no topic")
    assert set(west["unknown"]) == {"told_at", "median_ms", "failed"}
    assert switch(client, cluster, {"is_on": False, "reason": "enough"})[1]["is_on"] is False


def test_who_may_not_and_who_says_no_reason_are_refused_in_words(client: Client, cluster: Cluster) -> None:
    client.force_login(person(Role.ADMIN, name="ada", groups="orders-*"))
    assert switch(client, cluster, ON)[0] == 404  # not for this person

    client.force_login(person(Role.OPERATOR))
    status, said = switch(client, cluster, ON)
    assert (status, "role admin" in said["problem"]) == (403, True)

    client.force_login(person(Role.ADMIN))
    assert switch(client, cluster, {"is_on": True, "reason": " "})[0] == 422
    assert switch(client, cluster, {"is_on": True})[0] == 422
    assert not Canary.objects.exists()


@pytest.mark.usefixtures("cluster")
def test_of_a_cluster_that_is_not_there_nothing_is_told(client: Client) -> None:
    client.force_login(person(Role.VIEWER))

    assert client.get("/api/v1/clusters/0/canary").status_code == 404


def test_a_stock_producer_has_the_estimate_beside_what_is_unknown(get: Get, cluster: Cluster) -> None:
    stock(cluster, "S")
    [without] = get("/producers")["rows"]
    Canary.objects.create(cluster=cluster, is_on=True, reason="x", changed_by="ada", changed_at=1)
    told(sang(now_ms() - 1_000, 7))

    [row] = get("/producers")["rows"]

    assert (without["canary_ms"], "off unless an admin" in without["unknown"]["canary_ms"]) == (None, True)
    assert (row["client_id"], row["state"], row["median_ms"], row["canary_ms"]) == ("S", "unknown", None, 7)


def test_the_description_has_it() -> None:
    assert b'"/api/v1/clusters/{pk}/canary"' in description()
