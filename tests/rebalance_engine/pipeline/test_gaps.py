"""What logs lack is named."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.events import signs_of_life
from rebalance_engine.pipeline.gaps import gaps_of
from rebalance_engine.pipeline.page import page
from rebalance_engine.pipeline.reports import read_report
from rebalance_engine.pipeline.summary import summary
from tests.rebalance_engine.pipeline.frames import (
    MIDNIGHT_MS,
    QUEUE,
    broker,
    java5,
    joined,
    no_zones,
    persisted,
    read_events,
    read_lines,
)
from tests.rebalance_engine.pipeline.test_reports import COST, folder, put

__all__ = ["folder"]
REGISTERS = "register broker[0]to name server 10.0.0.8:9876 OK"


@pytest.mark.spark
def test_holes_and_late_beginnings_of_brokers_logs_are_found(spark: SparkSession, tmp_path: Path) -> None:
    """East lacks ten minutes, west begins late and ends early; what brokers write of locks is written seldom."""
    logs = {
        "web1/rocketmq_client.log": [java5(at, persisted("g", "A", QUEUE.format("a", 0), 1)) for at in (0, 900)],
        "east/broker.log": [broker(30, joined("g", "A")), *(broker(at, REGISTERS) for at in (60, 120, 720, 780, 840))],
        "west/broker.log": [broker(at, REGISTERS) for at in range(300, 780, 60)] + [broker(760, joined("g", "A"))],
    }
    for name, lines in logs.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("".join(sorted(lines)))
    life = signs_of_life(read_lines(spark, tmp_path), no_zones(spark))

    found = sorted(
        (row["host"], row["what"], *((row[name] - MIDNIGHT_MS) // 1_000 for name in ("at_ms", "until_ms")))
        for row in gaps_of(read_events(spark, tmp_path), life).collect()
    )

    assert found == [
        ("east", "hole", 120, 720), ("west", "begins late", 0, 300), ("west", "ends early", 760, 900),
    ]  # fmt: skip


def test_summary_and_page_name_what_logs_lack(folder: Path) -> None:
    gap = {"host": "east", "log": "east/broker", "at_ms": 0, "until_ms": 600_000}
    put(folder, "costs", {**COST, "group": "g"})
    put(folder, "gaps", *({**gap, "what": what} for what in ("hole", "begins late", "ends early")))

    told = " ".join(summary(read_report(folder)).split())

    assert "logs lack a part" in told
    hour = "1970-01-01 00:{:02}:00 UTC"
    assert f"east/broker: nothing from {hour.format(0)} to {hour.format(10)} (10.0 min)" in told
    assert f"east/broker: begins at {hour.format(10)}, 10.0 min after the first of all logs" in told
    assert f"east/broker: ends at {hour.format(0)}, 10.0 min before the last of all logs" in told
    assert f"<li class=below>east/broker: nothing from {hour.format(0)}" in page(read_report(folder))
