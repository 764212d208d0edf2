from __future__ import annotations

import csv
import io
from dataclasses import replace

from django.test import Client

from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from dashboard.people.roles import Role
from tests.dashboard.api.conftest import Get
from tests.dashboard.persons import person
from tests.dashboard.producers.conftest import Teller, stock
from tests.dashboard.story import told


def test_what_a_producer_told_is_exact_and_what_it_did_not_is_null_with_the_reason(get: Get, cluster: Cluster) -> None:
    p = Teller(now_ms() - 2_000)
    told(p.sent(0, 6), p.backs_off(100, 60_000))
    stock(cluster, "S")

    told_of, s = get("/producers")["rows"]

    assert (told_of["client_id"], told_of["state"], told_of["backoff_ms"], told_of["median_ms"]) == (
        "P",
        "backs off",
        60_000,
        6,
    )
    assert 0 < told_of["left_ms"] <= 60_000
    assert told_of["unknown"]["is_reachable"] == "it has told nothing of this so far"
    assert (s["state"], s["left_ms"], s["median_ms"]) == ("unknown", None, None)
    assert s["unknown"]["left_ms"].startswith("the producer reports nothing")
    assert get("/producers", cluster="elsewhere")["rows"] == []
    rows = list(csv.DictReader(io.StringIO(get("/producers", format="csv"))))
    assert [row["client_id"] for row in rows] == ["P", "S"]


def test_producers_come_as_they_stood_at_a_past_instant(get: Get, cluster: Cluster) -> None:
    assert cluster.pk
    start = now_ms() - 60_000
    p = Teller(start)
    told(p.sent(0, 6), p.backs_off(100, 10_000), p.sent(30_000, 7))
    unheard = get("/producers")["rows"][0]
    Cluster.objects.update(watched_at=now_ms())

    [then], [now] = get("/producers", at=start + 5_100)["rows"], get("/producers")["rows"]

    assert (then["state"], then["left_ms"], then["told_at"]) == ("backs off", 5_000, start + 100)
    assert then["unknown"]["is_reachable"]
    assert (now["state"], now["left_ms"]) == ("available", 0)
    assert (unheard["state"], unheard["left_ms"]) == ("unknown", None)
    assert "nothing of its cluster answers" in unheard["unknown"]["left_ms"]
    assert get("/producers", at=start - 1)["rows"] == []


def test_no_producer_is_left_out_of_a_file(get: Get, cluster: Cluster) -> None:
    for number in range(130):
        stock(cluster, f"S{number:03}")

    assert len(list(csv.DictReader(io.StringIO(get("/producers", format="csv"))))) == 130
    assert (get("/producers")["count"], len(get("/producers", page=2)["rows"])) == (130, 30)
    assert [row["client_id"] for row in get("/producers", q="s129")["rows"]] == ["S129"]


def test_counted_sends_are_exact_and_those_that_no_report_counts_are_unknown(get: Get, cluster: Cluster) -> None:
    p = Teller(now_ms() - 20_000)
    told(
        p.counted(1_000, 2_000, {5: 6, 40: 4}),
        p.counted(1_000, 2_000, {7: 30}, "west"),
        p.counted(3_000, 4_000, {5: 1}),
    )
    told(replace(p, client="Q").sent(0, 6))
    stock(cluster, "S")
    Cluster.objects.update(watched_at=now_ms())

    east, west, bound, s = get("/producers")["rows"]

    assert (east["sends"], east["failed"], west["sends"], west["share"]) == (11, 0, 30, round(30 / 41, 4))
    assert (west["exact_median_low_ms"], west["exact_median_high_ms"]) == (7, 7)
    assert west["counted_since"] < west["counted_until"]
    assert (bound["client_id"], bound["median_ms"], bound["sends"]) == ("Q", 6, None)
    assert bound["unknown"]["sends"].startswith("no report counts all its sends")
    assert s["unknown"]["share"].startswith("the producer reports nothing")


def test_who_may_see_some_groups_alone_is_told_that_producers_are_not_theirs(client: Client, cluster: Cluster) -> None:
    stock(cluster, "S")
    client.force_login(person(Role.VIEWER, groups="sea*"))

    answer = client.get("/api/v1/producers")

    assert (answer.status_code, "you may see all groups" in answer.json()["problem"]) == (403, True)
