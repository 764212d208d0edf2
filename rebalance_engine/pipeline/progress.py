"""How far a run is: its stages as they begin and end, and in between a line now and then, of a thread of its own.

A stage may take hours, in which Spark says nothing. The thread belongs to whoever runs: it ends with the run, and no
line of it comes after a stage's or the run's end.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from py4j.protocol import Py4JError  # type: ignore[import-untyped] # py4j has no types
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

ON_TERMINAL_S, ELSEWHERE_S = 10.0, 60.0  # between two lines; a file is read afterwards
ENDS_WITHIN_S = 5.0  # what the thread may be waiting for is an answer of Spark, which takes milliseconds

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Tasks:
    """The tasks of the steps that Spark is at: how many there are, and how many are done."""

    done: int
    total: int


class Progress:
    """What a run says, and what it is at.

    Args:
        say: writes a line.
        clock: in seconds.
    """

    def __init__(self, say: Say, clock: Callable[[], float] = time.monotonic) -> None:
        self._say, self._clock = say, clock
        self._lock = threading.Lock()
        self._stage: tuple[str, float] | None = None  # its name, and when it began

    @contextmanager
    def stage(self, name: str, *, is_told: bool = True) -> Iterator[None]:
        """Say that a stage begins, and how long it took; where ``is_told`` is not set, only how far it is."""
        began = self._clock()
        with self._lock:
            self._stage = (name, began)
            if is_told:
                self._say(f"{name} ...")
        try:
            yield
        finally:
            with self._lock:
                self._stage = None
        if is_told:
            self._say(f"{name}: {self._clock() - began:.1f} s")

    def tell(self, ask: Callable[[], Tasks | None]) -> None:
        """Say how far the stage is, unless it ends while that is asked for; nothing between two stages."""
        stage = self._stage
        if stage is None:
            return
        tasks = ask()
        name, began = stage
        far = f", {tasks.done} of {tasks.total} tasks of Spark's present step done" if tasks else ""
        with self._lock:
            if self._stage is stage:
                self._say(f"{name}: {self._clock() - began:.0f} s so far{far}")


@contextmanager
def told_every(every_s: float, progress: Progress, ask: Callable[[], Tasks | None]) -> Iterator[None]:
    """Say every so many seconds how far the stage is, until this context ends, however it ends."""
    ended = threading.Event()

    def tell() -> None:
        while not ended.wait(every_s):
            progress.tell(ask)

    thread = threading.Thread(target=tell, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(ENDS_WITHIN_S)


def every_s(out: TextIO) -> float:
    """Choose how often a line comes, by who reads it."""
    return ON_TERMINAL_S if out.isatty() else ELSEWHERE_S


def tasks_of(spark: SparkSession) -> Tasks | None:
    """Ask Spark how many tasks there are in the steps that it is at; None where it is at none, or does not answer."""
    try:
        tracker = spark.sparkContext.statusTracker()
        stages = [stage for number in tracker.getActiveStageIds() if (stage := tracker.getStageInfo(number))]
    except (Py4JError, PySparkException, OSError):
        return None  # whoever works with it learns why
    if not stages:
        return None
    return Tasks(sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages))
