from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.clusters.models import Cluster, Queue
from dashboard.groups.models import Group, LagStep, Progress
from dashboard.pauses.lagging import LagOverTime, Point, lag_over, thinned
from rebalance_engine.events import EXACT, RouteMissing
from tests.dashboard.story import NAMESRV, T0, route, told
from tests.dashboard.wrong_states import make_group

BEGIN = T0 - T0 % 10_000


@pytest.fixture
def group(cluster: Cluster) -> Group:
    return make_group(cluster)


def step(group: Group, broker: str, at: int, most: int | None, lag: int | None = -1, worst: str = "") -> None:
    LagStep.objects.create(
        group=group,
        broker=broker,
        began_at=BEGIN + at - at % 10_000,
        at=BEGIN + at,
        most=most,
        lag=most if lag == -1 else lag,
        worst_queue=worst,
        worst_lag=most,
    )


def read(group: Group, since: int, until: int) -> LagOverTime:
    return lag_over(group=group, since=BEGIN + since, until=BEGIN + until)


def moved(points: tuple[Point, ...]) -> list[tuple[int, int | None]]:
    return [(at - BEGIN, value) for at, value in points]


def test_brokers_are_added_up_once_each_has_told_and_while_each_does(group: Group) -> None:
    step(group, "east", 1_000, 5, 2)
    step(group, "west", 12_000, 10)
    step(group, "east", 25_000, None)
    step(group, "east", 40_000, 0)

    assert moved(read(group, 0, 60_000).points) == [(1_000, None), (12_000, 12), (25_000, None), (40_000, 10)]


def test_a_broker_counts_until_no_route_has_its_queues_any_more(group: Group) -> None:
    told(route(1), route(1, broker="west", topic="bills"))
    source = {"at": BEGIN, "observed_at": BEGIN, "origin": "admin answer"}
    Progress.objects.create(group=group, broker="west", queues=[["bills", 0, 9, 4, None]], **source)
    step(group, "east", 1_000, 2)
    step(group, "west", 12_000, 5, 4)
    step(group, "west", 35_000, None)
    went = BEGIN + 15_000
    told(RouteMissing(at=went, source=NAMESRV, exactness=EXACT, topic="bills"), at=15_000)
    Queue.objects.filter(broker="west").update(since=BEGIN, gone_at=went)

    assert moved(read(group, 0, 60_000).points) == [(1_000, None), (12_000, 7), (15_000, 2)]
    assert moved(read(group, 20_000, 60_000).points) == [(20_000, 2)]


def test_a_window_begins_with_what_held_before_it(group: Group) -> None:
    step(group, "east", 1_000, 5, 2)
    step(group, "east", 41_000, 9, worst="orders/3")

    found = read(group, 20_000, 60_000)

    assert moved(found.points) == [(20_000, 2), (41_000, 9)]
    assert [(each.at - BEGIN, each.broker, each.lag, each.queue, each.queue_lag) for each in found.peaks] == [
        (41_000, "east", 9, "orders/3", 9)
    ]
    assert found.is_whole


def test_the_end_of_a_step_that_still_lasts_is_not_in_the_future(group: Group) -> None:
    step(group, "east", 1_000, 5, 2)

    assert moved(read(group, 0, 4_000).points) == [(1_000, 5), (4_000, 2)]


def test_what_was_left_out_is_said(group: Group, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.pauses.lagging.MOST_STEPS", 1)
    step(group, "east", 1_000, 5)
    step(group, "east", 11_000, 6)

    found = read(group, 0, 20_000)

    assert (moved(found.points), found.is_whole) == ([(11_000, 6)], False)


def test_it_says_how_far_behind_at_an_instant_and_at_most_between_two() -> None:
    over_time = LagOverTime(((10, 4), (20, None), (30, 9), (40, 1)), (), is_whole=True)

    assert [over_time.at(instant) for instant in (9, 10, 25, 45)] == [None, 4, None, 1]
    assert [over_time.most(*span) for span in ((0, 9), (12, 15), (12, 30), (41, 50), (21, 29))] == [None, 4, 9, 1, None]


@given(
    values=st.lists(st.none() | st.integers(0, 1_000), min_size=10, max_size=300),
    most=st.integers(min_value=9, max_value=60),
)
def test_fewer_points_keep_the_highest_every_unknown_stretch_and_the_end(values: list[int | None], most: int) -> None:
    points = [(10 * at, value) for at, value in enumerate(values)]

    kept = list(thinned(points, most))

    assert len(kept) <= max(most, 3) and set(kept) <= set(points) and kept == sorted(kept, key=lambda each: each[0])
    assert kept[-1] == points[-1]
    known = [value for value in values if value is not None]
    assert max((value for _at, value in kept if value is not None), default=None) == max(known, default=None)
    assert (None in values) == (None in [value for _at, value in kept])
