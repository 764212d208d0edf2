"""Every transcript under tests/scenarios/membership goes as it is written. EVENKEEL_REWRITE=1 writes them anew."""

from pathlib import Path

import pytest

from tests.rebalance_engine.membership.transcripts import play
from tests.rebalance_engine.written import hold, transcripts_of

TRANSCRIPTS = transcripts_of("membership")


def test_the_transcripts_are_found() -> None:
    assert len(TRANSCRIPTS) > 10


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_it_goes_as_it_is_written(path: Path) -> None:
    hold(path, play(path).rstrip("\n") + "\n")


def test_a_transcript_that_went_otherwise_fails(tmp_path: Path) -> None:
    written = tmp_path / "wrong.txt"
    written.write_text("broker 5.5.0\nlist g\n----\n0 answer 0 clients A\n")

    assert "clients A" not in play(written)
