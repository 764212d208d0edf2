from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.logends import log_ends_of
from tests.rebalance_engine.pipeline.frames import MIDNIGHT_MS, QUEUE, added, java5, persisted, read_events, result

Q0 = QUEUE.format("east", 0)


@pytest.mark.spark
def test_a_members_log_ends_with_the_last_line_of_all_that_its_host_writes_there(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A's process ends in a log that goes on; C's log was rolled; D took a queue and never persisted, E took none."""
    hosts = {
        "web1/rocketmq_client.log": [
            java5(1, persisted("g", "A", Q0, 4), pid=1),
            java5(60, persisted("g", "B", Q0, 9), pid=2),
        ],
        "web2/other_days/rocketmq_client-1.log": [java5(5, persisted("g", "C", Q0, 3))],
        "web2/rocketmq_client.log": [java5(30, added("g", Q0))],
        "web3/rocketmq_client.log": [java5(7, result("g", "D", [Q0]))],
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

    found = log_ends_of(read_events(spark, tmp_path), spans, life).collect()

    ends = {row["client_id"]: (row["at_ms"] - MIDNIGHT_MS) // 1_000 for row in found}
    assert ends == {"A": 60, "B": 60, "C": 31, "E": 9}
    assert {(row["cluster"], row["group"], row["what"]) for row in found} == {("default", "g", "log ends")}
