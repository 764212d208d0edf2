"""A group of two members with a round behind it, and a client that asks the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, joined, listed, route, seen, told

Get = Callable[..., Any]


@pytest.fixture
def group(cluster: Cluster) -> Group:
    """A and B share four queues; C joined, took one from B, and the round is over."""
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]), listed(10, "A", "B"))
    group = Group.objects.get(cluster=cluster)
    rebalance_once(group=group.pk, now=T0 + 20)
    told(joined("C", 5_000, low=4_000), *seen("C", 5_000)[1:], held("C", 5_100, []))
    rebalance_once(group=group.pk, now=T0 + 5_200)
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_500, [3]))
    rebalance_once(group=group.pk, now=T0 + 6_600)
    group.refresh_from_db()
    return group


@pytest.fixture
def get(client: Client, db: None) -> Get:  # noqa: ARG001 - it opens the database
    """Ask as a viewer; give what the answer says."""
    client.force_login(person(Role.VIEWER, name="vera"))

    def ask(where: str, **query: object) -> Any:  # noqa: ANN401 - JSON as it comes
        answer = client.get(f"/api/v1{where}", query)  # type: ignore[arg-type] # what a query can be
        assert answer.status_code == 200, answer.content
        return answer.json() if answer["Content-Type"].startswith("application/json") else answer.content.decode()

    return ask
