from __future__ import annotations

import pytest

from dashboard.groups.before import knew_all_before
from dashboard.groups.models import Group, Round
from dashboard.groups.rebalancing import rebalance_once
from tests.dashboard.story import T0, held, joined, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def rebalance(at: int) -> None:
    rebalance_once(group=Group.objects.get(name="g").pk, now=T0 + at)


@pytest.mark.parametrize("knew", [True, False])
def test_all_was_known_before_a_round_where_every_member_had_answered(knew: bool) -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), *([held("B", 10, [2])] if knew else []))
    rebalance(20)
    told(joined("C", 5_000, low=4_000))
    rebalance(5_100)

    row = Round.objects.order_by("number").last()

    assert row is not None
    assert knew_all_before(row) is knew


def test_of_a_round_whose_state_before_was_not_kept_nothing_was_known() -> None:
    assert not knew_all_before(Round(before=b""))
