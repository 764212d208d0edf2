from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from dashboard.clusters.models import Cluster, Command
from dashboard.people.models import Grant
from dashboard.people.roles import Role
from tests.dashboard.persons import person

SLOW = {"verb": "demo.slow_broker", "target": "broker-a"}


@pytest.fixture
def demo(cluster: Cluster) -> Cluster:
    Cluster.objects.update(is_demo=True, is_read_only=False)
    return Cluster.objects.get(pk=cluster.pk)


def order(client: Client, demo: Cluster, **body: object) -> tuple[int, Any]:
    answer = client.post(f"/api/v1/clusters/{demo.pk}/demo/orders", body, content_type="application/json")
    return answer.status_code, answer.json()


def test_an_operator_slows_a_broker_and_sees_what_became_of_it(client: Client, demo: Cluster) -> None:
    client.force_login(person(Role.OPERATOR, name="ops"))

    status, said = order(client, demo, **SLOW)

    assert (status, said["verb"], said["target"], said["state"]) == (202, "demo.slow_broker", "broker-a", "waiting")
    row = Command.objects.get()
    assert (row.author_name, row.group_name, row.target) == ("ops", None, "broker-a")
    where = f"/api/v1/clusters/{demo.pk}/demo/orders"
    assert [each["id"] for each in client.get(where).json()["rows"]] == [row.pk]
    assert client.get(f"{where}/{row.pk}").json()["members"] == []
    assert client.get(f"{where}/0").status_code == 404
    assert "demo.slow_broker" in client.get(where, {"format": "csv"}).content.decode()


def test_it_is_for_operators_of_all_groups_and_for_a_demo_alone(client: Client, demo: Cluster) -> None:
    bo = person(Role.VIEWER, name="bo")
    Grant.objects.create(user=bo, role=Role.OPERATOR.value, groups="orders-*")
    client.force_login(bo)
    refused = order(client, demo, **SLOW)
    client.force_login(person(Role.VIEWER))
    as_viewer = order(client, demo, **SLOW)
    client.force_login(person(Role.OPERATOR))
    unknown = order(client, demo, verb="demo.slow_broker", target="nobody")
    of_members = order(client, demo, verb="demo.kill_consumer", target="A")
    Cluster.objects.update(is_read_only=True)
    only_looked_at = order(client, demo, **SLOW)
    Cluster.objects.update(is_demo=False)
    no_demo = order(client, demo, **SLOW)

    assert (refused[0], "operator" in refused[1]["problem"]) == (403, True)
    assert as_viewer[0] == 403
    assert (unknown[0], "broker-a" in unknown[1]["problem"]) == (422, True)
    assert (of_members[0], "needed is one of demo.heal_broker" in of_members[1]["problem"]) == (422, True)
    assert (only_looked_at[0], "--writable" in only_looked_at[1]["problem"]) == (409, True)
    assert no_demo[0] == 404
    assert not Command.objects.exists()


def test_orders_of_groups_that_somebody_may_not_see_are_not_theirs(client: Client, demo: Cluster) -> None:
    rows = [
        Command.objects.create(
            cluster=demo, verb=verb, group_name=group, target="x", author_name="ops", ordered_at=1, deadline=2
        )
        for verb, group in (("demo.slow_broker", None), ("demo.kill_consumer", "billing"), ("demo.add_consumer", "sea"))
    ]
    where = f"/api/v1/clusters/{demo.pk}/demo/orders"
    client.force_login(person(Role.VIEWER, name="vic", groups="sea*"))

    assert [each["id"] for each in client.get(where).json()["rows"]] == [rows[2].pk, rows[0].pk]
    assert [client.get(f"{where}/{row.pk}").status_code for row in rows] == [200, 404, 200]
    assert "billing" not in client.get(where, {"format": "csv"}).content.decode()
    client.force_login(person(Role.VIEWER, name="all"))
    assert client.get(where).json()["count"] == 3
