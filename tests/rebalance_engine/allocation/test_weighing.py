from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.allocation.contract import BadParameter
from rebalance_engine.allocation.weighing import Task, task_of
from rebalance_engine.ownership import UNOWNED
from rebalance_engine.tables import ClientTable, QueueTable
from tests.rebalance_engine.allocation.exact import all_assignments

XY = QueueTable.from_routes([("X", "east", 2), ("Y", "east", 1)])
AB = ClientTable.of(["A", "B"])
NOBODY = np.full(3, UNOWNED, dtype=np.int32)
weights = st.lists(st.integers(0, 9), min_size=3, max_size=3)


def task(weights: list[float], capacities: dict[str, float] | None = None, y: list[int] | None = None) -> Task:
    subscribers = None if y is None else [AB.members, np.array(y, dtype=np.int32)]
    return task_of(XY, AB, NOBODY, subscribers, np.array(weights), capacities)


@given(weights, st.integers(1, 3), st.booleans())
def test_no_assignment_is_below_the_lower_bound(weights: list[float], capacity: int, only_a: bool) -> None:
    asked = task(weights, {"A": 1, "B": capacity}, [0] if only_a else None)

    allowed = (owner for owner in all_assignments(3, 2) if not only_a or owner[2] == 0)

    assert asked.lower_bound() <= min(asked.worst(owner) for owner in allowed) + 1e-9


def test_the_lower_bound_knows_the_whole_the_topic_and_the_queue() -> None:
    assert task([4, 4, 4]).lower_bound() == 6
    assert task([4, 4, 9]).lower_bound() == 9
    assert task([1, 1, 4], {"A": 1, "B": 2}, y=[0]).lower_bound() == 4
    assert task([1, 1, 4], y=[]).lower_bound() == 1


def test_the_heaviest_goes_first_and_to_the_lowest_ratio() -> None:
    asked = task([2, 3, 6], {"A": 1, "B": 2})

    assert asked.place(asked.home, np.arange(3)).tolist() == [1, 0, 1]


def test_queues_without_weight_are_shared_out_by_number() -> None:
    asked = task([0, 0, 0])

    assert asked.place(asked.home, np.arange(3)).tolist() == [0, 1, 0]


def test_who_does_not_subscribe_has_no_home_there() -> None:
    subscribers = [AB.members, np.array([0], dtype=np.int32)]

    asked = task_of(XY, AB, np.array([1, 0, 1], dtype=np.int32), subscribers, None, None)

    assert asked.home.tolist() == [1, 0, UNOWNED]


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf, -np.inf])
def test_a_weight_that_is_none_is_refused(wrong: float) -> None:
    seen = re.escape(
        f"MessageQueue [topic=X, brokerName=east, queueId=1] weighs {wrong}, but a weight is a number of 0"
    )

    with pytest.raises(BadParameter, match=seen):
        task([1, wrong, 1])


@pytest.mark.parametrize(("weight", "capacity"), [(1e308, 1.0), (1.0, 1e-308)])
def test_ratios_that_no_float_can_hold_are_refused(weight: float, capacity: float) -> None:
    with pytest.raises(BadParameter, match=f"all weight, .*, by the capacity {capacity} is more than a float can hold"):
        task([weight, weight, 1e8], {"A": 1, "B": capacity})


def test_weights_of_other_queues_are_refused() -> None:
    with pytest.raises(BadParameter, match=r"weights have the shape \(2,\), but there are 3 queues"):
        task([1, 2])


@pytest.mark.parametrize("wrong", [0, -1.0, np.nan, np.inf])
def test_a_capacity_that_is_none_is_refused(wrong: float) -> None:
    with pytest.raises(BadParameter, match=f"'B' has the capacity {wrong}, but it must be above 0, and finite"):
        task([1, 1, 1], {"A": 1, "B": wrong})


def test_a_member_without_a_capacity_is_refused() -> None:
    with pytest.raises(BadParameter, match="'B' has no capacity; each of the 2 members needs one"):
        task([1, 1, 1], {"A": 1})
