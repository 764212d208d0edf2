import pytest

from dashboard.clusters.models import Cluster, OutboxLine
from dashboard.clusters.outbox import WrongCluster, append, lines_of, not_yet_stored
from rebalance_engine.eventlog import read
from tests.dashboard.story import T0, joined


def test_the_same_fact_is_one_line(cluster: Cluster) -> None:
    lines = lines_of(cluster=cluster, facts=[joined("A", 1), joined("B", 2), joined("A", 1)])

    assert [line.fact.client for line in lines if hasattr(line.fact, "client")] == ["A", "B"]
    assert all(read(line.text) == line.fact for line in lines)


def test_lines_that_were_stored_before_are_left_out_but_not_those_of_another_cluster(cluster: Cluster) -> None:
    other = Cluster.objects.create(name="other", namesrv="127.0.0.1:1", added_at=T0)
    append(cluster=cluster, lines=lines_of(cluster=cluster, facts=[joined("A", 1)]), now=T0)

    again = not_yet_stored(cluster=cluster, lines=lines_of(cluster=cluster, facts=[joined("A", 1), joined("B", 1)]))
    elsewhere = not_yet_stored(cluster=other, lines=lines_of(cluster=other, facts=[joined("A", 1)]))

    assert (len(again), len(elsewhere)) == (1, 1)
    assert OutboxLine.objects.count() == 1


def test_a_fact_of_another_cluster_is_refused(cluster: Cluster) -> None:
    other = Cluster(name="other")
    (line,) = lines_of(cluster=other, facts=[joined("A", 1)])

    with pytest.raises(WrongCluster):
        lines_of(cluster=cluster, facts=[line.fact])
