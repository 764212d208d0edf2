"""When logs speak; whose end they would have told stands in ``test_holds``."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.events import signs_of_life
from tests.rebalance_engine.pipeline.frames import MIDNIGHT_MS, QUEUE, broker, java5, joined, no_zones, persisted
from tests.rebalance_engine.pipeline.frames import read_lines as read

pytestmark = pytest.mark.spark
Q = QUEUE.format("east", 0)
REGISTERS = "register broker[0]to name server 10.0.0.8:9876 OK"


def test_a_broker_that_does_not_say_that_it_registers_has_a_hole_and_other_logs_may_be_silent(
    spark: SparkSession, tmp_path: Path
) -> None:
    """East registers every minute, and is silent for 76 s and for 10 minutes; north never says that it registers."""
    seconds = [0, 60, 120, 195, 271, 330, 930, 990]
    logs = {
        "east/broker.log": [broker(second, REGISTERS) for second in seconds],
        "north/broker.log": [broker(second, joined("g", "A")) for second in (0, 900)],
        "web1/rocketmq_client.log": [
            java5(second, persisted("g", "A", QUEUE.format("a", 0), 1)) for second in (0, 900)
        ],
    }
    for name, lines in logs.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("".join(lines))

    lives = signs_of_life(read(spark, tmp_path), no_zones(spark)).collect()

    spoken = {row["host"]: sorted((part["from_ms"], part["until_ms"]) for part in row["spoken"]) for row in lives}
    assert {
        host: [((begin - MIDNIGHT_MS) / 1_000, (end - MIDNIGHT_MS) / 1_000) for begin, end in parts]
        for host, parts in spoken.items()
    } == {"east": [(0, 195), (271, 330), (930, 990)], "north": [(0, 900)], "web1": [(0, 900)]}
    assert {row["host"]: (row["last_ms"] - MIDNIGHT_MS) / 1_000 for row in lives} == {
        "east": 990,
        "north": 900,
        "web1": 900,
    }
