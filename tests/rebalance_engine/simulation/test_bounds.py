from dataclasses import replace

import pytest

from rebalance_engine.simulation.bounds import (
    EXPIRY,
    NOTIFIED,
    WARM_UP,
    deadlines,
    settles_within,
    unlocks_within,
)
from rebalance_engine.simulation.running import run
from rebalance_engine.simulation.scenario import Step, profile
from rebalance_engine.simulation.timers import LOCK, PULL_IDLE, ROUND, UNLOCK_DELAY
from tests.rebalance_engine.simulation.small import cluster

FIRST_START = 2_000  # of the small cluster


def test_who_is_notified_needs_seconds_and_who_died_in_silence_minutes() -> None:
    scenario = cluster()

    assert settles_within(Step(0, "kill", ("A",)), scenario) == NOTIFIED < ROUND
    assert EXPIRY + ROUND < settles_within(Step(0, "die", ("A",)), scenario) < 160_000


def test_an_orderly_group_waits_for_locks_that_nobody_gives_back() -> None:
    scenario = cluster(group="AVG orderly")

    assert settles_within(Step(0, "kill", ("A",)), scenario) == NOTIFIED + LOCK + ROUND
    assert settles_within(Step(0, "stop", ("A",)), scenario) < ROUND


@pytest.mark.parametrize("group", ["AVG concurrent", "AVG orderly"])
def test_who_shuts_down_in_cpp_stays_until_its_listeners_are_done(group: str) -> None:
    quick = replace(cluster(group=group), steps=(Step(0, "start", ("A", "cpp")),))
    slow = replace(quick, listener=replace(quick.listener, high=quick.listener.high + 30_000))

    stop, kill = Step(0, "stop", ("A",)), Step(0, "kill", ("A",))

    assert settles_within(stop, slow) == settles_within(stop, quick) + 30_000
    assert settles_within(kill, slow) == settles_within(kill, quick)


@pytest.mark.parametrize(
    ("client", "listener_ms", "least", "most"),
    [
        ("java-5.5.0", 40, 500, 10_000),
        ("java-5.5.0", 700, PULL_IDLE + ROUND, PULL_IDLE + LOCK + 3_000),
        ("java-4.9.7", 40, UNLOCK_DELAY, UNLOCK_DELAY + ROUND),
        ("java-4.9.7", 2_000, PULL_IDLE + ROUND, PULL_IDLE + LOCK + 3_000),
        ("cpp", 40, 0, 10_000),
        ("go", 40, LOCK, LOCK),
    ],
)
def test_a_client_keeps_a_lock_as_long_as_its_version_does(
    client: str, listener_ms: int, least: int, most: int
) -> None:
    assert least <= unlocks_within(profile(client), listener_ms) <= most


def test_a_group_must_be_in_order_before_the_next_step_if_there_is_time_and_after_the_last() -> None:
    far, near = "60000 kill A", "61000 kill B"

    assert deadlines(cluster(far)) == (FIRST_START + WARM_UP, 60_000 + NOTIFIED)
    assert deadlines(cluster(far, near)) == (FIRST_START + WARM_UP, 61_000 + NOTIFIED)
    assert deadlines(cluster(near, far)) == deadlines(cluster(far, near))
    assert deadlines(cluster("54000 kill A")) == (54_000 + NOTIFIED,)


def test_steps_are_judged_by_their_times_however_they_are_listed() -> None:
    scenario = cluster("60000 kill A", "90000 kill B")

    assert deadlines(replace(scenario, steps=scenario.steps[::-1])) == deadlines(scenario)


def test_a_member_that_started_with_half_a_route_gives_back_what_it_took_by_it_and_its_lock() -> None:
    by_go = replace(
        cluster(group="AVG orderly"),
        steps=(Step(2_000, "start", ("A", "go")), Step(4_000, "start", ("B", "go")), Step(9_000, "start", ("C", "go"))),
    )

    assert deadlines(by_go) == (FIRST_START + WARM_UP + LOCK + ROUND,)
    assert run(replace(by_go, ends_at=180_000)).breach is None


def test_a_group_warms_up_from_its_first_start_on() -> None:
    late = replace(cluster(), steps=(Step(70_000, "start", ("A", "java-5.5.0")),))

    assert deadlines(late) == (70_000 + WARM_UP,)
    assert deadlines(replace(late, steps=())) == ()
