from collections import Counter

import pytest

from rebalance_engine.simulation.bounds import deadlines
from rebalance_engine.simulation.drawing import FEWEST_FAULTS, FEWEST_MEMBERS, TIME_TO_FINISH, draw
from rebalance_engine.simulation.scenario import VERBS, Scenario

SEEDS = range(300)


def members(scenario: Scenario) -> int:
    """Count those that start before anything else happens."""
    verbs = [step.verb for step in sorted(scenario.steps, key=lambda step: step.at)]
    return next((number for number, verb in enumerate(verbs) if verb != "start"), len(verbs))


@pytest.mark.parametrize("seed", SEEDS[:50])
def test_a_run_has_members_queues_and_faults_enough(seed: int) -> None:
    scenario = draw(seed)

    assert members(scenario) >= FEWEST_MEMBERS >= 5
    assert sum(scenario.topics.values()) * len(scenario.brokers) >= 16
    assert len(scenario.steps) >= FEWEST_MEMBERS + FEWEST_FAULTS
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


def test_groups_are_orderly_and_concurrent() -> None:
    kinds = Counter((draw(seed).is_orderly, draw(seed).strategy) for seed in SEEDS)

    assert len(kinds) == 4
