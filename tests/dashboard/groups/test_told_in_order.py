"""A round is told anew when a report comes late: what a round does that begins by then is that one's."""

from __future__ import annotations

import pytest

from dashboard.groups.ending import tell_again
from dashboard.groups.models import Group, Handoff, Round
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.events import EXACT, DropReason, QueueDropped
from tests.dashboard.story import REPORT, T0, held, joined, listed, queue, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def turn(at: int) -> None:
    rebalance_once(group=Group.objects.get().pk, now=T0 + at)


def test_a_round_that_is_told_anew_leaves_to_the_next_one_what_that_one_did() -> None:
    told(route(4), listed(0, "A", "B"), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    turn(20)
    told(joined("C", 5_000, low=4_900), listed(5_000, "A", "B", "C"), held("A", 5_100, [0, 1]), held("B", 5_200, [2]))
    told(held("C", 5_300, [3]))
    turn(5_400)
    assert Round.objects.get().closed_at is not None
    told(joined("D", 15_000, low=14_900), listed(15_000, "A", "B", "C", "D"))
    let_go = QueueDropped(
        at=T0 + 15_050, source=REPORT, exactness=EXACT, group="g", client="A", queue=queue(1), reason=DropReason.UNKNOWN
    )
    told(let_go, at=15_060)
    tell_again(group=Group.objects.get().pk, since=let_go.at, until=let_go.at, now=T0 + 15_060)
    turn(15_100)

    assert Round.objects.count() == 2
    assert Handoff.objects.filter(round__number=1, dropped_at__gt=T0 + 10_000).count() == 0
