from rebalance_engine.simulation.figures import Figures
from rebalance_engine.simulation.running import Outcome
from rebalance_engine.simulation.scenario import Scenario
from rebalance_engine.simulation.shrinking import shrink
from tests.rebalance_engine.simulation.small import cluster


def fails_with_two_kills(scenario: Scenario) -> Outcome:
    kills = [step for step in scenario.steps if step.verb == "kill" and step.words != ("C",)]
    breach = "too many" if len(kills) > 1 else None
    return Outcome(scenario, Figures(seeds=1), breach, kills[1].at if breach else None)


def test_only_the_steps_that_count_are_left() -> None:
    noise = [f"{10_000 + number} mute 5" for number in range(17)]
    failing = cluster("9000 kill A", *noise, "20000 kill C", "30000 kill B", "40000 mute 5")

    smallest = shrink(fails_with_two_kills(failing), fails_with_two_kills)

    assert [str(step) for step in smallest.scenario.steps] == ["9000 kill A", "30000 kill B"]
    assert smallest.breach == "too many"
    assert smallest.scenario.ends_at >= failing.ends_at
