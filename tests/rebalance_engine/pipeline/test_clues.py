"""Whose doing a line about a queue tells of: its group's, its process's, its client's."""

from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

from rebalance_engine.pipeline import clients, events, holds, schemas, stories
from rebalance_engine.pipeline.clues import clocks_of_groups, counts_of
from tests.rebalance_engine.pipeline.frames import (
    MIDNIGHT_MS,
    QUEUE,
    added,
    broker,
    closed,
    java5,
    joined,
    no_zones,
    persisted,
    read_events,
    read_holds,
    read_lines,
    removed,
    result,
)
from tests.rebalance_engine.pipeline.test_measures import frame

pytestmark = pytest.mark.spark
Q = QUEUE.format("east", 0)


def clues(spark: SparkSession, place: Path, *kinds: str) -> list[Row]:
    lines, zones = read_lines(spark, place), no_zones(spark)
    said = events.events_of(lines, zones).localCheckpoint()
    changes = clients.changes_of(said).localCheckpoint()
    life = events.signs_of_life(lines, zones)
    spans = holds.spans_of(said, changes, life).localCheckpoint()
    return [row for row in stories.clues_of(said, changes, spans, life).collect() if row["what"] in kinds]


def life_of(group: str, client: str, begin: float, end: float, offset: int) -> str:
    """Write how a member takes the queue and lets it go, and how far it had pulled."""
    request = f"PullRequest [consumerGroup={group}, messageQueue={Q}, nextOffset={offset}]"
    told = [
        (begin, added(group, Q)),
        (begin, result(group, client, [Q])),
        (begin + 5, persisted(group, client, Q, offset - 1)),
        (end, removed(group, Q)),
        (end, result(group, client, [])),
        (end + 0.1, f"the pull request[{request}] is dropped."),
    ]
    return "".join(java5(at, text) for at, text in told)


def test_processes_of_one_pid_in_one_folder_of_a_host_are_told_apart(spark: SparkSession, tmp_path: Path) -> None:
    """What is rolled lies one folder deeper, and is of the same process."""
    for name, text in (
        ("a/rocketmq_client.log", life_of("g", "A", 1, 20, 10)),
        ("b/rocketmq_client.log", life_of("g", "B", 22, 40, 30)),
        ("b/other_days/rocketmq_client-1.log", life_of("g", "B", 10, 12, 20)),
    ):
        path = tmp_path / "node1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    told = clues(spark, tmp_path, "pull ended", "persisted all")

    assert {row["process"] for row in told} == {"node1/7"}
    whose = sorted((row["client_id"], row["number"]) for row in told if row["what"] == "pull ended")
    assert whose == [("A", 10), ("B", 20), ("B", 30)]
    assert {(row["client_id"], row["number"]) for row in told} == {*whose, ("A", 9), ("B", 19), ("B", 29)}


def test_a_line_is_of_the_group_that_it_names_and_of_nobody_knows_which_where_it_names_none(
    spark: SparkSession, tmp_path: Path
) -> None:
    """And a group is told for what time a broker's log names who comes and goes, where it names any of its members.

    It has a hole of two and a half minutes.
    """
    late = java5(31, f"processQueue is dropped without process consume result. messageQueue={Q}, msgs=[MessageExt [x]]")
    (tmp_path / "web").mkdir()
    both = life_of("g", "A", 1, 20, 10) + life_of("h", "A", 22, 30, 90) + late
    (tmp_path / "web" / "rocketmq_client.log").write_text(both)

    (tmp_path / "east").mkdir()
    seen = broker(3, joined("k", "K")) + broker(50, closed("g", "A"))
    registers = broker(200, "register broker[0]to name server 10.0.0.8:9876 OK")
    (tmp_path / "east" / "broker.log").write_text(seen + registers)

    told = clues(spark, tmp_path, "pull ended", "persisted all", "uncommitted", "brokers tell")

    covers = [(row["group"], row["at_ms"], row["number"]) for row in told if row["what"] == "brokers tell"]
    assert sorted(covers) == [
        (group, MIDNIGHT_MS + since, MIDNIGHT_MS + until)
        for group in "gk"
        for since, until in ((3_000, 50_000), (200_000, 200_000))
    ]
    assert sorted((row["group"], row["what"], row["number"]) for row in told if row["what"] != "brokers tell") == [
        ("g", "persisted all", 9),
        ("g", "pull ended", 10),
        ("h", "persisted all", 89),
        ("h", "pull ended", 90),
    ]


def test_of_results_that_say_the_same_the_first_and_the_last_are_clues_by_members_and_by_queues(
    spark: SparkSession,
) -> None:
    """Of another group nothing is held."""
    said = [(1, "orders", 2, 8), (2, "stock", 2, 4), (3, "orders", 2, 8), (4, "orders", 2, 7), (5, "stock", 3, 4)]
    rows: list[dict[str, object]] = [
        {"at_ms": at, "topic": topic, "number": members, "number2": queues} for at, topic, members, queues in said
    ]
    result: dict[str, object] = {"what": "result", "client_id": "A", "process": "a/1", "layout": "java5"}
    told = frame(spark, schemas.EVENTS, *({**result, **row} for row in rows), {**result, **rows[0], "group": "h"})

    found = counts_of(told, frame(spark, schemas.SPANS, {"client_id": "A"})).collect()

    assert {(row["group"], row["client_id"]) for row in found} == {("g", "A")}
    names = ("what", "at_ms", "topic", "number")
    assert sorted(tuple(row[name] for name in names) for row in found) == [
        ("counted", 1, None, 2),
        ("counted", 4, None, 2),
        ("counted", 5, None, 3),
        ("divided", 1, "orders", 8),
        ("divided", 2, "stock", 4),
        ("divided", 3, "orders", 8),
        ("divided", 4, "orders", 7),
        ("divided", 5, "stock", 4),
    ]


def test_that_a_hosts_clock_differs_is_a_clue_of_the_groups_that_it_has_members_of(spark: SparkSession) -> None:
    clock: dict[str, object] = {"broker_host": "east", "at_ms": 5, "least_ms": 29_000, "most_ms": 31_000}
    told = frame(spark, schemas.CLOCKS, *({**clock, "host": host} for host in ("web1", "web9")))
    held: list[dict[str, object]] = [
        {"group": group, "host": host, "queue_id": number}
        for group, host in (("g", "web1"), ("g", "web2"), ("h", "web2"))
        for number in (0, 1)
    ]

    (row,) = clocks_of_groups(told, frame(spark, schemas.SPANS, *held)).collect()

    names = ("group", "what", "process", "broker", "number", "number2")
    assert tuple(row[name] for name in names) == ("g", "clock", "web1", "east", 29_000, 31_000)


def test_what_first_told_after_each_start_that_a_broker_knew_the_client_is_a_clue(
    spark: SparkSession, tmp_path: Path
) -> None:
    notified = "receive broker's notification[10.0.0.9:10911], the consumer group: g changed, rebalance immediately"
    starting = "the consumer [g] start beginning. messageModel=CLUSTERING, isUnitMode=false"
    made = "Created a new client Instance, InstanceIndex:0, ClientID:{}, ClientConfig:ClientConfig{{x}}"
    for host, client, lines in (
        ("web1", "A", [java5(5, notified), java5(6, notified), java5(9, "the consumer [g] shutdown OK")]),
        ("web2", "B", [java5(9, "the consumer [g] shutdown OK")]),
        ("web3", "C", [java5(7, added("g", QUEUE.format("east", 0))), java5(8, result("g", "C", []))]),
    ):
        (tmp_path / host).mkdir()
        begun = [java5(1, starting), java5(2, made.format(client))]
        (tmp_path / host / "a.log").write_text("".join([*begun, *lines]))
    told = read_events(spark, tmp_path)
    changes, spans = clients.changes_of(told).localCheckpoint(), read_holds(spark, tmp_path).localCheckpoint()
    life = events.signs_of_life(read_lines(spark, tmp_path), no_zones(spark))

    found = stories.clues_of(told, changes, spans, life).where("what = 'reached'").collect()

    places = sorted((row["process"].split("/")[0], row["at_ms"] - MIDNIGHT_MS, row["client_id"]) for row in found)
    assert places == [("web1", 5_000, None), ("web3", 8_000, "C")]
