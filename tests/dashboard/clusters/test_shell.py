from __future__ import annotations

import pytest
from django.http import Http404
from django.test import RequestFactory

from dashboard.clusters.leases import put_aside
from dashboard.clusters.models import Cluster
from dashboard.clusters.shell import all_clusters, chosen_of, shell, visible_cluster, visible_clusters
from dashboard.people.roles import Access, Role, Scope
from tests.dashboard.story import add_cluster

pytestmark = pytest.mark.django_db


def test_only_clusters_of_the_own_scope_are_there() -> None:
    add_cluster("one")
    add_cluster("two")

    access = Access("a", (Scope(Role.VIEWER, "o*"),))
    assert [each.name for each in visible_clusters(access=access)] == ["one"]
    assert visible_cluster(pk=Cluster.objects.get(name="one").pk, access=access).name == "one"
    for other in (Cluster.objects.get(name="two").pk, 0):
        with pytest.raises(Http404):
            visible_cluster(pk=other, access=access)


def test_a_cluster_that_was_put_aside_is_shown_to_who_asks_for_it() -> None:
    add_cluster("one")
    add_cluster("two")
    put_aside(clusters=Cluster.objects.filter(name="two"))
    everything = Access("a", (Scope(Role.VIEWER),))

    assert [each.name for each in visible_clusters(access=everything)] == ["one"]
    assert [each.name for each in visible_clusters(access=everything, also="two")] == ["one", "two"]
    assert [each.name for each in all_clusters(access=everything)] == ["one", "two"]


def test_one_cluster_is_chosen_by_its_name_and_else_all_that_are_watched() -> None:
    add_cluster("one")
    add_cluster("two")
    put_aside(clusters=Cluster.objects.filter(name="two"))
    clusters = [*Cluster.objects.order_by("name")]

    assert [each.name for each in chosen_of(clusters, "")] == ["one"]
    assert [each.name for each in chosen_of(clusters, "two")] == ["two"]
    assert chosen_of([], "") == []
    with pytest.raises(Http404, match=r"There is no cluster three \(any more\)"):
        chosen_of(clusters, "three")


def test_the_demo_is_named_to_whoever_sees_it() -> None:
    add_cluster("one")
    Cluster.objects.update(is_demo=True)
    request = RequestFactory().get("/")

    assert shell(request)["demo"] == []
    request.access = Access("a", (Scope(Role.VIEWER),))  # type: ignore[attr-defined] # as the gate sets it
    assert shell(request)["demo"] == ["one"]
