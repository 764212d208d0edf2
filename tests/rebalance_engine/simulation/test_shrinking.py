from dataclasses import replace

import pytest

from rebalance_engine.simulation.breach import Rule
from rebalance_engine.simulation.checking import check
from rebalance_engine.simulation.clients import Listener
from rebalance_engine.simulation.drawing import draw
from rebalance_engine.simulation.figures import Figures
from rebalance_engine.simulation.running import Outcome, run
from rebalance_engine.simulation.scenario import Scenario, Step
from rebalance_engine.simulation.shrinking import PLAIN, shrink
from tests.rebalance_engine.simulation.found_at import BUGS, FOUND_AT
from tests.rebalance_engine.simulation.small import cluster


def outcome(scenario: Scenario, rule: Rule | None, at: int = 0) -> Outcome:
    return Outcome(scenario, Figures(seeds=1), "it broke" if rule else None, at if rule else None, rule)


def kills(scenario: Scenario) -> list[Step]:
    return [step for step in scenario.steps if step.verb == "kill" and step.words != ("C",)]


def fails_with_two_kills(scenario: Scenario) -> Outcome:
    found = kills(scenario)
    return outcome(scenario, Rule.ORDER, found[1].at) if len(found) > 1 else outcome(scenario, None)


def test_only_the_steps_that_count_are_left() -> None:
    noise = [f"{10_000 + number} mute 5" for number in range(17)]
    failing = cluster("9000 kill A", *noise, "20000 kill C", "30000 kill B", "40000 mute 5")

    smallest = shrink(fails_with_two_kills(failing), fails_with_two_kills)

    left = [str(step) for step in smallest.scenario.steps if step.verb != "start"]
    assert left == ["9000 kill A", "30000 kill B"]
    assert [step.words[0] for step in smallest.scenario.steps if step.verb == "start"] == ["A", "B"]
    assert smallest.scenario.ends_at >= failing.ends_at


def test_another_promise_that_breaks_is_not_the_same_failure() -> None:
    failing = cluster("9000 kill A", "30000 kill B")

    def another_with_one(scenario: Scenario) -> Outcome:
        rule = {0: None, 1: Rule.SETTLED, 2: Rule.ORDER}[len(kills(scenario))]
        return outcome(scenario, rule, 30_000)

    smallest = shrink(another_with_one(failing), another_with_one)

    assert len(kills(smallest.scenario)) == 2
    assert smallest.rule is Rule.ORDER


def test_what_is_left_can_be_read_again() -> None:
    def always(scenario: Scenario) -> Outcome:
        check(scenario)
        return outcome(scenario, Rule.ORDER, 90_000)

    smallest = shrink(always(cluster("60000 kill A", "61000 cut B east 5", ends_at=150_000)), always)

    assert [step.verb for step in smallest.scenario.steps] == ["start"]


def test_what_has_nothing_to_do_any_more_goes_with_what_it_followed() -> None:
    failing = cluster("60000 kill A", "70000 start A java-5.5.0", "80000 kill A", "90000 kill B", ends_at=150_000)

    def without_b(scenario: Scenario) -> Outcome:
        check(scenario)
        is_broken = any(str(step) == "90000 kill B" for step in scenario.steps)
        return outcome(scenario, Rule.ORDER if is_broken else None, 100_000)

    smallest = shrink(without_b(failing), without_b)

    assert [str(step) for step in smallest.scenario.steps] == ["2000 start B java-5.5.0", "90000 kill B"]


def test_times_and_listeners_are_made_plain_where_that_breaks_it_too() -> None:
    failing = replace(cluster("60123 kill A"), listener=Listener(1, 999, 20), strategy="AVG_BY_CIRCLE", beside="AVG")

    def with_a_kill(scenario: Scenario) -> Outcome:
        return outcome(scenario, Rule.ORDER if kills(scenario) else None, 70_000)

    smallest = shrink(with_a_kill(failing), with_a_kill).scenario

    assert [str(step) for step in smallest.steps[-1:]] == ["60000 kill A"]
    assert (smallest.listener, smallest.strategy, smallest.beside) == (PLAIN, "AVG", None)


@pytest.mark.parametrize("bug", ["queues_begin_one_early", "a_dropped_orderly_queue_is_consumed_to_its_end"])
def test_what_is_left_of_a_planted_bug_holds_without_the_bug(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        BUGS[bug](patch)
        failing = run(draw(FOUND_AT[bug]))
        smallest = shrink(failing)

    assert smallest.rule is failing.rule is not None
    assert len(smallest.scenario.steps) < len(failing.scenario.steps)
    assert run(smallest.scenario).breach is None
