"""Whole runs as programs of their own: on a standalone cluster of two workers, and stopped in the middle."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Timer

import pyarrow.parquet as pq  # type: ignore[import-untyped] # pyarrow has no types
import pyspark
import pytest

from tests.rebalance_engine.pipeline.runs import Key, Span, as_holds, logs, true_holds

pytestmark = [pytest.mark.spark, pytest.mark.slow]
RUN = "scale_out-5.5.0"
ROOT = Path(__file__).parents[3]
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
ENDS_WITHIN_S = 1500  # a program of Spark beside others on a busy machine
Program = subprocess.Popen[str]


@contextmanager
def program(*words: str) -> Iterator[Program]:
    """Start a program that says what it does on its error stream, and end it with its children."""
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True)
    ends = Timer(ENDS_WITHIN_S, os.killpg, (process.pid, signal.SIGKILL))  # whoever waits for its words wakes up too
    ends.start()
    try:
        yield process
    finally:
        ends.cancel()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)


def says(process: Program, pattern: str, times: int = 1) -> list[str]:
    """Wait until it has said so, or has ended."""
    found: list[str] = []
    assert process.stderr
    for line in process.stderr:
        found += re.findall(pattern, line)
        if len(found) >= times:
            return found
    raise AssertionError(f"it ended without {pattern}")


def pipeline(target: Path, *more: str) -> tuple[str, ...]:
    return (
        sys.executable,
        "-m",
        "rebalance_engine.pipeline",
        "logs",
        "--in",
        str(logs(RUN)),
        "--out",
        str(target),
        *more,
    )


def ends_of(found: dict[Key, list[Span]]) -> dict[Key, list[str]]:
    return {key: [ended for _, _, ended in spans] for key, spans in found.items()}


def holds_in(target: Path) -> dict[Key, list[Span]]:
    return as_holds(pq.read_table(target / "holds").to_pylist())


def test_two_workers_of_a_standalone_cluster_tell_what_one_machine_tells(tmp_path: Path) -> None:
    local = ("--host", "127.0.0.1", "--webui-port", "0")
    with ExitStack() as stack:
        start = str(SPARK_CLASS)
        master = stack.enter_context(program(start, "org.apache.spark.deploy.master.Master", *local, "--port", "0"))
        (url,) = says(master, r"Starting Spark master at (spark://\S+)")
        for name in ("one", "two"):
            limits = ("--cores", "1", "--memory", "1100m", "--work-dir", str(tmp_path / name))
            stack.enter_context(program(start, "org.apache.spark.deploy.worker.Worker", *local, *limits, url))
        says(master, "Registering worker", times=2)

        run = stack.enter_context(program(*pipeline(tmp_path / "out", "--master", url)))
        _, said = run.communicate(timeout=ENDS_WITHIN_S)

        assert run.returncode == 0, said[-2_000:]
        workers = says(master, r"Launching executor \S+ on worker (\S+)", times=2)
    assert len(set(workers)) == 2
    assert ends_of(holds_in(tmp_path / "out")) == ends_of(true_holds(RUN))


def test_a_run_that_is_stopped_leaves_whole_tables_and_the_next_one_goes_on(tmp_path: Path) -> None:
    """Stopped twice, each time later and in the other way; the third run ends it."""
    target = tmp_path / "out"
    for number, stage, done, missing in (
        (signal.SIGINT, "holds", "events", "spans"),
        (signal.SIGTERM, "measures", "rounds", "costs"),
    ):
        with program(*pipeline(target, "--master", "local[1]")) as run:
            says(run, rf"^{stage} \.\.\.")
            run.send_signal(number)
            _, said = run.communicate(timeout=ENDS_WITHIN_S)
        assert run.returncode == 130, said[-2_000:]
        assert "what was finished is whole" in said
        assert [line for line in said.splitlines() if "Traceback" in line or line.startswith("\tat ")] == []
        notes = json.loads((target / "_evenkeel.json").read_text())
        assert notes["partitions"][done]
        assert missing not in notes["partitions"]
        assert all(pq.read_metadata(path).num_rows for path in target.glob(f"{done}/**/*.parquet"))
        assert not (target / ".staged").exists()

    with program(*pipeline(target, "--master", "local[1]")) as run:
        _, said = run.communicate(timeout=ENDS_WITHIN_S)
    assert run.returncode == 0, said[-2_000:]
    assert "; 0 to read" in said
    assert ends_of(holds_in(target)) == ends_of(true_holds(RUN))
