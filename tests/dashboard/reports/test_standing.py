"""A report of a producer: of one of the token's group, and of brokers that are there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.clusters.models import Broker, Cluster, Producer, ProducerBroker, ProducerList, Queue
from dashboard.clusters.senders import SETTLED_MS
from dashboard.reports.models import ReportToken
from dashboard.reports.operations import Taken, take
from dashboard.reports.reading import Foreign, Malformed
from dashboard.reports.standing import NEW_MS, TooEarly
from rebalance_engine.events import EXACT, BrokerBackedOff
from rebalance_engine.network.system_groups import INNER_PRODUCER
from tests.dashboard.reports.facts import body, own, taken, token_of
from tests.dashboard.story import EAST, T0, listed, route, seen, told

LISTED = {"address": "127.0.0.1:1", "at": T0, "observed_at": T0, "origin": "admin answer"}


@pytest.fixture
def token(cluster: Cluster) -> ReportToken:
    return token_of(cluster)[1]


def lists(cluster: Cluster, client: str, group: str, gone_at: int | None = None) -> None:
    Producer.objects.create(
        cluster=cluster, broker="east", group_name=group, client_id=client, gone_at=gone_at, **LISTED
    )


def has_told(cluster: Cluster, at: int) -> None:
    """East is the one broker, and said then which producers it knows."""
    Broker.objects.create(cluster=cluster, name="east", broker_id=0, **LISTED)
    ProducerList.objects.create(cluster=cluster, broker="east", at=T0 + at, observed_at=T0 + at, origin="admin answer")


def reported(token: ReportToken, *, at: int = 9_000, now: int = 10_000, broker: str = "east") -> Taken:
    fact = BrokerBackedOff(
        at=T0 + at,
        source=own("P"),
        exactness=EXACT,
        client="P",
        broker=broker,
        backoff_ms=600_000,
        is_isolated=True,
    )
    return take(token=token, body=body(fact, report=f"{broker} {at}"), now=T0 + now)


def test_a_producer_of_the_tokens_group_is_believed_also_when_it_is_gone(cluster: Cluster, token: ReportToken) -> None:
    lists(cluster, "P", "g", gone_at=T0 + 9_500)
    has_told(cluster, 9_900)

    assert reported(token).stored == 1


def test_nobody_speaks_for_a_producer_of_another_group(cluster: Cluster, token: ReportToken) -> None:
    lists(cluster, "P", "payment")
    lists(cluster, "P", INNER_PRODUCER)
    has_told(cluster, 9_000 + SETTLED_MS)

    with pytest.raises(TooEarly, match="'P' as a producer of 'payment', and were not asked since"):
        reported(token)

    ProducerList.objects.update(observed_at=T0 + 9_001 + SETTLED_MS)
    with pytest.raises(Foreign, match="'P' as a producer of 'payment'; this token is of group 'g'"):
        reported(token)
    assert not ProducerBroker.objects.exists()

    lists(cluster, "P", "g")  # one process may have producers of two groups
    assert reported(token).stored == 1


def test_who_is_listed_only_as_every_java_client_is_is_listed_in_no_other_group(
    cluster: Cluster, token: ReportToken
) -> None:
    lists(cluster, "P", INNER_PRODUCER)

    assert reported(token).stored == 1


def test_a_queue_that_no_route_had_makes_no_topic(token: ReportToken) -> None:
    told(route(1), *seen("A"), listed(0, "A"))
    made_up = body(taken("A", 9_000, 7))
    assert take(token=token, body=body(taken("A", 9_000, 6), report="r0"), now=T0 + 9_500).stored == 1, "nobody looks"

    Cluster.objects.update(watched_at=T0 + 8_999 + NEW_MS)
    with pytest.raises(TooEarly, match="to have had orders/east/7 yet"):
        take(token=token, body=made_up, now=T0 + 300_000)
    Cluster.objects.update(watched_at=T0 + 9_000 + NEW_MS)
    with pytest.raises(Malformed, match="orders/east/7; needed is a queue of some route"):
        take(token=token, body=made_up, now=T0 + 300_000)
    assert sorted(Queue.objects.values_list("queue_id", flat=True)) == [0, 6]

    told(route(8, 300_500))
    assert take(token=token, body=made_up, now=T0 + 301_000).stored == 1


def test_a_token_of_consumers_speaks_for_no_producer_that_is_not_listed(token: ReportToken) -> None:
    told(route(1), *seen("A"))

    with pytest.raises(TooEarly, match="'g' is a group of consumers"):
        reported(token)


def test_who_is_new_is_believed_until_each_broker_has_told_its_producers(cluster: Cluster, token: ReportToken) -> None:
    has_told(cluster, 0)
    assert reported(token, at=1_000, now=10_000).stored == 1

    ProducerList.objects.update(observed_at=T0 + 60_000)
    with pytest.raises(TooEarly, match="no broker lists client 'P' as a producer of 'g'"):
        reported(token, at=61_000, now=62_000)


def test_a_broker_that_the_cluster_does_not_have_is_refused(cluster: Cluster, token: ReportToken) -> None:
    assert reported(token, broker="first").stored == 1, "no broker is known yet"
    lists(cluster, "P", "g")
    has_told(cluster, 0)
    told(replace(route(1, broker="west"), source=EAST))

    assert reported(token).stored == reported(token, broker="west").stored == 1
    with pytest.raises(TooEarly, match="no broker 'nowhere' that is known yet"):
        reported(token, broker="nowhere")
    with pytest.raises(Malformed, match="'nowhere' that is known; needed is one that its NameServers name"):
        reported(token, broker="nowhere", now=10_000 + NEW_MS)
