import gzip
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.rebalance_engine.pipeline.frames import (
    MIDNIGHT_MS,
    QUEUE,
    added,
    broker,
    java4,
    java5,
    persisted,
    read_lines,
    result,
)

pytestmark = pytest.mark.spark
Q = QUEUE.format("east", 0)


def put(folder: Path, name: str, text: str | bytes) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def test_every_layout_gives_wall_clock_kind_and_message(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, "five/rocketmq_client.log", java5(1.5, added("g", Q)))
    put(tmp_path, "four/rocketmq_client.log", java4(2.25, added("g", Q)))
    put(tmp_path, "east/broker.log", broker(3, "new consumer connected, group: g x"))
    put(
        tmp_path,
        "cpp/rocketmq_client.log",
        f"[2026-11-21 00:00:04.123456](info):Add mq:{Q}, request initial offset:7[x:1]\n",
    )
    put(
        tmp_path,
        "go/app.log",
        'time="2026-11-21T08:00:05+08:00" level=info msg="MessageQueue do balance done" topic=orders\n',
    )

    put(
        tmp_path,
        "gofraction/app.log",
        'time="2026-11-21T08:00:05.250+08:00" level=info msg="MessageQueue do balance done" topic=orders\n',
    )

    rows = {row["host"]: row for row in read_lines(spark, tmp_path).collect()}

    eight_hours = 8 * 3_600_000
    assert {host: row["wall_ms"] - MIDNIGHT_MS for host, row in rows.items()} == {
        "five": 1500 + eight_hours,
        "four": 2250,
        "east": 3000 + eight_hours,
        "cpp": 4123,
        "go": 5000,
        "gofraction": 5250,
    }
    assert {host: row["what"] for host, row in rows.items()} == {
        "five": "added",
        "four": "added",
        "east": "joined",
        "cpp": "added",
        "go": "result",
        "gofraction": "result",
    }
    assert rows["five"]["message"] == rows["four"]["message"] == added("g", Q)
    assert (rows["five"]["process"], rows["five"]["thread"]) == ("7", "RebalanceService")
    assert rows["east"]["thread"] == "HeartbeatThread_1"


def test_a_stack_trace_stays_with_its_line(spark: SparkSession, tmp_path: Path) -> None:
    trace = "org.x.MQBrokerException: CODE: 25  DESC: the consumer's subscription not latest\n\tat org.x.Y(Y.java:1)\n"
    text = java4(1, "execute the pull request exception").replace("\r\n", "\r\n" + trace) + java4(2, added("g", Q))
    put(tmp_path, "web1/rocketmq_client.log", text)

    rows = read_lines(spark, tmp_path).orderBy("place").collect()

    assert [row["what"] for row in rows] == ["pull refused", "added"]
    assert "Y.java:1" in rows[0]["message"]


def test_lines_that_do_not_parse_are_kept_and_counted(spark: SparkSession, tmp_path: Path) -> None:
    put(
        tmp_path, "web1/rocketmq_client.log", f"\tat half.a.Trace\n2nd half\n{java5(1, added('g', Q))}2026-99-99 boom\n"
    )
    put(tmp_path, "web1/unknown.txt", "one\ntwo\n\nthree")

    unparsed = read_lines(spark, tmp_path).where("wall_ms is null").collect()

    assert sum(row["parts"] for row in unparsed if row["file"].endswith(".log")) == 3
    assert sum(row["parts"] for row in unparsed if row["file"].endswith(".txt")) == 4
    assert any("half.a.Trace" in row["message"] for row in unparsed)


def test_bytes_that_are_no_text_are_counted_not_a_crash(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, "web1/core", bytes(range(256)) * 50)
    put(tmp_path, "web1/empty.log", "")

    rows = read_lines(spark, tmp_path).collect()

    assert rows
    assert {row["what"] for row in rows} == {None}


def test_names_of_files_may_hold_any_sign(spark: SparkSession, tmp_path: Path) -> None:
    names = ["web 1/a+b%20c.log", "[web]{2}/äö*?.log", "[::1]:10911/a.log", "a:b/[x]{y}*.log.gz"]
    for name in names:
        text = java5(1, added("g", Q)).encode()
        put(tmp_path, name, gzip.compress(text) if name.endswith(".gz") else text)

    assert sorted(row["file"] for row in read_lines(spark, tmp_path).collect()) == sorted(names)


def test_places_grow_through_a_file_of_several_blocks(spark: SparkSession, tmp_path: Path) -> None:
    put(
        tmp_path,
        "web1/rocketmq_client.log",
        "".join(java5(n, f"T{n} Rebalance changed, also update version: 1, {n}") for n in range(300)),
    )
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "4096")

    try:
        rows = read_lines(spark, tmp_path).collect()
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", str(before))

    assert len(rows) == 300
    in_blocks = sorted(rows, key=lambda row: row["wall_ms"])
    assert len({row["place"] for row in rows}) == 300
    assert sorted(rows, key=lambda row: row["place"]) == in_blocks


def test_ids_of_a_thousand_characters_are_read_whole(spark: SparkSession, tmp_path: Path) -> None:
    group = "g" * 1000
    put(tmp_path, "web1/rocketmq_client.log", java5(1, added(group, Q)))

    (row,) = read_lines(spark, tmp_path).collect()

    assert row["message"] == added(group, Q)


def test_a_take_whose_line_is_cut_within_its_queue_did_not_parse(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, "web1/rocketmq_client.log", java5(1, added("g", Q)) + java5(2, added("g", Q))[:-4])

    rows = read_lines(spark, tmp_path).orderBy("place").collect()

    assert [(row["what"], row["wall_ms"] is None, row["parts"]) for row in rows] == [
        ("added", False, None),
        (None, True, 1),
    ]


def test_a_last_line_that_is_cut_within_a_clients_id_names_nobody(spark: SparkSession, tmp_path: Path) -> None:
    whole, client = java5(1, persisted("g", "10.0.0.1@7", Q, 4)), "10.0.0.1@77"
    text = java5(2, persisted("g", client, Q, 5))
    within = text[: text.index(client) + 9]
    put(tmp_path, "plain/rocketmq_client.log", whole + within)
    put(tmp_path, "packed/rocketmq_client.log.gz", gzip.compress((whole + within).encode()))
    put(tmp_path, "only/rocketmq_client.log", within)
    put(tmp_path, "long/rocketmq_client.log", whole + java5(2, result("g", client, [Q] * 200))[:-9])

    rows = read_lines(spark, tmp_path).orderBy("host", "place").collect()

    parsed = [(row["host"], row["what"]) for row in rows if row["wall_ms"] is not None]
    assert parsed == [(host, "persisted all") for host in ("long", "packed", "plain")]
    cut = [(row["host"], row["parts"]) for row in rows if row["wall_ms"] is None]
    assert cut == [("long", 1), ("only", 1), ("packed", 1), ("plain", 1)]
