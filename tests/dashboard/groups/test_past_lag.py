from __future__ import annotations

import pytest

from dashboard.groups.models import Group, LagStep
from dashboard.groups.past_lag import lag_at
from tests.dashboard.groups.recording.test_lag import BEGIN, behind, missed
from tests.dashboard.story import told

pytestmark = pytest.mark.usefixtures("cluster")


def lags(at: int) -> list[object]:
    return [each["queues"] for each in lag_at(group=Group.objects.get(), at=BEGIN + at)]


def test_each_queue_is_as_far_behind_as_was_told_by_then() -> None:
    told(behind(1_000, (9, 9), (9, 6)))
    told(behind(15_000, (20, 9), (9, 6)))

    assert lags(999) == []
    assert lags(14_999) == [[["orders", 0, 0, None], ["orders", 1, 3, None]]]
    assert lags(15_000) == lags(900_000) == [[["orders", 0, 11, None], ["orders", 1, 3, None]]]


def test_its_last_minute_begins_with_what_was_told_before() -> None:
    told(behind(1_000, (9, 6)))
    told(behind(70_000, (9, 8)))
    told(behind(95_000, (9, 9)))

    [shown] = lag_at(group=Group.objects.get(), at=BEGIN + 100_000)

    assert shown["at"] == BEGIN + 95_000
    looks = [(40_000, [3]), (70_000, [1]), (95_000, [0]), (100_000, [0])]
    assert shown["looks"] == [[BEGIN + at, lag] for at, lag in looks]


def test_while_a_broker_does_not_answer_nothing_of_it_is_known() -> None:
    told(behind(1_000, (9, 6)))
    told(missed(15_000))
    told(behind(25_000, (9, 8), (4, None)))

    assert lags(20_000) == []
    assert lags(25_000) == [[["orders", 0, 1, None], ["orders", 1, None, None]]]


def test_of_very_many_queues_no_step_says_how_far_each_is() -> None:
    told(behind(1_000, *[(9, 6)] * 257))

    assert LagStep.objects.get().lag == 257 * 3
    assert lags(2_000) == []


def test_queues_that_change_places_make_a_step() -> None:
    told(behind(1_000, (9, 9), (9, 6)))
    told(behind(11_000, (9, 6), (9, 9)))

    assert lags(11_000) == [[["orders", 0, 3, None], ["orders", 1, 0, None]]]
