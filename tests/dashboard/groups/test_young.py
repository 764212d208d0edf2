from __future__ import annotations

import pytest

from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.young import unexplained
from dashboard.push.messages import GroupState
from dashboard.push.publish import group_state
from tests.dashboard.story import T0, held, left, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def turn(at: int) -> GroupState:
    group = Group.objects.get().pk
    rebalance_once(group=group, now=T0 + at)
    state = group_state(group=group)
    assert state is not None
    return state


def kinds(state: GroupState, at: int) -> set[str]:
    return {each.kind for each in unexplained(state, now=T0 + at)}


def test_queues_without_an_owner_are_no_fault_while_their_round_is_young() -> None:
    told(route(2), *seen("A"), *seen("B"), held("A", 10, [0]), held("B", 10, [1]))
    turn(20)
    told(left("B", 5_000), held("A", 6_000, [0]))

    state = turn(6_100)

    assert {each.kind for each in state.faults} == {"orphan queue"}
    assert kinds(state, 24_999) == set()
    assert kinds(state, 25_000) == {"orphan queue"}


def test_browsers_are_told_when_a_round_explains_its_faults_no_more() -> None:
    told(route(2), *seen("A"), *seen("B"), held("A", 10, [0]), held("B", 10, [1]))
    turn(20)
    told(left("B", 5_000), held("A", 6_000, [0]))

    young = turn(6_100)
    due_at = Group.objects.get().due_at
    old = turn(25_000)

    assert due_at == T0 + 25_000
    assert [[each.is_explained for each in state.faults] for state in (young, old)] == [[True], [False]]


def test_what_was_wrong_before_the_round_or_is_confirmed_stays_a_fault() -> None:
    told(route(2), *seen("A"), *seen("B"), held("A", 10, [0]), held("B", 10, []))
    turn(20)
    told(left("B", 9_000), held("A", 9_500, [0]))

    assert kinds(turn(9_600), 9_700) == {"orphan queue"}


def test_a_group_without_a_round_explains_nothing() -> None:
    told(route(2), *seen("A"), held("A", 10, [0]))

    assert kinds(turn(20), 30) == {"orphan queue"}
