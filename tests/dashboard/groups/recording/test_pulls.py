from __future__ import annotations

import pytest

from dashboard.clusters.models import Cluster, OutboxLine
from dashboard.groups.models import Group, PullRefusal
from rebalance_engine.events import EXACT, DropReason, PullRefused, QueueDropped, QueuePulled
from tests.dashboard.story import REPORT, T0, held, queue, route, seen, told


def refused(at: int, code: int = 24, number: int = 0) -> PullRefused:
    return PullRefused(
        at=T0 + at, source=REPORT, exactness=EXACT, group="g", client="A", queue=queue(number), code=code
    )


def pulled(at: int) -> QueuePulled:
    return QueuePulled(at=T0 + at, source=REPORT, exactness=EXACT, group="g", client="A", queue=queue(0))


def dropped(at: int) -> QueueDropped:
    return QueueDropped(
        at=T0 + at,
        source=REPORT,
        exactness=EXACT,
        group="g",
        client="A",
        queue=queue(0),
        reason=DropReason.NOT_IN_TARGET,
    )


def rows() -> list[tuple[int, int, int, int]]:
    told_of = PullRefusal.objects.order_by("queue_id")
    return [(row.code, row.since - T0, row.at - T0, row.count) for row in told_of]


@pytest.fixture(autouse=True)
def member(cluster: Cluster) -> None:
    assert cluster.name == "shop"
    told(route(2), *seen("A"), held("A", 0, [0, 1]))


def test_refusals_of_one_queue_are_one_row_since_the_first() -> None:
    told(refused(1_000), refused(4_000), refused(2_000, number=1))
    told(refused(7_000, code=25))

    assert rows() == [(25, 1_000, 7_000, 3), (24, 2_000, 2_000, 1)]


@pytest.mark.parametrize("over", [pulled, dropped])
def test_a_pull_or_letting_go_ends_it(over: object) -> None:
    assert callable(over)
    told(refused(1_000))
    before = Group.objects.get().inputs_version

    told(over(2_000))

    assert rows() == []
    assert Group.objects.get().inputs_version > before


def test_what_came_before_a_refusal_does_not_end_it() -> None:
    told(refused(5_000))
    told(pulled(4_000))

    assert rows() == [(24, 5_000, 5_000, 1)]


def test_a_refusal_that_comes_late_is_not_counted() -> None:
    told(refused(5_000))
    told(refused(4_000))

    assert rows() == [(24, 5_000, 5_000, 1)]


def test_a_refusal_that_is_told_again_after_its_line_was_deleted_counts_once() -> None:
    told(refused(1_000), refused(4_000))
    OutboxLine.objects.all().delete()

    told(refused(1_000), refused(4_000))

    assert rows() == [(24, 1_000, 4_000, 2)]
