"""What two processes of one client id make uncertain of handoffs and of owners over time, while they last and after."""

from __future__ import annotations

import pytest

from dashboard.groups.drawn import plain_lanes
from dashboard.groups.lanes import lanes_of
from dashboard.groups.models import Group, Member, Round
from dashboard.groups.owner_lanes import owner_lanes
from dashboard.groups.partly import asked_in_part
from dashboard.groups.silences import doubts_of, told_until_of
from dashboard.groups.story import time_bar
from tests.dashboard.groups.test_story import turn
from tests.dashboard.story import T0, held, joined, left, listed, missed, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def letting_go(*first: str) -> Group:
    """C joins; B lets go of what is to be C's, who does not take it yet. A is there as often as ``first`` says."""
    told(route(4), *seen("A"), *seen("B"), listed(5, "A", "B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    turn(20)
    told(listed(2_000, *first, "B"))
    turn(2_100)
    told(joined("C", 5_000, low=4_500), *seen("C", 5_001), listed(5_000, *first, "B", "C"), held("C", 5_100, []))
    turn(5_200)
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_000, []))
    turn(6_100)
    told(held("A", 20_000, [0, 1]), held("B", 20_000, [2]), held("C", 20_000, []))
    return turn(20_100)


def test_what_another_process_of_an_id_may_have_is_not_said_to_be_without_owner() -> None:
    group = letting_go("A", "A")
    row = Round.objects.get()
    [lane] = lanes_of(row, now=T0 + 20_200)
    owners = owner_lanes(group=group, since=T0, until=T0 + 20_200)
    bar = time_bar(group=group, since=T0, now=T0 + 20_200)

    assert (lane.queue_id, lane.is_waiting, lane.is_unknown, lane.is_gap) == (3, False, True, False)
    assert owners["told_until"] == bar["told_until"] == T0 + 5  # since the last list that had it once
    assert owners["in_part"] == bar["in_part"] == ["A"]
    drawn = plain_lanes(row, [lane], T0 + 20_200)
    assert drawn is not None
    assert drawn["in_part"] == ["A"]
    assert bar["none"] == []


def test_of_processes_with_ids_of_their_own_that_is_known() -> None:
    group = letting_go("A")
    [lane] = lanes_of(Round.objects.get(), now=T0 + 20_200)

    assert (lane.is_waiting, lane.is_unknown, lane.is_gap) == (True, False, True)
    assert (told_until_of(group.pk), asked_in_part(group=group.pk)) == (None, [])


def test_that_an_id_was_there_twice_leaves_a_doubt_of_that_time_alone() -> None:
    group = letting_go("A", "A")
    told(listed(25_000, "A", "B", "C"))
    turn(25_100)

    assert told_until_of(group.pk) is None
    assert doubts_of(group=group.pk, since=T0) == [(T0 + 5, T0 + 25_000)]
    assert doubts_of(group=group.pk, since=T0 + 25_000) == []
    assert asked_in_part(group=group.pk, at=T0 + 9_000) == ["A"]
    assert asked_in_part(group=group.pk, at=T0 + 26_000) == asked_in_part(group=group.pk) == []


def test_who_left_or_came_back_keeps_the_time_in_which_it_was_there_twice() -> None:
    group = letting_go("A", "A")
    told(left("A", 30_000), listed(30_000, "B", "C"))
    gone = doubts_of(group=group.pk, since=T0 + 21_000)
    told(joined("A", 60_000), listed(60_000, "A", "B", "C"))

    assert gone == doubts_of(group=group.pk, since=T0 + 21_000)
    assert gone == [(T0 + 5, T0 + 30_000)]
    assert (Member.objects.get(client_id="A").doubled_at, asked_in_part(group=group.pk)) == (None, [])


def test_where_somebody_does_not_answer_at_all_that_is_the_reason() -> None:
    group = letting_go("A", "A")
    told(missed("C", 22_000))

    assert asked_in_part(group=group.pk) == []
