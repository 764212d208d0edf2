from __future__ import annotations

import pytest

from dashboard.clusters.models import Queue
from dashboard.groups.models import Group
from dashboard.groups.moves import NO_MOVES, Moves, first_taken
from dashboard.groups.queries import look_at
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.events import (
    EXACT,
    DropReason,
    Exactness,
    Fact,
    MemberJoined,
    MemberSeen,
    MessageModel,
    QueueDropped,
    QueueTaken,
)
from tests.dashboard.story import EAST, REPORT, T0, held, joined, missed, queue, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def moves() -> Moves:
    return look_at(group=Group.objects.get()).moves


def taken(client: str, at: int, number: int) -> Fact:
    return QueueTaken(at=T0 + at, source=REPORT, exactness=EXACT, group="g", client=client, queue=queue(number))


def dropped(client: str, at: int, number: int) -> Fact:
    reason = DropReason.NOT_IN_TARGET
    who = {"group": "g", "client": client, "queue": queue(number)}
    return QueueDropped(at=T0 + at, source=REPORT, exactness=EXACT, reason=reason, **who)  # type: ignore[arg-type] # as named


def settle() -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2]))


def test_what_is_first_known_of_members_moved_nothing() -> None:
    settle()

    assert moves() == NO_MOVES


def test_to_let_go_is_a_change_whatever_else_is_known_of_who_did() -> None:
    told(route(4), *seen("A"), taken("A", 1_000, 0), dropped("A", 9_000, 0))

    assert moves() == Moves(T0 + 9_000, T0 + 9_000, 1)


def test_a_queue_that_the_look_before_did_not_show_was_taken() -> None:
    settle()
    told(held("B", 70_000, [2, 3]))

    assert moves() == Moves(T0 + 70_000, T0 + 10, 1)


def test_a_queue_that_has_come_just_now_is_taken_as_routes_have_it() -> None:
    settle()
    told(route(5, 100_000), held("A", 100_500, [0, 1]), held("B", 110_000, [2, 4]))
    assert moves() == NO_MOVES

    told(held("A", 120_000, [0, 1, 3]))
    assert moves() == Moves(T0 + 120_000, T0 + 100_500, 1)


def test_a_queue_that_was_taken_and_let_go_again_moved_at_the_first_of_both() -> None:
    settle()
    told(held("B", 70_000, [2, 3]), held("B", 80_000, [2]))

    assert moves() == Moves(T0 + 70_000, T0 + 10, 1)


def test_what_a_newcomer_says_to_take_as_it_comes_is_its_first_share() -> None:
    settle()
    told(*seen("C", 5_000), taken("C", 6_000, 3))
    assert moves() == NO_MOVES

    told(held("C", 9_000, [3]), taken("C", 79_500, 0))
    assert moves() == Moves(T0 + 79_500, T0 + 79_500, 1)


def test_when_a_member_came_may_be_known_better_later_and_it_took_nothing_by_that() -> None:
    settle()
    told(*seen("C", 5_000))
    exactness = Exactness.between(T0 + 1_000, T0 + 2_000)
    told(MemberJoined(at=T0 + 2_000, source=EAST, exactness=exactness, group="g", client="C"))

    told(held("C", 20_000, [3]))

    assert moves() == NO_MOVES


def test_who_was_not_heard_for_a_while_has_moved_what_it_has_not_any_more() -> None:
    settle()
    told(missed("A", 3_000))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 3_100)

    told(held("A", 60_000, [0]))

    assert moves() == Moves(T0 + 60_000, T0 + 10, 1)


def test_what_moved_until_a_round_ended_is_done_with_however_often_the_group_was_rebalanced() -> None:
    settle()
    group = Group.objects.get().pk
    told(joined("C", 5_000), held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_500, [3]))
    told(dropped("B", 5_500, 2), taken("B", 5_600, 2), at=6_600)
    assert moves().queues == 1

    rebalance_once(group=group, now=T0 + 6_700)

    assert Group.objects.get().round_closed_at == T0 + 6_500
    assert moves() == NO_MOVES


def test_a_queue_without_a_route_is_a_change_of_routes_and_broadcasts_move_nothing() -> None:
    settle()
    told(route(2, 4_000), held("B", 5_000, []))
    assert moves() == NO_MOVES

    told(held("A", 5_000, []))
    assert moves().queues == 2
    model = MessageModel.BROADCASTING
    told(MemberSeen(at=T0 + 6_000, source=EAST, exactness=EXACT, group="g", client="A", message_model=model))
    assert moves() == NO_MOVES


@pytest.mark.parametrize("returns", [0, 1, 20])
def test_whether_a_queue_got_its_first_owner_does_not_depend_on_its_returns(returns: int) -> None:
    """Queue 3 was there before the group was known, and queue 4 came after it; nobody had either."""
    told(route(4), *seen("A", 10), held("A", 10, [0, 1, 2]))
    told(route(5, 1_000))
    for number in range(returns):
        at = 10_000 * (number + 1)
        told(route(3, at), route(5, at + 5_000))
    taken_at = T0 + 300_000
    told(held("A", 299_000, [0, 1, 2]), held("A", 300_000, [0, 1, 2, 3, 4]))

    assert first_taken(Group.objects.get(), [(queue(3), taken_at), (queue(4), taken_at)]) == {queue(4)}


def test_of_a_queue_of_which_nobody_kept_when_it_came_it_is_unknown_whether_it_is_new() -> None:
    told(route(4), *seen("A", 10), held("A", 10, [0, 1, 2, 3]))
    told(route(5, 1_000), held("A", 2_000, [0, 1, 2, 3, 4]))
    Queue.objects.update(came_at=None)

    assert first_taken(Group.objects.get(), [(queue(4), T0 + 2_000)]) == set()
