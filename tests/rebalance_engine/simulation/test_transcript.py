"""Transcripts under tests/scenarios/simulation go as they are written. EVENKEEL_REWRITE=1 writes them anew."""

import os
from pathlib import Path

import pytest

from rebalance_engine.simulation.running import run
from rebalance_engine.simulation.scenario import ScenarioError
from rebalance_engine.simulation.transcript import play, write
from tests.rebalance_engine.simulation.small import cluster

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios" / "simulation"
TRANSCRIPTS = sorted(SCENARIOS.glob("*.txt"))


def test_the_transcripts_are_found() -> None:
    assert len(TRANSCRIPTS) >= 5


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_it_goes_as_it_is_written(path: Path) -> None:
    played = play(path.read_text())

    if os.environ.get("EVENKEEL_REWRITE"):
        path.write_text(played)
    assert path.read_text() == played
    assert played.endswith("nothing was broken\n")


def test_what_was_played_can_be_played_again() -> None:
    written = write(run(cluster("70000 kill A")))

    assert play(written) == written
    assert ": takes orders/east/" in written


def test_a_long_story_can_be_cut_to_its_end() -> None:
    outcome = run(cluster("70000 kill A", ends_at=70_050))

    lines = write(outcome, last=3).partition("----\n")[2].splitlines()

    assert len(lines) == 3
    assert lines[-1].startswith("70050 broken: ")


def test_comments_are_kept() -> None:
    written = write(run(cluster()))

    assert play(f"# Three members.\n{written}") == f"# Three members.\n{written}"


def test_a_text_that_says_no_scenario_is_refused() -> None:
    with pytest.raises(ScenarioError):
        play("tea now\n----\n")
