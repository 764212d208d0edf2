"""When logs speak; whose end they would have told stands in ``test_holds``."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.events import signs_of_life
from tests.rebalance_engine.pipeline.frames import (
    MIDNIGHT_MS,
    QUEUE,
    added,
    broker,
    java5,
    joined,
    no_zones,
    persisted,
    result,
)
from tests.rebalance_engine.pipeline.frames import read_lines as read

pytestmark = pytest.mark.spark
Q = QUEUE.format("east", 0)
REGISTERS = "register broker[0]to name server 10.0.0.8:9876 OK"


def spoken_in(spark: SparkSession, folder: Path, logs: dict[str, list[str]]) -> dict[str, list[tuple[float, float]]]:
    for name, lines in logs.items():
        (folder / name).parent.mkdir()
        (folder / name).write_text("".join(lines))
    lives = signs_of_life(read(spark, folder), no_zones(spark)).collect()
    return {
        row["host"]: sorted(
            ((part["from_ms"] - MIDNIGHT_MS) / 1_000, (part["until_ms"] - MIDNIGHT_MS) / 1_000)
            for part in row["spoken"]
        )
        for row in lives
    }


def test_a_broker_that_does_not_say_that_it_registers_has_a_hole(spark: SparkSession, tmp_path: Path) -> None:
    """East registers every minute, and is silent for 76 s and for 10 minutes; north never says that it registers."""
    seconds = [0, 60, 120, 195, 271, 330, 930, 990]
    logs = {
        "east/broker.log": [broker(second, REGISTERS) for second in seconds],
        "north/broker.log": [broker(second, joined("g", "A")) for second in (0, 900)],
    }

    assert spoken_in(spark, tmp_path, logs) == {
        "east": [(0, 195), (271, 330), (930, 990)],
        "north": [(0, 900)],
    }


def test_a_client_that_persists_no_more_what_it_has_has_a_hole(spark: SparkSession, tmp_path: Path) -> None:
    """One persists what it took 10 s before; one has nothing; one lets go all that it had; one cannot persist it."""

    def kept(*seconds: float) -> list[str]:
        return [java5(second, persisted("g", "A", Q, 1)) for second in seconds]

    failed = [java5(second, f"updateConsumeOffsetToBroker exception, {Q}") for second in (15, 20, 25)]
    logs = {
        "web1/rocketmq_client.log": kept(0, 5, 10, 40, 45),
        "web2/rocketmq_client.log": [java5(0, added("g", Q)), *kept(10, 15)],
        "web3/rocketmq_client.log": [java5(0, added("g", Q)), *kept(30, 35)],
        "web4/rocketmq_client.log": [java5(0, result("g", "A", [])), java5(60, added("g", Q)), *kept(65, 70)],
        "web5/rocketmq_client.log": [*kept(5, 10), *failed, *kept(30)],
    }

    assert spoken_in(spark, tmp_path, logs) == {
        "web1": [(0, 10), (40, 45)],
        "web2": [(0, 15)],
        "web3": [(0, 0), (30, 35)],
        "web4": [(0, 70)],
        "web5": [(5, 30)],
    }
