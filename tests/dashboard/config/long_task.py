"""A task that tells when it is in the midst of its work, and ends once somebody says so: by two named pipes."""

from __future__ import annotations

from pathlib import Path

from celery import shared_task


@shared_task(name="tests.long")
def work(*, folder: str) -> None:
    """Work until somebody writes into ``end``."""
    Path(folder, "begun").write_text("begun")
    Path(folder, "done").write_text(Path(folder, "end").read_text())
