from __future__ import annotations

import csv
import io

import pytest
from django.test import Client
from prometheus_client.registry import CollectorRegistry
from pytest_django import DjangoAssertNumQueries

from dashboard.api.fared import TIMES
from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from dashboard.groups.lately import WINDOW_MS
from dashboard.groups.listing import smalls
from dashboard.groups.models import Group, Progress
from dashboard.groups.rebalancing import rebalance_once
from dashboard.health.figures import Figures
from rebalance_engine.events import EXACT, SubscriptionsSeen
from tests.dashboard.api.conftest import Get
from tests.dashboard.story import EAST, ORDERS, T0, add_cluster, held, left, missed, seen, told

LISTS = ("/groups", "/groups/{pk}", "/groups/{pk}/members", "/groups/{pk}/queues", "/groups/{pk}/findings")


def test_groups_are_searched_filtered_sorted_and_cut(get: Get, group: Group) -> None:
    for name in ("billing", "orders", "audit"):
        Group.objects.create(cluster=group.cluster, name=name, added_at=T0)
    Group.objects.create(cluster=add_cluster("another"), name="orders", added_at=T0)

    def names(**query: object) -> list[str]:
        return [f"{row['cluster']}/{row['name']}" for row in get("/groups", **query)["rows"]]

    assert names(sort="name", cluster="shop") == ["shop/audit", "shop/billing", "shop/g", "shop/orders"]
    assert names(q="bill") == ["shop/billing"]
    assert names(name="orders", sort="name") in (["shop/orders", "another/orders"], ["another/orders", "shop/orders"])
    assert "shop/g" not in names(only="unknown")
    second = get("/groups", sort="name", cluster="shop", page=2, size=3)
    assert ([row["name"] for row in second["rows"]], second["count"], second["pages"]) == (["orders"], 4, 2)


def test_a_group_says_how_it_stands_and_why_not(get: Get, group: Group) -> None:
    Cluster.objects.update(watched_at=now_ms())

    row = get(f"/groups/{group.pk}")

    assert (row["members"], row["queues"], row["orphans"], row["is_converged"]) == (3, 4, 0, True)
    assert (row["strategy"], row["state"], row["round"]) == ("AVG", "quiet", 1)
    assert row["seq"] >= 3
    assert (row["lag"], row["dead_letters"]) == (None, None)
    assert row["unknown"] == {
        **dict.fromkeys(("lag", "lag_low", "lag_at", "waits_since"), "the broker has not told its offsets"),
        "dead_letters": "east did not tell them",
        "duplicate_messages": "only members that send reports tell where they went on",
    }


def test_how_a_group_fared_is_unknown_where_its_cluster_was_silent_all_the_while(get: Get, group: Group) -> None:
    Cluster.objects.update(watched_at=now_ms() - WINDOW_MS)

    row = get(f"/groups/{group.pk}")

    assert [row[name] for name in TIMES] == [None] * 4
    assert {row["unknown"][name] for name in TIMES} == {"it was not looked at in the last 10 min"}


def test_a_lag_that_is_told_has_no_reason_to_be_unknown(get: Get, group: Group) -> None:
    columns = {"lag": 5, "unknown_lags": 0, "observed_at": T0, "at": T0, "missing": "timeout", "missing_at": T0 + 1}
    Progress.objects.create(
        group=group, broker="east", queues=[["orders", 0, 9, 4, None]], origin="admin answer", **columns
    )

    row = get(f"/groups/{group.pk}")

    [listed] = get("/groups")["rows"]
    names = ("lag", "lag_low", "lag_at", "waits_since")
    assert [row[name] for name in names] == [listed[name] for name in names] == [None, None, T0, None]
    assert row["unknown"]["lag"] == "east did not tell its offsets again, and they may have become less since"
    assert "lag_at" not in row["unknown"]


def test_a_group_that_nobody_looked_at_knows_nothing(get: Get, group: Group) -> None:
    empty = Group.objects.create(cluster=group.cluster, name="new", added_at=T0)

    row = get(f"/groups/{empty.pk}")

    figures = ("members", "queues", "orphans", "doubles", "is_converged", "lag", "state_at")
    assert [row[name] for name in figures] == [None] * 7
    assert set(figures) <= row["unknown"].keys()
    assert get(f"/groups/{empty.pk}/queues")["rows"] == []


def test_a_group_that_everybody_left_has_not_converged_by_whatever_door(get: Get, group: Group) -> None:
    told(SubscriptionsSeen(at=T0, source=EAST, exactness=EXACT, group="g", client=None, subscriptions=(ORDERS,)))
    told(left("A", 9_000), left("B", 9_000), left("C", 9_000))
    rebalance_once(group=group.pk, now=T0 + 9_100)

    row, then = get(f"/groups/{group.pk}"), get(f"/groups/{group.pk}", at=T0 + 9_100)

    assert (row["members"], row["orphans"], row["state"]) == (0, 4, "none")
    assert row["is_converged"] is then["is_converged"] is get("/groups")["rows"][0]["is_converged"] is False
    assert smalls(groups=[group.pk], now=T0 + 9_200)[group.pk]["figures"]["is_converged"] is False  # type: ignore[index]
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Figures(now=T0 + 9_200))
    assert registry.get_sample_value("group_converged", {"cluster": "shop", "group": "g"}) == 0


def test_members_have_what_they_told(get: Get, group: Group) -> None:
    told(missed("B", 9_000))
    rebalance_once(group=group.pk, now=T0 + 9_100)

    rows = {row["client_id"]: row for row in get(f"/groups/{group.pk}/members")["rows"]}

    assert (rows["A"]["held"], rows["A"]["target"], rows["A"]["version"]) == (2, 2, "V5_5_0")
    assert (rows["B"]["held"], rows["B"]["missing"]) == (None, "timeout")
    assert rows["B"]["unknown"]["held"] == "it did not answer: timeout"
    assert (rows["C"]["joined_low"], rows["C"]["joined_at"]) == (T0 + 4_000, T0 + 5_000)
    assert rows["C"]["unknown"]["language"]


def test_tables_come_as_csv_and_compute_nothing(get: Get, group: Group) -> None:
    Group.objects.create(cluster=group.cluster, name="=1+1", added_at=T0)

    groups = list(csv.DictReader(io.StringIO(get("/groups", format="csv", sort="name"))))
    queues = list(csv.DictReader(io.StringIO(get(f"/groups/{group.pk}/queues", format="csv"))))
    members = list(csv.DictReader(io.StringIO(get(f"/groups/{group.pk}/members", format="csv"))))

    assert [row["name"] for row in groups] == ["'=1+1", "g"]
    assert groups[0]["members"] == ""
    assert [row["held_by"] for row in queues] == ["A", "A", "B", "C"]
    assert [row["client_id"] for row in members] == ["A", "B", "C"]


@pytest.mark.parametrize("where", LISTS)
def test_questions_do_not_grow_with_what_is_listed(
    get: Get, client: Client, group: Group, where: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    said_how_it_fared = 13 if where in LISTS[:2] else 0
    for number in range(12):
        client_id = f"D{number}"
        told(*seen(client_id, 20_000 + number), held(client_id, 20_100 + number, []))
        Group.objects.create(cluster=group.cluster, name=f"g{number}", added_at=T0)
    rebalance_once(group=group.pk, now=T0 + 21_000)
    assert get("/clusters")

    with django_assert_max_num_queries(9 + said_how_it_fared):
        assert client.get(f"/api/v1{where}".format(pk=group.pk)).status_code == 200
