from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline import events
from rebalance_engine.pipeline.zones import ZONES, given_zones
from tests.rebalance_engine.pipeline.frames import (
    MIDNIGHT_MS,
    QUEUE,
    added,
    broker,
    closed,
    java4,
    java5,
    joined,
    no_zones,
    persisted,
    read_events,
    read_lines,
    removed,
    result,
)

pytestmark = pytest.mark.spark
Q0, Q1 = QUEUE.format("east", 0), QUEUE.format("west", 1)


def put(folder: Path, name: str, *lines: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), newline="")


def test_client_lines_give_their_values(spark: SparkSession, tmp_path: Path) -> None:
    put(
        tmp_path,
        "web1/rocketmq_client.log",
        java5(1, added("g", Q0)),
        java5(2, result("g", "10.0.0.1@A", [Q0, Q1], members=3)),
        java5(3, persisted("g", "10.0.0.1@A", Q1, 42)) + "what is no line of a log 7\n",
        java5(4, "receive broker's notification[10.0.0.9:10911], the consumer group: g changed, rebalance immediately"),
        java5(5, "east will be isolated for 30000 ms."),
        java5(6, "unregister client[Producer: p Consumer: null] from broker[east 0 10.0.0.9:10911] success"),
        java5(7, "message queue lock OK, g " + Q0),
    )

    found = {row["what"]: row.asDict() for row in read_events(spark, tmp_path).collect()}

    add = found["added"]
    assert (add["group"], add["topic"], add["broker"], add["queue_id"]) == ("g", "orders", "east", 0)
    assert (add["at_ms"], add["resolution_ms"], add["day"]) == (MIDNIGHT_MS + 1000, 1, "2026-11-21")
    shown = found["result"]
    assert (shown["client_id"], shown["number"], shown["number2"], shown["strategy"]) == ("10.0.0.1@A", 3, 4, "AVG")
    assert (shown["topic"], shown["broker"], shown["queues"]) == ("orders", None, ["east|0", "west|1"])
    assert (found["persisted all"]["queue_id"], found["persisted all"]["number"]) == (1, 42)
    assert (found["notified"]["group"], found["notified"]["other"]) == ("g", "10.0.0.9:10911")
    assert (found["isolated"]["broker"], found["isolated"]["number"]) == ("east", 30000)
    assert (found["unregistered"]["group"], found["unregistered"]["broker"]) == (None, "east")
    assert found["lock granted"]["group"] == "g"


def test_broker_lines_give_their_values(spark: SparkSession, tmp_path: Path) -> None:
    refused = (
        f"RebalanceLockManager#tryLockBatch: message queue has been locked by other client, group=g, mq={Q0},"
        " locked client id=A, current client id=B"
    )
    back = "[NOTIFYME]update consumer offset less than store. clientHost=10.0.0.2:1, key=orders@g, queueId=3,"
    put(
        tmp_path,
        "east/broker.log",
        broker(1, joined("g", "A")),
        broker(2, closed("g", "A")),
        broker(3, refused),
        broker(4, f"{back} requestOffset=10, storeOffset=15"),
        broker(5, f"tryLockBatch, message queue locked by other client. Group: g OtherClientId: A NewClientId: B {Q1}"),
    )

    rows = [row.asDict() for row in read_events(spark, tmp_path).orderBy("at_ms").collect()]

    assert [(row["what"], row["group"], row["client_id"], row["other"]) for row in rows] == [
        ("joined", "g", "A", "10.0.0.2:51234"),
        ("closed", "g", "A", "10.0.0.2:51234"),
        ("refused", "g", "B", "A"),
        ("offset back", "g", None, None),
        ("refused", "g", "B", "A"),
    ]
    assert (rows[3]["topic"], rows[3]["queue_id"], rows[3]["number"], rows[3]["number2"]) == ("orders", 3, 10, 15)
    assert {row["resolution_ms"] for row in rows} == {1000}


def test_a_line_without_a_known_zone_is_no_event_and_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, "web1/rocketmq_client.log", java4(1, added("g", Q0)), java4(2, removed("g", Q0)))
    found = read_lines(spark, tmp_path)

    refused = events.refused_hosts(found, no_zones(spark)).collect()

    assert events.events_of(found, no_zones(spark)).count() == 0
    assert [row.asDict() for row in refused] == [{"host": "web1", "layout": "java4", "lines": 2}]


@pytest.mark.parametrize(("zone_ms", "name"), [(19_800_000, None), (None, "Asia/Kolkata")])
def test_a_given_zone_places_the_lines(
    spark: SparkSession, tmp_path: Path, zone_ms: int | None, name: str | None
) -> None:
    put(tmp_path, "web1/rocketmq_client.log", java4(1, added("g", Q0), zone_hours=5.5))
    known = spark.createDataFrame([("web1", "java4", zone_ms, name, 0)], ZONES)

    (row,) = read_events(spark, tmp_path, known).collect()

    assert row["at_ms"] == MIDNIGHT_MS + 1000


def test_a_rolled_log_and_its_copy_count_once_but_equal_lines_of_one_log_twice(
    spark: SparkSession, tmp_path: Path
) -> None:
    twice = java5(1, f"the message queue not be able to consume, because it's dropped. group=g {Q0}")
    put(tmp_path, "web1/rocketmq_client.log", java5(0, added("g", Q0)), twice, twice)
    put(
        tmp_path,
        "web1/other_days/rocketmq_client-1.log",
        java5(0, added("g", Q0)),
        twice,
        twice,
        java5(3, removed("g", Q0)),
    )

    found = read_events(spark, tmp_path).groupBy("what").count().collect()

    assert {row["what"]: row["count"] for row in found} == {"added": 1, "not consumed": 2, "removed": 1}


def test_parts_that_were_kept_under_other_names_count_once(spark: SparkSession, tmp_path: Path) -> None:
    """A line of 5.x has its process; a log without pids is known by its name, whatever was put before or behind it."""
    kept = ("rocketmq_client.log", "rocketmq_client.log.bak", "old-rocketmq_client (1).log")
    parts = [(0, 2), (1, 3), (2, 4)]
    for host, lines in (
        ("new", [java5(at, added("g", Q0), pid=at) for at in range(4)]),
        ("old", [java4(at, added("g", Q0)) for at in range(4)]),
    ):
        names = ("rocketmq_client.log", "tuesday.txt", "x.log") if host == "new" else kept
        for name, (begin, end) in zip(names, parts, strict=True):
            put(tmp_path, f"{host}/{name}", *lines[begin:end])
    known = spark.createDataFrame(given_zones({"old": "+00:00"}), ZONES)

    found = read_events(spark, tmp_path, known).groupBy("host").count().collect()

    assert {row["host"]: row["count"] for row in found} == {"new": 4, "old": 4}


def test_the_first_whole_queue_of_a_line_is_its_queue(spark: SparkSession, tmp_path: Path) -> None:
    broken = Q0.replace(", queueId", " 2026-11-21 queue, Id")
    put(
        tmp_path,
        "web1/a.log",
        java5(0, added("g", Q0)),
        java5(1, added("g", f"{broken} {Q1}")),
        java5(2, added("g", Q0.replace("orders", "a=b"))),
        java5(3, removed("g", Q1) + Q0),
        java5(4, f"[persistAll] Group: g ClientId: C updateConsumeOffsetToBroker {Q1} 7"),
        java5(5, f"[persistAll] Group: g ClientId: C updateConsumeOffsetToBroker {broken} 7"),
        java5(6, added("g", Q0.replace("=0]", "=99999999999]"))),
    )

    rows = read_events(spark, tmp_path).orderBy("at_ms").collect()

    assert [(row["topic"], row["broker"], row["queue_id"]) for row in rows] == [
        ("orders", "east", 0),
        ("orders", "west", 1),
        ("a=b", "east", 0),
        ("orders", "west", 1),
        ("orders", "west", 1),
        (None, None, None),
        ("orders", "east", None),
    ]
