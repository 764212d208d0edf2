from __future__ import annotations

import pytest

from dashboard.clusters.models import Cluster, Queue, Watch
from dashboard.groups.lanes import lanes_of
from dashboard.groups.lasting import lasting_pauses
from dashboard.groups.lately import lately_of
from dashboard.groups.models import Handoff, Round
from dashboard.groups.owned import bands_of, shares_in
from dashboard.pauses.costs import Between, Sum
from dashboard.pauses.queries import pauses_of
from rebalance_engine.events import Departure
from tests.dashboard.groups.test_story import settle, turn
from tests.dashboard.story import T0, held, joined, left, listed, missed, told

pytestmark = pytest.mark.usefixtures("cluster")


def lasting(at: int) -> dict[int, int]:
    row = Round.objects.get(number=1)
    return {number: ms for number, ms in lasting_pauses(rounds=[row.pk], now=T0 + at).items() if number == row.pk}


def left_behind() -> Round:
    settle()
    told(left("A", 5_000, Departure.UNREGISTERED), left("B", 5_000, Departure.UNREGISTERED))
    turn(5_100)
    return Round.objects.get()


def test_what_nobody_took_over_pauses_so_far() -> None:
    row = left_behind()

    assert lasting(65_000) == {row.pk: 60_000}


def test_it_lasted_until_somebody_may_have_had_it() -> None:
    row = left_behind()
    told(joined("C", 30_000), held("C", 31_000, [0, 1, 2, 3]))

    assert lasting(65_000) == {row.pk: 25_000}


def test_pauses_and_overview_bound_what_lasts_as_its_lanes_do() -> None:
    row = left_behind()
    for at, more in ((65_000, ()), (90_000, (joined("C", 70_000), held("C", 71_000, [0, 1, 2, 3])))):
        told(*more)
        turn(at)
        group, now = row.group, T0 + at
        Cluster.objects.update(watched_at=now)
        [cost] = [each.cost for each in pauses_of(group=group, since=T0, now=now).rounds if each.number == row.number]
        lanes = [lane.unowned for lane in lanes_of(row, now=now)]

        assert cost is not None
        assert (cost.unowned.low, cost.unowned.high) == tuple(map(sum, zip(*lanes, strict=True)))
        lately = lately_of(groups=[group.pk], now=now)[group.pk].unowned
        assert lately is not None and cost.unowned.low <= lately.high and lately.low <= (cost.unowned.high or 0)


def test_who_is_only_listed_no_more_may_have_it_still() -> None:
    settle()
    told(left("A", 5_000), left("B", 5_000))
    turn(5_100)

    assert lasting(65_000) == {Round.objects.get().pk: 0}


def test_who_does_not_answer_may_have_taken_it() -> None:
    row = left_behind()
    told(joined("C", 30_000, low=29_000), held("C", 31_000, []), missed("C", 33_000))

    assert lasting(65_000) == {row.pk: 26_000}


def test_what_left_the_route_was_without_owner_until_then_and_nobody_misses_it() -> None:
    row = left_behind()
    Queue.objects.update(gone_at=T0 + 6_000)
    now = T0 + 65_000

    [cost] = [each.cost for each in pauses_of(group=row.group, since=T0, now=now).rounds]
    lanes = [lane.unowned for lane in lanes_of(row, now=now)]

    assert cost is not None
    assert (cost.unowned.low, cost.unowned.high, cost.unowned.unknown) == (*map(sum, zip(*lanes, strict=True)), 0)
    assert cost.unowned.high == 4 * 5_990
    assert (cost.longest, cost.paused, cost.overlap) == (Between(0, 0), Sum(0, 0, 0), Sum(0, 0, 0))


def test_what_another_one_had_all_the_time_nobody_missed() -> None:
    row = left_behind()
    Handoff.objects.update(dropped_at=T0 + 4_000, dropped_low=T0 + 4_000, dropped_high=T0 + 4_000)

    [cost] = [each.cost for each in pauses_of(group=row.group, since=T0, now=T0 + 65_000).rounds]

    assert cost is not None
    assert (cost.longest, cost.paused, cost.unowned) == (Between(0, 0), Sum(0, 0, 0), Sum(0, 0, 0))


def test_of_queues_that_are_gone_there_is_none() -> None:
    left_behind()
    Queue.objects.update(gone_at=T0 + 6_000)

    assert lasting(65_000) == {}


def test_what_lasts_is_certain_until_the_oldest_of_the_last_looks() -> None:
    settle()
    told(left("A", 5_000, Departure.UNREGISTERED), held("B", 5_050, [2, 3]), listed(5_000, "B"))
    turn(5_100)
    told(held("B", 20_000, [2, 3]), at=20_000)
    for lists_at, certain in ((None, 15_000), (18_000, 13_000), (60_000, 15_000)):
        Watch.objects.all().delete()
        Watch.objects.create(cluster=Cluster.objects.get(), at=T0, lists_at=lists_at and T0 + lists_at)
        row, now = Round.objects.get(), T0 + 65_000
        Cluster.objects.update(watched_at=now)
        shares, bands = shares_in(row=row, now=now), bands_of(group=row.group, since=T0, now=now)

        assert {lane.unowned for lane in lanes_of(row, now=now)} == {(certain, 64_990)}
        assert {(share.unowned.low, share.unowned.high) for share in shares.values()} == {(certain, 64_990)}
        assert [(step.until - step.since, step.queues) for step in bands.nobody] == [(certain, 2)]
        assert [(step.until - T0, step.queues) for step in bands.perhaps_nobody] == [(65_000, 2)]
        lately = lately_of(groups=[row.group_id], now=now)[row.group_id].unowned
        assert lately is not None
        assert lately.low == 2 * certain
