"""Every transcript under tests/scenarios/producer goes as it is written. EVENKEEL_REWRITE=1 writes them anew."""

from pathlib import Path

import pytest

from tests.rebalance_engine.producer.world import play
from tests.rebalance_engine.written import hold, transcripts_of

TRANSCRIPTS = transcripts_of("producer")


def test_the_transcripts_are_found() -> None:
    assert len(TRANSCRIPTS) > 10


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_it_goes_as_it_is_written(path: Path) -> None:
    hold(path, play(path).rstrip("\n") + "\n")


def test_a_transcript_that_went_otherwise_fails(tmp_path: Path) -> None:
    written = tmp_path / "wrong.txt"
    written.write_text("client go\nroute orders east\nsend orders\n----\nnothing happened\n")

    assert "nothing happened" not in play(written)
