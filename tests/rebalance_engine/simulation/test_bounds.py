import pytest

from rebalance_engine.consumer import CPP, GO
from rebalance_engine.simulation.bounds import (
    EXPIRY,
    LOCK,
    NOTIFIED,
    ROUND,
    UNLOCK_DELAY,
    WARM_UP,
    deadlines,
    profile,
    settles_within,
    unlocks_within,
)
from rebalance_engine.simulation.scenario import ScenarioError, Step
from tests.rebalance_engine.simulation.small import cluster


@pytest.mark.parametrize(
    ("name", "version"),
    [("java-5.5.0", "java 5.5.0"), ("cpp", str(CPP)), ("go", str(GO)), ("java-4.9.7", "java 4.9.7")],
)
def test_clients_have_names(name: str, version: str) -> None:
    assert str(profile(name)) == version


@pytest.mark.parametrize("name", ["rust", "java", "java-3.0.0", "go-1"])
def test_other_clients_are_not_known(name: str) -> None:
    with pytest.raises(ScenarioError, match=r"the (Java )?client is"):
        profile(name)


def test_who_is_notified_needs_seconds_and_who_died_in_silence_minutes() -> None:
    scenario = cluster()

    assert settles_within(Step(0, "kill", ("A",)), scenario) == NOTIFIED < ROUND
    assert EXPIRY + ROUND < settles_within(Step(0, "die", ("A",)), scenario) < 160_000


def test_an_orderly_group_waits_for_locks_that_nobody_gives_back() -> None:
    scenario = cluster(group="AVG orderly")

    assert settles_within(Step(0, "kill", ("A",)), scenario) == NOTIFIED + LOCK + ROUND
    assert settles_within(Step(0, "stop", ("A",)), scenario) < ROUND


@pytest.mark.parametrize(
    ("client", "listener_ms", "least", "most"),
    [
        ("java-5.5.0", 40, 500, 10_000),
        ("java-5.5.0", 700, UNLOCK_DELAY + ROUND, LOCK),
        ("java-4.9.7", 40, UNLOCK_DELAY, UNLOCK_DELAY + ROUND),
        ("java-4.9.7", 2_000, UNLOCK_DELAY + ROUND, LOCK),
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

    assert deadlines(cluster(far)) == (WARM_UP, 60_000 + NOTIFIED)
    assert deadlines(cluster(far, near)) == (WARM_UP, 61_000 + NOTIFIED)
    assert deadlines(cluster("50000 kill A")) == (50_000 + NOTIFIED,)
