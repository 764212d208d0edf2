from __future__ import annotations

import pytest

from dashboard.groups.models import Group, Handoff, Round, RoundCause
from dashboard.plans.costs import MOST_ROUNDS, Expected, expected_costs
from rebalance_engine.diff import MoveCause
from rebalance_engine.events import Cause, Origin
from tests.dashboard.story import T0, seen, told

LEFT, JOINED, KNOCK_ON = MoveCause.OWNER_LEFT, MoveCause.OWNER_JOINED, MoveCause.RESHUFFLED


pytestmark = pytest.mark.usefixtures("cluster")


@pytest.fixture
def group() -> Group:
    told(*seen("A"))
    return Group.objects.get()


def a_round(group: Group, number: int, *causes: tuple[Cause, str]) -> Round:
    """Make a round that these members brought about."""
    row = Round.objects.create(
        group=group,
        number=number,
        cause=causes[0][0].value,
        opened_at=T0 + number,
        last_cause_at=T0 + number,
        wave=number,
        state="closed",
        closed_at=T0 + number + 1,
    )
    group.round_number = number
    group.save()
    for cause, client in causes:
        RoundCause.objects.create(
            group=group,
            round=row,
            cause=cause.value,
            client_id=client,
            evidence="seen",
            at=T0 + number,
            origin=Origin.ADMIN_ANSWER.value,
            observed_at=T0 + number,
        )
    return row


def hand(row: Round, ids: range, from_client: str, to_client: str, **bounds: int) -> None:
    for number in ids:
        Handoff.objects.create(
            round=row,
            topic="orders",
            broker="east",
            queue_id=number,
            from_client=from_client,
            to_client=to_client,
            **bounds,
        )


def test_the_median_is_of_handoffs_that_came_about_in_the_same_way(group: Group) -> None:
    leaves = a_round(group, 1, (Cause.MEMBER_LEFT, "A"))
    hand(leaves, range(3), "A", "B", pause_low=100, pause_high=300)
    hand(leaves, range(3, 6), "B", "C", pause_low=1_000, pause_high=1_200)
    joins = a_round(group, 2, (Cause.MEMBER_JOINED, "D"))
    hand(joins, range(1), "B", "D", pause_low=40, pause_high=40)
    hand(joins, range(1, 2), "C", "D", pause_low=50, pause_high=90)
    hand(joins, range(2, 3), "C", "D", pause_low=5_000, pause_high=9_000)  # one that took long moves no median

    assert expected_costs(group=group) == {
        LEFT: Expected(100, 300, is_pause=True, handoffs=3),
        JOINED: Expected(50, 90, is_pause=True, handoffs=3),
        KNOCK_ON: Expected(1_000, 1_200, is_pause=True, handoffs=3),
    }


def test_of_an_even_number_the_median_lies_between_the_two_in_the_middle(group: Group) -> None:
    row = a_round(group, 1, (Cause.MEMBER_JOINED, "B"))
    for number, (low, high) in enumerate([(10, 20), (30, 60), (50, 80), (900, 990)]):
        hand(row, range(number, number + 1), "A", "B", pause_low=low, pause_high=high)

    assert expected_costs(group=group) == {JOINED: Expected(30, 80, is_pause=True, handoffs=4)}


def test_where_half_of_them_have_no_upper_bound_their_median_has_none(group: Group) -> None:
    row = a_round(group, 1, (Cause.MEMBER_JOINED, "B"))
    hand(row, range(1), "A", "B", pause_low=10, pause_high=20)
    hand(row, range(1, 2), "A", "B", pause_low=30)

    assert expected_costs(group=group) == {JOINED: Expected(10, None, is_pause=True, handoffs=2)}


def test_where_no_member_reports_its_pulls_the_time_without_owner_is_known(group: Group) -> None:
    row = a_round(group, 1, (Cause.MEMBER_JOINED, "B"))
    hand(row, range(1), "A", "B", unowned_low=0, unowned_high=900)

    assert expected_costs(group=group) == {JOINED: Expected(0, 900, is_pause=False, handoffs=1)}


def test_what_waited_for_a_heartbeat_to_expire_tells_nothing_of_who_leaves(group: Group) -> None:
    row = a_round(group, 1, (Cause.HEARTBEAT_EXPIRED, "A"), (Cause.MEMBER_LEFT, "B"))
    hand(row, range(2), "A", "C", unowned_low=0, unowned_high=129_000)
    hand(row, range(2, 4), "B", "C", unowned_low=0, unowned_high=129_000)

    assert expected_costs(group=group) == {}


def test_what_had_or_gets_no_owner_is_no_handoff_and_what_nobody_knows_counts_nowhere(group: Group) -> None:
    row = a_round(group, 1, (Cause.MEMBER_LEFT, "A"))
    hand(row, range(1), "A", "", unowned_low=0, unowned_high=5)
    hand(row, range(1, 2), "", "B", unowned_low=0, unowned_high=5)
    hand(row, range(2, 3), "A", "B")

    assert expected_costs(group=group) == {}


def test_what_was_long_ago_counts_no_more(group: Group) -> None:
    hand(a_round(group, 1, (Cause.MEMBER_JOINED, "B")), range(1), "A", "B", unowned_low=0, unowned_high=5)
    a_round(group, 1 + MOST_ROUNDS, (Cause.MEMBER_JOINED, "B"))

    assert expected_costs(group=group) == {}
