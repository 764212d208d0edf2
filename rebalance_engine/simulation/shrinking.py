"""A failing scenario without the steps that it fails without: what is left is easier to understand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rebalance_engine.simulation.bounds import WARM_UP, deadlines
from rebalance_engine.simulation.running import Outcome, run
from rebalance_engine.simulation.scenario import Scenario

Run = Callable[[Scenario], Outcome]


def shrink(failing: Outcome, run: Run = run) -> Outcome:
    """Leave out what is not needed: first halves of all steps, then single ones, until each one counts.

    Any breach counts as the same failure: which promise breaks first may change with what is left out.
    """
    best = _cut_off(failing, run)
    size = max(1, len(best.scenario.steps) // 2)
    while size:
        smaller = _without_some(best, size, run)
        if smaller is not None:
            best = smaller
        else:
            size //= 2
    return best


def _cut_off(failing: Outcome, run: Run) -> Outcome:
    """Leave out the steps that came after the failure."""
    broken_at = failing.broken_at or 0
    late = [step for step in failing.scenario.steps if step.at > broken_at]
    return _fails(failing.scenario.without(late), run) or failing


def _without_some(best: Outcome, size: int, run: Run) -> Outcome | None:
    steps = best.scenario.steps
    for first in range(0, len(steps), size):
        smaller = _fails(best.scenario.without(steps[first : first + size]), run)
        if smaller is not None:
            return smaller
    return None


def _fails(scenario: Scenario, run: Run) -> Outcome | None:
    """Run what is left, as long as the rules allow it to need at most; give the outcome if it fails."""
    settled = max(WARM_UP, *deadlines(scenario)) if scenario.steps else WARM_UP
    rest = scenario.ends_at - max(deadlines(scenario), default=scenario.ends_at)
    outcome = run(replace(scenario, ends_at=max(scenario.ends_at, settled + max(rest, 0))))
    return outcome if outcome.breach is not None else None
