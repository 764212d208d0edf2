from __future__ import annotations

import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups.finding import Search
from dashboard.groups.models import Group
from tests.dashboard.story import left, route, seen, told


@pytest.fixture
def groups(cluster: Cluster) -> Cluster:
    told(route(2), route(3, topic="pay", broker="west"), *seen("10.0.0.7@shop-1", group="one"), *seen("B", group="two"))
    told(*seen("gone", group="two"), left("gone", 10, group="two"))
    return cluster


def found(cluster: Cluster, text: str) -> set[str]:
    search = Search.of(text, clusters=[cluster])
    return {group.name for group in Group.objects.all() if search.finds(group.pk, group.name)}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", {"one", "two"}),
        ("ONE", {"one"}),
        ("10.0.0.7", {"one"}),
        ("gone", set()),
        ("order", {"one", "two"}),
        ("east", {"one", "two"}),
        ("west", set()),
        ("orders/east", {"one", "two"}),
        ("east/orders", {"one", "two"}),
        ("orders/east/1", {"one", "two"}),
        ("orders/east/2", set()),
        ("orders/west", set()),
        ("orders shop-1", {"one"}),
        ("a/b/c/d", set()),
        ("%", set()),
    ],
)
def test_groups_are_found_by_who_consumes_what(groups: Cluster, text: str, names: set[str]) -> None:
    assert found(groups, text) == names


def test_groups_of_other_clusters_are_not_looked_for(groups: Cluster) -> None:
    search = Search.of("orders", clusters=[])

    assert not any(search.finds(group.pk, "") for group in Group.objects.all())
    del groups
