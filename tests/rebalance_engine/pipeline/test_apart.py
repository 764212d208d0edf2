"""Whole runs as programs of their own: on a standalone cluster, over Spark Connect, and stopped in the middle."""

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

from rebalance_engine.pipeline.session import JAVA_FOR_LITTLE
from tests.rebalance_engine.pipeline.runs import Key, Span, as_holds, logs, true_holds

pytestmark = [pytest.mark.spark, pytest.mark.slow]
RUN = "scale_out-5.5.0"
ROOT = Path(__file__).parents[3]
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
SPARK_SUBMIT = SPARK_CLASS.with_name("spark-submit")
CONNECT_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
# Nobody reads on what it says, so that it says no more than where it listens, and errors.
SAYS_LITTLE = f"""
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %m%n
logger.server.name = {CONNECT_SERVER}
logger.server.level = info
"""
ENDS_WITHIN_S = 1500  # a program of Spark beside others on a busy machine
Program = subprocess.Popen[str]


@contextmanager
def program(*words: str, **more: str) -> Iterator[Program]:
    """Start a program that says what it does on its error stream, and end it with its children.

    Args:
        more: in its environment.
    """
    process = subprocess.Popen(
        words, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True, env={**os.environ, **more}
    )
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
        little = {"SPARK_DAEMON_JAVA_OPTS": JAVA_FOR_LITTLE}
        master = stack.enter_context(
            program(start, "org.apache.spark.deploy.master.Master", *local, "--port", "0", **little)
        )
        (url,) = says(master, r"Starting Spark master at (spark://\S+)")
        for name in ("one", "two"):
            limits = ("--cores", "1", "--memory", "1100m", "--work-dir", str(tmp_path / name))
            stack.enter_context(program(start, "org.apache.spark.deploy.worker.Worker", *local, *limits, url, **little))
        says(master, "Registering worker", times=2)

        run = stack.enter_context(program(*pipeline(tmp_path / "out", "--master", url)))
        _, said = run.communicate(timeout=ENDS_WITHIN_S)

        assert run.returncode == 0, said[-2_000:]
        workers = says(master, r"Launching executor \S+ on worker (\S+)", times=2)
    assert len(set(workers)) == 2
    assert ends_of(holds_in(tmp_path / "out")) == ends_of(true_holds(RUN))


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """Start a server of Spark Connect on loopback, at a port of its own; give its address."""
    folder.mkdir()
    said = folder / "log4j2.properties"
    said.write_text(SAYS_LITTLE)
    options = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    java = f"{JAVA_FOR_LITTLE} -Dlog4j2.configurationFile={said.as_uri()}"
    words = ("--class", CONNECT_SERVER, "--master", "local[2]", "--driver-memory", "1g", "--driver-java-options", java)
    more = [word for name, value in options.items() for word in ("--conf", f"{name}={value}")]
    with program(str(SPARK_SUBMIT), *words, *more, "spark-internal", SPARK_LOCAL_IP="127.0.0.1") as server:
        (port,) = says(server, r"server started at: 127\.0\.0\.1:(\d+)")
        yield f"sc://127.0.0.1:{port}"


def rows_in(target: Path) -> dict[str, list[str]]:
    """Read the lines, and every table of which a run noted days."""
    noted = json.loads((target / "_evenkeel.json").read_text())["partitions"]
    tables = ["lines", *(table for table, days in noted.items() if days)]
    return {table: sorted(map(repr, pq.read_table(target / table).to_pylist())) for table in tables}


def test_a_server_of_spark_connect_tells_row_by_row_what_one_machine_tells(tmp_path: Path) -> None:
    """Also after it was stopped; ``--master`` goes before ``SPARK_REMOTE``, where nobody would answer."""
    far, near = tmp_path / "far", tmp_path / "near"
    with connect_server(tmp_path / "server") as url:
        with program(*pipeline(far), SPARK_REMOTE=url) as run:
            says(run, r"^holds \.\.\.")
            run.send_signal(signal.SIGTERM)
            _, said = run.communicate(timeout=ENDS_WITHIN_S)
        assert run.returncode == 130, said[-2_000:]
        assert [line for line in said.splitlines() if "what was finished is whole" not in line] == []
        assert not (far / "spans").exists()
        assert "; 0 to read" in both_jobs(far, SPARK_REMOTE=url)
    both_jobs(near, "--master", "local[2]", SPARK_REMOTE="sc://127.0.0.1:1")

    told, expected = rows_in(far), rows_in(near)
    assert ends_of(holds_in(far)) == ends_of(true_holds(RUN))
    assert told.keys() == expected.keys() >= {"events", "holds", "rounds", "handoffs", "costs", "reports", "backtest"}
    assert [table for table, rows in told.items() if rows != expected[table]] == []
    assert all(told.values())


def both_jobs(target: Path, *more: str, **environment: str) -> str:
    """Run the logs' job, and then the back-test of what it told; give what the first one said."""
    backtest = (*pipeline(target)[:3], "backtest", "--in", str(target), "--out", str(target))
    all_said = []
    for words in (pipeline(target), backtest):
        with program(*words, *more, **environment) as run:
            _, said = run.communicate(timeout=ENDS_WITHIN_S)
        assert run.returncode == 0, said[-2_000:]
        all_said.append(said)
    return all_said[0]


def test_a_run_that_is_stopped_leaves_whole_tables_and_the_next_one_goes_on(tmp_path: Path) -> None:
    """Stopped twice, each time later and in the other way, its Java too then; the third run ends it."""
    target = tmp_path / "out"
    for number, stop, stage, done, missing in (
        (signal.SIGINT, os.kill, "holds", "events", "spans"),
        (signal.SIGTERM, os.killpg, "measures", "rounds", "costs"),
    ):
        with program(*pipeline(target, "--master", "local[1]")) as run:
            says(run, rf"^{stage} \.\.\.")
            stop(run.pid, number)
            _, said = run.communicate(timeout=ENDS_WITHIN_S)
        assert run.returncode == 130, said[-2_000:]
        assert [line.partition(";")[0] for line in said.splitlines()] == ["stopped"]
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
