from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.clients import changes_of
from tests.rebalance_engine.pipeline.frames import QUEUE, added, java5, persisted, read_events, removed, result

pytestmark = pytest.mark.spark
Q0, Q1 = QUEUE.format("east", 0), QUEUE.format("west", 1)


def clients(spark: SparkSession, folder: Path, *lines: str) -> list[tuple[str, int, str | None]]:
    (folder / "web1").mkdir()
    (folder / "web1" / "a.log").write_text("".join(lines))
    rows = changes_of(read_events(spark, folder)).orderBy("at_ms", "place").collect()
    return [(row["what"], row["queue_id"], row["client_id"]) for row in rows if row["what"] in ("added", "removed")]


def test_the_only_client_of_a_group_made_every_change(spark: SparkSession, tmp_path: Path) -> None:
    assert clients(spark, tmp_path, java5(1, added("g", Q0)), java5(9, persisted("g", "A", Q0, 1))) == [
        ("added", 0, "A")
    ]


def test_a_change_belongs_to_the_next_result_that_agrees_with_it(spark: SparkSession, tmp_path: Path) -> None:
    """B adds what A gives up, in rounds that overlap: B's result is the first after A's removal, but has the queue."""
    found = clients(
        spark,
        tmp_path,
        java5(0, result("g", "A", [Q0, Q1])),
        java5(5, removed("g", Q1)),
        java5(5.05, added("g", Q1)),
        java5(5.1, result("g", "B", [Q1], members=2)),
        java5(5.2, result("g", "A", [Q0], members=2)),
    )

    assert found == [("removed", 1, "A"), ("added", 1, "B")]


def test_processes_one_after_another_in_one_log_are_told_apart(spark: SparkSession, tmp_path: Path) -> None:
    found = clients(
        spark,
        tmp_path,
        java5(1, added("g", Q0)),
        java5(1.1, result("g", "1@1", [Q0])),
        java5(60, added("g", Q0)),
        java5(60.1, result("g", "1@2", [Q0])),
    )

    assert found == [("added", 0, "1@1"), ("added", 0, "1@2")]


def test_a_broadcasting_member_is_named_by_its_instance(spark: SparkSession, tmp_path: Path) -> None:
    made = "Created a new client Instance, InstanceIndex:0, ClientID:10.0.0.1@A, ClientConfig:ClientConfig{x}"

    assert clients(spark, tmp_path, java5(0, made), java5(1, added("g", Q0))) == [("added", 0, "10.0.0.1@A")]


def test_nobody_is_named_where_nothing_tells(spark: SparkSession, tmp_path: Path) -> None:
    assert clients(spark, tmp_path, java5(1, added("g", Q0))) == [("added", 0, None)]
