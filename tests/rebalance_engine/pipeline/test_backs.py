from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline import schemas
from rebalance_engine.pipeline.backs import backs_of
from tests.rebalance_engine.pipeline.frames import broker, read_events
from tests.rebalance_engine.pipeline.test_holds import put
from tests.rebalance_engine.pipeline.test_measures import frame

pytestmark = pytest.mark.spark


def back(topic: str, request: int, store: int) -> str:
    said = f"clientHost=10.0.0.2:51234, key={topic}@g, queueId=3, requestOffset={request}, storeOffset={store}"
    return broker(9, f"[NOTIFYME]update consumer offset less than store. {said}")


def test_an_offset_that_went_back_is_of_the_broker_whose_log_says_so(spark: SparkSession, tmp_path: Path) -> None:
    """The host of the second never names its broker: it is told where the topic has one broker only."""
    named = broker(1, "The broker[east, 10.0.0.9:10911] boot success. serializeType=JSON")
    put(tmp_path, "host1/broker.log", named, back("orders", 18, 20))
    put(
        tmp_path,
        "host2/broker.log",
        broker(1, "register broker[0]to name server"),
        back("orders", 5, 6),
        back("stock", 7, 9),
    )
    held = [("orders", "east"), ("orders", "west"), ("stock", "west")]
    rows: list[dict[str, object]] = [{"topic": topic, "broker": name} for topic, name in held]
    spans = frame(spark, schemas.SPANS, *rows)

    found = backs_of(read_events(spark, tmp_path), spans).collect()

    names = ("topic", "broker", "queue_id", "number", "number2")
    assert sorted(tuple(row[name] for name in names) for row in found) == [
        ("orders", "east", 3, 18, 20),
        ("stock", "west", 3, 7, 9),
    ]
