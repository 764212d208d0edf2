"""Whatever way targets are written, the rows say what the state says."""

import pytest

from dashboard.groups.models import Group, Target
from dashboard.groups.rebalancing import rebalance_once
from dashboard.push.publish import group_state
from dashboard.push.runs import unpack
from tests.dashboard.story import T0, joined, left, route, seen, told, uses

pytestmark = pytest.mark.usefixtures("cluster")


def turn(at: int) -> None:
    rebalance_once(group=Group.objects.get().pk, now=T0 + at)


def rows() -> dict[int, str | None]:
    return dict(Target.objects.values_list("queue__queue_id", "member__client_id"))


def shown() -> dict[int, str]:
    state = group_state(group=Group.objects.get().pk)
    assert state is not None
    return {number: cell.client for cell in state.members for number in unpack(cell.target).tolist()}


@pytest.mark.parametrize("strategy", ["AVG", "AVG_BY_CIRCLE"])
def test_changed_targets_are_written_from_the_state_that_was_shown(strategy: str) -> None:
    told(route(7), *seen("A"), *seen("B"), uses("A", 1, strategy), uses("B", 1, strategy))
    turn(2)

    told(joined("C", 5_000), uses("C", 5_000, strategy))
    turn(5_001)
    assert rows() == shown()
    told(left("A", 9_000))
    turn(9_001)

    assert rows() == shown()
    assert set(rows().values()) == {"B", "C"}


def test_targets_of_queues_that_went_are_deleted() -> None:
    told(route(7), *seen("A"))
    turn(2)

    told(route(3, 50))
    turn(51)

    assert rows() == shown() == {0: "A", 1: "A", 2: "A"}


def test_who_left_and_nobody_follows_has_no_target_any_more() -> None:
    told(route(2), *seen("A"))
    turn(2)

    told(left("A", 9_000))
    turn(9_001)

    assert rows() == {}


def test_only_rows_that_changed_have_a_new_fence() -> None:
    told(route(4), *seen("A"), *seen("B"))
    turn(2)
    first = Group.objects.get().fence

    told(joined("C", 5_000))
    turn(5_001)

    fences = dict(Target.objects.values_list("queue__queue_id", "fence"))
    assert fences == {0: first, 1: first, 2: first, 3: first + 1}
