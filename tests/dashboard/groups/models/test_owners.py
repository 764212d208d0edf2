from __future__ import annotations

import pytest
from django.db import DatabaseError, transaction

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Holding, Target
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import (
    SOURCED,
    WITHOUT_SOURCE,
    assert_refused,
    assert_unique,
    make_group,
    make_member,
    make_queue,
    store,
)


def test_a_queue_has_one_target_and_a_rebalance_that_said_so(cluster: Cluster) -> None:
    group = make_group(cluster)
    columns = {"group": group, "queue": make_queue(cluster), "member": make_member(group), "fence": 1}

    assert_refused(Target, columns, {"fence": 0}, {"queue": None})
    assert_unique(Target, columns, queue=make_queue(cluster, 1))


def test_an_earlier_rebalance_says_no_more_who_should_have_a_queue(cluster: Cluster) -> None:
    group = make_group(cluster)
    target = store(Target, group=group, queue=make_queue(cluster), member=make_member(group), fence=7)

    Target.objects.update(fence=8)
    with pytest.raises(DatabaseError, match=r"groups_target.fence never becomes less"), transaction.atomic():
        Target.objects.update(fence=6)

    target.refresh_from_db()
    assert target.fence == 8


def test_a_member_holds_a_queue_once_at_a_time_and_two_members_may_hold_it(cluster: Cluster) -> None:
    group, queue = make_group(cluster), make_queue(cluster)
    columns = {"group": group, "queue": queue, "member": make_member(group), **SOURCED}

    assert_unique(Holding, columns, member=make_member(group, "B"))
    store(Holding, **columns, until=T0 + 1, until_origin="admin answer", reason="unknown")


def test_a_span_ends_after_it_began_with_a_source_and_a_reason(cluster: Cluster) -> None:
    group = make_group(cluster)
    columns = {
        "group": group,
        "queue": make_queue(cluster),
        "member": make_member(group),
        "until": T0 + 9,
        "until_low": T0 + 5,
        "until_high": T0 + 9,
        "until_origin": "admin answer",
        "reason": "unknown",
        **SOURCED,
    }

    assert_refused(
        Holding,
        columns,
        {"until": T0 - 1, "until_low": None},
        {"until": None},
        {"until_origin": None},
        {"reason": None},
        {"reason": "bored"},
        {"until_origin": "hearsay"},
        {"until_low": T0 + 10},
        {"until_high": T0 + 8},
        {"until_low": -1},
        {"until_high": T0 * 1_000_000},
        {"at_low": -1},
        {"at_high": T0 * 1_000_000},
        {"first_pull_at": T0 - 1},
        {"first_pull_at": T0 * 1_000_000},
        *WITHOUT_SOURCE,
    )
