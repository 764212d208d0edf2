"""The Spark session, and whether there can be one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped] # py4j has no types
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession, is_remote

from rebalance_engine.pipeline.java import java_trouble, quiet_java
from rebalance_engine.pipeline.names import keep_names
from rebalance_engine.pipeline.progress import Tasks, tasks_of

CODE = Path(__file__).parents[2]
ERRORS_ONLY = Path(__file__).with_name("log4j2.properties")


class SparkOff(Exception):
    """Spark cannot run here; the message says why."""


def start(
    master: str | None = None,
    *,
    memory: str = "1g",
    is_small: bool = False,
    more: Mapping[str, str] | None = None,
    environment: Mapping[str, str] = os.environ,
) -> SparkSession:
    """Start a session, or take the one that runs.

    Args:
        master: where it runs: by default ``SPARK_REMOTE`` (Spark Connect), else ``SPARK_MASTER``, else ``local[*]``;
            ``sc://HOST:PORT`` is a server of Spark Connect here too.
        memory: of the driver, which in ``local`` does all work.
        is_small: the input is a few megabytes of text: Spark then spends most of its time on plans and compilation,
            and takes less than half of it without.
        more: further settings of Spark.

    Raises:
        SparkOff: Java is missing or too old, or the cluster does not answer.
    """
    remote = environment.get("SPARK_REMOTE", "") if master is None else master if master.startswith("sc://") else ""
    if remote:
        return _start_remote(remote, settings_of_remote(is_small=is_small))
    os.environ.pop("SPARK_REMOTE", None)  # else PySpark would take it, whatever master is given
    trouble = java_trouble(environment)
    if trouble:
        raise SparkOff(trouble)
    os.environ["PYSPARK_PYTHON"] = sys.executable  # else workers take the PATH's python3, which lacks pandas
    chosen = master or environment.get("SPARK_MASTER") or "local[*]"
    if chosen.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.Builder().master(chosen).appName("evenkeel")
    settings = {**_settings(memory, is_small=is_small), **_apart(chosen), **_loopback(chosen)}
    for name, value in {**settings, **(more or {})}.items():
        builder = builder.config(name, value)
    try:
        with quiet_java(os.environ):
            session = builder.getOrCreate()
    except Exception as error:  # py4j and PySpark raise half a dozen unrelated kinds when a session cannot start
        raise SparkOff(f"no session at {chosen}: {type(error).__name__}: {str(error)[:300]}") from error
    keep_names(session)
    return session


def is_here(master: str | None, environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether Spark would run in this machine's own Java, and could.

    Raises:
        SparkOff: Java is missing or too old.
    """
    if master is None and environment.get("SPARK_REMOTE"):
        return False
    if not (master or environment.get("SPARK_MASTER") or "local[*]").startswith("local"):
        return False
    if trouble := java_trouble(environment):
        raise SparkOff(trouble)
    return True


def settings_of_remote(*, is_small: bool) -> dict[str, str]:
    """Give what a session of Spark Connect is to have, which its server else decides: days are UTC's, and stay text."""
    settings = _settings("", is_small=is_small)
    mine = {name: value for name, value in settings.items() if name.startswith("spark.sql.")}
    mine.pop(HUGE, None)  # whether its Java compiles methods that are longer than it does by default is not known
    return mine | {"spark.sql.execution.pyspark.python": sys.executable}  # as on a standalone cluster's workers


def _start_remote(remote: str, settings: Mapping[str, str]) -> SparkSession:
    where = f"no session at {remote.partition(';')[0]} (Spark Connect)"  # behind it may stand a token
    try:
        from rebalance_engine.pipeline.remote import NoAnswer, connect  # noqa: PLC0415  # grpc is needed for nothing else
    except ImportError as error:
        raise SparkOff(f"{where}: {error}; make install brings it") from error
    try:
        return connect(remote, settings)
    except NoAnswer as error:
        said = str(error)
        for word in filter(None, remote.split(";")[1:]):
            said = said.replace(word, "...")
        raise SparkOff(f"{where}: {said[:300]}") from None


def asks_for_tasks(spark: SparkSession) -> Callable[[], Tasks | None]:
    """Give what tells how far Spark's present step is."""
    if is_remote():
        from rebalance_engine.pipeline.remote import hear  # noqa: PLC0415  # as above

        return hear(spark)
    return lambda: tasks_of(spark)


def end(spark: SparkSession, *, is_cut: bool) -> None:
    """End a session; where it ``is_cut``, also what it is at, and without the stacks of Java that this brings."""
    if is_remote():
        from rebalance_engine.pipeline.remote import leave  # noqa: PLC0415  # as above

        leave(spark, is_cut=is_cut)
        return
    with suppress(Py4JError, PySparkException, OSError):
        if is_cut:
            spark.sparkContext.setLogLevel("OFF")
    with suppress(Py4JError, PySparkException, OSError):
        spark.stop()


def _settings(memory: str, *, is_small: bool) -> dict[str, str]:
    common = {
        "spark.driver.memory": memory,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.python.sql.dataFrameDebugging.enabled": "false",  # else each column asks for its place in the code
        "spark.sql.ui.explainMode": "simple",  # of each plan a text is made, which nobody reads: the shortest
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.files.ignoreCorruptFiles": "true",  # a cut .gz gives what unpacks; sources.py says that it is cut
        "spark.sql.files.maxPartitionBytes": str(32 << 20),
        "spark.sql.files.openCostInBytes": str(128 << 10),  # of a day's small file; 4 MB make a task of every eight
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.hadoop.parquet.compression.codec.zstd.level": "1",
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # a day stays text
        # Names repeat: what is read is some ten times as large as its files, and finds no room if that is not known.
        "spark.sql.sources.fileCompressionFactor": "10",
    }
    chosen = common | (_SMALL if is_small else _LARGE)
    for options in ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"):
        chosen[options] = f"{chosen.get(options, '')} -Dlog4j2.configurationFile={ERRORS_ONLY.as_uri()}".strip()
    return chosen


# HotSpot's second compiler took half of the first seconds, and a gigabyte; hot code comes to it all the same.
_COMPILED_LATER = (
    "-XX:Tier4InvocationThreshold=30000 -XX:Tier4MinInvocationThreshold=5000"
    " -XX:Tier4CompileThreshold=60000 -XX:Tier4BackEdgeThreshold=200000"
)
# What tells a line's kind becomes a method of more than the 8,000 bytes beyond which HotSpot compiles none by default.
# Where Spark takes it apart for that, each step copies its rows: a quarter of the time of text to lines.
_COMPILED_WHOLE, HUGE = "-XX:-DontCompileHugeMethods", "spark.sql.codegen.hugeMethodLimit"
_LARGE = {
    "spark.sql.shuffle.partitions": "32",  # adaptive execution puts small ones together
    "spark.driver.extraJavaOptions": f"-XX:+UseParallelGC {_COMPILED_LATER} {_COMPILED_WHOLE}",
    "spark.executor.extraJavaOptions": f"-XX:+UseParallelGC {_COMPILED_LATER} {_COMPILED_WHOLE}",
    HUGE: "65535",
}
# By default HotSpot compiles 50,000 methods in one run over little input, a quarter of its time; few of them pay.
JAVA_FOR_LITTLE = (
    "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
    " -XX:Tier3InvocationThreshold=2000 -XX:Tier3MinInvocationThreshold=1000 -XX:Tier3CompileThreshold=10000"
)
_SMALL = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": JAVA_FOR_LITTLE,
    "spark.executor.extraJavaOptions": JAVA_FOR_LITTLE,
}


def _apart(master: str) -> dict[str, str]:
    """Let executors find this program: in ``local`` they are the driver, else it lies under one path."""
    return {} if master.startswith("local") else {"spark.executorEnv.PYTHONPATH": str(CODE)}


def _loopback(master: str) -> dict[str, str]:
    """Keep a session of one machine on that machine."""
    if master.startswith("local") or "//127.0.0.1:" in master:
        return {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return {}
