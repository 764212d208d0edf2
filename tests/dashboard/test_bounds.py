"""What is stored and shown of what cannot be known exactly, or not at all: bounds, reasons, and no guess."""

from __future__ import annotations

import dataclasses
import json

import pytest

from dashboard.clusters.models import OutboxLine
from dashboard.groups.models import Finding, Group, Round, RoundCause
from dashboard.groups.rebalancing import due_groups, rebalance_once
from dashboard.groups.showing import row_of
from dashboard.groups.words import state_of
from dashboard.push.publish import group_state
from rebalance_engine.events import (
    EXACT,
    BrokerGone,
    BrokerSeen,
    Exactness,
    LockRefused,
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
    untold,
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


def test_a_round_begins_between_the_look_without_its_cause_and_the_one_with_it() -> None:
    settle()
    told(joined("C", 5_000, low=4_000))
    turn(5_100)

    row = Round.objects.get()
    assert (row.opened_low, row.opened_at) == (T0 + 4_000, T0 + 5_000)
    line = json.loads(OutboxLine.objects.get(line__contains='"event":"RoundOpened"').line)
    assert line["exactness"] == {"bound": "between", "low": T0 + 4_000, "high": T0 + 5_000}


def test_a_change_of_what_is_held_lies_between_two_looks_too() -> None:
    settle()

    told(held("B", 25_000, [2]), held("A", 25_700, [0, 1, 3]))
    turn(25_800)

    row, cause = Round.objects.get(), RoundCause.objects.get()
    assert (row.opened_low, row.opened_at) == (T0 + 10, T0 + 25_000)
    assert (cause.at_low, cause.at, cause.at_high) == (T0 + 10, T0 + 25_000, T0 + 25_000)


def test_a_cause_that_is_seen_later_lets_the_round_begin_as_early_as_it_may_have_come() -> None:
    settle()
    told(held("B", 5_000, [2]))
    turn(5_100)

    told(joined("C", 12_000, low=3_000))
    turn(12_100)

    assert Round.objects.get().opened_low == T0 + 3_000  # B dropped it for C, who cannot have come before


def test_a_route_change_has_the_bounds_of_the_looks_at_the_route() -> None:
    settle()
    more = dataclasses.replace(route(6, 9_000), exactness=Exactness.between(T0 + 4_000, T0 + 9_000))

    told(more)
    turn(9_100)

    cause = RoundCause.objects.get()
    assert (cause.cause, cause.at_low, cause.at, cause.at_high) == ("route changed", T0 + 4_000, T0 + 9_000, T0 + 9_000)
    assert Round.objects.get().opened_low == T0 + 4_000


def test_retry_queues_whose_route_is_found_after_they_are_held_are_no_change() -> None:
    retry = "%RETRY%g"
    here = [fact for fact in seen("A") if not isinstance(fact, SubscriptionsSeen)]
    told(*here, subscribes("A", 0, "orders", retry), route(1))
    told(dataclasses.replace(held("A", 30, [0]), queues=(queue(0), queue(0, retry))))
    turn(40)

    told(route(1, 50, topic=retry))
    turn(60)

    assert not Round.objects.exists()
    assert Group.objects.get().queue_count == 2


def test_a_round_of_a_group_whose_target_cannot_be_known_says_why_it_stays_open() -> None:
    settle()
    told(uses("A", 3_000, "CONFIG"), uses("B", 3_000, "CONFIG"), held("A", 4_000, [0, 1]), held("B", 4_000, [2, 3]))

    turn(4_100)

    why = "the target cannot be known: the strategy CONFIG divides by what members' programs say, unknown here"
    row, state = Round.objects.get(), group_state(group=Group.objects.get().pk)
    assert (row.state, row.waits_for) == ("open", why)
    assert state is not None
    assert state.head.round is not None
    assert state.head.round.waits_for == why


def test_a_round_says_whose_answer_it_waits_for_and_nothing_once_it_is_over() -> None:
    settle()
    told(joined("C", 5_000), held("A", 6_000, [0, 1]), held("B", 6_000, [2]), missed("C", 6_000))
    turn(6_100)
    assert Round.objects.get().waits_for == "it is unknown what C holds"

    told(held("C", 7_000, [3]), held("A", 7_000, [0, 1]), held("B", 7_000, [2]))
    turn(7_100)

    assert (Round.objects.get().state, Round.objects.get().waits_for) == ("closed", "")


def test_a_broker_that_did_not_tell_its_list_is_not_known_to_have_no_members() -> None:
    told(route(4), SubscriptionsSeen(at=T0, source=EAST, exactness=EXACT, group="g", subscriptions=(ORDERS,)))
    told(untold(10))

    group = turn(20)

    state = group_state(group=group.pk)
    assert state is not None
    assert (state.head.are_members_known, state.head.untold, state.head.orphans) == (False, ("east",), None)
    assert (group.member_count, group.orphan_count, group.is_converged) == (None, None, None)
    assert state_of(row_of(group)).words == "unknown who is a member"


def test_a_broker_that_told_that_nobody_is_there_is_believed_until_it_does_not_tell() -> None:
    told(route(4), SubscriptionsSeen(at=T0, source=EAST, exactness=EXACT, group="g", subscriptions=(ORDERS,)))
    told(listed(10))
    empty = turn(20)
    told(untold(1_000))
    unknown = turn(1_100)
    told(listed(2_000))
    again = turn(2_100)

    assert [each.member_count for each in (empty, unknown, again)] == [0, None, 0]
    assert [state_of(row_of(each)).words for each in (empty, unknown, again)] == [
        "no members",
        "unknown who is a member",
        "no members",
    ]


def test_while_one_of_two_brokers_does_not_tell_there_may_be_others_and_no_queue_is_an_orphan() -> None:
    settle()
    told(listed(5_000, "A", "B"), untold(5_000, broker="west"), held("A", 5_000, [0]))

    group = turn(5_100)

    assert (group.member_count, group.untold_count, group.orphan_count) == (2, 1, None)
    assert not Finding.objects.exists()


def test_a_broker_that_is_gone_is_waited_for_no_more() -> None:
    settle()
    there = BrokerSeen(at=T0, source=NAMESRV, exactness=EXACT, broker="west", broker_id=0, address="127.0.0.1:2")
    told(there, listed(10, "A", "B"), untold(5_000, broker="west"))
    assert turn(5_100).untold_count == 1

    told(
        BrokerGone(at=T0 + 6_000, source=NAMESRV, exactness=EXACT, broker="west", broker_id=0, address="127.0.0.1:2"),
        listed(6_000, "A"),
    )

    assert turn(6_100).untold_count == 0


def test_a_fault_is_suspected_no_earlier_than_the_change_that_made_it_one() -> None:
    told(route(1), *seen("A"), held("A", 10, [0]))
    turn(20)
    told(joined("C", 6_000), held("C", 5_900, []))

    turn(6_100)

    fault = Finding.objects.get()
    assert (fault.kind, fault.suspected_at) == ("idle consumer", T0 + 6_000)
    assert fault.suspected_at >= Round.objects.get().opened_at


def test_a_refused_lock_is_a_finding_that_says_when_it_must_end() -> None:
    settle()
    told(left("A", 5_000))
    turn(5_100)
    refused = LockRefused(
        at=T0 + 9_000, source=REPORT, exactness=EXACT, group="g", client="B", queue=queue(0), holder="A"
    )

    told(refused)
    turn(9_100)

    fault = Finding.objects.get(kind="lock refused")
    assert fault.sentence == (
        "B was refused the lock of orders/east/0 once: A has it, and is gone: the lock ends within 60 s of that."
    )
    assert (fault.confirmed_at, fault.ends_at) == (T0 + 9_000, T0 + 65_000)
    assert due_groups(now=T0 + 69_001) != []
    turn(69_001)
    assert Finding.objects.get(kind="lock refused").cleared_at == T0 + 69_001


def test_a_broker_that_is_gone_after_its_routes_were_seen_to_change_is_the_cause_of_one_round() -> None:
    told(BrokerSeen(at=T0, source=NAMESRV, exactness=EXACT, broker="east", broker_id=0, address="127.0.0.1:1"))
    settle()
    low_and_high = Exactness.between(T0 + 1_000, T0 + 5_000)
    told(RouteMissing(at=T0 + 5_000, source=NAMESRV, exactness=low_and_high, topic="orders"))
    turn(5_100)
    assert Round.objects.get().cause == "route changed"

    address, between = "127.0.0.1:1", Exactness.between(T0 + 2_000, T0 + 12_000)
    told(BrokerGone(at=T0 + 12_000, source=NAMESRV, exactness=between, broker="east", broker_id=0, address=address))
    turn(12_100)

    assert [(row.number, row.cause) for row in Round.objects.all()] == [(1, "broker gone")]
    back = Exactness.between(T0 + 80_000, T0 + 90_000)
    told(BrokerSeen(at=T0 + 90_000, source=NAMESRV, exactness=back, broker="east", broker_id=0, address=address))
    assert RoundCause.objects.filter(cause="broker back", at_low=T0 + 80_000).exists()
