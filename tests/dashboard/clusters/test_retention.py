"""What is gone in a cluster is deleted once it is old, and nothing of it while something refers to it."""

from __future__ import annotations

import pytest
from django.db.models import Exists, Q

from dashboard.clusters import retention
from dashboard.clusters.models import Broker, Cluster, Producer, ProducerBroker, ProducerList, Queue, Route, Topic
from dashboard.clusters.retention import Named, forget
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import SOURCED

OLD = T0 + 1_000
NOBODY = Named(topic=Q(pk=None), broker=Q(pk=None))
ALL = Named(topic=Q(Exists(Cluster.objects.all())), broker=Q(Exists(Cluster.objects.all())))


def add_broker(cluster: Cluster, gone_at: int | None, name: str = "east") -> Broker:
    return Broker.objects.create(
        cluster=cluster, name=name, broker_id=0, address="10.0.0.1:1", gone_at=gone_at, **SOURCED
    )


def add_producer(cluster: Cluster, client: str, gone_at: int | None) -> Producer:
    columns = {"broker": "east", "group_name": "sends", "address": "10.0.0.1:5", **SOURCED}
    return Producer.objects.create(cluster=cluster, client_id=client, gone_at=gone_at, **columns)


def add_topic(cluster: Cluster, unused_since: int | None = None, gone_at: int | None = None) -> Topic:
    topic = Topic.objects.create(cluster=cluster, name="orders", division="d", unused_since=unused_since)
    Queue.objects.create(topic=topic, broker="east", queue_id=0, since=T0, gone_at=gone_at)
    told = {"read_queues": 1, "write_queues": 1, "permission": 6, "has_master": True}
    Route.objects.create(topic=topic, namesrv="a:1", broker="east", **told, **SOURCED)
    return topic


def test_a_producer_goes_when_it_is_gone_for_long_and_not_a_moment_earlier(cluster: Cluster) -> None:
    for client, gone_at in (("A", OLD - 1), ("B", OLD), ("C", None)):
        add_producer(cluster, client, gone_at)

    assert forget(old=OLD, now=OLD, named=NOBODY) == 1

    assert set(Producer.objects.values_list("client_id", flat=True)) == {"B", "C"}


def test_rows_go_some_at_a_time_and_all_of_them(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "ROWS_AT_ONCE", 2)
    for number in range(5):
        add_producer(cluster, f"A{number}", T0)

    assert forget(old=OLD, now=OLD, named=NOBODY) == 5


def test_what_a_producer_reported_goes_when_it_has_said_nothing_for_long(cluster: Cluster) -> None:
    for client, at in (("A", OLD - 1), ("B", OLD)):
        ProducerBroker.objects.create(
            cluster=cluster, client_id=client, broker="east", at=at, observed_at=at, origin="agent report"
        )

    forget(old=OLD, now=OLD, named=NOBODY)

    assert ProducerBroker.objects.get().client_id == "B"


def test_a_broker_goes_with_its_list_once_no_row_names_it(cluster: Cluster) -> None:
    add_broker(cluster, T0)
    ProducerList.objects.create(cluster=cluster, broker="east", **SOURCED)
    producer = add_producer(cluster, "A", OLD)

    forget(old=OLD, now=OLD, named=NOBODY)
    assert (Broker.objects.count(), ProducerList.objects.count()) == (1, 1)

    producer.delete()
    forget(old=OLD, now=OLD, named=ALL)
    assert (Broker.objects.count(), ProducerList.objects.count()) == (1, 0)

    forget(old=OLD, now=OLD, named=NOBODY)
    assert Broker.objects.count() == 0


def test_a_broker_that_is_there_keeps_its_list_however_old_that_is(cluster: Cluster) -> None:
    add_broker(cluster, None)
    ProducerList.objects.create(cluster=cluster, broker="east", missing="refused", missing_at=T0, **SOURCED)

    assert forget(old=OLD, now=OLD, named=NOBODY) == 0


def test_a_topic_is_unused_from_the_first_look_at_which_nobody_names_it_and_no_longer_when_somebody_does(
    cluster: Cluster,
) -> None:
    topic = add_topic(cluster)

    forget(old=OLD, now=OLD + 7, named=NOBODY)
    topic.refresh_from_db()
    assert topic.unused_since == OLD + 7

    forget(old=OLD, now=OLD + 9, named=NOBODY)
    topic.refresh_from_db()
    assert topic.unused_since == OLD + 7

    forget(old=OLD, now=OLD + 9, named=ALL)
    topic.refresh_from_db()
    assert topic.unused_since is None


def test_a_topic_that_nobody_has_used_for_long_goes_with_its_routes_and_queues(cluster: Cluster) -> None:
    add_topic(cluster, unused_since=T0)

    forget(old=OLD, now=OLD, named=ALL)
    assert Topic.objects.get().unused_since is None

    Topic.objects.update(unused_since=T0)
    assert forget(old=OLD, now=OLD, named=NOBODY) == 3
    assert (Topic.objects.count(), Route.objects.count(), Queue.objects.count()) == (0, 0, 0)


def test_a_queue_that_is_gone_goes_alone_while_its_topic_is_used(cluster: Cluster) -> None:
    topic = add_topic(cluster, gone_at=T0)
    Queue.objects.create(topic=topic, broker="east", queue_id=1, since=T0)

    forget(old=OLD, now=OLD, named=ALL)

    assert Queue.objects.get().queue_id == 1
