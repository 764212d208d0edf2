"""Many seeds hold every promise; `make soak` runs more of them."""

import pytest

from rebalance_engine.simulation.drawing import draw
from rebalance_engine.simulation.running import run
from rebalance_engine.simulation.scenario import write

SEEDS = 300
AT_ONCE = 10


@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
def test_seeds_hold_every_promise(first: int) -> None:
    outcomes = [run(draw(seed)) for seed in range(first, first + AT_ONCE)]

    broken = [
        f"{write(outcome.scenario)}{outcome.broken_at} {outcome.breach}" for outcome in outcomes if outcome.breach
    ]
    assert broken == []
