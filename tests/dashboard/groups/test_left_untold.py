"""A round that all members left, of whom nobody knew what they had."""

from __future__ import annotations

import pytest
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import CollectorRegistry

from dashboard.groups.lanes import lanes_of
from dashboard.groups.models import Group, Round
from dashboard.groups.paragraph import sentence_of
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.story import worst
from dashboard.health.figures import Figures
from dashboard.pauses.queries import by_cause, pauses_of
from tests.dashboard.story import T0, held, left, listed, missed, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")
NOW = T0 + 70_000


def all_leave(*, does_b_tell: bool) -> Round:
    told(route(4), listed(0, "A", "B"), *seen("A"), *seen("B"), missed("A", 10))
    told(held("B", 10, [])) if does_b_tell else told(missed("B", 10))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 20)
    told(left("A", 60_000), left("B", 60_000), listed(60_000))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 60_100)
    return Round.objects.select_related("group").get()


@pytest.mark.parametrize("does_b_tell", [True, False])
def test_how_many_queues_lost_their_owners_and_paused_is_unknown(*, does_b_tell: bool) -> None:
    row = all_leave(does_b_tell=does_b_tell)

    found = worst(lanes_of(row, now=NOW), {}, is_untold=row.is_left_untold)
    assert (row.is_left_untold, row.changed_count, row.left_count) == (True, 0, None)
    assert found["pause"] == (None, None)
    assert "how many queues lost their owners is unknown" in sentence_of(row, {**found, "twice": None}, now=NOW)


def test_its_cost_is_unknown_and_has_no_sample() -> None:
    row = all_leave(does_b_tell=False)

    read = pauses_of(group=row.group, since=T0, now=NOW)
    [alone], [of_cause] = read.rounds, by_cause(read.rounds, read.handoffs)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Figures(now=NOW))
    for cost in (alone.cost, of_cause.cost):
        assert cost is not None
        assert (cost.longest.is_known, cost.paused.high) == (False, None)
    assert "queue_pause_seconds{" not in generate_latest(registry).decode()
