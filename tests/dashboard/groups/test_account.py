from __future__ import annotations

import pytest

from dashboard.clusters.models import Cluster, Queue
from dashboard.groups.account import NOTHING, account_at, account_of, figures_of
from dashboard.groups.ending import tell_ended
from dashboard.groups.models import Group, Round
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.shares import Lasted, Share
from dashboard.groups.story import worst
from tests.dashboard.groups.test_story import lane_of
from tests.dashboard.story import T0, held, joined, route, seen, told

pytestmark = pytest.mark.django_db


def turn(at: int) -> None:
    group = Group.objects.get(name="g")
    rebalance_once(group=group.pk, now=T0 + at)
    tell_ended(group=group.pk, now=T0 + at)


def two_from_the_first_look() -> Round:
    """Two have queue 2 before a third one comes; one of them lets it go."""
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1, 2]), held("B", 10, [2, 3]))
    turn(20)
    told(joined("C", 5_000, low=4_000), held("C", 5_100, []), held("A", 5_200, [0, 1, 2]), held("B", 5_200, [2, 3]))
    turn(5_300)
    return Round.objects.get()


def test_without_a_round_there_is_nothing_to_tell() -> None:
    assert account_of(row=None, now=T0) is account_at(row=None, at=T0, now=T0) is NOTHING


@pytest.mark.usefixtures("cluster")
def test_what_two_had_before_a_round_is_counted_apart_and_grows_in_none_of_its_figures() -> None:
    row = two_from_the_first_look()

    early, late = (figures_of(row=row, account=account_of(row=row, now=T0 + at), twice=None) for at in (5_300, 905_300))

    assert (early["overlap"], early["overlap_queues"], early["overlap_older_queues"]) == (None, 0, 1)
    assert {name: late[name] for name in early if name.startswith("overlap")} == {
        name: early[name] for name in early if name.startswith("overlap")
    }


@pytest.mark.usefixtures("cluster")
def test_what_no_handoff_tells_stands_beside_the_handoffs_with_its_time() -> None:
    row = two_from_the_first_look()

    told_of = account_of(row=row, now=T0 + 5_300)

    assert [each.queue_id for each in told_of.rest] == [2]
    [(since, until)] = told_of.rest[0].times.two
    assert (since, until) == (T0 + 10, T0 + 5_200)
    assert account_at(row=row, at=T0 + 5_300, now=T0 + 9_000).rest == told_of.rest


def test_what_lasts_in_a_round_of_a_cluster_that_is_put_aside_ends_with_its_last_answer(cluster: Cluster) -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    turn(20)
    told(joined("C", 5_000, low=4_000), held("C", 5_100, []), held("A", 5_200, [0]), held("B", 5_200, [2, 3]))
    turn(5_300)
    told(held("A", 6_000, [0]), held("B", 6_000, [2, 3]), held("C", 6_000, []))
    turn(6_100)

    def longest(at: int) -> object:
        row = Round.objects.get()
        return figures_of(row=row, account=account_of(row=row, now=T0 + at), twice=None)["unowned"]

    at_the_last_answer, later = longest(7_000), longest(905_300)
    Cluster.objects.filter(pk=cluster.pk).update(lease_epoch=1, lease_holder="", watched_at=T0 + 7_000)

    assert longest(905_300) == at_the_last_answer != later


@pytest.mark.usefixtures("cluster")
def test_the_longest_without_owner_is_as_a_handoff_tells_it_and_no_wider() -> None:
    told(route(4))
    zero, one, *_others = Queue.objects.order_by("queue_id").values_list("pk", flat=True)
    wide, narrow = Share(Lasted(1_000, 1_020, 4_400), Lasted()), Share(Lasted(700, 700, 700), Lasted())
    lanes = [lane_of(0, unowned=(1_000, 1_040)), lane_of(1, unowned=(700, 1_100)), lane_of(2, overlap=(4_400, 4_400))]

    assert worst(lanes, {zero: wide, one: narrow})["unowned"] == (1_000, 1_100)
    assert worst(lanes[1:], {zero: wide, one: narrow})["unowned"] == (1_000, 4_400)  # no handoff tells of it
    assert worst([lane_of(0, unowned=(0, 1_040))], {zero: wide})["unowned"] == (1_000, 1_040)
    assert worst([lane_of(0, unowned=(1_000, None))], {zero: wide})["unowned"] == (1_000, None)
