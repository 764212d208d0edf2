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


@pytest.mark.spark
def test_of_a_broker_that_was_stopped_or_died_in_a_hole_that_is_said(spark: SparkSession, tmp_path: Path) -> None:
    """East is stopped and started again; west dies; north lacks lines alone, and is stopped for good behind them."""
    stops, boots = "Shutdown hook was invoked, 1", "The broker[{}, 10.0.0.1:10911] boot success. serializeType=JSON"
    logs = {
        "east": {180: stops, 590: boots.format("EAST")},
        "west": {590: boots.format("WEST")},
        "north": {30: boots.format("NORTH"), 780: stops},
    }
    for host, lives in logs.items():
        times = dict.fromkeys((60, 120, 180, 600, 660, 720, 780), REGISTERS) | {20: joined("g", "A")}
        lines = [broker(at, line) for those in (times, lives) for at, line in those.items()]
        (tmp_path / host).mkdir()
        (tmp_path / host / "broker.log").write_text("".join(sorted(lines)))
    (tmp_path / "web1").mkdir()
    held = (java5(at, persisted("g", "A", QUEUE.format("a", 0), 1)) for at in (15, 900))
    (tmp_path / "web1" / "rocketmq_client.log").write_text("".join(held))
    life = signs_of_life(read_lines(spark, tmp_path), no_zones(spark))

    told = gaps_of(read_events(spark, tmp_path), life)

    assert {(row["host"], row["what"]): (row["broker"], row["why"]) for row in told.collect()} == {
        ("east", "hole"): ("EAST", "stopped"), ("east", "ends early"): ("EAST", None),
        ("west", "hole"): ("WEST", "died"), ("west", "ends early"): ("WEST", None),
        ("north", "hole"): ("NORTH", None), ("north", "ends early"): ("NORTH", "stopped"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("what", "why", "said"),
    [
        ("hole", "stopped", "(10.0 min): east-0 was stopped, and started again at the end of it"),
        ("hole", "died", "(10.0 min): east-0 started anew at the end of it, and no line tells that it had stopped"),
        ("begins late", "started", "after the first of all logs: east-0 was started then"),
        ("ends early", "stopped", "before the last of all logs: east-0 was stopped then"),
    ],
)
def test_what_its_broker_did_stands_beside_what_a_log_lacks(folder: Path, what: str, why: str, said: str) -> None:
    gap = {"host": "east", "log": "east/broker", "at_ms": 0, "until_ms": 600_000, "broker": "east-0"}
    put(folder, "costs", {**COST, "group": "g"})
    put(folder, "gaps", {**gap, "what": what, "why": why})

    report = read_report(folder)

    assert said in " ".join(summary(report).split())
    assert said in page(report)


def test_summary_and_page_name_what_logs_lack(folder: Path) -> None:
    gap = {"host": "east", "log": "east/broker", "at_ms": 0, "until_ms": 600_000}
    put(folder, "costs", {**COST, "group": "g"})
    put(folder, "gaps", *({**gap, "what": what} for what in ("hole", "begins late", "ends early")))

    told = " ".join(summary(read_report(folder)).split())

    assert "logs have gaps, or cover only part of the time" in told
    hour = "1970-01-01 00:{:02}:00 UTC"
    assert f"east/broker: nothing from {hour.format(0)} to {hour.format(10)} (10.0 min)" in told
    assert f"east/broker: begins at {hour.format(10)}, 10.0 min after the first of all logs" in told
    assert f"east/broker: ends at {hour.format(0)}, 10.0 min before the last of all logs" in told
    assert f"<li class=below>east/broker: nothing from {hour.format(0)}" in page(read_report(folder))
