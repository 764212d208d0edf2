from __future__ import annotations

import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.live.following import FOLLOW_FOR_MS, followed_groups, note_followed
from dashboard.live.models import Follow
from tests.dashboard.story import T0, add_cluster


@pytest.fixture
def group(cluster: Cluster) -> Group:
    return Group.objects.create(cluster=cluster, name="g", added_at=T0)


def test_a_group_is_looked_at_for_a_while_after_somebody_said_so(group: Group) -> None:
    note_followed(streams=[f"group-{group.pk}", "overview-1"], now=T0)

    assert followed_groups(cluster=group.cluster_id, now=T0 + FOLLOW_FOR_MS) == {group.pk}
    assert followed_groups(cluster=group.cluster_id, now=T0 + FOLLOW_FOR_MS + 1) == frozenset()


def test_saying_it_again_makes_it_longer(group: Group) -> None:
    note_followed(streams=[f"group-{group.pk}"], now=T0)
    note_followed(streams=[f"group-{group.pk}"], now=T0 + 20_000)

    assert followed_groups(cluster=group.cluster_id, now=T0 + 40_000) == {group.pk}


def test_groups_of_other_clusters_are_not_told(group: Group) -> None:
    other = add_cluster("other")
    note_followed(streams=[f"group-{group.pk}"], now=T0)

    assert followed_groups(cluster=other.pk, now=T0) == frozenset()


def test_old_rows_go(group: Group) -> None:
    note_followed(streams=[f"group-{group.pk}"], now=T0)
    note_followed(streams=["overview-1"], now=T0 + 30 * FOLLOW_FOR_MS)

    assert [row.stream for row in Follow.objects.all()] == ["overview-1"]
