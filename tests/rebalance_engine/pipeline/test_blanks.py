from pathlib import Path

import pyarrow.parquet as pq  # type: ignore[import-untyped] # pyarrow has no types
import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.blanks import leave_all_blank, leave_blank, remove_blank
from rebalance_engine.pipeline.jobs import TABLES, Asked, run_logs, run_over_nothing
from rebalance_engine.pipeline.notes import read_notes
from rebalance_engine.pipeline.progress import Progress
from rebalance_engine.pipeline.reports import read_report
from rebalance_engine.pipeline.schemas import HOLDS, STORMS
from rebalance_engine.pipeline.sources import find_files
from tests.rebalance_engine.pipeline.frames import QUEUE, added, java5, put, removed


def ignore(line: str) -> None:
    assert line


def test_a_blank_tells_the_columns_and_goes_before_the_first_rows_come(tmp_path: Path) -> None:
    leave_blank(tmp_path / "storms", STORMS)
    told = pq.read_table(tmp_path / "storms")

    remove_blank(tmp_path / "storms")

    assert (told.schema.names, told.num_rows) == (STORMS.names, 0)
    assert [*(tmp_path / "storms").iterdir()] == []


def test_what_another_cluster_has_stays_as_it_is(tmp_path: Path) -> None:
    of_other = tmp_path / "storms" / "cluster=east" / "day=2026-11-21" / "part-0.parquet"
    of_other.parent.mkdir(parents=True)
    of_other.write_bytes(b"rows")

    leave_all_blank(tmp_path, "west", {"storms": STORMS, "holds": HOLDS}, "code")

    assert [*(tmp_path / "storms").glob("*")] == [tmp_path / "storms" / "cluster=east"]
    assert pq.read_table(tmp_path / "holds").schema.names == HOLDS.names
    mine = read_notes(tmp_path).of("west")
    assert (mine.is_finished, mine.finished, mine.read_by) == (True, 1, "code")


@pytest.mark.spark
def test_logs_that_come_after_nothing_was_there_are_told_as_ever(spark: SparkSession, tmp_path: Path) -> None:
    asked = Asked(source=tmp_path / "in", target=tmp_path / "out")
    run_over_nothing(asked)
    nothing = read_report(asked.target).round_count
    put(
        asked.source,
        "A/rocketmq_client.log",
        java5(1, added("g", QUEUE.format("east", 0))),
        java5(9, removed("g", QUEUE.format("east", 0))),
    )

    run_logs(spark, asked, find_files(asked.source), Progress(ignore))

    holds = spark.read.parquet(str(asked.target / "holds")).collect()
    assert (nothing, len(holds)) == (0, 1)
    assert spark.read.parquet(str(asked.target / "lines")).count() == 2
    assert spark.read.parquet(str(asked.target / "storms")).columns == list(TABLES["storms"].names)
