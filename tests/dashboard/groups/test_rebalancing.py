"""Whole rebalances on a virtual clock: facts in, rounds, findings and state out."""

from __future__ import annotations

import json

import pytest
from django.db import transaction
from django.db.models import F

from dashboard.clusters.models import Cluster, OutboxLine
from dashboard.groups.locks import Late, hold_fence, take_fence
from dashboard.groups.models import Finding, Group, Handoff, Round, Target
from dashboard.groups.rebalancing import due_groups, read_inputs, rebalance_once
from dashboard.push.publish import group_state
from rebalance_engine.events import (
    EXACT,
    Cause,
    Departure,
    MemberListSeen,
    QueueTaken,
    RouteMissing,
    SubscriptionsSeen,
)
from tests.dashboard.story import (
    EAST,
    NAMESRV,
    ORDERS,
    REPORT,
    T0,
    held,
    joined,
    left,
    listed,
    missed,
    queue,
    route,
    seen,
    subscribes,
    told,
    uses,
)

pytestmark = pytest.mark.usefixtures("cluster")


def turn(at: int) -> Group:
    """Rebalance the group of these tests, and give its row."""
    group = Group.objects.get(name="g")
    rebalance_once(group=group.pk, now=T0 + at)
    group.refresh_from_db()
    return group


def settle() -> None:
    """Two members share four queues by AVG, as they should."""
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    turn(20)


def test_a_first_look_at_a_group_in_order_is_no_round() -> None:
    settle()

    group = Group.objects.get()
    assert not Round.objects.exists()
    assert (group.is_converged, group.member_count, group.queue_count, group.orphan_count) == (True, 2, 4, 0)
    assert list(Target.objects.order_by("queue__queue_id").values_list("member__client_id", flat=True)) == list("AABB")


def test_a_join_opens_a_round_that_closes_when_everybody_has_what_it_should() -> None:
    settle()
    told(joined("C", 5_000, low=4_000), held("C", 5_100, []))
    opened = turn(5_200)
    assert (opened.round_number, opened.round_cause, opened.round_closed_at) == (1, "member joined", None)

    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_000, [3]))
    closed = turn(6_100)

    row = Round.objects.get()
    assert (row.state, row.closed_at, row.move_count) == ("closed", T0 + 6_000, 1)
    assert closed.round_closed_at == T0 + 6_000
    assert [cause.evidence for cause in row.causes.all()] == ["C joined"]
    assert row.members_before == ["A", "B"]
    assert row.members_after == ["A", "B", "C"]


def test_a_moved_queue_has_its_handoff_with_bounds() -> None:
    settle()
    told(joined("C", 5_000), held("C", 5_100, []))
    turn(5_200)
    told(held("B", 6_000, [2]))
    turn(6_050)

    told(held("A", 7_000, [0, 1]), held("B", 7_000, [2]), held("C", 7_500, [3]))
    turn(7_600)

    story = Handoff.objects.get()
    assert (story.from_client, story.to_client, story.queue_id) == ("B", "C", 3)
    assert (story.dropped_low, story.dropped_high) == (T0 + 10, T0 + 6_000)
    assert (story.taken_low, story.taken_high) == (T0 + 5_100, T0 + 7_500)
    assert (story.unowned_low, story.unowned_high) == (0, 7_490)
    assert OutboxLine.objects.filter(line__contains='"event":"Unowned"').count() == 1


def test_a_round_stays_open_while_a_member_does_not_answer() -> None:
    settle()
    told(joined("C", 5_000), held("A", 6_000, [0, 1]), held("B", 6_000, [2]), missed("C", 6_000))

    group = turn(6_100)

    assert (group.is_converged, group.silent_count, group.orphan_count) == (None, 1, None)
    assert Round.objects.get().unknown_members == ["C"]


def test_who_was_not_asked_yet_is_counted_apart_from_who_does_not_answer() -> None:
    settle()
    told(joined("C", 5_000), joined("D", 5_000), missed("C", 6_000))

    group = turn(6_100)

    assert (group.silent_count, group.unasked_count) == (2, 1)


def test_a_look_from_before_the_cause_does_not_close_a_round() -> None:
    told(route(1), *seen("A"), held("A", 10, [0]))
    turn(20)
    told(joined("B", 5_000), held("B", 5_100, []))

    group = turn(5_200)

    assert group.is_converged is None
    assert group.round_closed_at is None


def test_a_later_leave_supersedes_the_round() -> None:
    settle()
    told(joined("C", 5_000))
    turn(5_100)

    told(left("A", 9_000, Departure.HEARTBEAT_EXPIRED))
    turn(9_100)

    first, second = Round.objects.order_by("number")
    assert (first.state, first.superseded_by, first.closed_at) == ("superseded", 2, T0 + 9_000)
    assert (second.cause, second.wave) == (Cause.HEARTBEAT_EXPIRED.value, 1)


def test_after_120_s_a_round_says_that_it_did_not_converge_and_stays_open() -> None:
    settle()
    told(joined("C", 5_000))
    turn(5_100)
    group = Group.objects.get()
    assert due_groups(now=T0 + 124_999) == []

    assert due_groups(now=T0 + 125_000) == [group.pk]
    turn(125_000)

    row = Round.objects.get()
    assert (row.state, row.closed_at) == ("not converged", None)
    assert OutboxLine.objects.filter(line__contains='"event":"RoundNotConverged"').count() == 1
    assert due_groups(now=T0 + 300_000) == []


def test_time_goes_on_with_the_facts_where_the_clock_was_set_back() -> None:
    settle()
    told(joined("C", 5_000))
    turn(5_100)
    Cluster.objects.update(watched_at=T0 + 125_000)

    assert due_groups(now=T0 - 3_600_000) == [Group.objects.get().pk]
    turn(-3_600_000)

    row = Round.objects.get()
    assert (row.state, row.not_converged_at, row.group.rebalanced_at) == (
        "not converged",
        T0 + 125_000,
        T0 + 125_000,
    )


def test_queues_that_change_hands_without_any_cause_open_a_round_that_says_so() -> None:
    settle()

    told(held("A", 5_000, [0]), held("B", 5_000, [1, 2, 3]))
    turn(5_100)

    row = Round.objects.get()
    assert (row.cause, row.state) == ("held changed", "open")
    assert row.causes.get().evidence == "1 queue was taken or dropped, and nothing else that is known changed"
    assert row.opened_at == T0 + 5_000


def test_where_brokers_list_different_members_that_is_said_of_what_changed_by_no_other_cause() -> None:
    told(route(4), route(1, topic="clicks", broker="west"))
    for client in "ABC":
        told(seen(client)[0], subscribes(client, 0, "orders", "clicks"), uses(client, 0, "AVG"))
    told(listed(0, "A", "B", "C"), listed(0, "A", "B", "C", broker="west"))
    told(held("A", 10, [0, 1]), held("B", 10, [2]), held("C", 10, [3]))
    turn(20)
    told(listed(4_000, "A", "B", broker="west"), held("B", 5_000, []))
    turn(5_100)
    told(listed(6_000, "A", "B", "C", broker="west"), held("A", 7_000, [0]))
    turn(7_100)

    row = Round.objects.get()
    differ = "brokers list different members: west does not have C. Who asks there divides the queues by fewer."
    assert (row.cause, row.causes.get().evidence) == (
        "held changed",
        f"2 queues were taken or dropped; {differ}",
    )


def test_a_queue_that_was_only_dropped_opens_a_round_at_that_time() -> None:
    settle()

    told(held("B", 25_000, [2]))
    turn(25_100)

    row = Round.objects.get()
    assert (row.cause, row.opened_at) == ("held changed", T0 + 25_000)


def test_a_round_opens_at_the_first_of_several_changes_of_what_is_held() -> None:
    settle()

    told(held("B", 25_000, [2]), held("A", 25_700, [0, 1, 3]))
    turn(25_800)

    row = Round.objects.get()
    assert (row.opened_at, row.causes.get().at) == (T0 + 25_000, T0 + 25_000)


def test_what_one_member_dropped_opens_a_round_though_another_one_is_not_heard() -> None:
    settle()
    told(missed("A", 3_000))
    turn(3_100)

    told(held("B", 5_000, [2]))
    turn(5_100)

    assert [row.cause for row in Round.objects.all()] == ["held changed"]


def test_a_join_that_is_seen_after_what_it_moved_is_the_cause_of_the_same_round() -> None:
    settle()
    told(held("B", 5_000, [2]))
    turn(5_100)

    told(joined("C", 12_000, low=3_000), held("A", 12_100, [0, 1]), held("B", 12_100, [2]), held("C", 12_100, [3]))
    turn(12_200)

    row = Round.objects.get()
    assert (row.number, row.cause, row.opened_at, row.state) == (1, "member joined", T0 + 5_000, "closed")
    assert row.members_before == ["A", "B"]
    assert list(row.causes.values_list("cause", "evidence")) == [("member joined", "C joined")]
    lines = OutboxLine.objects.filter(line__contains='"event":"RoundOpened"').order_by("pk")
    assert [json.loads(line.line)["cause"] for line in lines] == ["member joined"]


def test_an_orphan_is_suspected_then_confirmed_by_a_look_more_than_20_s_later_then_cleared() -> None:
    settle()
    told(held("A", 5_000, [0]), held("B", 5_000, [2, 3]))
    turn(5_100)
    suspected = Finding.objects.get()
    assert (suspected.kind, suspected.subject, suspected.confirmed_at) == ("orphan queue", "orders/east/1", None)

    told(held("A", 25_200, [0]), held("B", 26_000, [2, 3], asked=5_100))
    Group.objects.update(inputs_version=F("inputs_version") + 1)
    turn(26_200)
    assert Finding.objects.get().confirmed_at is None  # what B has was asked right after it was suspected

    told(held("A", 26_300, [0]), held("B", 26_400, [2, 3]))
    turn(26_500)
    assert Finding.objects.get().confirmed_at == T0 + 26_400

    told(held("A", 30_000, [0, 1]))
    turn(30_100)
    assert Finding.objects.get().cleared_at == T0 + 30_000


def test_when_everybody_has_left_the_round_is_over_and_no_queue_has_an_owner() -> None:
    settle()
    told(SubscriptionsSeen(at=T0, source=EAST, exactness=EXACT, group="g", client=None, subscriptions=(ORDERS,)))

    told(left("A", 5_000), left("B", 5_000))
    group = turn(5_100)

    row = Round.objects.get()
    assert (row.cause, row.state, row.closed_at) == ("member left", "closed", T0 + 5_000)
    assert (group.member_count, group.orphan_count, group.is_converged) == (0, 4, True)


def test_inputs_that_came_to_the_same_are_not_computed_again() -> None:
    settle()
    group = Group.objects.get()
    Group.objects.update(inputs_version=group.inputs_version + 1)
    fenced = group.fence

    assert rebalance_once(group=group.pk, now=T0 + 1_000) is None

    group.refresh_from_db()
    assert (group.done_version, group.fence) == (group.inputs_version, fenced + 1)
    assert due_groups(now=T0 + 2_000) == []


def test_a_late_rebalance_never_overwrites_a_newer_one() -> None:
    settle()
    group = Group.objects.get()
    late = read_inputs(group=group.pk, fence=take_fence(group=group.pk), now=T0 + 1_000)
    told(joined("C", 5_000), held("C", 5_100, []))
    turn(5_200)
    shown = group_state(group=group.pk)

    with pytest.raises(Late, match="is late"), transaction.atomic():
        hold_fence(group=group.pk, fence=late.fence)

    assert group_state(group=group.pk) == shown
    assert Group.objects.get().round_number == 1


def test_members_that_divide_differently_are_shown_what_they_end_up_with_and_that_they_differ() -> None:
    settle()
    told(uses("B", 3_000, "AVG_BY_CIRCLE"))

    group = turn(3_100)

    state = group_state(group=group.pk)
    assert state is not None
    assert (state.head.is_target_known, group.strategy) == (True, "mixed: AVG, AVG_BY_CIRCLE")
    assert [cell.target for cell in state.members] == [(0, 2), (1, 1, 1, 1)]
    assert {fault.kind for fault in state.faults} == {"strategy mismatch"}
    assert [row.cause for row in Round.objects.all()] == ["strategy changed"]
    owners = Target.objects.order_by("queue__queue_id").values_list("member__client_id", flat=True)
    assert list(owners) == ["A", "A", None, "B"]


def test_a_group_whose_parts_become_known_one_after_the_other_has_had_no_round() -> None:
    told(*seen("A"))
    turn(10)
    told(route(4))
    turn(20)
    told(held("A", 30, [0, 1, 2, 3]))
    turn(40)

    assert not Round.objects.exists()
    assert Group.objects.get().is_converged


def test_queues_of_a_topic_that_was_known_to_have_none_are_a_change() -> None:
    told(*seen("A"), RouteMissing(at=T0, source=NAMESRV, exactness=EXACT, topic="orders"))
    turn(10)

    told(route(4, 5_000))
    turn(5_100)

    assert [row.cause for row in Round.objects.all()] == ["route changed"]


def test_a_member_that_nobody_saw_coming_is_a_change_where_the_members_were_known() -> None:
    told(*seen("A"), MemberListSeen(at=T0, source=EAST, exactness=EXACT, group="g", broker="east", clients=("A",)))
    turn(10)

    told(
        MemberListSeen(at=T0 + 60_000, source=EAST, exactness=EXACT, group="g", broker="east", clients=("A", "B")),
        *seen("B", 60_000),
    )
    turn(60_100)

    row = Round.objects.get()
    assert (row.cause, row.causes.get().at_low) == ("member joined", None)
    assert row.causes.get().evidence == (
        "B is a member now, and was in no broker's list before; when it came is unknown"
    )


def test_a_newcomers_own_report_is_a_change_before_any_broker_lists_it_and_no_second_one_after() -> None:
    told(
        *(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3])),
        MemberListSeen(at=T0, source=EAST, exactness=EXACT, group="g", broker="east", clients=("A",)),
    )
    turn(20)

    told(QueueTaken(at=T0 + 900, source=REPORT, exactness=EXACT, group="g", client="B", queue=queue(3)))
    turn(950)
    told(joined("B", 9_000, low=500))
    turn(9_100)

    row = Round.objects.get()
    assert (row.cause, row.opened_at, row.causes.count()) == ("member joined", T0 + 900, 1)
