from typing import Any

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.keeping import computed_once, hash_of

pytestmark = pytest.mark.spark


def stored(spark: SparkSession) -> list[Any]:
    return list(spark.sparkContext._jsc.sc().getRDDStorageInfo())


def test_a_frame_is_computed_once_and_kept_on_disk(spark: SparkSession) -> None:
    counted = spark.sparkContext.accumulator(0)

    def seen(row: int) -> tuple[int]:
        counted.add(1)
        return (row,)

    before = {info.id() for info in stored(spark)}
    kept = computed_once(spark.sparkContext.range(5).map(seen).toDF(["n"]))
    sums = [kept.count(), kept.agg({"n": "sum"}).collect()[0][0]]

    assert sums == [5, 10]
    assert counted.value <= 5 + 1  # the first row is looked at for its type
    mine = [info for info in stored(spark) if info.id() not in before]
    assert sum(info.diskSize() for info in mine) > 0
    assert [info.memSize() for info in mine] == [0] * len(mine)


def test_what_is_missing_and_where_a_list_ends_is_part_of_a_rows_hash(spark: SparkSession) -> None:
    rows = [(3, None, ["a"], []), (None, 3, ["a"], []), (3, None, [], ["a"]), (3, None, ["a"], None), (3, 0, ["a"], [])]
    frame = spark.createDataFrame(rows, "one long, other long, these array<string>, those array<string>")

    hashes = [row["hash"] for row in frame.select(hash_of(frame.schema).alias("hash")).collect()]

    assert len(set(hashes)) == len(rows)
