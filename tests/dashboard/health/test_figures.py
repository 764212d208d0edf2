from __future__ import annotations

import pytest
from django.test import override_settings
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import CollectorRegistry

from dashboard.clusters.leases import put_aside
from dashboard.clusters.models import Cluster, Watch
from dashboard.groups.gone import note_gone
from dashboard.groups.lag import standing
from dashboard.groups.models import Group, Progress, Round
from dashboard.groups.rebalancing import rebalance_once
from dashboard.health.figures import UNWATCHED_MS, Figures
from dashboard.push.models import Server, Stream
from dashboard.push.publish import end_streams
from dashboard.push.tallies import Kind, add
from rebalance_engine.events import (
    EXACT,
    Departure,
    DropReason,
    Exactness,
    Fact,
    MemberLeft,
    QueueDropped,
    QueuePulled,
    QueueTaken,
)
from tests.dashboard.story import EAST, REPORT, T0, held, joined, left, missed, queue, route, seen, told
from tests.house.project import ROOT

pytestmark = pytest.mark.usefixtures("cluster")


def figures(at: int) -> dict[str, dict[tuple[str, ...], float]]:
    """Read the figures as Prometheus does."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Figures(now=T0 + at))
    text = generate_latest(registry).decode()
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(text):
        found.setdefault(family.name, {})
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sample.labels.values())] = sample.value
    return found


def turn(at: int) -> None:
    rebalance_once(group=Group.objects.get().pk, now=T0 + at)


def settle() -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    turn(20)


G = ("shop", "g")


def test_a_round_counts_and_is_timed() -> None:
    settle()
    told(joined("C", 5_000, low=4_000), held("C", 5_100, []))
    turn(5_200)
    told(held("A", 7_000, [0, 1]), held("B", 6_000, [2]), held("C", 7_000, [3]))
    turn(7_100)

    found = figures(10_000)

    assert found["rebalance_total"] == {G: 1}
    assert found["rebalance_latency_least_seconds"] == {G: 0.1}  # C was there, and had nothing yet
    assert found["rebalance_latency_seconds"] == {G: 3.0}  # at most: C may have come a second before it was seen
    assert found["last_rebalance_seconds_ago"] == {G: 5.0}
    assert found["queue_pause_seconds"] == {}  # who looks does not see when the first pull came, nor here any gap
    assert found["orphan_queues"] == found["double_owned_queues"] == {G: 0}
    assert found["group_converged"] == {G: 1}


def test_a_round_is_timed_from_the_earliest_that_its_cause_may_have_come_or_not_at_all() -> None:
    settle()
    bounds = Exactness.between(T0 + 4_900, T0 + 8_000)  # seen after A had taken over
    gone = MemberLeft(at=T0 + 8_000, source=EAST, exactness=bounds, group="g", client="B", departure=Departure.UNKNOWN)
    told(held("A", 8_000, [0, 1, 2, 3]), gone)
    turn(8_100)
    row = Round.objects.get()
    assert row.opened_at == row.closed_at == T0 + 8_000
    assert figures(10_000)["rebalance_latency_seconds"] == {G: 3.1}
    assert figures(10_000)["rebalance_latency_least_seconds"] == {G: 0}

    Round.objects.update(opened_low=None)
    assert figures(10_000)["rebalance_latency_seconds"] == {}


def said(kind: type[QueueTaken | QueuePulled], client: str, at: int) -> Fact:
    return kind(at=T0 + at, source=REPORT, exactness=EXACT, group="g", client=client, queue=queue(3))


def dropped(client: str, at: int) -> Fact:
    reason = DropReason.NOT_IN_TARGET
    return QueueDropped(
        at=T0 + at, source=REPORT, exactness=EXACT, group="g", client=client, queue=queue(3), reason=reason
    )


def test_a_pause_ends_with_the_first_pull_where_that_is_reported() -> None:
    settle()
    told(joined("C", 5_000), held("C", 5_100, []))
    turn(5_200)
    told(
        dropped("B", 6_000),
        said(QueueTaken, "C", 6_400),
        said(QueuePulled, "C", 6_900),
        *(held("A", 7_000, [0, 1]), held("B", 7_000, [2]), held("C", 7_000, [3])),
    )
    turn(7_100)

    assert figures(10_000)["queue_pause_seconds"] == {("low", *G): 0.9, ("high", *G): 0.9}


def test_a_pause_that_lasts_is_at_least_so_long_and_a_group_without_members_has_not_converged() -> None:
    settle()
    told(left("A", 5_000, Departure.UNREGISTERED), left("B", 5_000, Departure.UNREGISTERED))
    turn(5_100)

    found = figures(500_000)

    assert found["queue_pause_seconds"] == {("low", *G): 495.0}
    Group.objects.update(orphan_count=4)  # as where its brokers still know what it subscribed to
    assert figures(500_000)["group_converged"] == {G: 0}

    told(joined("C", 600_000, low=590_000), held("C", 601_000, [0, 1, 2, 3]))
    assert figures(700_000)["queue_pause_seconds"] == {("low", *G): 585.0}


def test_a_group_of_nothing_has_not_converged_nor_failed_to() -> None:
    told(*seen("A"), left("A", 1_000))
    turn(1_100)

    found = figures(2_000)

    assert found["group_members"] == {G: 0}
    assert found["group_converged"] == {}


def test_faults_are_counted() -> None:
    settle()
    told(held("A", 3_000, [0, 1, 2]), held("B", 3_000, [2]))
    turn(3_100)

    found = figures(4_000)

    assert (found["orphan_queues"], found["double_owned_queues"]) == ({G: 1}, {G: 1})
    assert found["findings"][("shop", "orphan queue", "suspected")] == 1


def test_what_is_unknown_has_no_sample() -> None:
    settle()
    told(missed("B", 3_000))
    turn(3_100)

    found = figures(4_000)

    assert found["orphan_queues"] == found["double_owned_queues"] == {}
    assert found["group_silent_members"] == {G: 1}
    assert found["duplicate_messages"] == found["last_rebalance_seconds_ago"] == {}


def test_a_group_that_broadcasts_has_no_samples_of_owners() -> None:
    settle()
    Group.objects.update(model="BROADCASTING", orphan_count=0, double_count=0)

    found = figures(4_000)

    assert (found["orphan_queues"], found["double_owned_queues"], found["group_members"]) == ({}, {}, {G: 2})


def answered(at: int, *queues: list[object], missing: str | None = None) -> None:
    columns = standing(queues, at=T0 + at, before=None) | {"missing": missing, "observed_at": T0 + at, "at": T0 + at}
    columns["missing_at"] = None if missing is None else T0 + at
    Progress.objects.update_or_create(
        group=Group.objects.get(), broker="east", defaults={**columns, "queues": list(queues), "origin": "admin answer"}
    )


def test_lag_is_told_where_all_of_it_is_known() -> None:
    settle()
    names = ("group_lag_messages", "group_lag_seconds")
    assert [figures(4_000)[name] for name in names] == [{}, {}]

    answered(3_000, ["orders", 0, 9, 4, T0 + 1_000], ["orders", 1, 7, 7, None])
    assert [figures(4_000)[name] for name in names] == [{G: 5}, {G: 2}]

    answered(3_000, ["orders", 0, 9, 9, None])
    assert [figures(4_000)[name] for name in names] == [{G: 0}, {G: 0}]

    answered(3_000, ["orders", 0, 9, 4, None], ["orders", 1, 7, None, None])
    assert [figures(4_000)[name] for name in names] == [{}, {}]

    answered(3_000, ["orders", 0, 9, 4, None], missing="timeout")
    assert [figures(4_000)[name] for name in names] == [{}, {}]


def test_two_owners_that_are_known_are_no_count_of_all_while_an_answer_is_missing() -> None:
    settle()
    told(joined("C", 2_000), held("C", 3_000, [0]), held("A", 3_010, [0, 1]), missed("B", 3_050))
    turn(3_100)

    assert Group.objects.get().double_count == 1
    assert figures(4_000)["double_owned_queues"] == {}


def test_two_owners_of_different_times_are_no_count() -> None:
    settle()
    told(held("A", 30_000, [0, 1, 2]))
    turn(30_100)

    assert Group.objects.get().perhaps_twice_count == 1
    assert figures(31_000)["double_owned_queues"] == {}


def test_series_end_with_a_cluster_that_is_put_aside_or_answers_nothing_for_long() -> None:
    settle()
    told(held("A", 3_000, [0, 1, 2]), held("B", 3_000, [2]))
    turn(3_100)
    shop = Cluster.objects.filter(name="shop")
    shop.update(watched_at=T0)
    Watch.objects.create(cluster=shop.get(), at=T0)
    series = {"orphan_queues", "rebalance_total", "findings", "watcher_calls_total", "watcher_has_lease"}
    assert all(figures(4_000)[name] for name in series)

    found = figures(UNWATCHED_MS + 1_000)
    assert {name for name in series if found.get(name)} == {"watcher_calls_total", "watcher_has_lease"}

    put_aside(clusters=shop)
    found = figures(4_000)
    assert {name for name in series if found.get(name)} == set()


def test_series_end_with_their_group() -> None:
    settle()
    assert G in figures(4_000)["rebalance_total"]
    told(left("A", 3_000), left("B", 3_000))
    asked_at = T0 + 60_000
    note_gone(cluster="shop", named=(), brokers=frozenset({"east"}), asked_at=asked_at, now=asked_at, lease_epoch=0)

    found = figures(61_000)

    assert [name for name, samples in found.items() if any(key[:2] == G for key in samples)] == []


def test_series_of_a_cluster_that_nobody_watches_any_more_end_but_the_one_that_says_so() -> None:
    settle()
    Cluster.objects.update(lease_until=T0 + 1_000, lease_epoch=1, lease_holder="east:1")

    kept, ended = figures(1_000 + UNWATCHED_MS), figures(1_001 + UNWATCHED_MS)

    assert G in kept["rebalance_total"]
    assert [name for name, samples in ended.items() if any(key[:2] == G for key in samples)] == []
    assert ended["watcher_has_lease"] == {("shop",): 0}


def test_watcher_and_push_tell_their_health() -> None:
    settle()

    found = figures(4_000)

    assert found["watcher_has_lease"] == {("shop",): 0}
    assert found["watcher_last_fact_seconds_ago"] == {}
    assert found["push_steps_total"][()] >= 2
    assert found["push_last_step_seconds_ago"][()] > 0


def test_strange_names_do_not_break_the_format() -> None:
    told(*seen("A", group='a"b\\c\nd'))

    assert ("shop", 'a"b\\c\nd') in figures(0)["rebalance_total"]


def test_a_watcher_says_how_old_its_sweep_is_and_whom_it_leaves_alone() -> None:
    Watch.objects.create(
        cluster=Cluster.objects.get(),
        at=T0,
        sweep_ended_at=T0 - 4_000,
        sweep_took_ms=30_000,
        sweep_missed=1,
        sweep_unanswered=2,
        calls=90,
        missed=3,
        resting=2,
        lists_at=T0 - 1_500,
        viewed=1,
    )

    found = figures(1_000)

    shop = ("shop",)
    assert found["watcher_report_seconds_ago"] == {shop: 1}
    assert (found["watcher_sweep_seconds_ago"], found["watcher_sweep_seconds"]) == ({shop: 5}, {shop: 30})
    assert (found["watcher_sweep_missed"], found["watcher_sweep_unanswered"]) == ({shop: 1}, {shop: 2})
    assert (found["watcher_calls_total"], found["watcher_calls_missed_total"]) == ({shop: 90}, {shop: 3})
    assert (found["watcher_clients_resting"], found["watcher_groups_viewed"]) == ({shop: 2}, {shop: 1})
    assert found["watcher_oldest_list_seconds"] == {shop: 2.5}
    assert found["watcher_oldest_held_seconds"] == {}


def test_a_counter_does_not_fall_with_what_it_counted() -> None:
    settle()
    before = figures(0)["push_steps_total"][()]

    end_streams(names=["group-1", *Stream.objects.values_list("name", flat=True)])

    assert figures(0)["push_steps_total"][()] == before >= 2


def test_sockets_are_of_the_processes_that_told_of_them_lately() -> None:
    for process, at in (("a:1", T0), ("b:2", T0 - 29_000), ("c:3", T0 - 31_000)):
        Server.objects.create(process=process, at=at, sockets=2)

    assert figures(0)["push_sockets"] == {("a:1",): 2, ("b:2",): 2}


def test_what_went_wrong_on_the_way_to_browsers_is_told_from_the_first_time_on() -> None:
    before = figures(0)
    add({Kind.NOT_TO_REDIS: 1, Kind.NOT_TO_BROWSER: 2, Kind.TOO_SLOW: 3, Kind.WITHOUT_REDIS: 4, Kind.FELL_BEHIND: 5})
    after = figures(0)

    assert before["push_sends_failed_total"] == {("redis",): 0, ("browser",): 0}
    assert after["push_sends_failed_total"] == {("redis",): 1, ("browser",): 2}
    assert after["push_sockets_dropped_total"] == {("too slow",): 3, ("no redis",): 4, ("error",): 0}
    assert after["push_queues_dropped_total"] == {(): 5}


def test_whether_redis_answers_is_told(redis_server: str, free_port: int) -> None:
    with override_settings(REDIS_URL=redis_server):
        assert figures(0)["redis_up"] == {(): 1}
    with override_settings(REDIS_URL=f"redis://127.0.0.1:{free_port}/0"):
        assert figures(0)["redis_up"] == {(): 0}


def test_each_figure_stands_in_its_page() -> None:
    settle()
    page = (ROOT / "docs" / "metrics.md").read_text()

    families = Figures(now=T0).collect()

    assert [family.name for family in families if f"`{family.name}" not in page] == []
