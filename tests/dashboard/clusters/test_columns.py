import numpy as np
import pytest

from dashboard.clusters.columns import Columns, _Kept, columns_of
from dashboard.clusters.models import Cluster, Queue, Topic
from rebalance_engine.tables import QueueTable
from tests.dashboard.story import queue, route, told


def test_queues_stand_in_the_engines_order_beside_their_rows(cluster: Cluster) -> None:
    told(route(3, topic="pay"), route(2, topic="orders", broker="west"), route(2, 1, topic="orders", broker="west"))

    columns = columns_of(cluster=cluster.pk, topics=["orders", "pay", "nowhere"])

    wanted = [queue(n, "orders", "west") for n in range(2)] + [queue(n, "pay") for n in range(3)]
    assert list(columns.table) == wanted
    rows = Queue.objects.select_related("topic").in_bulk(columns.pks.tolist())
    assert [rows[pk].message_queue for pk in columns.pks.tolist()] == wanted
    assert columns.row_of[queue(2, "pay")] == columns.pks[4]
    assert columns.numbers_of(np.array([columns.pks[3], 10**9])).tolist() == [3, -1]


def test_what_is_kept_is_read_once_for_each_division(
    cluster: Cluster, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    told(route(3))
    first = columns_of(cluster=cluster.pk, topics=["orders"])
    with django_assert_num_queries(1):  # type: ignore[operator]  # a factory
        assert columns_of(cluster=cluster.pk, topics=["orders"]) is first

    told(route(4, 50))

    assert len(columns_of(cluster=cluster.pk, topics=["orders"]).table) == 4


def test_a_route_that_says_the_same_leaves_the_division_as_it_is(cluster: Cluster) -> None:
    told(route(3))
    division = Topic.objects.get(cluster=cluster).division

    told(route(3, 50))

    assert division
    assert Topic.objects.get(cluster=cluster).division == division


def test_topics_without_queues_are_an_empty_table(cluster: Cluster) -> None:
    columns = columns_of(cluster=cluster.pk, topics=["nowhere"])

    assert len(columns.table) == 0
    assert columns.numbers_of(np.array([1], dtype=np.int64)).tolist() == [-1]


def test_what_was_not_asked_for_longest_is_forgotten_first() -> None:
    kept = _Kept(most=250)
    columns = Columns(QueueTable.of(queue(n) for n in range(50)), np.arange(50, dtype=np.int64))
    kept.put(("a",), columns)
    kept.put(("b",), columns)
    assert kept.get(("a",)) is columns

    kept.put(("c",), columns)

    assert kept.get(("b",)) is None
    assert kept.get(("a",)) is kept.get(("c",)) is columns
