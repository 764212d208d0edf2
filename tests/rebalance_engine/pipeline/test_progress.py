import os
import threading
from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest
from py4j.protocol import Py4JNetworkError  # type: ignore[import-untyped] # py4j has no types
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.progress import (
    ELSEWHERE_S,
    ON_TERMINAL_S,
    Progress,
    Tasks,
    every_s,
    tasks_of,
    told_every,
)

WITHIN_S = 60


class Said(list[str]):
    """What was said, and an event for whoever waits until something was."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.has_told = threading.Event()

    def __call__(self, line: str) -> None:
        self.append(line)
        if "so far" in line:
            self.has_told.set()

    def clock(self) -> float:
        return self.now


@pytest.fixture
def said() -> Said:
    return Said()


def test_a_stage_says_when_it_begins_and_how_long_it_took(said: Said) -> None:
    progress = Progress(said, said.clock)

    with progress.stage("holds"):
        said.now = 75.25

    assert said == ["holds ...", "holds: 75.2 s"]


def test_within_a_stage_it_says_how_long_it_is_at_it_and_how_many_tasks_are_done(said: Said) -> None:
    progress = Progress(said, said.clock)

    with progress.stage("holds"):
        said.now = 60.0
        progress.tell(lambda: Tasks(done=12, total=32))
        said.now = 120.0
        progress.tell(lambda: None)

    assert said[1:3] == ["holds: 60 s so far, 12 of 32 tasks of Spark's present step done", "holds: 120 s so far"]


def test_between_stages_and_of_one_that_ended_meanwhile_nothing_is_said(said: Said) -> None:
    progress = Progress(said, said.clock)
    stage = progress.stage("holds")

    def ends_meanwhile() -> Tasks:
        stage.__exit__(None, None, None)
        return Tasks(1, 2)

    progress.tell(lambda: Tasks(1, 2))
    stage.__enter__()
    progress.tell(ends_meanwhile)

    assert said == ["holds ...", "holds: 0.0 s"]


def test_a_stage_that_says_nothing_of_itself_is_told_all_the_same_where_it_takes_long(said: Said) -> None:
    progress = Progress(said, said.clock)

    with progress.stage("looking at the files", is_told=False):
        progress.tell(lambda: None)

    assert said == ["looking at the files: 0 s so far"]


@pytest.mark.parametrize("error", [None, KeyboardInterrupt()])
def test_the_thread_tells_until_the_run_ends_however_it_ends_and_says_nothing_more(
    said: Said, error: BaseException | None
) -> None:
    before = {*threading.enumerate()}
    progress = Progress(said, said.clock)

    with suppress(KeyboardInterrupt), told_every(0.001, progress, lambda: Tasks(1, 2)), progress.stage("holds"):
        assert said.has_told.wait(WITHIN_S)
        assert len({*threading.enumerate()} - before) == 1
        if error:
            raise error

    assert {*threading.enumerate()} <= before
    assert said[1] == "holds: 0 s so far, 1 of 2 tasks of Spark's present step done"
    assert ("so far" in said[-1]) == (error is not None)


def test_a_terminal_is_told_more_often_than_a_file() -> None:
    upper, lower = os.openpty()
    with os.fdopen(lower, "w") as terminal:
        assert every_s(terminal) == ON_TERMINAL_S
    os.close(upper)
    assert every_s(StringIO()) == ELSEWHERE_S


class Gone:
    """A Spark whose Java is gone."""

    @property
    def sparkContext(self) -> None:  # noqa: N802 - Spark's name
        raise Py4JNetworkError("Answer from Java side is empty")


def test_a_spark_that_is_gone_has_no_tasks() -> None:
    assert tasks_of(Gone()) is None  # type: ignore[arg-type] # a fake


@pytest.mark.spark
def test_the_tasks_are_those_that_spark_works_at(spark: SparkSession, tmp_path: Path) -> None:
    """Of the two tasks one has nothing to do, and the other waits for us."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)

    def work(rows: object) -> list[str]:
        return [] if 0 in list(rows) else [gate.read_text()]  # type: ignore[call-overload] # an iterator of numbers

    job = threading.Thread(target=spark.sparkContext.parallelize([0, 1], 2).mapPartitions(work).count)
    assert tasks_of(spark) is None
    job.start()
    with gate.open("w") as opened:  # it opens once the second task does
        seen = tasks_of(spark)
        opened.write("go")
    job.join(WITHIN_S)

    assert seen is not None
    assert seen.total == 2
    assert not job.is_alive()
    assert tasks_of(spark) is None
