from __future__ import annotations

import pytest
from django.db import DatabaseError, transaction

from dashboard.clusters.models import Broker, Cluster, Queue, Route, Topic
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import SOURCED, WITHOUT_SOURCE, assert_refused, assert_unique


@pytest.fixture
def topic(cluster: Cluster) -> Topic:
    return Topic.objects.create(cluster=cluster, name="orders")


@pytest.mark.django_db
def test_a_cluster_has_a_name_and_a_name_server_and_a_lease_has_a_holder() -> None:
    columns = {"name": "shop", "namesrv": "127.0.0.1:9876", "added_at": T0}

    assert_refused(
        Cluster, columns, {"name": ""}, {"namesrv": ""}, {"lease_epoch": -1}, {"lease_until": T0}, {"added_at": -1}
    )
    assert_unique(Cluster, columns, name="other")


def test_a_lease_never_becomes_an_older_one(cluster: Cluster) -> None:
    Cluster.objects.update(lease_epoch=3)

    with pytest.raises(DatabaseError, match="never becomes less"), transaction.atomic():
        Cluster.objects.filter(pk=cluster.pk).update(lease_epoch=2)


def test_a_broker_is_there_once_with_its_source(cluster: Cluster) -> None:
    columns = {"cluster": cluster, "name": "east", "broker_id": 0, "address": "127.0.0.1:10911", **SOURCED}

    assert_refused(
        Broker, columns, {"name": ""}, {"address": ""}, {"broker_id": -1}, {"gone_at": T0 - 1}, *WITHOUT_SOURCE
    )
    assert_unique(Broker, columns, broker_id=1)


def test_a_name_server_says_one_thing_of_a_topic_on_a_broker(topic: Topic) -> None:
    columns = {
        "topic": topic,
        "namesrv": "127.0.0.1:9876",
        "broker": "east",
        "read_queues": 4,
        "write_queues": 4,
        "permission": 6,
        "has_master": True,
        **SOURCED,
    }

    wrong: list[dict[str, object]] = [{"read_queues": -1}, {"write_queues": 2**31}, {"permission": 16}, {"broker": ""}]
    assert_refused(Route, columns, *wrong, *WITHOUT_SOURCE)
    assert_unique(Route, columns, namesrv="127.0.0.2:9876")


def test_a_queue_is_there_once_and_goes_after_it_came(topic: Topic) -> None:
    columns = {"topic": topic, "broker": "east", "queue_id": 0, "since": T0}

    wrong: list[dict[str, object]] = [{"queue_id": -2}, {"queue_id": 2**31}, {"broker": ""}, {"gone_at": T0 - 1}]
    assert_refused(Queue, columns, *wrong, {"gone_low": T0 + 2, "gone_at": T0 + 1})
    assert_unique(Queue, columns, queue_id=1)


def test_only_queues_that_can_be_read_are_divided(topic: Topic) -> None:
    route = Route(topic=topic, broker="east", read_queues=4, write_queues=4, permission=6, has_master=True)

    assert route.readable_queues == 4
    route.permission = 2
    assert route.readable_queues == 0
