from __future__ import annotations

import pytest

from dashboard.clusters.models import OutboxLine
from dashboard.groups.models import Group, Progress
from rebalance_engine.events import EXACT, AnswerMissed, Missing, ProgressSeen, QueueProgress
from tests.dashboard.story import EAST, T0, queue, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def progress(at: int, *offsets: tuple[int, int | None]) -> ProgressSeen:
    queues = tuple(
        QueueProgress(queue=queue(number), end=end, committed=committed)
        for number, (end, committed) in enumerate(offsets)
    )
    return ProgressSeen(at=T0 + at, source=EAST, exactness=EXACT, group="g", broker="east", queues=queues)


def missed(at: int) -> AnswerMissed:
    return AnswerMissed(
        at=T0 + at, source=EAST, exactness=EXACT, request="208", missing=Missing.TIMEOUT, broker="east", group="g"
    )


def test_the_last_answer_of_a_broker_is_kept_whole_with_its_time_and_source() -> None:
    told(progress(0, (5, 5)))
    told(progress(10_000, (9, 5), (3, None)))

    row = Progress.objects.get()
    assert row.queues == [["orders", 0, 9, 5, None], ["orders", 1, 3, None, None]]
    assert (row.observed_at, row.origin, row.broker, row.missing) == (T0 + 10_000, "admin answer", "east", None)


def test_offsets_are_no_lines_of_the_history_and_no_reason_to_rebalance() -> None:
    told(route(1), *seen("A"))
    lines, version = OutboxLine.objects.count(), Group.objects.get().inputs_version

    told(progress(0, (5, 5)))

    assert (OutboxLine.objects.count(), Group.objects.get().inputs_version) == (lines, version)


def test_a_broker_that_does_not_answer_leaves_what_it_said_and_says_so() -> None:
    told(missed(0))
    never = Progress.objects.get()
    assert (never.queues, never.missing, never.missing_at) == ([], "timeout", T0)

    told(progress(5_000, (9, 5)))
    told(missed(15_000), missed(25_000))

    row = Progress.objects.get()
    assert (row.queues[0][2], row.missing, row.missing_at, row.observed_at) == (9, "timeout", T0 + 15_000, T0 + 5_000)


def test_an_older_answer_that_comes_late_changes_nothing() -> None:
    told(progress(10_000, (9, 5)))
    told(progress(5_000, (7, 5)), missed(6_000))

    assert Progress.objects.get().queues[0][2] == 9
    assert Progress.objects.get().missing is None
