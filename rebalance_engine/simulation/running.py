"""One run from begin to end, and what it found."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rebalance_engine.events import Fact
from rebalance_engine.simulation.bounds import deadlines
from rebalance_engine.simulation.breach import Breach, Rule
from rebalance_engine.simulation.clock import EPOCH
from rebalance_engine.simulation.figures import Figures
from rebalance_engine.simulation.scenario import Scenario
from rebalance_engine.simulation.world import World


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to.

    Attributes:
        breach: what was broken, None if nothing was; ``broken_at`` is when, in ms from the beginning; ``rule`` is
            the promise. An error of a machine breaks one too: the breach names its type and place.
    """

    scenario: Scenario
    figures: Figures
    breach: str | None = None
    broken_at: int | None = None
    rule: Rule | None = None


def run(scenario: Scenario, record: Callable[[Fact], None] | None = None) -> Outcome:
    """Run a scenario to its end, or until something breaks; ``record`` is told every fact."""
    world = World(scenario, record or _ignore)
    breach, rule = None, None
    try:
        _run(world)
    except Breach as broken:
        breach, rule = str(broken), broken.rule
    except Exception as error:  # noqa: BLE001 - whatever a machine raises is what was looked for
        breach, rule = _described(error), Rule.MACHINE
    figures = world.figures
    broken_at = None if breach is None else world.clock.now - EPOCH
    return Outcome(scenario, figures, breach, broken_at, rule)


def _run(world: World) -> None:
    for deadline in deadlines(world.scenario):
        if deadline <= world.scenario.ends_at:
            world.clock.run_until(EPOCH + deadline)
            if not world.has_leaked_locks():
                world.check_settled()
    world.clock.run_until(EPOCH + world.scenario.ends_at)
    world.check_settled()
    world.check_finished()
    world.check_all()


def _described(error: Exception) -> str:
    """Name an error by its type, its words and the innermost place in the engine that it comes from."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(place.filename).name}, {place.name}, line {place.lineno}: {error}"


def _ignore(_: Fact) -> None:
    """Nobody wants to know."""
