from __future__ import annotations

import pytest
from django.db import DatabaseError, transaction

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import assert_refused, assert_unique


def test_a_group_is_there_once_and_nothing_is_done_before_it_was_asked_for(cluster: Cluster) -> None:
    columns = {"cluster": cluster, "name": "g", "added_at": T0, "inputs_version": 3, "done_version": 3, "fence": 1}

    assert_refused(
        Group,
        columns,
        {"name": ""},
        {"model": "SOMETIMES"},
        {"done_version": 4},
        {"done_version": -1},
        {"fence": -1},
        {"round_cause": "fate"},
        {"added_at": -1},
    )
    assert_unique(Group, columns, name="other")


@pytest.mark.parametrize("counter", ["inputs_version", "done_version", "fence", "round_number"])
def test_counters_never_become_less(cluster: Cluster, counter: str) -> None:
    group = Group.objects.create(
        cluster=cluster, name="g", added_at=T0, inputs_version=5, done_version=5, fence=5, round_number=5
    )

    with pytest.raises(DatabaseError), transaction.atomic():
        Group.objects.filter(pk=group.pk).update(**{counter: 4})

    group.refresh_from_db()
    assert getattr(group, counter) == 5
