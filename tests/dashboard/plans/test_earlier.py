from __future__ import annotations

import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups.ending import tell_ended
from dashboard.groups.models import Group, LagStep
from dashboard.plans.earlier import FEWEST, Earlier, earlier_of
from tests.dashboard.groups.test_twice import dropped, join, taken
from tests.dashboard.pauses.rows import add_round
from tests.dashboard.story import T0


@pytest.fixture
def group(cluster: Cluster) -> Group:
    return Group.objects.create(cluster=cluster, name="g", added_at=T0)


def step(group: Group, at: int, lag: int | None, most: int | None = None, broker: str = "east") -> None:
    began_at = (T0 + at) // 10_000 * 10_000
    most = lag if most is None else most
    LagStep.objects.create(group=group, broker=broker, began_at=began_at, at=began_at, lag=lag, most=most)


def test_of_a_group_without_a_past_it_is_unknown(group: Group) -> None:
    assert earlier_of(group=group) == Earlier(None, 0, None, 0)


def test_nine_in_ten_rounds_made_it_wait_no_more_than_this(group: Group) -> None:
    for number in range(1, FEWEST + 1):
        at = number * 200_000
        step(group, at - 20_000, 5)
        step(group, at + 10_000, 7, 5 + 10 * number)
        add_round(group, number, T0 + at)

    found = earlier_of(group=group)

    assert (found.lag, found.rounds) == (10 * FEWEST, FEWEST)


def test_a_round_in_which_a_broker_did_not_tell_is_left_out(group: Group) -> None:
    for number in range(1, FEWEST + 1):
        at = number * 200_000
        step(group, at - 20_000, 5)
        step(group, at + 10_000, None if number == 1 else 9)
        add_round(group, number, T0 + at)

    found = earlier_of(group=group)

    assert (found.lag, found.rounds) == (None, FEWEST - 1)


@pytest.mark.usefixtures("cluster")
def test_handoffs_of_which_both_members_told_say_what_came_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    row = join(dropped("B", 5_200, 130), taken("C", 5_100, 120))
    tell_ended(group=row.group_id, now=T0 + 7_000)
    assert (earlier_of(group=row.group).twice, earlier_of(group=row.group).handoffs) == (None, 1)

    monkeypatch.setattr("dashboard.plans.earlier.FEWEST", 1)

    assert earlier_of(group=row.group).twice == 10
