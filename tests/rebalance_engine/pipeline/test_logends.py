from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from rebalance_engine.pipeline.clients import changes_of
from rebalance_engine.pipeline.events import signs_of_life
from rebalance_engine.pipeline.logends import input_ends_of, log_begins_of, log_ends_of
from tests.rebalance_engine.pipeline.frames import (
    MIDNIGHT_MS,
    QUEUE,
    added,
    broker,
    java5,
    joined,
    no_zones,
    persisted,
    read_events,
    read_lines,
    result,
)

Q0 = QUEUE.format("east", 0)
STARTING = "the consumer [g] start beginning. messageModel=CLUSTERING, isUnitMode=false"
MADE = "Created a new client Instance, InstanceIndex:0, ClientID:F, ClientConfig:ClientConfig{x}"


@pytest.mark.spark
def test_a_members_log_ends_with_the_last_line_of_all_that_its_host_writes_there(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A's process ends in a log that goes on; C's log was rolled; D took a queue and never persisted, E took none.

    F's log breaks off after its start.
    """
    hosts = {
        "web1/rocketmq_client.log": [
            java5(1, persisted("g", "A", Q0, 4), pid=1),
            java5(60, persisted("g", "B", Q0, 9), pid=2),
        ],
        "web2/other_days/rocketmq_client-1.log": [java5(5, persisted("g", "C", Q0, 3))],
        "web2/rocketmq_client.log": [java5(30, added("g", Q0))],
        "web3/rocketmq_client.log": [java5(7, result("g", "D", [Q0]))],
        "web5/rocketmq_client.log": [java5(3, STARTING), java5(3.1, MADE)],
        "web4/rocketmq_client.log": [java5(8, result("g", "E", [])), java5(9, persisted("other", "E", Q0, 3))],
    }
    for name, lines in hosts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("".join(lines))
    members = "cluster string, group string, client_id string"
    spans = spark.createDataFrame([("default", "g", client) for client in "ABCD"], members)
    life = spark.createDataFrame(
        [("default", "web2/7", MIDNIGHT_MS + 31_000)], "cluster string, process string, last_ms long"
    )

    events = read_events(spark, tmp_path)

    found = log_ends_of(events, changes_of(events), spans, life).collect()

    ends = {row["client_id"]: (row["at_ms"] - MIDNIGHT_MS) // 1_000 for row in found}
    assert ends == {"A": 60, "B": 60, "C": 31, "E": 9, "F": 3}
    assert {(row["cluster"], row["group"], row["what"]) for row in found} == {("default", "g", "log ends")}


@pytest.mark.spark
def test_a_groups_input_ends_with_the_last_log_that_names_it(spark: SparkSession, tmp_path: Path) -> None:
    """Two groups on brokers of their own, one of which speaks for hours; of a third group no broker's log tells."""
    hosts = {
        "web1/rocketmq_client.log": [java5(1, result("g", "A", [Q0])), java5(60, "the consumer [g] shutdown OK")],
        "web2/rocketmq_client.log": [java5(2, result("h", "B", [Q0])), java5(50, "the consumer [h] shutdown OK")],
        "web3/rocketmq_client.log": [java5(3, result("i", "C", [Q0]))],
        "east/broker.log": [broker(1, joined("g", "A")), broker(75, joined("x", "X"))],
        "west/broker.log": [broker(2, joined("h", "B")), broker(9_000, joined("x", "X"))],
    }
    for name, lines in hosts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("".join(lines))
    columns = "cluster string, group string, client_id string, until_ms long, until_before_ms long"
    ends = {"A": ("g", 60), "B": ("h", 50), "C": ("i", 9_000)}
    rows = [("default", group, client, MIDNIGHT_MS + second * 1_000, None) for client, (group, second) in ends.items()]
    spans, life = spark.createDataFrame(rows, columns), signs_of_life(read_lines(spark, tmp_path), no_zones(spark))

    found = input_ends_of(read_events(spark, tmp_path), spans, life).collect()

    told = {row["group"]: (row["at_ms"] - MIDNIGHT_MS) // 1_000 for row in found}
    assert told == {"g": 75, "h": 9_000, "i": 9_000}


@pytest.mark.spark
def test_a_log_begins_late_where_it_shows_what_its_member_had_before_any_start(spark: SparkSession) -> None:
    """B's log has its start, C's only that of its next process; D's writer may be silent for long, E took what it has.

    A shows all that it has when it has persisted twice; what shows first after that it lost the lines of.
    """
    spans: list[tuple[str, str, int, int | None]] = [("A", "java5", at, None) for at in (12, 14, 40)]
    spans += [("B", "java5", 12, None), ("C", "java4", 11, None), ("D", "cpp", 12, None), ("E", "java5", 12, 12)]
    changes = [("B", "consumer starting", 10), ("C", "consumer starting", 50), ("C", "consumer stopped", 45)]
    names = "cluster string, group string, process string, client_id string"

    def frame(rows: list[tuple[object, ...]], columns: str) -> DataFrame:
        own = [("default", "g", f"web{client}/7", client, *rest) for client, *rest in rows]
        return spark.createDataFrame(own, f"{names}, {columns}")

    held = frame(
        [(who, layout, seen * 1_000, begun) for who, layout, seen, begun in spans],
        "layout string, first_seen_ms long, from_ms long",
    )
    said = frame([(who, what, at * 1_000) for who, what, at in changes], "what string, at_ms long")
    parts = "spoken array<struct<from_ms: long, until_ms: long>>"
    life = frame([(who, [(60_000, 90_000), (10_000, 50_000)]) for who in "ABCDE"], parts).drop("group", "client_id")

    found = log_begins_of(said, held, life).collect()

    assert sorted((row["client_id"], row["at_ms"]) for row in found) == [("A", 14_000), ("C", 11_000)]
    assert {(row["cluster"], row["group"], row["what"]) for row in found} == {("default", "g", "log begins")}
