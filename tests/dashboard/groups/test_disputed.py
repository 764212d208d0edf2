"""While NameServers disagree on a topic's queues, nothing that hangs on these is said to be exact; then it is again."""

from __future__ import annotations

import pytest
from django.test import Client

from dashboard.clusters.models import Cluster, Queue, Watch
from dashboard.groups.lately import lately_of
from dashboard.groups.leaving import away_since, disputed
from dashboard.groups.models import Finding, Group, Round, RoundCause
from dashboard.groups.past_spans import put_together
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.showing import row_of, row_shown
from dashboard.groups.story import time_bar
from dashboard.groups.table import in_words
from dashboard.groups.words import state_of
from dashboard.people.roles import Role
from dashboard.push.messages import GroupState
from dashboard.push.publish import group_snapshot, group_state
from rebalance_engine.events import EXACT, Fact, RouteMissing
from rebalance_engine.findings.seers import ROUTES_AGAIN_MS
from tests.dashboard.groups.test_sights import HEALTHY, OTHER_NAMESRV, routed
from tests.dashboard.health.test_figures import figures
from tests.dashboard.persons import person
from tests.dashboard.story import NAMESRV, T0, held, joined, listed, seen, told

NOBODYS = ("orphan queue", "retry topic unowned")


@pytest.fixture(autouse=True)
def two_name_servers(cluster: Cluster) -> None:
    cluster.namesrv = "127.0.0.1:9876;127.0.0.1:9877"
    cluster.save()


def turn(at: int) -> Group:
    group = Group.objects.get(name="g")
    rebalance_once(group=group.pk, now=T0 + at)
    group.refresh_from_db()
    return group


def shown(group: Group) -> GroupState:
    state = group_state(group=group.pk)
    assert state is not None
    return state


def words_of(group: Group) -> str:
    return state_of(row_of(group)).words


def kinds() -> set[str]:
    return set(Finding.objects.filter(cleared_at=None).values_list("kind", flat=True))


def lacks(at: int = 0) -> RouteMissing:
    return RouteMissing(at=T0 + at, source=OTHER_NAMESRV, exactness=EXACT, topic="orders")


def dispute(*facts: Fact) -> Group:
    told(*HEALTHY, routed(OTHER_NAMESRV, 0, east=6), *facts)
    return turn(10)


def test_queues_that_one_name_server_alone_has_are_no_orphans_and_what_is_wanted_is_unknown() -> None:
    group = dispute()

    assert (group.is_converged, group.orphan_count, group.double_count, group.disputed_count) == (None, None, 0, 2)
    assert words_of(group) == "NameServers disagree on 2 of 6 queues"
    assert "different routes" in kinds()
    assert kinds().isdisjoint(NOBODYS)
    head = shown(group).head
    assert (head.is_target_known, head.is_converged, head.orphans, head.disputed) == (False, None, None, (4, 2))
    told(held("A", 80_000, [0, 1]), held("B", 80_000, [2, 3]))
    group = turn(80_010)
    assert Finding.objects.get(kind="different routes").confirmed_at is not None
    assert (group.is_converged, group.orphan_count) == (None, None)
    assert kinds().isdisjoint(NOBODYS)


def test_a_group_is_not_held_as_wanted_while_a_name_server_has_no_route() -> None:
    told(*HEALTHY, lacks())
    group = turn(10)

    assert (group.is_converged, group.orphan_count, group.disputed_count) == (None, 0, 4)
    assert row_of(group).is_converged is None
    assert words_of(group) == "NameServers disagree on 4 of 4 queues"


def test_once_they_agree_everything_is_exact_at_once() -> None:
    dispute()

    told(routed(OTHER_NAMESRV, 1_000, east=4), held("A", 1_005, [0, 1]), held("B", 1_005, [2, 3]))
    group = turn(1_010)

    assert (group.is_converged, group.orphan_count, group.disputed_count) == (True, 0, 0)
    assert (group.disputed_since, group.disputes) == (None, [[T0 + 10 - ROUTES_AGAIN_MS, T0 + 1_010, True]])
    assert words_of(group) == "held as wanted"
    assert (shown(group).head.is_target_known, shown(group).head.disputed) == (True, ())


def test_once_both_have_the_queues_these_are_orphans() -> None:
    dispute()

    told(routed(NAMESRV, 1_000, east=6), held("A", 1_005, [0, 1]), held("B", 1_005, [2, 3]))
    group = turn(1_010)

    assert (group.is_converged, group.orphan_count, group.disputed_count) == (False, 2, 0)
    assert "orphan queue" in kinds()


def test_what_is_not_disputed_is_an_orphan_all_the_same() -> None:
    group = dispute(held("B", 5, [2]))

    assert (group.orphan_count, group.is_converged) == (1, None)
    assert row_of(group).is_converged is False
    assert words_of(group) == "at least 1 of 6 queues without owner"
    assert Finding.objects.get(kind__in=NOBODYS).subject == "orders/east/3"
    assert figures(20)["orphan_queues"] == {("shop", "g"): 1}
    assert figures(20)["group_converged"] == {("shop", "g"): 0}


def test_how_many_have_no_owner_is_exact_where_all_disputed_queues_are_held() -> None:
    group = dispute(held("B", 5, [2, 4, 5]))

    assert (group.orphan_count, group.disputed_count, group.perhaps_orphan_count) == (1, 2, 0)
    assert words_of(group) == "1 of 6 queues without owner"
    row = row_shown(shown(group), group=group, at=T0 + 10)
    assert (row.orphans, row.perhaps_orphans) == (1, 0)
    told(held("B", 20, [2, 5]))
    group = turn(30)
    assert words_of(group) == "at least 1 of 6 queues without owner"
    assert row_shown(shown(group), group=group, at=T0 + 30).perhaps_orphans == group.perhaps_orphan_count == 1
    group.perhaps_orphan_count = None  # as it was stored before there was such a column
    assert words_of(group) == "at least 1 of 6 queues without owner"


def test_where_all_disputed_queues_are_held_nobody_lacks_one() -> None:
    group = dispute(held("B", 5, [2, 3, 4, 5]))

    assert (group.orphan_count, group.is_converged) == (0, None)


def test_metrics_leave_out_what_cannot_be_known() -> None:
    dispute()
    found = figures(20)

    assert (found["orphan_queues"], found["group_converged"]) == ({}, {})
    assert found["double_owned_queues"] == {("shop", "g"): 0}
    told(routed(OTHER_NAMESRV, 1_000, east=4), held("A", 1_005, [0, 1]), held("B", 1_005, [2, 3]))
    turn(1_010)
    found = figures(1_020)
    assert (found["orphan_queues"], found["group_converged"]) == ({("shop", "g"): 0}, {("shop", "g"): 1})


def test_a_round_says_that_it_waits_for_name_servers_to_agree() -> None:
    dispute()

    told(joined("C", 1_000), *seen("C", 1_000), listed(1_000, "A", "B", "C"))
    told(held("A", 1_500, [0, 1]), held("B", 1_500, [2]), held("C", 1_500, [3]))
    turn(1_510)

    row = Round.objects.get()
    assert (row.move_count, row.unsettled, row.closed_at) == (None, [], None)
    assert row.waits_for == "the target cannot be known: NameServers disagree on the queues of orders"

    told(held("A", 130_000, [0, 1]), held("B", 130_000, [2]), held("C", 130_000, [3]))
    group = turn(130_010)
    row.refresh_from_db()
    assert (row.state, row.not_converged_at, group.due_at) == ("open", None, T0 + 150_010)


def test_who_takes_a_name_server_off_the_list_changes_no_route(cluster: Cluster) -> None:
    dispute()
    cluster.namesrv = "127.0.0.1:9876"
    cluster.save()

    told(routed(NAMESRV, 90_000, east=4), held("A", 90_005, [0, 1]), held("B", 90_005, [2, 3]))
    group = turn(90_010)

    assert (RoundCause.objects.count(), Round.objects.count()) == (0, 0)
    assert (group.queue_count, group.disputed_count, group.is_converged) == (4, 0, True)


def test_time_without_owner_is_only_perhaps_while_they_disagree() -> None:
    told(*HEALTHY)
    turn(10)
    told(routed(OTHER_NAMESRV, 100_000, east=2), held("B", 101_000, []), held("A", 101_000, [0, 1]))
    group = turn(101_010)
    Cluster.objects.update(watched_at=T0 + 131_000)

    unowned = lately_of(groups=[group.pk], now=T0 + 131_000)[group.pk].unowned
    bar = time_bar(group=group, since=T0, now=T0 + 131_000)

    assert unowned is not None
    assert unowned.low == 0
    assert unowned.high >= 2 * 30_000
    assert bar["none"] == []
    assert bar["doubts"] == [[T0 + 101_010 - ROUTES_AGAIN_MS, T0 + 131_000]]


def test_what_was_disputed_had_no_owner_for_certain_only_if_it_is_there_still() -> None:
    told(*HEALTHY)
    turn(10)
    told(routed(OTHER_NAMESRV, 100_000, east=2), held("A", 100_500, [0, 1]), held("B", 100_500, []))
    turn(100_510)
    told(routed(OTHER_NAMESRV, 130_000, east=4), held("A", 131_000, [0, 1]), held("B", 131_000, []))
    group = turn(131_010)
    Cluster.objects.update(watched_at=T0 + 132_000)
    assert group.disputes == [[T0 + 100_510 - ROUTES_AGAIN_MS, T0 + 131_010, False]]

    unowned = lately_of(groups=[group.pk], now=T0 + 132_000)[group.pk].unowned
    assert unowned is not None
    assert unowned.low > 2 * 30_000

    told(routed(OTHER_NAMESRV, 140_000, east=2), held("A", 140_500, [0, 1]))
    turn(140_510)
    told(routed(NAMESRV, 150_000, east=2), held("A", 151_000, [0, 1]), held("B", 151_000, []))
    group = turn(151_010)

    assert group.disputes is not None
    assert group.disputes[-1] == [T0 + 140_510 - ROUTES_AGAIN_MS, T0 + 151_010, True]
    queues = set(Queue.objects.values_list("pk", flat=True))
    away = disputed(away_since(clusters=[group.cluster_id], queues=queues, since=T0), group)
    assert {(each.low, each.at) for own in away.values() for each in own} == {
        (T0 + 140_510 - ROUTES_AGAIN_MS, T0 + 150_000)
    }
    bar = time_bar(group=group, since=T0, now=T0 + 152_000)
    assert bar["none"] == []


def test_in_the_past_it_is_unknown_as_well() -> None:
    told(*HEALTHY)
    group = turn(10)
    base = group_snapshot(group=group.pk)
    assert base is not None
    told(lacks(200_000))
    group = turn(200_010)
    told(routed(OTHER_NAMESRV, 300_000, east=4))
    group = turn(300_010)

    within, after = (put_together(group=group, base=base, at=T0 + at).head for at in (250_000, 310_000))

    assert (within.is_converged, within.is_target_known) == (None, False)
    assert (after.is_converged, after.is_target_known) == (True, True)


def test_a_name_server_that_answers_no_more_is_not_asked() -> None:
    group = dispute(held("B", 5, [2, 3, 4, 5]))
    assert group.disputed_count == 2
    told(lacks(20))
    assert turn(30).disputed_count == 4

    silent = [{"server": OTHER_NAMESRV.address, "missing": "timeout", "since": T0}]
    watch = Watch.objects.create(cluster=Cluster.objects.get(), at=T0 + 40, silent=silent)
    assert group.due_at is not None
    group = turn(30_000)

    assert group.disputed_count == 0
    watch.silent = []
    watch.save()
    assert turn(60_000).disputed_count == 4  # though no fact tells that it answers again


def test_each_queue_is_said_to_be_disputed_in_words() -> None:
    group = dispute()

    rows = in_words(shown(group), {}).rows

    assert [(row.queue_id, row.kind) for row in rows if row.kind != "ok"] == [(4, "disputed"), (5, "disputed")]
    assert {row.words for row in rows} == {
        "held; unknown who should have it",
        "NameServers disagree whether it is there",
    }


def test_page_and_api_say_it(client: Client) -> None:
    group = dispute()
    client.force_login(person(Role.VIEWER))

    page = client.get(f"/groups/{group.pk}/").content.decode()
    told_of = client.get(f"/api/v1/groups/{group.pk}").json()
    queues = client.get(f"/api/v1/groups/{group.pk}/queues").json()["rows"]

    assert "NameServers disagree on 2 of 6 queues" in page
    plan = client.get(f"/groups/{group.pk}/plan/").content.decode()
    assert "NameServers disagree on 2 queues: all are divided here" in plan
    assert '<tr data-kind="disputed">' in page
    assert (told_of["orphans"], told_of["is_converged"], told_of["disputed"]) == (None, None, 2)
    assert told_of["unknown"]["orphans"] == "NameServers disagree on 2 of 6 queues"
    assert [each["is_disputed"] for each in queues] == [False] * 4 + [True] * 2
    assert [each["held_by"] for each in queues] == [["A"], ["A"], ["B"], ["B"], None, None]
    assert queues[4]["unknown"]["held_by"] == "NameServers disagree whether orders has it"
    assert {str(each["target"]) for each in queues} == {"None"}
