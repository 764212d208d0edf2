"""Whose offset is persisted no more; from whole logs it stands in ``test_lost``."""

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline import schemas
from rebalance_engine.pipeline.lost import kept_of
from rebalance_engine.pipeline.unkept import unkept_of
from tests.rebalance_engine.pipeline.test_measures import frame

pytestmark = pytest.mark.spark
OF_CLIENT: dict[str, object] = {"process": "web1/7", "client_id": "A", "layout": "java5", "topic": "orders"}


def test_a_queue_ends_when_its_offset_is_persisted_no_more_beside_others_of_its_broker(spark: SparkSession) -> None:
    """Of east one queue stops, of west, which goes away, all do; what ended before by a line is not told anew."""
    last = {("east", 0): 15_000, ("east", 1): 90_000, ("west", 0): 20_000, ("west", 1): 20_000}
    persisted: list[dict[str, object]] = [
        {**OF_CLIENT, "what": "persisted all", "at_ms": at, "place": at, "broker": broker, "queue_id": queue}
        for (broker, queue), until in last.items()
        for at in range(5_000, until + 1, 5_000)
    ]
    held: list[dict[str, object]] = [
        {**OF_CLIENT, "broker": broker, "queue_id": queue, "from_ms": 1_000, "until_ms": until}
        for (broker, queue), until in [*((key, None) for key in last), (("east", 1), 30_000)]
    ]
    events = frame(spark, schemas.EVENTS, *persisted)
    holds = frame(spark, schemas.SPANS, *held).withColumnsRenamed({"from_ms": "at_ms", "until_ms": "end_ms"})

    found = unkept_of(holds, kept_of(events), events).collect()

    names = ("broker", "queue_id", "unkept_after_ms", "unkept_ms")
    assert [tuple(row[name] for name in names) for row in found] == [("east", 0, 15_000, 20_000)]
