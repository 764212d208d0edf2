import pytest
from django.db import IntegrityError

from dashboard.clusters.models import Cluster, Queue, Topic
from dashboard.common import bulk
from tests.dashboard.story import T0

COLUMNS = ("topic", "broker", "queue_id", "since", "gone_at")


@pytest.fixture
def topic(cluster: Cluster) -> Topic:
    return Topic.objects.create(cluster=cluster, name="orders")


def test_rows_come_back_as_they_were_told_hostile_names_too(topic: Topic) -> None:
    bulk.insert(Queue, COLUMNS, [(topic.pk, "nul\0", 0, T0, None), (topic.pk, "\ud800", 1, T0, T0 + 1)])

    rows = Queue.objects.order_by("queue_id").values_list("broker", "queue_id", "gone_at")

    assert list(rows) == [("nul\0", 0, None), ("\ud800", 1, T0 + 1)]


def test_no_rows_are_no_statement(topic: Topic, django_assert_num_queries: pytest.FixtureRequest) -> None:
    assert topic.pk
    with django_assert_num_queries(0):  # type: ignore[operator]  # a factory
        bulk.insert(Queue, COLUMNS, [])
        bulk.update(Queue, ("gone_at",), [])


def test_constraints_hold(topic: Topic) -> None:
    with pytest.raises(IntegrityError):
        bulk.insert(Queue, COLUMNS, [(topic.pk, "east", 0, T0, T0 - 1)])


def test_a_row_that_is_there_may_be_passed_over(topic: Topic) -> None:
    row = (topic.pk, "east", 0, T0, None)
    bulk.insert(Queue, COLUMNS, [row])

    bulk.insert(Queue, COLUMNS, [row, (topic.pk, "east", 1, T0, None)], on_conflict="DO NOTHING")

    assert Queue.objects.count() == 2


def test_rows_are_changed_each_in_its_own_way(topic: Topic) -> None:
    bulk.insert(Queue, COLUMNS, [(topic.pk, "east", number, T0, None) for number in range(3)])
    first, second, _ = Queue.objects.order_by("queue_id").values_list("pk", flat=True)

    bulk.update(Queue, ("since", "gone_at"), [(T0 + 1, T0 + 2, first), (T0 + 3, None, second)])

    rows = Queue.objects.order_by("queue_id").values_list("since", "gone_at")
    assert list(rows) == [(T0 + 1, T0 + 2), (T0 + 3, None), (T0, None)]
