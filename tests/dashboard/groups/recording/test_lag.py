from __future__ import annotations

import pytest

from dashboard.groups.lag import QueueLag
from dashboard.groups.models import LagStep
from dashboard.groups.recording.lag import Behind
from rebalance_engine.events import EXACT, AnswerMissed, Missing, ProgressSeen, QueueProgress
from tests.dashboard.story import EAST, T0, queue, told

pytestmark = pytest.mark.usefixtures("cluster")
BEGIN = T0 - T0 % 10_000


def behind(at: int, *offsets: tuple[int, int | None]) -> ProgressSeen:
    queues = tuple(
        QueueProgress(queue=queue(number), end=end, committed=committed)
        for number, (end, committed) in enumerate(offsets)
    )
    return ProgressSeen(at=BEGIN + at, source=EAST, exactness=EXACT, group="g", broker="east", queues=queues)


def missed(at: int) -> AnswerMissed:
    return AnswerMissed(
        at=BEGIN + at, source=EAST, exactness=EXACT, request="208", missing=Missing.TIMEOUT, broker="east", group="g"
    )


def steps() -> list[tuple[int, int | None, int | None]]:
    rows = LagStep.objects.order_by("began_at")
    return [(row.began_at - BEGIN, row.most, row.lag) for row in rows]


def test_ten_seconds_keep_the_most_of_them_and_what_they_ended_with() -> None:
    told(behind(1_000, (9, 9), (9, 6)))
    told(behind(2_000, (20, 9), (9, 6)))
    told(behind(9_999, (20, 19), (9, 8)))

    assert steps() == [(0, 14, 2)]
    row = LagStep.objects.get()
    assert (row.at, row.worst_queue, row.worst_lag) == (BEGIN + 2_000, "orders/0", 11)


def test_what_does_not_change_is_no_new_step() -> None:
    told(behind(0, (9, 6)))
    told(behind(10_000, (12, 9)))
    told(behind(25_000, (12, 12)))
    told(behind(31_000, (12, 12)))

    assert steps() == [(0, 3, 3), (20_000, 0, 0)]


def test_a_broker_that_does_not_answer_makes_it_unknown_until_it_does() -> None:
    told(behind(0, (9, 6)))
    told(missed(15_000))
    told(missed(35_000))
    told(behind(41_000, (9, 6)))

    assert steps() == [(0, 3, 3), (10_000, None, None), (40_000, 3, 3)]


def test_within_ten_seconds_what_was_known_is_the_most_though_it_is_unknown_again() -> None:
    told(missed(1_000))
    told(behind(2_000, (9, 6)))
    told(missed(3_000))

    assert steps() == [(0, 3, None)]


def test_a_batch_with_answers_of_several_steps_is_told_step_by_step() -> None:
    told(behind(0, (9, 6)), behind(10_000, (9, 7)), behind(20_000, (9, 9)))

    assert steps() == [(0, 3, 3), (10_000, 2, 2), (20_000, 0, 0)]


def test_an_older_answer_that_comes_late_changes_nothing() -> None:
    told(behind(20_000, (9, 9)))
    told(behind(5_000, (9, 6)))

    assert steps() == [(20_000, 0, 0)]


@pytest.mark.parametrize(
    ("queues", "expected"),
    [
        ([], Behind()),
        ([(5, 3), (7, None)], Behind(queues={"orders": [2, None]})),
        ([(5, 3), (0, None)], Behind(2, "orders/0", 2, {"orders": [2, 0]})),
        ([(5, 5)], Behind(0, "", 0, {"orders": [0]})),
    ],
)
def test_the_sum_is_unknown_while_any_queue_is(queues: list[tuple[int, int | None]], expected: Behind) -> None:
    rows = [QueueLag("orders", "east", number, *each, None, T0, None) for number, each in enumerate(queues)]

    assert Behind.of(rows) == expected
