from __future__ import annotations

import pytest

from dashboard.groups.drawn import known_of, known_twice, lags_around, plain_lanes, with_queue
from dashboard.groups.lane import Lane
from dashboard.groups.lanes import lanes_of
from dashboard.groups.leanest import Division
from dashboard.groups.models import Group, Round
from dashboard.groups.twice import Totals
from tests.dashboard.groups.recording.test_lag import BEGIN, behind
from tests.dashboard.groups.test_twice import dropped, join, taken
from tests.dashboard.story import T0, told


def lane(queue_id: int, topic: str = "orders") -> Lane:
    return Lane(topic, "east", queue_id, "A", "B", 1, 2, 3, (0, 0), (0, 0), is_waiting=False)


def test_a_queue_is_asked_for_by_its_name_or_by_a_part_of_it() -> None:
    lanes = [lane(1), lane(10), lane(1, "Pay")]

    assert with_queue(lanes, " orders/east/1 ") == [lanes[0]]
    assert with_queue(lanes, "orders/east") == lanes[:2]
    assert with_queue(lanes, "pay/") == [lanes[2]]
    assert with_queue(lanes, "") == lanes
    assert with_queue(lanes, "west") == []


@pytest.mark.usefixtures("cluster")
def test_the_latest_round_of_a_group_says_how_few_moves_would_have_done_and_what_came_twice() -> None:
    row = join(dropped("B", 5_200, 130), taken("C", 5_100, 120))
    lanes = lanes_of(row, now=T0 + 10_000)

    known = known_of(row=row, lanes=lanes)

    division, twice = known["division"], known["twice"]
    assert isinstance(division, Division)
    assert isinstance(twice, Totals)
    assert (division.fewest, twice.count) == (1, 10)
    drawn = plain_lanes(row, lanes, T0 + 10_000, known_twice(row, lanes)) or {}
    assert [(each["queue"], each["to"], each["twice"]) for each in drawn["lanes"]] == [("orders/east/3", "C", 10)]  # type: ignore[attr-defined] # plain values
    assert not known_of(row=None, lanes=())
    assert not known_twice(None, ())
    assert plain_lanes(None, (), 0) is None


@pytest.mark.usefixtures("cluster")
def test_before_and_after_a_round_have_the_lag_of_their_instants() -> None:
    told(behind(1_000, (9, 6)))
    told(behind(15_000, (9, 8)))
    row = Round(opened_at=BEGIN + 5_000, closed_at=None)

    lags = lags_around(group=Group.objects.get(), row=row, before_at=BEGIN + 4_000, now=BEGIN + 20_000)

    assert {name: [each["queues"] for each in lag] for name, lag in lags.items()} == {
        "before": [[["orders", 0, 3, None]]],
        "after": [[["orders", 0, 1, None]]],
    }
