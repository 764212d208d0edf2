"""Simulated clusters: how long a seed takes, and an event, beside a clock on which as many events do nothing."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from rebalance_engine.simulation.clock import EPOCH, Clock
from rebalance_engine.simulation.drawing import draw
from rebalance_engine.simulation.running import run as run_scenario
from tests.bench.report import Row, at_most
from tests.bench.timing import repeat

SEEDS = 40
QUICK_SEEDS = 5


def run(*, quick: bool) -> Iterator[Row]:
    """Measure some seeds; the slowest is to take a second at most."""
    scenarios = [draw(seed) for seed in range(QUICK_SEEDS if quick else SEEDS)]
    took, events = [], 0
    for scenario in scenarios:
        begun = perf_counter()
        outcome = run_scenario(scenario)
        took.append(perf_counter() - begun)
        assert outcome.breach is None, f"seed {scenario.seed}: {outcome.breach}"
        events += outcome.figures.events

    size, each = f"{len(scenarios)} seeds", sum(took) / events
    bare = repeat(lambda: _tick(events)).median_s / events
    yield Row("simulate an event", size, each, "s", "a clock alone", bare, note=f"{1 / each:,.0f} a second")
    yield Row("simulate a seed", size, sum(took) / len(took), note=f"{events / len(took):,.0f} events on average")
    yield Row("simulate the slowest seed", size, max(took), aim=None if quick else at_most(1.0))


def _tick(events: int) -> None:
    """Let as many things happen, each of which makes the next; some are always waiting."""
    clock = Clock()

    def again() -> None:
        clock.after(100, again)

    for number in range(100):
        clock.at(EPOCH + number, again)
    clock.run_until(EPOCH + events)
