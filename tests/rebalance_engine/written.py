"""Transcripts as files: where they are, and whether one goes as it is written."""

import os
from pathlib import Path

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"


def transcripts_of(room: str) -> list[Path]:
    return sorted((SCENARIOS / room).glob("*.txt"))


def hold(path: Path, played: str) -> None:
    """Hold a transcript to what was played; with EVENKEEL_REWRITE=1 write that there instead."""
    if os.environ.get("EVENKEEL_REWRITE"):
        path.write_text(played)
    assert path.read_text() == played
