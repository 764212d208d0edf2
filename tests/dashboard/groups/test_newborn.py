"""A group that is new to a running watcher: whoever is in it joined, and that is a round."""

from __future__ import annotations

import pytest

from dashboard.groups.models import Group, Round, RoundCause
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.events import Cause
from tests.dashboard.story import T0, held, joined, listed, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


@pytest.mark.parametrize("is_routed_first", [False, True])
def test_two_join_a_new_group_and_that_is_one_round_with_both(is_routed_first: bool) -> None:
    facts = [listed(1_000, "A", "B"), joined("A", 1_000, low=400), joined("B", 1_000, low=400)]
    told(*facts, *seen("A", 1_010), *seen("B", 1_010), *([route(4)] if is_routed_first else []))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 1_100)
    told(route(4, 1_200), held("A", 1_900, [0, 1]), held("B", 1_900, [2, 3]))
    rebalance_once(group=group.pk, now=T0 + 2_000)

    row = Round.objects.get()
    causes = RoundCause.objects.order_by("client_id").values_list("cause", "evidence", "at_low", "at", "round")
    assert [tuple(each) for each in causes] == [
        (Cause.MEMBER_JOINED.value, f"{client} joined", T0 + 400, T0 + 1_000, row.pk) for client in "AB"
    ]
    assert (row.cause, row.opened_low, row.opened_at) == (Cause.MEMBER_JOINED.value, T0 + 400, T0 + 1_000)
    assert (row.closed_at, row.members_after) == (T0 + 1_900, ["A", "B"])
