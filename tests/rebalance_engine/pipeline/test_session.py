import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rebalance_engine.pipeline.session import SparkOff, settings_of_remote, start


def test_no_session_is_started_without_java(tmp_path: Path) -> None:
    with pytest.raises(SparkOff, match="Spark needs Java 17"):
        start(environment={"PATH": str(tmp_path)})


@pytest.mark.parametrize("is_said", [True, False])
def test_a_server_of_spark_connect_that_is_not_there_is_told_by_its_address_alone(is_said: bool) -> None:
    """Said on the command line or by the environment; its token is nobody's business."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nobody listens, and nobody else can
        address = f"sc://127.0.0.1:{closed.getsockname()[1]}/"
        remote = f"{address};user_id=me;x-token=secret"

        with pytest.raises(SparkOff, match=rf"^no session at {address} \(Spark Connect\): UNAVAILABLE: ") as told:
            start(remote if is_said else None, environment={} if is_said else {"SPARK_REMOTE": remote})

    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    "remote", ["local[2]", "spark://east:7077", "sc://east:15002/path", "sc://east:port", "sc://east/;token=se=cret"]
)
def test_what_is_no_address_of_spark_connect_is_refused(remote: str) -> None:
    with pytest.raises(SparkOff, match=r"INVALID_CONNECT_URL|ValueError") as told:
        start(environment={"SPARK_REMOTE": remote})

    assert "cret" not in str(told.value)


@pytest.mark.parametrize("is_small", [True, False])
def test_a_session_of_spark_connect_has_utc_days_that_stay_text_as_any_other(is_small: bool) -> None:
    """A server would refuse what is of its own Java and its own disks."""
    settings = settings_of_remote(is_small=is_small)

    assert settings["spark.sql.session.timeZone"] == "UTC"
    assert settings["spark.sql.sources.partitionColumnTypeInference.enabled"] == "false"
    assert settings["spark.sql.shuffle.partitions"] == ("1" if is_small else "32")
    assert settings["spark.sql.execution.pyspark.python"] == sys.executable
    assert [name for name in settings if not name.startswith("spark.sql.") or "codegen.hugeMethod" in name] == []


@pytest.mark.spark
def test_spark_says_nothing_of_itself_but_its_errors() -> None:
    """Nor of a job that writes and is broken off: it raises that, and a run that is stopped would begin with it."""
    program = """
from rebalance_engine.pipeline.session import start
spark = start("local[1]", is_small=True)
logs = spark._jvm.org.apache.logging.log4j.LogManager
logs.getLogger("org.apache.spark.sql.execution.datasources.FileFormatWriter").error("Aborting job 7")
logs.getLogger("org.Disk").error("there is no room")
spark.stop()
"""

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)

    assert [line.split(" ", 2)[2] for line in ended.stderr.splitlines()] == ["ERROR Disk: there is no room"]
