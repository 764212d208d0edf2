import pytest

from dashboard.audit.models import AuditEntry
from dashboard.clusters.models import Cluster, Command
from dashboard.clusters.ordering import WITHIN_MS, ReadOnly, Wish, order, recent
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db
KILL = "demo.kill_consumer"


@pytest.fixture
def demo(cluster: Cluster) -> Cluster:
    """Give a cluster of which things may be ordered."""
    Cluster.objects.update(is_read_only=False)
    cluster.refresh_from_db()
    return cluster


def ordered(demo: Cluster, at: int = 0) -> Command:
    wish = Wish(verb=KILL, group="g", target="127.0.0.1@A", parameters={"how": "silent"}, reason="to see")
    return order(cluster=demo, wish=wish, author="ann", now=T0 + at)


def test_an_order_waits_for_the_watcher_until_its_deadline(demo: Cluster) -> None:
    ordered(demo)

    row = Command.objects.get()
    assert (row.verb, row.group_name, row.target, row.parameters) == (KILL, "g", "127.0.0.1@A", {"how": "silent"})
    assert (row.author_name, row.reason, row.deadline) == ("ann", "to see", T0 + WITHIN_MS)
    assert row.taken_at is row.finished_at is None


def test_every_order_is_in_the_audit_log(demo: Cluster) -> None:
    ordered(demo)

    entry = AuditEntry.objects.get()
    assert (entry.author, entry.verb, entry.subject) == ("ann", KILL, "shop g")


def test_nothing_is_ordered_of_a_cluster_that_is_only_looked_at(cluster: Cluster) -> None:
    with pytest.raises(ReadOnly, match="'shop' was added to be looked at only"):
        ordered(cluster)

    assert not AuditEntry.objects.exists()
    assert not Command.objects.exists()


def test_only_orders_of_the_wanted_kind_are_listed_newest_first(demo: Cluster) -> None:
    first, second = ordered(demo), ordered(demo, at=1)

    assert [row.pk for row in recent(cluster=demo, verbs=[KILL])] == [second.pk, first.pk]
    assert recent(cluster=demo, verbs=["group.recompute"]) == []
