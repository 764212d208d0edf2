from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.groups.recording.book import GroupBook
from rebalance_engine.events import Cause
from tests.dashboard.story import T0, joined, seen, told


def test_a_book_reads_only_the_groups_and_clients_of_its_facts(cluster: Cluster) -> None:
    told(*seen("A"), *seen("B"), *seen("A", group="other"))

    book = GroupBook.open(cluster, [joined("A", 5)], T0)

    assert [row.name for row in book.groups] == ["g"]
    assert [row.client_id for row in book.members] == ["A"]


def test_a_cause_that_is_known_stays_before_one_that_is_not(cluster: Cluster) -> None:
    book = GroupBook.open(cluster, [], T0)

    book.touch("g")
    book.touch("g", Cause.MEMBER_LEFT)
    book.touch("g", Cause.MEMBER_JOINED)
    book.touch("g")

    assert book.touched == {"g": Cause.MEMBER_LEFT}


def test_a_group_is_made_once(cluster: Cluster) -> None:
    book = GroupBook.open(cluster, [], T0)

    assert book.group("g") is book.group("g")
    book.write()
    assert Group.objects.get().added_at == T0
