"""One run from begin to end, and what it found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rebalance_engine.events import Fact
from rebalance_engine.simulation.bounds import deadlines
from rebalance_engine.simulation.clock import EPOCH
from rebalance_engine.simulation.figures import Figures
from rebalance_engine.simulation.scenario import Scenario
from rebalance_engine.simulation.world import World


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to.

    Attributes:
        breach: what was broken, None if nothing was; ``broken_at`` is when, in ms from the beginning.
    """

    scenario: Scenario
    figures: Figures
    breach: str | None = None
    broken_at: int | None = None


def run(scenario: Scenario, record: Callable[[Fact], None] | None = None) -> Outcome:
    """Run a scenario to its end, or until something breaks; ``record`` is told every fact."""
    world = World(scenario, record or _ignore)
    breach = None
    try:
        _run(world)
    except AssertionError as broken:
        breach = str(broken) or type(broken).__name__
    figures = world.ledger.figures
    figures.events = world.clock.ticks
    broken_at = None if breach is None else world.clock.now - EPOCH
    return Outcome(scenario, figures, breach, broken_at)


def _run(world: World) -> None:
    for deadline in deadlines(world.scenario):
        if deadline <= world.scenario.ends_at:
            world.clock.run_until(EPOCH + deadline)
            if not world.ledger.has_leaked_locks():
                world.check_settled()
    world.clock.run_until(EPOCH + world.scenario.ends_at)
    world.check_settled()
    world.check_finished()
    world.check_all()


def _ignore(_: Fact) -> None:
    """Nobody wants to know."""
