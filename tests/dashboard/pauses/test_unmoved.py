"""Queues without owner of which no handoff tells: what they cost is at least their time, and told once."""

from __future__ import annotations

import pytest

from dashboard.clusters.models import Cluster, Queue, Topic
from dashboard.groups.models import Finding, Group
from dashboard.pauses.costs import Sum
from dashboard.pauses.queries import by_cause, pauses_of
from tests.dashboard.pauses.rows import add_handoff, add_round, pulled
from tests.dashboard.story import T0


@pytest.fixture
def group(cluster: Cluster) -> Group:
    return Group.objects.create(cluster=cluster, name="g", added_at=T0)


def without_owner(group: Group, number: int, at: int) -> Queue:
    """A queue that nobody has ever, which was seen at ``at``."""
    topic, _ = Topic.objects.get_or_create(cluster=group.cluster, name="orders")
    queue = Queue.objects.create(topic=topic, broker="east", queue_id=number, since=at)
    Finding.objects.create(
        cluster=group.cluster,
        group=group,
        kind="orphan queue",
        subject=f"orders/east/{number}",
        subject_key=f"orders/east/{number}",
        sentence="Nobody.",
        proof=["A"],
        origin="derived",
        suspected_at=at,
    )
    return queue


def test_queues_without_owner_of_which_no_handoff_tells_cost_at_least_their_time(group: Group) -> None:
    for number in (1, 2):
        add_round(group, number, T0 + number * 10_000, cause="broker gone")
    without_owner(group, 7, T0 + 5_000)

    read = pauses_of(group=group, since=T0, now=T0 + 100_000)

    first, second = (each.cost for each in read.rounds)
    assert first is not None
    assert second is not None
    assert (first.longest.low, first.longest.high) == (first.unowned.low, None)
    assert first.unowned.low > 0
    for cost in (first, second, by_cause(read.rounds, read.handoffs)[0].cost):
        assert (cost.unowned.high, cost.paused.high, cost.longest.high) == (None, None, None)
        assert (cost.unowned.unknown, cost.paused.unknown) == (1, 1)
        assert (cost.overlap.high, cost.overlap.unknown) == (0, 0)
    assert by_cause(read.rounds, read.handoffs)[0].cost.unowned.low <= 95_000


def test_a_queue_of_which_a_handoff_tells_counts_once(group: Group) -> None:
    row = add_round(group, 1, T0 + 10_000)
    without_owner(group, 7, T0 + 10_000)
    add_handoff(row, 7, **pulled(row, 1_000, 1_000), from_client="")
    add_round(group, 2, T0 + 10_500)

    first, second = (each.cost for each in pauses_of(group=group, since=T0, now=T0 + 100_000).rounds)

    assert first is not None
    assert second is not None
    assert (first.unowned, first.paused) == (Sum(800, 1_200, 0), Sum(1_000, 1_000, 0))
    assert (second.unowned, second.paused) == (Sum(0, 0, 0), Sum(0, 0, 0))
