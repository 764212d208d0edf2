from collections import Counter
from collections.abc import Iterator

import pytest

from rebalance_engine.simulation.bounds import deadlines
from rebalance_engine.simulation.checking import check
from rebalance_engine.simulation.drawing import (
    FEWEST_FAULTS,
    FEWEST_MEMBERS,
    LISTENERS,
    SLOW_LISTENERS,
    SPARE,
    TIME_TO_FINISH,
    draw,
)
from rebalance_engine.simulation.scenario import VERBS, Scenario, Step, read, write
from rebalance_engine.simulation.timers import ROUND

SEEDS = range(300)
FAULTS = {"kill", "die", "pause", "crash", "cut", "reset", "slow", "mute", "lose", "drop"}


def members(scenario: Scenario) -> int:
    """Count those that start before anything else happens."""
    verbs = [step.verb for step in sorted(scenario.steps, key=lambda step: step.at)]
    return next((number for number, verb in enumerate(verbs) if verb != "start"), len(verbs))


def subscribed_first(scenario: Scenario) -> int:
    """Count the queues that the group begins with."""
    return sum(queues for topic, queues in scenario.topics.items() if topic != SPARE) * len(scenario.brokers)


def effective(scenario: Scenario) -> int:
    """Count the faults that do something: to who is there and undisturbed; a loss needs something to lose soon."""
    alive: set[str] = set()
    busy_until: dict[str, int] = {}
    found = 0
    steps = sorted(scenario.steps, key=lambda step: step.at)
    for number, step in enumerate(steps):
        name = step.words[0]
        if step.verb == "start":
            alive.add(name)
        if step.verb not in FAULTS:
            alive -= {name} if step.verb == "stop" else set()
            continue
        found += _does_something(step, alive, busy_until, steps[number + 1 :])
        alive -= {name} if step.verb in {"kill", "die"} else set()
        if step.verb in {"pause", "cut", "crash"}:
            busy_until[name] = step.at + int(step.words[-1])
    return found


def _does_something(step: Step, alive: set[str], busy_until: dict[str, int], later: list[Step]) -> bool:
    if step.verb == "mute":
        lasts = step.at + int(step.words[0])
        return any(other.verb in {"start", "stop", "kill"} and other.at <= lasts for other in later)
    if step.verb in {"slow", "lose", "drop"}:
        return True
    is_there = step.words[0] in alive or step.verb == "crash"
    return is_there and busy_until.get(step.words[0], 0) <= step.at


def comebacks(scenario: Scenario) -> Iterator[str]:
    """Give by which verb each left that comes back while a listener may still have messages, or in the next rounds."""
    left: dict[str, Step] = {}
    for step in sorted(scenario.steps, key=lambda step: step.at):
        if step.verb in {"stop", "kill", "unsubscribe"}:
            left[step.words[0]] = step
        elif step.verb in {"start", "subscribe"} and step.words[0] in left:
            leaving = left.pop(step.words[0])
            if step.at - leaving.at <= scenario.listener.high + ROUND:
                yield leaving.verb


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_has_members_queues_and_faults_enough(seed: int) -> None:
    scenario = draw(seed)

    assert members(scenario) >= FEWEST_MEMBERS >= 5
    assert subscribed_first(scenario) >= 16
    assert effective(scenario) >= FEWEST_FAULTS >= 3
    assert scenario.ends_at >= deadlines(scenario)[-1] + TIME_TO_FINISH
    assert scenario.sends_until + TIME_TO_FINISH <= scenario.ends_at


def test_a_seed_gives_the_same_scenario_again_and_another_one_another() -> None:
    assert draw(7) == draw(7)
    assert draw(7) != draw(8)


def test_every_verb_and_every_client_is_drawn() -> None:
    steps = [step for seed in SEEDS for step in draw(seed).steps]

    verbs = Counter(step.verb for step in steps)
    clients = {step.words[1] for step in steps if step.verb == "start"}

    assert verbs.keys() == VERBS.keys()
    assert clients == {"java-5.5.0", "java-5.1.4", "java-4.9.7", "cpp", "go"}


def test_some_runs_have_a_second_group_in_the_same_processes() -> None:
    beside = Counter(draw(seed).beside for seed in SEEDS)

    assert beside.keys() == {None, "AVG", "AVG_BY_CIRCLE"}
    assert len(SEEDS) // 20 < len(SEEDS) - beside[None] < len(SEEDS) // 8


def test_every_kind_of_group_is_drawn() -> None:
    scenarios = [draw(seed) for seed in SEEDS]

    kinds = Counter((scenario.is_orderly, scenario.strategy) for scenario in scenarios)
    listeners = {(scenario.listener.low, scenario.listener.high) for scenario in scenarios}

    assert len(kinds) == 6
    assert sum(scenario.is_orderly for scenario in scenarios) > len(scenarios) // 3
    assert listeners == {*LISTENERS, *SLOW_LISTENERS}


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_drawn_can_be_played_from_its_text(seed: int) -> None:
    check(read(write(draw(seed))))


def test_in_some_orderly_runs_members_and_topics_leave_and_come_back_while_listeners_are_slow() -> None:
    scenarios = [draw(seed) for seed in SEEDS]
    orderly = [scenario for scenario in scenarios if scenario.is_orderly]

    flapping = [each for each in scenarios if (each.listener.low, each.listener.high) in SLOW_LISTENERS]
    came_back = Counter(verb for scenario in flapping for verb in comebacks(scenario))

    assert len(orderly) // 8 < len(flapping) < len(orderly) // 3
    assert all(scenario.is_orderly for scenario in flapping)
    assert {"stop", "kill", "unsubscribe"} <= came_back.keys()
    assert sum(came_back.values()) > len(flapping)
