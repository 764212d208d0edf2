from __future__ import annotations

import re

import pytest
from django.test import Client

from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from dashboard.groups.cells import cells_of
from dashboard.groups.lately import WINDOW_MS
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.unseen import fared_of
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, route, seen, told

NOW = T0 + 2 * WINDOW_MS


@pytest.fixture
def group(cluster: Cluster) -> Group:
    """A has all, long in order."""
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 20)
    Cluster.objects.filter(pk=cluster.pk).update(watched_at=NOW)
    return group


def times_at(group: Group, now: int) -> list[tuple[str, str, str]]:
    cells = cells_of(fared_of(groups=[group.pk], now=now)[group.pk])
    return [(cells[name]["text"], cells[name]["mark"], cells[name]["note"]) for name in ("unowned", "overlap")]


def test_a_group_that_was_looked_at_had_an_exact_0(group: Group) -> None:
    assert [time[:2] for time in times_at(group, NOW)] == [("0", "exact")] * 2


@pytest.mark.parametrize("field", ["rebalanced_at", "queue_count", "member_count"])
def test_of_a_group_that_nobody_looked_at_no_time_is_known(group: Group, field: str) -> None:
    Group.objects.update(**{field: None})

    assert [time[:2] for time in times_at(group, NOW)] == [("–", "unknown")] * 2


def test_of_a_cluster_that_was_silent_for_all_of_the_window_no_time_is_known(group: Group) -> None:
    words = "unknown: not looked at in the last 10 min"

    assert times_at(group, NOW + WINDOW_MS) == [("–", "unknown", words)] * 2
    assert [time[:2] for time in times_at(group, NOW + WINDOW_MS - 1)] == [("0", "exact")] * 2


def test_the_filter_counts_the_rows_that_are_of_its_kind(client: Client, group: Group) -> None:
    Cluster.objects.update(watched_at=now_ms())
    Group.objects.create(cluster=group.cluster, name="new", added_at=T0)
    Group.objects.filter(pk=group.pk).update(member_count=None)
    client.force_login(person(Role.VIEWER))

    page = client.get("/").content.decode()

    shown = page.partition('id="groups"')[2].partition("</ul>")[0]
    assert len(re.findall('data-kind="unknown"', shown)) == 2
    assert re.findall(r"Unknown\s+(\S+?)</a>", page) == ["2"]
