from pathlib import Path

import pytest

from rebalance_engine.pipeline.session import SparkOff, start


def test_no_session_is_started_without_java(tmp_path: Path) -> None:
    with pytest.raises(SparkOff, match="Spark needs Java 17"):
        start(environment={"PATH": str(tmp_path)})


def test_spark_connect_is_refused_with_what_it_needs_and_what_does_without() -> None:
    with pytest.raises(SparkOff, match=r"sc://east:15002, and Spark Connect needs grpc and .* SPARK_MASTER=spark://"):
        start(environment={"SPARK_REMOTE": "sc://east:15002"})
