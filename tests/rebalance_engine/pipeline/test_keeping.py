from typing import Any

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.keeping import computed_once

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
