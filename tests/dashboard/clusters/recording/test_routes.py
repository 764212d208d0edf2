from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.clusters.absences import MOST_ABSENCES
from dashboard.clusters.models import Broker, Cluster, Queue, Route, Topic
from dashboard.groups.models import RoundCause
from rebalance_engine.events import (
    EXACT,
    BrokerGone,
    BrokerQueues,
    BrokerSeen,
    Exactness,
    Origin,
    RouteMissing,
    RouteSeen,
    Source,
)
from tests.dashboard.story import NAMESRV, T0, held, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")
OTHER = Source(origin=Origin.ADMIN_ANSWER, address="127.0.0.2:9876")


def here() -> set[int]:
    return set(Queue.objects.filter(gone_at=None).values_list("queue_id", flat=True))


def broker_seen(at: int) -> BrokerSeen:
    return BrokerSeen(
        at=T0 + at, source=NAMESRV, exactness=EXACT, broker="east", broker_id=0, address="127.0.0.1:10911"
    )


def broker_gone(at: int) -> BrokerGone:
    return BrokerGone(
        at=T0 + at, source=NAMESRV, exactness=EXACT, broker="east", broker_id=0, address="127.0.0.1:10911"
    )


def test_queues_come_and_go_with_the_route() -> None:
    told(route(2))
    assert here() == {0, 1}

    told(route(4, 10))
    told(route(1, 20))

    assert here() == {0}
    assert Queue.objects.get(queue_id=3).gone_at == T0 + 20


def test_a_queue_is_there_while_one_name_server_says_so() -> None:
    Cluster.objects.update(namesrv="127.0.0.1:9876;127.0.0.2:9876")
    told(route(2))
    queues = BrokerQueues(broker="east", read_queues=3, write_queues=3, permission=6, has_master=True)
    told(RouteSeen(at=T0 + 1, source=OTHER, exactness=EXACT, topic="orders", brokers=(queues,)))
    assert here() == {0, 1, 2}
    assert Route.objects.count() == 2

    told(RouteMissing(at=T0 + 2, source=NAMESRV, exactness=EXACT, topic="orders"))

    assert here() == {0, 1, 2}


@pytest.mark.parametrize("both", [False, True], ids=["one lacks it", "both lacked it"])
def test_the_first_queues_are_a_change_only_where_every_name_server_had_said_that_there_are_none(both: bool) -> None:
    Cluster.objects.update(namesrv="127.0.0.1:9876;127.0.0.2:9876")
    told(*seen("A"), RouteMissing(at=T0 + 1, source=OTHER, exactness=EXACT, topic="orders"))
    if both:
        told(RouteMissing(at=T0 + 2, source=NAMESRV, exactness=EXACT, topic="orders"))

    told(route(4, 3))

    assert RoundCause.objects.filter(cause="route changed").exists() is both


def test_what_a_name_server_said_that_the_cluster_has_no_more_goes_once_another_tells() -> None:
    Cluster.objects.update(namesrv="127.0.0.1:9876;127.0.0.2:9876")
    queues = BrokerQueues(broker="east", read_queues=3, write_queues=3, permission=6, has_master=True)
    told(route(2), RouteSeen(at=T0, source=OTHER, exactness=EXACT, topic="orders", brokers=(queues,)))
    told(RouteMissing(at=T0, source=OTHER, exactness=EXACT, topic="payments"))

    Cluster.objects.update(namesrv="127.0.0.1:9876")
    told(route(2, 10), route(1, 10, topic="payments"))

    assert set(Route.objects.values_list("namesrv", flat=True)) == {"127.0.0.1:9876"}
    assert here() == {0, 1}
    assert Topic.objects.get(name="orders").unrouted_by == []


def test_without_the_permission_to_read_nobody_divides_the_queues() -> None:
    told(route(2))
    queues = BrokerQueues(broker="east", read_queues=2, write_queues=2, permission=2, has_master=True)

    told(RouteSeen(at=T0 + 5, source=NAMESRV, exactness=EXACT, topic="orders", brokers=(queues,)))

    assert here() == set()


def test_an_older_route_that_arrives_late_changes_nothing() -> None:
    told(route(4, 10))

    assert told(route(2, 5)).facts == 0
    assert here() == {0, 1, 2, 3}


def test_a_broker_that_goes_and_comes_back_is_a_cause_for_every_group_on_it() -> None:
    told(route(2), broker_seen(1), *seen("A"))

    told(broker_gone(10))
    told(broker_gone(11))
    told(broker_seen(20))

    causes = list(RoundCause.objects.order_by("at").values_list("cause", "evidence"))
    assert causes == [
        ("broker gone", "broker east (127.0.0.1:10911) is gone"),
        ("broker back", "broker east (127.0.0.1:10911) is back"),
    ]
    assert Broker.objects.get().gone_at is None


def test_when_a_broker_was_away_is_kept_the_last_times_of_it() -> None:
    told(broker_seen(1))
    for number in range(MOST_ABSENCES + 2):
        told(broker_gone(100 * number + 10))
        told(broker_seen(100 * number + 60))
        told(broker_seen(100 * number + 70))

    kept = Broker.objects.get().absences

    assert kept == [[T0 + 100 * number + 10, T0 + 100 * number + 60] for number in range(2, MOST_ABSENCES + 2)]


def test_when_a_queue_was_in_no_route_is_kept_the_last_times_of_it() -> None:
    told(route(2))
    for number in range(MOST_ABSENCES + 2):
        gone, back = 100 * number + 10, 100 * number + 60
        told(replace(route(1, gone), exactness=Exactness.between(T0 + gone - 5, T0 + gone)))
        told(replace(route(2, back), exactness=Exactness.between(T0 + back - 7, T0 + back)))
    told(replace(route(1, 9_000), exactness=Exactness.at_most(T0 + 9_000)))

    stayed, went = Queue.objects.order_by("queue_id")

    assert (stayed.since, stayed.gone_at, stayed.absences) == (T0, None, None)
    assert (went.gone_low, went.gone_at) == (None, T0 + 9_000)
    times = [T0 + 100 * number for number in range(3, MOST_ABSENCES + 2)]
    before = [None, None, None, T0 + 260]  # of the three before those
    assert went.absences == [before, *([at + 5, at + 10, at + 53, at + 60] for at in times)]


def test_a_queue_that_is_held_though_no_route_has_it_is_known_as_gone() -> None:
    told(route(1), *seen("A"), held("A", 10, [0, 7]))

    assert here() == {0}
    assert Queue.objects.get(queue_id=7).gone_at == T0 + 10

    told(route(8, 20))
    assert Queue.objects.get(queue_id=7).absences is None  # it is not known to have been in no route
