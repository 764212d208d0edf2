"""Each planted bug is found by the promises, within a few seeds."""

import pytest

from rebalance_engine.simulation.drawing import draw
from rebalance_engine.simulation.running import run
from tests.rebalance_engine.simulation.bugs import BUGS

A_FEW = 24


def test_there_are_more_than_a_dozen_bugs() -> None:
    assert len(BUGS) > 12


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    BUGS[name](monkeypatch)

    found = next((seed for seed in range(A_FEW) if run(draw(seed)).breach is not None), None)

    assert found is not None
