"""Each planted bug is found by the promises, by a known seed or one beside it."""

import pytest

from rebalance_engine.simulation.drawing import draw
from rebalance_engine.simulation.running import run
from tests.rebalance_engine.simulation.found_at import BUGS, FOUND_AT

NEAR = (0, 1, -1, 2)  # a seed whose luck has changed may miss by a moment what its neighbours find


def test_every_bug_has_a_seed() -> None:
    assert FOUND_AT.keys() == BUGS.keys()
    assert len(BUGS) >= 60


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    BUGS[name](monkeypatch)

    seeds = [seed for seed in (FOUND_AT[name] + step for step in NEAR) if seed >= 0]
    found = next((seed for seed in seeds if run(draw(seed)).breach is not None), None)

    assert found is not None
