import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.schemas import EVENTS
from rebalance_engine.pipeline.unproved import NOT_PROVED, unproved_of

pytestmark = pytest.mark.spark


def test_groups_of_hosts_whose_layout_is_not_proved_are_named_once(spark: SparkSession) -> None:
    told = [("go", "web1", "orders"), ("go", "web1", "orders"), ("cpp", "web2", "audit"), ("java5", "web3", "stock")]
    rows = [
        {
            **dict.fromkeys(EVENTS.names),
            "cluster": "c",
            "day": "2026-11-21",
            "layout": layout,
            "host": host,
            "group": of,
        }
        for layout, host, of in told
    ]

    found = unproved_of(spark.createDataFrame([tuple(row[name] for name in EVENTS.names) for row in rows], EVENTS))

    named = sorted((row["layout"], row["host"], row["group"]) for row in found.collect())
    assert named == [("cpp", "web2", "audit"), ("go", "web1", "orders")]
    assert {*NOT_PROVED} == {"cpp", "go"}
