from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline import schemas
from rebalance_engine.pipeline.backs import backs_of, with_names
from tests.rebalance_engine.pipeline.frames import broker, put, read_events
from tests.rebalance_engine.pipeline.test_measures import frame

pytestmark = pytest.mark.spark


def back(topic: str, request: int, store: int) -> str:
    said = f"clientHost=10.0.0.2:51234, key={topic}@g, queueId=3, requestOffset={request}, storeOffset={store}"
    return broker(9, f"[NOTIFYME]update consumer offset less than store. {said}")


def joined(client: str, channel: str) -> str:
    """Make a line of a broker to which a client has a channel of its own."""
    info = f"ClientChannelInfo [channel=[id: {channel}], clientId={client}, language=JAVA, version=495]"
    return broker(2, f"new consumer connected, group: g CONSUME_PASSIVELY CLUSTERING channel: {info}")


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


def test_brokers_of_one_host_are_told_apart_by_their_folders_and_a_rolled_log_is_of_the_same(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The third folder never names its broker, and is not taken for one of the others."""
    names = {"a": "east", "b": "west"}
    for folder, name in names.items():
        told = broker(1, f"The broker[{name}, 10.0.0.9:10911] boot success. serializeType=JSON")
        put(tmp_path, f"host1/{folder}/broker.log", told, back("orders", ord(folder), 999), joined("A", folder))
    put(tmp_path, "host1/a/other_days/broker.1.log", back("orders", 1, 9))
    put(tmp_path, "host1/b/2026-11-20/broker.log", back("orders", 2, 9))
    put(tmp_path, "host1/c/broker.log", back("orders", 3, 9), joined("C", "c"))
    rows: list[dict[str, object]] = [{"topic": "orders", "broker": name} for name in ("east", "west")]
    events = read_events(spark, tmp_path)

    found = backs_of(events, frame(spark, schemas.SPANS, *rows)).collect()
    by = with_names(events.where("what = 'joined'"), events).collect()

    assert sorted((row["broker"], row["number"], row["process"]) for row in found) == [
        ("east", 1, "host1/a/broker"),
        ("east", ord("a"), "host1/a/broker"),
        ("west", 2, "host1/b/broker"),
        ("west", ord("b"), "host1/b/broker"),
    ]
    assert sorted((row["process"], row["client_id"], row["broker"]) for row in by) == [
        ("host1/a/broker", "A", "east"),
        ("host1/b/broker", "A", "west"),
        ("host1/c/broker", "C", None),
    ]
