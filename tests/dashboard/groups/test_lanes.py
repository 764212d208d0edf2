from __future__ import annotations

import pytest
from django.test import Client

from dashboard.api.round_shapes import move_out
from dashboard.clusters.models import Cluster
from dashboard.groups.ending import tell_ended
from dashboard.groups.lanes import lanes_of
from dashboard.groups.models import Group, Handoff, Round
from dashboard.people.roles import Role
from rebalance_engine.events import Departure
from tests.dashboard.groups.test_story import join, settle, turn, worst_at
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, joined, left, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def test_what_all_members_let_go_of_at_once_has_nobody_so_far_in_the_rounds_figures_too() -> None:
    settle()
    told(held("A", 4_000, [0, 1]), held("B", 4_000, [2, 3]))
    told(left("A", 5_000, Departure.UNREGISTERED), left("B", 5_000, Departure.UNREGISTERED))
    turn(5_100)
    row = Round.objects.get()
    assert row.closed_at == row.opened_at == T0 + 5_000

    found, lanes = worst_at(300_000), lanes_of(row, now=T0 + 300_000)

    assert (found["unowned"], found["unowned_queues"], found["is_waiting"]) == ((295_000, 296_000), 4, True)
    assert {lane.unowned for lane in lanes} == {(295_000, 296_000)}
    assert all(lane.is_waiting for lane in lanes)


@pytest.mark.parametrize("departure", [Departure.HEARTBEAT_EXPIRED, Departure.CONNECTION_CLOSED, Departure.UNKNOWN])
def test_what_members_had_who_are_only_listed_no_more_has_perhaps_nobody(departure: Departure) -> None:
    settle()
    told(held("A", 4_000, [0, 1]), held("B", 4_000, [2, 3]))
    told(left("A", 5_000, departure), left("B", 5_000, departure))
    turn(5_100)

    found, lanes = worst_at(300_000), lanes_of(Round.objects.get(), now=T0 + 300_000)

    assert {(lane.unowned, lane.is_waiting, lane.is_gap, lane.is_perhaps_gap) for lane in lanes} == {
        ((0, 296_000), True, False, True)
    }
    assert (found["unowned"], found["unowned_perhaps_queues"], found["unowned_perhaps"]) == (None, 4, 296_000)
    assert (found["overlap_perhaps_queues"], found["is_waiting"]) == (0, False)


def test_what_somebody_took_from_who_was_lost_has_one_owner_and_had_perhaps_nobody_before() -> None:
    settle()
    told(held("A", 4_000, [0, 1]), held("B", 4_000, [2, 3]))
    told(left("B", 5_000, Departure.HEARTBEAT_EXPIRED))
    turn(5_100)
    told(held("A", 24_000, [0, 1]), held("A", 25_000, [0, 1, 2, 3]))
    turn(25_100)

    found = worst_at(300_000)
    lane = {lane.queue_id: lane for lane in lanes_of(Round.objects.get(), now=T0 + 300_000)}[2]

    assert (lane.from_client, lane.to_client, lane.unowned, lane.is_perhaps_gap) == ("B", "A", (0, 21_000), True)
    assert not lane.is_perhaps_overlap
    assert (found["unowned_queues"], found["unowned_perhaps_queues"], found["unowned_perhaps"]) == (0, 2, 21_000)
    assert (found["overlap_queues"], found["overlap_perhaps_queues"]) == (0, 0)


def keep_two() -> None:
    """C takes queue 3 beside B, who keeps it, as the round's last look shows."""
    settle()
    join()
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_500, []))
    turn(6_600)
    told(held("B", 7_000, [2]), held("C", 7_000, [2, 3]))
    turn(7_100)
    Round.objects.update(state="closed", closed_at=T0 + 7_000)
    tell_ended(group=Group.objects.get().pk, now=T0 + 7_200)
    told(*[held(client, 300_000, queues) for client, queues in (("A", [0, 1]), ("B", [2]), ("C", [2, 3]))])


def test_two_owners_that_a_round_left_behind_are_told_by_it_so_far() -> None:
    keep_two()
    row = Round.objects.get()
    handed = {lane.queue_id: lane for lane in lanes_of(row, now=T0 + 301_000)}

    assert (handed[2].from_client, handed[2].to_client, handed[2].is_shared) == ("B", "C", True)
    assert handed[2].overlap == (293_000, 294_500)
    found = worst_at(301_000)
    assert (found["overlap"], found["overlap_queues"], found["is_shared"]) == ((293_000, 294_500), 1, True)


def test_two_owners_that_a_round_left_behind_stay_its_own_when_a_later_one_ends_them() -> None:
    keep_two()
    told(left("A", 400_000), left("B", 400_000), left("C", 400_000))
    turn(400_100)
    first, second = Round.objects.order_by("number")

    [before] = [lane for lane in lanes_of(first, now=T0 + 500_000) if lane.queue_id == 2]
    after = [lane for lane in lanes_of(second, now=T0 + 500_000) if lane.queue_id == 2]

    assert (before.from_client, before.to_client, before.is_shared) == ("B", "C", False)
    assert before.overlap == (293_000, 393_500)
    assert worst_at(500_000, first.number)["overlap_queues"] == 1
    assert [(lane.to_client, lane.is_waiting, lane.is_overlap) for lane in after] == [("", True, False)]


def test_who_lets_go_beside_the_one_who_took_it_in_an_earlier_round_says_so() -> None:
    keep_two()
    told(joined("D", 400_000, low=399_000), held("D", 400_100, []))
    turn(400_200)
    told(held("B", 401_000, []), held("C", 401_000, [2, 3]), held("A", 401_000, [0]), held("D", 401_000, [1]))
    turn(401_100)

    lanes = {lane.queue_id: lane for lane in lanes_of(Round.objects.latest("number"), now=T0 + 402_000)}

    assert (lanes[2].from_client, lanes[2].to_client, lanes[2].is_overlap, lanes[2].is_older) == ("B", "C", True, True)
    assert not lanes[1].is_older


def test_what_is_only_possible_is_told_apart_from_what_is_known() -> None:
    settle()
    join()
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_000, [3]))
    turn(6_100)

    [lane] = lanes_of(Round.objects.get(), now=T0 + 16_000)
    found = worst_at(16_000)

    assert (lane.unowned[0], lane.overlap[0]) == (0, 0)
    assert (lane.is_gap, lane.is_overlap, lane.is_perhaps_gap, lane.is_perhaps_overlap) == (False, False, True, True)
    assert (found["unowned"], found["unowned_queues"], found["unowned_perhaps_queues"]) == (None, 0, 1)
    assert (found["overlap"], found["overlap_queues"], found["overlap_perhaps_queues"]) == (None, 0, 1)


def test_a_round_that_has_just_ended_has_the_handoffs_that_are_stored_a_moment_later() -> None:
    settle()
    join()
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_500, [3]))
    turn(6_600)
    told_later = lanes_of(Round.objects.get(), now=T0 + 7_000)
    Handoff.objects.all().delete()
    Round.objects.update(told_at=None)  # as it is until the worker comes to it

    at_once = lanes_of(Round.objects.get(), now=T0 + 7_000)

    assert [(lane.queue_id, lane.from_client, lane.to_client) for lane in at_once] == [(3, "B", "C")]
    assert [(lane.pause, lane.unowned) for lane in at_once] == [(lane.pause, lane.unowned) for lane in told_later]


@pytest.fixture
def taken_from_nobody(cluster: Cluster) -> None:  # noqa: ARG001 - facts are of a cluster that is there
    """B joins and takes queue 3, which nobody had, and queue 2, which was A's."""
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2]))
    turn(20)
    told(held("A", 1_000, [0, 1, 2]))
    turn(1_100)
    told(joined("B", 5_000, low=4_000), held("B", 5_050, []))
    turn(5_100)
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2, 3]))


@pytest.mark.usefixtures("taken_from_nobody")
def test_what_nobody_had_before_it_was_taken_had_nobody_in_its_lane_too() -> None:
    turn(6_100)

    lane = {lane.queue_id: lane for lane in lanes_of(Round.objects.get(), now=T0 + 6_200)}[3]
    share = worst_at(6_200)

    assert lane.is_gap
    assert lane.unowned == share["unowned"] == (4_050, None), "before the round, too: as long at least"


@pytest.mark.usefixtures("taken_from_nobody")
def test_what_was_let_go_after_it_was_taken_from_nobody_is_another_lanes() -> None:
    told(held("B", 7_000, [2]), held("A", 7_000, [0, 1]))  # and lets it go again: nobody takes it
    turn(7_100)

    def lanes(at: int) -> dict[str, tuple[int | None, int | None]]:
        told(held("A", at, [0, 1]), held("B", at, [2]))
        found = lanes_of(Round.objects.first() or Round(), now=T0 + at)
        return {lane.from_client: lane.unowned for lane in found if lane.queue_id == 3}

    soon, late = lanes(8_000), lanes(60_000)
    assert soon[""] == late[""] == (4_050, None)
    assert (late["B"][0] or 0) - (soon["B"][0] or 0) == 52_000


@pytest.mark.parametrize(
    ("then", "handed"),
    [
        ([3], {("B", "A", False), ("A", "C", True)}),
        ([], {("B", "C", False), ("C", "A", False)}),
    ],
)
def test_of_two_who_took_a_queue_at_one_look_neither_is_told_to_have_let_it_go_to_the_other(
    then: list[int], handed: set[tuple[str, str, bool]]
) -> None:
    settle()
    join()
    told(held("B", 7_000, [2]), held("A", 7_000, [0, 1, 3]), held("C", 7_000, [3]))
    told(held("A", 8_000, [0, 1, *then]), held("B", 8_000, [2]), held("C", 8_000, [3]))
    row = Round.objects.get()

    lanes = [lane for lane in lanes_of(row, now=T0 + 9_000) if lane.queue_id == 3]

    assert {(lane.from_client, lane.to_client, lane.is_shared) for lane in lanes} == handed
    assert {lane.from_client for lane in lanes if lane.dropped_at is not None} == {"B"}
    beside = next(move_out(lane, {}) for lane in lanes if lane.from_client != "B")
    assert beside.dropped_at is None
    assert beside.unknown["dropped_at"] == "it handed nothing over: it had the queue beside the other one"


def test_in_the_table_what_was_let_go_between_two_looks_has_no_bare_instant(client: Client) -> None:
    settle()
    join()
    told(held("A", 134_000, [0, 1]), held("B", 134_000, [2]), held("C", 134_500, [3]))
    turn(134_600)
    row = Round.objects.get()
    client.force_login(person(Role.VIEWER))

    page = client.get(f"/groups/{row.group_id}/rounds/{row.number}/").content.decode()
    table = page[page.index("Handoffs as a table") :]

    assert table.count("UTC at the earliest") == 2
    assert table.count("≤\u202f<time") >= 2
