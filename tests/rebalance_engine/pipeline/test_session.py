import subprocess
import sys
from pathlib import Path

import pytest

from rebalance_engine.pipeline.session import SparkOff, start


def test_no_session_is_started_without_java(tmp_path: Path) -> None:
    with pytest.raises(SparkOff, match="Spark needs Java 17"):
        start(environment={"PATH": str(tmp_path)})


def test_spark_connect_is_refused_with_what_it_needs_and_what_does_without() -> None:
    with pytest.raises(SparkOff, match=r"sc://east:15002, and Spark Connect needs grpc and .* SPARK_MASTER=spark://"):
        start(environment={"SPARK_REMOTE": "sc://east:15002"})


@pytest.mark.spark
def test_spark_says_nothing_of_itself_but_its_errors() -> None:
    program = """
from rebalance_engine.pipeline.session import start
spark = start("local[1]", is_small=True)
spark._jvm.org.apache.logging.log4j.LogManager.getLogger("org.Disk").error("there is no room")
spark.stop()
"""

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)

    said = [line for line in ended.stderr.splitlines() if "jdk.incubator.vector" not in line]  # Java says that itself
    assert [line.split(" ", 2)[2] for line in said] == ["ERROR Disk: there is no room"]
