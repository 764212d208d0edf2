from dataclasses import replace

import pytest

from rebalance_engine.simulation.checking import check
from rebalance_engine.simulation.drawing import draw
from rebalance_engine.simulation.scenario import Scenario, ScenarioError, Step, read
from tests.rebalance_engine.simulation.small import CLUSTER, cluster


@pytest.mark.parametrize("seed", range(60))
def test_what_is_drawn_makes_sense(seed: int) -> None:
    check(draw(seed))


def test_a_scenario_without_anything() -> None:
    with pytest.raises(ScenarioError, match="there is no broker"):
        check(Scenario())


@pytest.mark.parametrize("missing", ["broker", "topic", "start"])
def test_a_scenario_without_the_least(missing: str) -> None:
    text = "\n".join(line for line in CLUSTER.splitlines() if missing not in line)

    with pytest.raises(ScenarioError, match=f"there is no .*{missing}"):
        check(read(text))


@pytest.mark.parametrize(
    ("step", "complaint"),
    [
        ("kill Z", "the member is 'Z'; it needs to be one of A, B, C"),
        ("pause A x", "the number is 'x'"),
        ("pause A 0", "the number is '0'; it needs to be from 1"),
        ("cut A nowhere 5", "the broker is 'nowhere'; it needs to be one of east, west"),
        ("reset A nowhere", "the broker is 'nowhere'"),
        ("crash A 5", "the broker is 'A'"),
        ("slow east 999999 5", "from 1 to 60000"),
        ("grow tea east 9", "the topic is 'tea'"),
        ("grow orders east 9999999", "from 1 to 1024"),
        ("grow orders east 2", "orders has 4 queues on east; it needs to grow to more than that"),
        ("grow orders east 4", "it needs to grow to more than that"),
        (f"mute {'0' * 28}7", "of 20 digits at most"),
        ("start A java-5.5.0", "line 13, '70000 start A java-5.5.0': A runs already"),
        ("subscribe tea", "the topic is 'tea'"),
        ("start D rust", "the client is 'rust'"),
        ("start D java-5.5.0 by STICKY", "the strategy is 'STICKY'"),
        ("start D java-5.5.0 by CONFIG", "CONFIG needs queues behind a colon"),
        ("start D java-5.5.0 by CONFIG:tea/east/0", "the topic is 'tea'"),
        ("start D java-5.5.0 by CONFIG:orders/north/0", "the broker is 'north'"),
        ("start D go by CONFIG:orders/east/0", "a client in GO has no strategy CONFIG"),
        ("start D cpp by AVG_BY_CIRCLE", "a client in CPP has no strategy AVG_BY_CIRCLE"),
        ("start east go", "the name 'east' is there twice"),
    ],
)
def test_a_step_that_makes_no_sense(step: str, complaint: str) -> None:
    with pytest.raises(ScenarioError, match=complaint):
        check(cluster(f"70000 {step}"))


def test_a_topic_grows_beyond_what_it_grew_to() -> None:
    check(cluster("61000 grow orders east 6", "62000 grow orders west 5", "63000 grow orders east 7", ends_at=150_000))

    with pytest.raises(ScenarioError, match=r"line 14, '63000 grow orders east 5': orders has 6 queues on east"):
        check(cluster("62000 grow orders east 6", "63000 grow orders east 5", ends_at=150_000))


def test_a_step_that_was_not_read_is_named_by_itself() -> None:
    scenario = cluster("70000 kill A")
    twice = replace(scenario, steps=(*scenario.steps, Step(80_000, "kill", ("A",))))

    with pytest.raises(ScenarioError, match=r"^step '80000 kill A': A does not run; it needs to be started before"):
        check(twice)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ({"broker": "east 1.x"}, "the broker version is '1.x'"),
        ({"producer": "P 3.0 every 100"}, "3.0"),
        ({"group": "NOPE concurrent"}, "the strategy is 'NOPE'"),
        ({"beside": "NOPE"}, "the strategy is 'NOPE'"),
    ],
)
def test_versions_and_strategies_that_are_not_known(line: dict[str, str], complaint: str) -> None:
    with pytest.raises(ScenarioError, match=complaint):
        check(cluster(ends_at=120_000, **line))


@pytest.mark.parametrize(
    ("steps", "ends_at", "earliest"),
    [
        ((), 56_000 - 1, 56_000),
        (("90000 kill A",), 90_000, 95_000),
        (("130000 kill A",), 120_000, 135_000),
    ],
)
def test_a_scenario_that_ends_before_all_can_be_well_is_refused(
    steps: tuple[str, ...], ends_at: int, earliest: int
) -> None:
    with pytest.raises(ScenarioError, match=f"ends at {ends_at}; it needs to end at {earliest} at least"):
        check(cluster(*steps, ends_at=ends_at, sends="until 30000"))

    check(cluster(*steps, ends_at=earliest, sends="until 30000"))


@pytest.mark.parametrize(("fails", "waits"), [(0, 10_240), (5, 50_240)])
def test_what_is_sent_needs_time_to_be_consumed(fails: int, waits: int) -> None:
    with pytest.raises(ScenarioError, match=f"needs to end at {90_000 + waits} at least"):
        check(cluster(ends_at=90_000, sends="until 90000", listener=f"5..40 fails {fails}"))
