from __future__ import annotations

import pytest

from dashboard.clusters.models import Cluster, Queue
from dashboard.groups.models import Group, Progress
from dashboard.groups.unrouted import brokers_left, ends_of_brokers, places_left, without_any
from rebalance_engine.events import EXACT, RouteMissing
from tests.dashboard.story import NAMESRV, T0, held, route, told
from tests.dashboard.wrong_states import make_group

SOURCE = {"at": T0, "observed_at": T0, "origin": "admin answer"}


@pytest.fixture
def group(cluster: Cluster) -> Group:
    """East has a queue in a route, west had one; of a third topic no route was ever told."""
    group = make_group(cluster)
    told(route(1), route(1, topic="bills", broker="west"), held("A", 10, [0], topic="never routed"))
    told(RouteMissing(at=T0 + 9, source=NAMESRV, exactness=EXACT, topic="bills"))
    told_offsets = {
        "east": [["orders", 0, 9, 4, None], ["never routed", 0, 9, 4, None]],
        "west": [["bills", 0, 9, 4, None]],
    }
    for broker, queues in told_offsets.items():
        Progress.objects.create(group=group, broker=broker, queues=queues, **SOURCE)
    return group


def test_queues_leave_a_route_that_was_told(group: Group) -> None:
    rows = list(Progress.objects.all())

    assert places_left(cluster=group.cluster_id, rows=rows) == {("bills", "west", 0): T0 + 9}
    assert places_left(cluster=group.cluster_id, rows=rows[:0]) == {}
    assert brokers_left(clusters=[group.cluster_id]) == {(group.cluster_id, "west")}
    assert ends_of_brokers(group=group) == {"west": T0 + 9}
    assert Queue.objects.filter(gone_at__isnull=False).count() == 2  # that of the third topic is in none as yet


def test_brokers_without_any_queue_in_a_route_are_those_that_had_some(group: Group) -> None:
    assert without_any(cluster=group.cluster_id, brokers={"east", "west", "north"}) == {"west"}
    assert without_any(cluster=group.cluster_id, brokers=()) == set()
