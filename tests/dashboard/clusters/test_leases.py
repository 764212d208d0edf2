import pytest

from dashboard.clusters.leases import LEASE_MS, expect, give_back, put_aside, renew, take
from dashboard.clusters.models import ASIDE, Cluster
from tests.dashboard.story import T0


def test_one_watcher_has_a_cluster_until_its_lease_ends(cluster: Cluster) -> None:
    first = take(cluster="shop", holder="a:1", now=T0)
    early = take(cluster="shop", holder="b:2", now=T0 + LEASE_MS - 1)
    late = take(cluster="shop", holder="b:2", now=T0 + LEASE_MS)

    assert (first, early, late) == (1, None, 2)
    cluster.refresh_from_db()
    assert (cluster.lease_holder, cluster.lease_until) == ("b:2", T0 + 2 * LEASE_MS)


def test_renewing_holds_it_and_the_one_before_is_told(cluster: Cluster) -> None:
    epoch = take(cluster="shop", holder="a:1", now=T0)
    assert epoch is not None

    assert renew(cluster="shop", epoch=epoch, now=T0 + LEASE_MS - 1)
    assert take(cluster="shop", holder="b:2", now=T0 + LEASE_MS) is None
    assert take(cluster="shop", holder="b:2", now=T0 + 3 * LEASE_MS) == 2
    assert not renew(cluster="shop", epoch=epoch, now=T0 + 3 * LEASE_MS)
    assert cluster.pk


def test_what_is_given_back_and_what_a_dead_one_has_is_free_at_once(cluster: Cluster) -> None:
    epoch = take(cluster="shop", holder="a:1", now=T0)
    assert epoch is not None
    give_back(cluster="shop", epoch=epoch, now=T0 + 1)

    assert take(cluster="shop", holder="b:2", now=T0 + 2) == 2
    assert take(cluster="shop", holder="c:3", now=T0 + 3, is_dead=lambda holder: holder == "b:2") == 3
    assert cluster.pk


def test_what_is_put_aside_is_nobodys_until_somebody_expects_a_watcher(cluster: Cluster) -> None:
    epoch = take(cluster="shop", holder="a:1", now=T0)
    assert epoch is not None
    assert not Cluster.objects.get().is_aside

    put_aside(clusters=Cluster.objects.all())
    put_aside(clusters=Cluster.objects.all())

    cluster.refresh_from_db()
    assert (cluster.is_aside, cluster.lease_epoch, Cluster.objects.filter(ASIDE).count()) == (True, 2, 1)
    assert not renew(cluster="shop", epoch=epoch, now=T0 + 1)
    assert take(cluster="shop", holder="a:1", now=T0 + 1) is None
    expect(clusters=Cluster.objects.all())
    assert not Cluster.objects.get().is_aside
    assert take(cluster="shop", holder="b:2", now=T0 + 2) == 3


def test_a_cluster_that_nobody_added_has_no_lease(db: None) -> None:  # noqa: ARG001  # it opens the database
    with pytest.raises(Cluster.DoesNotExist):
        take(cluster="nope", holder="a:1", now=T0)
