"""Every transcript under tests/scenarios/consumer goes as it is written. EVENKEEL_REWRITE=1 writes them anew."""

from pathlib import Path

import pytest

from tests.rebalance_engine.consumer.play import play
from tests.rebalance_engine.written import hold, transcripts_of

TRANSCRIPTS = transcripts_of("consumer")


def test_the_transcripts_are_found() -> None:
    assert len(TRANSCRIPTS) > 1


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_it_goes_as_it_is_written(path: Path) -> None:
    hold(path, play(path))


def test_a_transcript_that_went_otherwise_fails(tmp_path: Path) -> None:
    written = tmp_path / "wrong.txt"
    written.write_text("topic orders east=1\nclient A go\nstart A G orders\nrun 1s\n----\nnothing happened\n")

    assert "nothing happened" not in play(written)
