"""Every transcript under tests/scenarios/consumer goes as it is written. EVENKEEL_REWRITE=1 writes them anew."""

from pathlib import Path

import pytest

from tests.rebalance_engine.consumer.play import is_rewriting, play

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios" / "consumer"
TRANSCRIPTS = sorted(SCENARIOS.glob("*.txt"))


def test_the_transcripts_are_found() -> None:
    assert len(TRANSCRIPTS) > 1


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_it_goes_as_it_is_written(path: Path) -> None:
    played = play(path)

    if is_rewriting():
        path.write_text(played)
    assert path.read_text() == played


def test_a_transcript_that_went_otherwise_fails(tmp_path: Path) -> None:
    written = tmp_path / "wrong.txt"
    written.write_text("topic orders east=1\nclient A go\nstart A G orders\nrun 1s\n----\nnothing happened\n")

    assert "nothing happened" not in play(written)
