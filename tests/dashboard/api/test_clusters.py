from __future__ import annotations

import pytest
from django.test import Client

from dashboard.clusters.models import Broker, Cluster
from dashboard.groups.models import Finding, Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.people.models import Grant
from dashboard.people.roles import Role
from tests.dashboard.api.conftest import Get
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, told


def test_a_cluster_comes_with_its_brokers_and_says_why_nothing_is_known(get: Get, cluster: Cluster) -> None:
    Broker.objects.create(
        cluster=cluster, name="east", broker_id=0, address="a:1", at=T0, observed_at=T0, origin="admin answer"
    )

    [row] = get("/clusters")["rows"]

    assert (row["name"], row["is_watched"], row["answered_at"]) == ("shop", False, None)
    assert row["unknown"] == {"answered_at": "nothing of this cluster has answered yet"}
    assert [(each["name"], each["version"]) for each in row["brokers"]] == [("east", None)]


def test_a_finding_comes_with_its_proof(get: Get, group: Group) -> None:
    told(held("A", 9_000, [0, 1, 2]), held("B", 9_000, [2]))
    rebalance_once(group=group.pk, now=T0 + 9_100)

    page = get("/findings")

    assert page["count"] == Finding.objects.filter(cleared_at=None).count() >= 1
    assert {row["kind"] for row in page["rows"]} >= {"double owner"}
    assert all(row["proof"] and row["group_id"] == group.pk for row in page["rows"])
    assert get("/findings", cluster="elsewhere")["rows"] == []
    assert get(f"/groups/{group.pk}/findings")["rows"] == page["rows"]


@pytest.mark.django_db
def test_a_kind_of_findings_that_there_is_not_makes_no_sense(client: Client) -> None:
    client.force_login(person(Role.VIEWER))

    answer = client.get("/api/v1/findings", {"kind": "evil"})

    assert answer.status_code == 422
    assert answer.json()["problem"].startswith("there is no kind of findings 'evil'; there are ")
    assert "orphan queue" in answer.json()["problem"]


def test_what_is_wrong_elsewhere_is_not_told(get: Get, client: Client, group: Group) -> None:
    told(held("A", 9_000, [0, 1, 2]), held("B", 9_000, [2]))
    rebalance_once(group=group.pk, now=T0 + 9_100)
    columns = {"subject": "x", "subject_key": "x", "sentence": "s", "proof": ["p"], "origin": "derived"}
    Finding.objects.create(cluster=group.cluster, kind="route", suspected_at=T0, **columns)
    assert get("/findings")["count"] >= 2
    Grant.objects.update(groups="another")

    assert client.get("/api/v1/findings").json()["count"] == 0


def test_clusters_are_no_table_and_say_so(client: Client, get: Get) -> None:
    assert get("/clusters", format="all").keys() == get("/clusters").keys()

    answer = client.get("/api/v1/clusters", {"format": "csv"})

    assert (answer.status_code, "needed is format=json" in answer.json()["problem"]) == (422, True)
