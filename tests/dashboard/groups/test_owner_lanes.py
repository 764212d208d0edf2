from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups import owner_lanes as lanes
from dashboard.groups.models import Group, Member
from dashboard.groups.owner_lanes import owner_lanes
from rebalance_engine.events import Exactness
from tests.dashboard.story import T0, held, joined, left, listed, missed, route, seen, told


@pytest.fixture
def group(cluster: Cluster) -> Group:
    told(route(3), listed(0, "A"), *seen("A"), held("A", 1_000, [0, 1, 2]))
    told(
        joined("B", 10_000, low=10_000), listed(10_000, "A", "B"), held("B", 12_000, [2]), held("A", 12_500, [0, 1, 2])
    )
    told(held("B", 14_000, [2]), held("A", 15_000, [0]))
    del cluster
    return Group.objects.get()


def told_at(group: Group, since: int, until: int) -> dict[int, dict[str, object]]:
    found = owner_lanes(group=group, since=T0 + since, until=T0 + until)
    queues = found["queues"]
    assert isinstance(queues, list)
    return {each["id"]: each for each in queues}


def test_each_queue_tells_its_owners_in_their_order(group: Group) -> None:
    found = told_at(group, 5_000, 20_000)

    assert found[0]["bars"] == [[0, T0 + 5_000, None, None]]
    assert found[2]["bars"] == [[0, T0 + 5_000, T0 + 15_000, None], [1, T0 + 12_000, None, None]]
    assert owner_lanes(group=group, since=T0, until=T0 + 20_000)["clients"] == ["A", "B"]


def test_gaps_and_overlaps_are_times_of_their_own(group: Group) -> None:
    Member.objects.update(held_seen_at=T0 + 20_000)
    found = told_at(group, 5_000, 20_000)

    assert found[1]["none"] == [[T0 + 15_000, T0 + 20_000]]
    assert found[2]["two"] == [[T0 + 12_000, T0 + 12_500]]  # until the first of them told last
    assert (found[0]["none"], found[0]["two"]) == ([], [])


def test_a_queue_that_nobody_has_since_before_the_window_is_there(group: Group) -> None:
    Member.objects.update(held_seen_at=T0 + 80_000)
    found = told_at(group, 60_000, 90_000)

    assert (found[1]["bars"], found[1]["none"]) == ([], [[T0 + 60_000, T0 + 80_000]])
    assert found[1]["perhaps"] == [[T0 + 80_000, T0 + 90_000]]  # somebody may have taken it since the last look


def test_of_many_queues_those_are_shown_that_changed_hands(group: Group, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "MOST_LANES", 2)

    found = owner_lanes(group=group, since=T0 + 5_000, until=T0 + 20_000)

    assert [each["id"] for each in found["queues"]] == [1, 2]  # type: ignore[attr-defined] # a list
    assert (found["count"], found["is_whole"]) == (3, True)


def test_the_oldest_bars_are_left_out_where_there_are_too_many(group: Group, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "MOST_BARS", 1)

    assert owner_lanes(group=group, since=T0 + 5_000, until=T0 + 20_000)["is_whole"] is False


def test_of_a_broadcasting_group_no_owners_are_told_every_member_has_every_queue(group: Group) -> None:
    Group.objects.update(model="BROADCASTING")
    group.refresh_from_db()

    assert owner_lanes(group=group, since=T0 + 5_000, until=T0 + 20_000)["queues"] == []


def test_what_lies_between_two_looks_is_perhaps_nobodys(group: Group) -> None:
    told(held("B", 40_000, [2, 3]), held("B", 43_000, [1, 2, 3]))

    found = told_at(group, 30_000, 60_000)

    assert found[1]["none"] == [[T0 + 30_000, T0 + 40_000]]
    assert found[1]["perhaps"] == [[T0 + 40_000, T0 + 43_000]]


def test_what_a_silent_member_had_last_is_certain_until_it_told_so(group: Group) -> None:
    told(missed("B", 60_000))

    found = told_at(group, 12_000, 90_000)

    bars = found[2]["bars"]
    assert isinstance(bars, list)
    assert bars[-1] == [1, T0 + 12_000, None, T0 + 14_000]
    assert found[0]["bars"] == [[0, T0 + 12_000, None, None]]
    told(left("B", 80_000))
    assert told_at(group, 30_000, 90_000)[2]["bars"] == [[1, T0 + 30_000, T0 + 80_000, T0 + 30_000]]


def test_a_queue_that_is_in_no_route_says_so_and_is_no_blank(group: Group) -> None:
    told(replace(route(2, 30_000), exactness=Exactness.between(T0 + 29_000, T0 + 30_000)))
    told(held("A", 31_000, [0, 1]), held("B", 31_000, []))
    told(route(3, 50_000), held("B", 55_000, [2]))

    found = told_at(group, 5_000, 60_000)

    assert (found[2]["away"], found[0]["away"]) == ([[T0 + 30_000, T0 + 50_000]], [])
    assert told_at(group, 5_000, 40_000)[2]["away"] == [[T0 + 30_000, T0 + 40_000]]
    assert told_at(group, 35_000, 60_000)[2]["away"] == [[T0 + 35_000, T0 + 50_000]]


def test_a_queue_whose_first_owner_is_seen_in_the_window_did_not_change_hands(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "MOST_LANES", 2)
    told(route(3), listed(0, "A"), *seen("A"), held("A", 1_000, [0, 1, 2]))
    del cluster

    found = owner_lanes(group=Group.objects.get(), since=T0, until=T0 + 20_000)

    assert (found["count"], found["changed"]) == (3, 0)
    queues = found["queues"]
    assert isinstance(queues, list)
    assert [each["id"] for each in queues] == [0, 1]
