from pathlib import Path
from typing import NamedTuple

import pytest
from pyspark.sql import SparkSession

from tests.rebalance_engine.pipeline.frames import (
    MIDNIGHT_MS,
    QUEUE,
    added,
    broker,
    closed,
    java4,
    java5,
    joined,
    persisted,
    read_holds,
    result,
)

pytestmark = pytest.mark.spark
Q0, Q1 = QUEUE.format("east", 0), QUEUE.format("west", 1)
NOTIFIED = "receive broker's notification[10.0.0.9:10911], the consumer group: g changed, rebalance immediately"
STARTED = "the consumer [g] start OK"


def put(folder: Path, name: str, *lines: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), newline="")


class Ends(NamedTuple):
    """How holds of the first queue ended, by client: after when, when, how; and when at the latest. In seconds."""

    told: dict[str, tuple[float | None, float, str]]
    latest: dict[str, float]


def ends(spark: SparkSession, folder: Path, given: str | None = None) -> Ends:
    found = Ends({}, {})
    for row in read_holds(spark, folder, given).where("queue_id = 0").collect():
        after, before = (
            None if at is None else (at - MIDNIGHT_MS) / 1000 for at in (row.until_after_ms, row.until_before_ms)
        )
        at = (row.until_ms - MIDNIGHT_MS) / 1000
        found.told[row.client_id] = (after, at, row.ended)
        found.latest[row.client_id] = before or at
    return found


def member(client: str, last: float) -> list[str]:
    """Write the log of a member that goes without a word, up to its last line."""
    return [
        java5(1, added(f"g{client}", Q0)),
        java5(1.1, result(f"g{client}", client, [Q0])),
        java5(last, persisted(f"g{client}", client, Q0, 1)),
    ]


def peer(group: str, *lines: tuple[float, str]) -> list[str]:
    """Write the log of one who is in the same group, and goes on."""
    told = (java5(at, text.replace(" g ", f" {group} ").replace("[g]", f"[{group}]")) for at, text in lines)
    return [java5(0, result(group, f"peer in {group}", [])), *told, java5(99, "the broker is fine")]


def test_without_brokers_logs_who_is_killed_ends_when_the_others_are_told(spark: SparkSession, tmp_path: Path) -> None:
    """Each of these groups has one member that is killed after its line of second 5, and one that goes on.

    That nobody tells of an end, in its own log or others', shows none: its log may have been copied then.
    """
    heard: dict[str, list[tuple[float, str]]] = {
        "told": [(8.25, NOTIFIED)],
        "told twice": [(8.25, NOTIFIED), (8.5, NOTIFIED)],
        "told of another": [(8, STARTED), (8.25, NOTIFIED)],
        "told of another first": [(6, STARTED), (6.25, NOTIFIED), (9.5, NOTIFIED)],
        "told late": [(40, NOTIFIED)],
        "not told": [],
    }
    for number, lines in enumerate(heard.values()):
        put(tmp_path, f"web{number}/a.log", *member(str(number), 5))
        put(tmp_path, f"peer{number}/a.log", *peer(f"g{number}", *lines))

    found = ends(spark, tmp_path).told
    assert dict(zip(heard, (found[str(number)] for number in range(len(heard))), strict=True)) == {
        "told": (5, 8.25, "lost"),
        "told twice": (5, 8.25, "lost"),
        "told of another": (None, 5, "open"),
        "told of another first": (5, 9.5, "lost"),
        "told late": (None, 5, "open"),
        "not told": (None, 5, "open"),
    }


def test_who_is_killed_while_nobody_is_told_ends_within_the_second_of_the_broker(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Nobody knows when in that second, so its middle is told; a last line or a notification in it bounds it."""
    put(tmp_path, "web1/a.log", *member("1", 5))
    put(tmp_path, "web2/a.log", *member("2", 7.4))
    put(tmp_path, "web3/a.log", *member("3", 7.4))
    put(tmp_path, "peer3/a.log", *peer("g3", (7.6, NOTIFIED)))
    names = ("1", "2", "3")
    there = [broker(1, joined(f"g{name}", name)) for name in names]
    gone = [broker(7, closed(f"g{name}", name)) for name in names]
    put(tmp_path, "east/broker.log", *there, *gone, broker(60, joined("h", "x")))

    found = ends(spark, tmp_path)
    assert [found.told[name] for name in names] == [(7, 7.5, "lost"), (7.4, 7.7, "lost"), (7.4, 7.6, "lost")]
    assert found.latest == {"1": 7.999, "2": 7.999, "3": 7.6}


def test_who_is_seen_to_stop_by_a_broker_alone_ends_in_the_middle_of_its_second(
    spark: SparkSession, tmp_path: Path
) -> None:
    channel = "[id: 0x1a2b3c4d, L:/10.0.0.1:10911 - R:/10.0.0.2:51234]"
    channel = f"ClientChannelInfo [channel={channel}, clientId=1, language=JAVA, x]"
    put(tmp_path, "web1/a.log", *member("1", 5))
    put(
        tmp_path,
        "east/broker.log",
        broker(1, joined("g1", "1")),
        broker(7, f"unregister a consumer[g1] from consumerGroupInfo {channel}"),
        broker(60, joined("h", "x")),
    )
    found = ends(spark, tmp_path)
    assert found.told == {"1": (7, 7.5, "stopped")}
    assert found.latest == {"1": 12.999}  # its shutdown takes a while


def test_the_end_of_a_log_that_several_share_is_of_whom_it_names_last(spark: SparkSession, tmp_path: Path) -> None:
    """A client that is stopped unregisters and goes on for a while; its last lines name nobody."""
    good_bye = "unregister client[Producer: null Consumer: g] from broker[east 0 10.0.0.9:10911] success"
    put(
        tmp_path,
        "web1/rocketmq_client.log",
        java4(0, result("g", "A", [Q0])),
        java4(1, added("g", Q0)),
        java4(1.1, result("g", "A", [Q0])),
        java4(2, result("g", "B", [])),
        java4(5, persisted("g", "B", Q1, 9)),
        java4(7, persisted("g", "A", Q0, 9)),
        java4(7.1, good_bye),
        java4(8, "NETTY CLIENT PIPELINE: CLOSE 127.0.0.1:22986"),
    )
    put(tmp_path, "web2/a.log", java5(99, result("h", "C", [])))

    assert ends(spark, tmp_path, "+00:00").told == {"A": (7.1, 8, "stopped")}


def test_a_producer_that_writes_on_into_a_consumers_log_keeps_no_queue(spark: SparkSession, tmp_path: Path) -> None:
    put(
        tmp_path,
        "web1/rocketmq_client.log",
        java4(0, "Created a new client Instance, InstanceIndex:0, ClientID:P, ClientConfig:ClientConfig{x}"),
        java4(1, added("g", Q0)),
        java4(1.1, result("g", "A", [Q0])),
        java4(5, persisted("g", "A", Q0, 9)),
        java4(50, "east will be isolated for 30000 ms."),
        java4(90, "east will be isolated for 30000 ms."),
    )
    put(tmp_path, "east/broker.log", broker(0, joined("h", "x")))

    assert ends(spark, tmp_path, "+00:00").told == {"A": (None, 5, "lost")}
