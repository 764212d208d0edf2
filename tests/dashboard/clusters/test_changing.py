"""Clusters are added, changed and removed with a reason, and in the audit log; one that is watched is not removed."""

from __future__ import annotations

import json

import pytest

from dashboard.audit.models import AuditEntry
from dashboard.clusters import leases
from dashboard.clusters.changing import Author, Refused, add, change, obstacle_to_removing, remove
from dashboard.clusters.models import ASIDE, Cluster, OutboxLine, Queue
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.push.models import Step, Stream
from tests.dashboard.story import T0, add_cluster, held, route, seen, told

ADA = Author(name="ada", reason=" it moved ", now=T0)


def noted() -> tuple[str, str, str, dict[str, object]]:
    entry = AuditEntry.objects.get()
    return entry.author, entry.verb, entry.subject, json.loads(entry.detail)


@pytest.mark.django_db
def test_a_cluster_is_added_now_and_audited() -> None:
    add(cluster=Cluster(name="shop", namesrv="a:1"), by=ADA)

    row = Cluster.objects.get()
    assert (row.added_at, row.is_demo, row.is_read_only) == (T0, False, True)
    assert noted() == ("ada", "add a cluster", "shop", {"reason": "it moved", "namesrv": "a:1", "read only": True})


def test_what_is_different_is_audited_and_the_watcher_begins_anew(cluster: Cluster) -> None:
    epoch = leases.take(cluster="shop", holder="a:1", now=T0)
    assert epoch is not None

    change(cluster=cluster.pk, namesrv="b:2", is_read_only=True, by=ADA)

    cluster.refresh_from_db()
    assert (cluster.namesrv, cluster.is_read_only) == ("b:2", True)
    different = {"before": "127.0.0.1:9876", "after": "b:2"}
    assert noted() == ("ada", "change a cluster", "shop", {"reason": "it moved", "namesrv": different})
    assert not leases.renew(cluster="shop", epoch=epoch, now=T0 + 1)
    assert leases.take(cluster="shop", holder="a:1", now=T0 + 1) == epoch + 2


def test_a_change_that_changes_nothing_disturbs_nobody(cluster: Cluster) -> None:
    epoch = leases.take(cluster="shop", holder="a:1", now=T0)
    assert epoch is not None

    assert not change(cluster=cluster.pk, namesrv=cluster.namesrv, is_read_only=True, by=ADA)

    assert leases.renew(cluster="shop", epoch=epoch, now=T0 + 1)
    assert not AuditEntry.objects.exists()


def test_a_cluster_that_is_put_aside_stays_aside_when_it_is_changed(cluster: Cluster) -> None:
    leases.put_aside(clusters=Cluster.objects.all())

    change(cluster=cluster.pk, namesrv="b:2", is_read_only=False, by=ADA)

    assert Cluster.objects.filter(ASIDE, is_read_only=False).exists()


def test_a_cluster_that_is_watched_is_put_aside_and_then_removed(cluster: Cluster) -> None:
    epoch = leases.take(cluster="shop", holder="a:1", now=T0)
    assert epoch is not None
    assert "Put the cluster aside first" in obstacle_to_removing(cluster=Cluster.objects.get(), now=T0)

    change(cluster=cluster.pk, namesrv=cluster.namesrv, is_read_only=cluster.is_read_only, is_aside=True, by=ADA)

    assert noted()[3] == {"reason": "it moved", "put aside": {"before": False, "after": True}}
    assert leases.take(cluster="shop", holder="a:1", now=T0) is None
    remove(cluster=cluster.pk, by=ADA)
    assert not Cluster.objects.exists()


def test_what_was_put_aside_is_taken_back(cluster: Cluster) -> None:
    leases.put_aside(clusters=Cluster.objects.all())

    change(cluster=cluster.pk, namesrv=cluster.namesrv, is_read_only=cluster.is_read_only, is_aside=False, by=ADA)

    assert leases.take(cluster="shop", holder="a:1", now=T0) is not None


def test_a_cluster_is_not_removed_while_it_is_watched(cluster: Cluster) -> None:
    epoch = leases.take(cluster="shop", holder="watch-1:42", now=T0)
    assert epoch is not None

    with pytest.raises(Refused, match="watch-1:42 watches the cluster shop"):
        remove(cluster=cluster.pk, by=ADA)
    assert not AuditEntry.objects.exists()

    leases.give_back(cluster="shop", epoch=epoch, now=T0)
    remove(cluster=cluster.pk, by=ADA)
    assert not Cluster.objects.exists()


def test_a_cluster_is_not_removed_without_a_reason_nor_before_its_history_is_exported(cluster: Cluster) -> None:
    with pytest.raises(Refused, match="It needs a reason"):
        remove(cluster=cluster.pk, by=Author(name="ada", reason=" ", now=T0))

    told(route(1))
    assert obstacle_to_removing(cluster=cluster, now=T0).startswith("1 line of its history is not in")
    with pytest.raises(Refused, match="history"):
        remove(cluster=cluster.pk, by=ADA)
    assert Cluster.objects.exists()


def test_all_that_is_stored_of_it_goes_with_it_and_nothing_of_another(cluster: Cluster) -> None:
    add_cluster("other")
    other = Stream.objects.create(name=f"overview-{Cluster.objects.get(name='other').pk}", seq=1)
    told(route(2), *seen("A"), held("A", 10, [0, 1]))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 20)
    assert Step.objects.exists()
    OutboxLine.objects.update(exported_at=T0)

    remove(cluster=cluster.pk, by=ADA)

    assert [row.name for row in Cluster.objects.all()] == ["other"]
    assert (Group.objects.count(), Queue.objects.count(), Step.objects.count()) == (0, 0, 0)
    assert Stream.objects.get() == other
    assert noted()[1:] == (
        "remove a cluster",
        "shop",
        {"reason": "it moved", "namesrv": "127.0.0.1:9876", "groups": 1},
    )
