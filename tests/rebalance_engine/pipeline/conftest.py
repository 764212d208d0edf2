"""One Spark session for all tests of the pipeline, and the recorded runs."""

import logging
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.session import start


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    logging.getLogger("py4j").setLevel(logging.WARNING)  # it speaks once more after pytest has closed its streams
    session = start("local[2]", is_small=True)
    yield session
    session.stop()
