"""Pages say of when the last answer is, and who does not answer."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from dashboard.clusters.leases import put_aside
from dashboard.clusters.models import Cluster, Watch
from dashboard.common.clock import now_ms
from dashboard.common.spans import clock
from dashboard.groups.models import Group
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.story import T0, add_cluster


@pytest.fixture
def viewer(client: Client, cluster: Cluster) -> Client:
    Group.objects.create(cluster=cluster, name="g", added_at=T0)
    client.force_login(person(Role.VIEWER))
    return client


def test_pages_are_as_of_the_last_answer(viewer: Client) -> None:
    def as_of(address: str) -> str:
        found = re.search(r'data-is="now">(.*?)<', viewer.get(address).content.decode())
        assert found is not None
        return found[1]

    addresses = ("/", f"/groups/{Group.objects.get().pk}/")
    assert [as_of(each) for each in addresses] == ["–", "–"]
    Cluster.objects.update(watched_at=T0)
    assert [as_of(each) for each in addresses] == [clock(T0, millis=False)] * 2


def test_the_page_of_a_group_names_who_of_its_cluster_does_not_answer(viewer: Client) -> None:
    hung = {"server": "10.0.0.1:10911", "broker": "east", "since": T0, "answered_at": T0, "why": "no answer within 3 s"}
    Watch.objects.create(cluster=Cluster.objects.get(), at=T0, epoch=1, answered_at=T0, silent=[hung])
    Cluster.objects.update(lease_epoch=1, lease_holder="here:1", lease_until=now_ms() + 60_000)
    address = f"/groups/{Group.objects.get().pk}/"

    for page in (viewer.get(address), viewer.get(f"{address}?part=side")):
        assert "Broker east (10.0.0.1:10911) of shop does not answer." in " ".join(page.content.decode().split())


def test_the_page_of_a_group_says_once_that_nobody_watches_its_cluster(viewer: Client) -> None:
    address = f"/groups/{Group.objects.get().pk}/"
    Cluster.objects.update(lease_epoch=1, lease_holder="here:1", lease_until=now_ms() - 60_000)
    unwatched = viewer.get(address).content.decode()
    put_aside(clusters=Cluster.objects.all())
    aside = viewer.get(address).content.decode()

    assert ("Nobody is known to watch the cluster shop" in unwatched, "is put aside" in unwatched) == (True, False)
    assert ("Nobody is known to watch the cluster shop" in aside, "is put aside" in aside) == (False, True)


def test_the_page_of_a_group_that_is_put_aside_tells_no_age_that_stands_still(viewer: Client) -> None:
    Cluster.objects.update(watched_at=T0)
    put_aside(clusters=Cluster.objects.all())

    page = viewer.get(f"/groups/{Group.objects.get().pk}/").content.decode()

    notice = page.partition("data-aside>")[2].partition("</p>")[0]
    assert clock(T0) in notice and "ago" not in notice


def test_a_cluster_that_was_put_aside_is_told_of_and_not_mixed_with_the_others(viewer: Client) -> None:
    add_cluster("another")
    Cluster.objects.filter(name="shop").update(is_demo=True, watched_at=T0)
    put_aside(clusters=Cluster.objects.filter(name="shop"))

    page = viewer.get("/").content.decode()
    asked = viewer.get("/?cluster=shop").content.decode()
    part = viewer.get("/?part=findings").content.decode()

    assert "The cluster shop is put aside" in page
    assert "The cluster shop is put aside" in part  # an open page asks for it
    assert '<a href="?cluster=shop">What was known of it</a>' in page
    assert page.count("<li data-id=") == 1  # the one that is cloned
    assert "data-demo" not in page + asked
    assert "The cluster shop is put aside" in asked
    assert ['data-mode="stale"' in each for each in (asked, page)] == [True, False]
    assert "put aside: nobody watches it any more</span>" in asked
    assert asked.count("<li data-id=") == 2


def test_where_all_clusters_are_put_aside_that_is_said_with_the_way_to_what_was_known(viewer: Client) -> None:
    put_aside(clusters=Cluster.objects.all())

    for address in ("/", "/?part=findings"):
        page = viewer.get(address).content.decode()
        assert "The cluster shop is put aside" in page
        assert '<a href="?cluster=shop">What was known of it</a>' in page
        assert "Nothing is watched now: all clusters that you may see are put aside." in page
        assert "No cluster is known here" not in page
        assert "Nothing is found wrong" not in page


@pytest.mark.parametrize("address", ["/?cluster=gone", "/findings/?cluster=gone"])
def test_a_cluster_that_is_not_there_is_said_not_to_be_with_the_way_to_the_others(viewer: Client, address: str) -> None:
    answer = viewer.get(address)

    assert answer.status_code == 404
    assert "There is no cluster gone (any more), or you may not see it." in answer.content.decode()
    assert '<a href="/">To the overview</a>' in answer.content.decode()


def test_the_overview_of_a_cluster_that_is_put_aside_says_that_and_no_more(viewer: Client) -> None:
    Cluster.objects.update(lease_epoch=1, lease_holder="here:1", lease_until=now_ms() - 60_000)
    put_aside(clusters=Cluster.objects.all())

    for query in ({"cluster": "shop"}, {"cluster": "shop", "part": "findings"}):
        page = viewer.get("/", query).content.decode()
        assert "The cluster shop is put aside" in page
        assert "Nobody is known to watch" not in page
        assert "What was known of it" not in page, "it is this page"
