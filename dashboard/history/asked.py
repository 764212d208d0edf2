"""The run that somebody asked for: one at a time, from when it is asked for until it has ended.

It is kept in ``REPORTS/asked.json``, beside what became of the last runs. Whether a run is at work the lock of the
folder tells (``jobs.is_at_work``), also of one that was killed: what such a one leaves here counts no more.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from dashboard.history.jobs import is_at_work

FILE = "asked.json"
GOOD_FOR_S = 6 * 3_600  # as long as the run before it may take; no worker begins it later


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A run that was asked for.

    Attributes:
        number: tells it from all others.
        only: the name of the one report it is of; None is of all.
        asked_at, begun_at: in ms; begun_at None: no worker has taken it yet.
    """

    number: str
    only: str | None
    author: str
    reason: str
    asked_at: int
    begun_at: int | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """What is under way: nothing, a run that waits for the worker, or one at work.

    ``asked`` None with ``is_at_work``: nobody asked for it here; it is that of the night, or of ``manage.py run_jobs``.
    """

    is_at_work: bool
    asked: Asked | None

    @property
    def is_waiting(self) -> bool:
        """Whether somebody asked for a run that no worker has begun."""
        return self.asked is not None and self.asked.begun_at is None

    @property
    def is_idle(self) -> bool:
        """Whether a run may be asked for."""
        return not self.is_at_work and self.asked is None


def standing(reports: Path, *, now: int) -> Standing:
    """Say what is under way in a folder of reports."""
    kept = _read(reports)
    works = is_at_work(reports)
    if kept is not None:
        is_given_up = kept.begun_at is None and now - kept.asked_at >= GOOD_FOR_S * 1_000
        was_killed = kept.begun_at is not None and not works
        kept = None if is_given_up or was_killed else kept
    return Standing(works, kept)


def keep(reports: Path, asked: Asked) -> Standing | None:
    """Keep what somebody asks for; give what is under way instead, where it is anything, and keep nothing."""
    reports.mkdir(parents=True, exist_ok=True)
    with _alone(reports):
        found = standing(reports, now=asked.asked_at)
        if not found.is_idle:
            return found
        _write(reports, asked)
    return None


def begin(reports: Path, number: str, *, now: int) -> Asked | None:
    """Note that a worker takes it; None where it is not waiting: it has begun, was given up, or came twice."""
    with _alone(reports):
        kept = _read(reports)
        if kept is None or kept.number != number or kept.begun_at is not None:
            return None
        begun = replace(kept, begun_at=now)
        _write(reports, begun)
    return begun


def end(reports: Path, number: str) -> None:
    """Forget it: it has ended, or could not be put into the queue."""
    with _alone(reports):
        kept = _read(reports)
        if kept is not None and kept.number == number:
            (reports / FILE).unlink()


def _read(reports: Path) -> Asked | None:
    try:
        return Asked(**json.loads((reports / FILE).read_text()))
    except (FileNotFoundError, ValueError, TypeError):  # none, or what another version wrote
        return None


def _write(reports: Path, asked: Asked) -> None:
    beside = reports / f".{FILE}"
    beside.write_text(json.dumps(asdict(asked)))
    beside.replace(reports / FILE)


@contextmanager
def _alone(reports: Path) -> Iterator[None]:
    with (reports / f".{FILE}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
