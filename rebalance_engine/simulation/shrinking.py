"""A failing scenario without what it fails without: what is left is easier to understand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from rebalance_engine.simulation.bounds import deadlines
from rebalance_engine.simulation.breach import Rule
from rebalance_engine.simulation.checking import check
from rebalance_engine.simulation.clients import Listener
from rebalance_engine.simulation.idling import idle
from rebalance_engine.simulation.running import Outcome, run
from rebalance_engine.simulation.scenario import Scenario, ScenarioError, Step

Run = Callable[[Scenario], Outcome]
PLAIN = Listener(5, 60)


def shrink(failing: Outcome, run: Run = run) -> Outcome:
    """Leave out what is not needed: halves of all steps, then single ones, until each counts; then make the rest plain.

    Only a breach of the same promise counts as the same failure.
    """
    best = _cut_off(failing, run)
    size = max(1, len(best.scenario.steps) // 2)
    while size:
        smaller = _first_that_fails(best, _without_some(best.scenario, size), run)
        if smaller is not None:
            best = smaller
        else:
            size //= 2
    for simplify in (_one_group, _in_whole_seconds, _plain_listener, _plain_strategy, _one_topic, _one_sender):
        best = _first_that_fails(best, simplify(best.scenario), run) or best
    return best


def _cut_off(failing: Outcome, run: Run) -> Outcome:
    """Leave out the steps that came after the failure."""
    broken_at = failing.broken_at or 0
    late = [step for step in failing.scenario.steps if step.at > broken_at]
    return _first_that_fails(failing, [failing.scenario.without(late)], run) or failing


def _without_some(scenario: Scenario, size: int) -> Iterator[Scenario]:
    """Leave steps out, and with a member's start all that is done to it, and whatever has nothing to do any more."""
    steps = scenario.steps
    for first in range(0, len(steps), size):
        left = scenario.without(steps[first : first + size])
        left = left.without(_of_nobody(left.steps))
        yield left.without(step for step, _ in idle(left.steps))


def _of_nobody(steps: Sequence[Step]) -> list[Step]:
    started = {step.words[0] for step in steps if step.verb == "start"}
    of_members = {"stop", "kill", "die", "pause", "cut", "reset"}
    return [step for step in steps if step.verb in of_members and step.words[0] not in started]


def _one_group(scenario: Scenario) -> Iterator[Scenario]:
    yield replace(scenario, beside=None)


def _in_whole_seconds(scenario: Scenario) -> Iterator[Scenario]:
    yield replace(scenario, steps=tuple(replace(step, at=round(step.at, -3)) for step in scenario.steps))


def _plain_listener(scenario: Scenario) -> Iterator[Scenario]:
    yield replace(scenario, listener=PLAIN)
    yield replace(scenario, listener=replace(scenario.listener, fails=0))


def _plain_strategy(scenario: Scenario) -> Iterator[Scenario]:
    yield replace(scenario, strategy="AVG")


def _one_topic(scenario: Scenario) -> Iterator[Scenario]:
    for name, queues in scenario.topics.items():
        yield replace(scenario, topics={name: queues})


def _one_sender(scenario: Scenario) -> Iterator[Scenario]:
    for sender in scenario.senders[1:]:
        yield replace(scenario, senders=(sender,))


def _first_that_fails(best: Outcome, candidates: Iterator[Scenario] | list[Scenario], run: Run) -> Outcome | None:
    """Run what is left, as long as the rules allow it to need at most; give the first outcome that fails the same."""
    for scenario in candidates:
        if scenario == best.scenario:
            continue
        rest = best.scenario.ends_at - max(deadlines(best.scenario), default=0)
        settled = max(deadlines(scenario), default=0)
        longer = replace(scenario, ends_at=max(scenario.ends_at, settled + max(rest, 0)))
        if not _makes_sense(longer):
            continue
        outcome = run(longer)
        if _failure(outcome) == _failure(best):
            return outcome
    return None


def _failure(outcome: Outcome) -> tuple[Rule | None, str]:
    """Give what makes two failures the same: the promise, and of an error of a machine its type and place too."""
    place = (outcome.breach or "").partition(":")[0] if outcome.rule is Rule.MACHINE else ""
    return outcome.rule, place


def _makes_sense(scenario: Scenario) -> bool:
    try:
        check(scenario)
    except ScenarioError:
        return False
    return True
