import math
from bisect import bisect_left

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.network.budget import BROKER_LIMITS, NAME_SERVER_LIMITS, Budget, Lane, Limits
from rebalance_engine.remoting.codes import RequestCode

RUNNING_INFO = RequestCode.GET_CONSUMER_RUNNING_INFO
ANY = RequestCode.GET_CONSUMER_CONNECTION_LIST

LANES = st.builds(Lane, per_second=st.floats(0.1, 100), burst=st.integers(1, 10), in_flight=st.integers(1, 5))
LIMITS = st.builds(Limits, together=LANES, by_code=st.dictionaries(st.integers(1, 2), LANES))
STEPS = st.lists(
    st.tuples(st.floats(0, 3), st.sampled_from(["begin", "begin", "begin", "end", "trouble"]), st.integers(1, 3))
)


@given(limits=LIMITS, steps=STEPS)
def test_nothing_exceeds_any_bound_whatever_is_tried(limits: Limits, steps: list[tuple[float, str, int]]) -> None:
    budget, now = Budget(limits, 0.0), 0.0
    begun: list[tuple[float, int]] = []
    running: list[int] = []
    for pause, step, code in steps:
        now += pause
        if step == "trouble":
            budget.slow_down(now)
        elif step == "end" and code in running:
            running.remove(code)
            budget.end(code)
        elif step == "begin" and budget.wait_s(code, now) == 0:
            budget.begin(code, now)
            begun.append((now, code))
            running.append(code)

        hold(limits.together, [at for at, _ in begun], len(running))
        for own, lane in limits.by_code.items():
            hold(lane, [at for at, code in begun if code == own], running.count(own))


def hold(lane: Lane, begun: list[float], running: int) -> None:
    assert running <= lane.in_flight
    if begun:
        for start in begun:
            in_window = len(begun) - bisect_left(begun, start)
            assert in_window <= lane.burst + lane.per_second * (begun[-1] - start) + 1e-6


@given(limits=LIMITS, code=st.integers(1, 3), troubles=st.integers(0, 3))
def test_who_waits_as_long_as_told_may_begin(limits: Limits, code: int, troubles: int) -> None:
    budget, now = Budget(limits, 0.0), 0.0
    for _ in range(troubles):
        budget.slow_down(now)
    for _ in range(20):
        wait = budget.wait_s(code, now)
        assert wait is not None
        now += wait * 1.000001
        assert math.isclose(budget.wait_s(code, now) or 0.0, 0.0, abs_tol=1e-4)
        now += 1e-3 * (budget.wait_s(code, now) != 0)
        budget.begin(code, now)
        budget.end(code)


def test_a_broker_is_asked_at_most_four_things_at_a_time_two_of_them_of_clients() -> None:
    budget = Budget(BROKER_LIMITS, 0.0)
    budget.begin(RUNNING_INFO, 0.0)
    budget.begin(RUNNING_INFO, 0.0)

    assert budget.wait_s(RUNNING_INFO, 100.0) is None
    assert budget.wait_s(ANY, 0.0) == 0

    budget.begin(ANY, 0.0)
    budget.begin(ANY, 0.0)
    assert budget.wait_s(ANY, 100.0) is None
    assert (budget.in_flight(), budget.in_flight(RUNNING_INFO)) == (4, 2)


def test_the_whole_broker_is_asked_for_its_offsets_once_a_minute() -> None:
    budget = Budget(BROKER_LIMITS, 0.0)
    budget.begin(RequestCode.GET_BROKER_CONSUME_STATS, 0.0)
    budget.end(RequestCode.GET_BROKER_CONSUME_STATS)

    assert budget.wait_s(RequestCode.GET_BROKER_CONSUME_STATS, 20.0) == pytest.approx(40)
    assert budget.wait_s(RequestCode.GET_BROKER_CONSUME_STATS, 60.0) == pytest.approx(0)


def test_a_name_server_is_asked_for_all_topics_once_a_minute() -> None:
    budget = Budget(NAME_SERVER_LIMITS, 0.0)
    budget.begin(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, 0.0)
    budget.end(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)

    assert budget.wait_s(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, 0.0) == pytest.approx(60)
    assert budget.wait_s(RequestCode.GET_BROKER_CLUSTER_INFO, 0.0) == 0


def test_a_broker_in_trouble_is_asked_half_as_often_and_recovers() -> None:
    budget = Budget(BROKER_LIMITS, 0.0)
    budget.slow_down(0.0)
    budget.slow_down(0.0)

    assert [budget.factor(at) for at in (0.0, 30.0, 60.0, 1e9)] == [0.25, 0.5, 1.0, 1.0]


def test_it_is_never_slowed_down_to_nothing() -> None:
    budget = Budget(BROKER_LIMITS, 0.0)
    for _ in range(1000):
        budget.slow_down(0.0)

    assert budget.factor(0.0) == 1 / 64


def test_what_may_not_begin_or_never_began_is_an_error() -> None:
    budget = Budget(Limits(together=Lane(per_second=1, burst=1, in_flight=1)), 0.0)
    with pytest.raises(ValueError, match="never began"):
        budget.end(1)
    budget.begin(1, 0.0)
    with pytest.raises(ValueError, match="may not begin"):
        budget.begin(1, 0.0)


@pytest.mark.parametrize("figures", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_a_bound_that_lets_nothing_through_is_refused(figures: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="lets nothing through"):
        Lane(per_second=figures[0], burst=figures[1], in_flight=figures[2])
