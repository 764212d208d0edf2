import pytest

from dashboard.clusters.models import Cluster, Topic
from dashboard.common.rows import Rows
from dashboard.groups.models import Group
from tests.dashboard.story import T0


@pytest.fixture
def topics(cluster: Cluster) -> Rows[str, Topic]:
    Topic.objects.bulk_create([Topic(cluster=cluster, name=name) for name in ("old", "gone")])
    return Rows(Topic, lambda row: row.name, Topic.objects.all())


def test_what_is_new_changed_or_gone_is_written_and_nothing_else(
    cluster: Cluster, topics: Rows[str, Topic], django_assert_num_queries: pytest.FixtureRequest
) -> None:
    topics.add(Topic(cluster=cluster, name="new"))
    gone = topics.get("gone")
    assert gone is not None
    topics.remove(gone)

    topics.write()

    assert set(Topic.objects.values_list("name", flat=True)) == {"old", "new"}
    with django_assert_num_queries(0):  # type: ignore[operator]  # a factory
        topics.write()


def test_a_row_that_came_and_went_is_not_written(cluster: Cluster, topics: Rows[str, Topic]) -> None:
    topics.remove(topics.add(Topic(cluster=cluster, name="brief")))

    topics.write()

    assert not Topic.objects.filter(name="brief").exists()


def test_columns_that_are_not_ours_are_left_to_who_writes_them(cluster: Cluster) -> None:
    Group.objects.create(cluster=cluster, name="g", added_at=T0)
    rows = Rows(Group, lambda row: row.name, Group.objects.all(), columns=["model"])
    mine = rows.get("g")
    assert mine is not None
    Group.objects.update(fence=7)

    assert rows.update(mine, model="CLUSTERING")
    assert not rows.update(mine, model="CLUSTERING")
    rows.write()

    group = Group.objects.get()
    assert (group.model, group.fence) == ("CLUSTERING", 7)
