"""Whether a broker's log would tell that a member ended: where it would, and does not, the member lives on."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.rebalance_engine.pipeline.frames import (
    MIDNIGHT_MS,
    QUEUE,
    added,
    broker,
    java5,
    joined,
    persisted,
    put,
    read_clusters,
    read_holds,
    result,
)

pytestmark = pytest.mark.spark
Q0, Q1 = QUEUE.format("east", 0), QUEUE.format("east", 1)


def registers(*seconds: float) -> list[str]:
    return [broker(second, "register broker[0]to name server 10.0.0.8:9876 OK") for second in seconds]


LOGS = {  # of a broker, each in a cluster of its own; whether it watches A
    "names it": ([broker(0, joined("g", "A")), *registers(*range(10, 101, 30))], True),
    "another group": ([broker(0, joined("h", "C")), *registers(*range(10, 101, 30))], False),
    "others": ([broker(0, joined("g", "B")), *registers(*range(10, 101, 30))], False),
    "began later": ([*registers(25, 55, 85), broker(100, joined("g", "B"))], True),
    "a hole": ([*registers(-30), broker(0, joined("g", "A")), *registers(100)], False),
    "a hole, then others": ([*registers(-30), broker(0, joined("g", "A")), broker(100, joined("g", "B"))], False),
    "says little": ([broker(0, joined("g", "A")), broker(100, joined("g", "B"))], True),
}


def test_a_broker_watches_a_member_where_its_log_would_tell_its_end(spark: SparkSession, tmp_path: Path) -> None:
    """Who falls silent may live on, its log may be cut; a broker that says nothing of an end shows that it does.

    What it let go since then nobody tells.
    """
    for case, (log, _) in LOGS.items():
        put(tmp_path / case, "web1/a.log", java5(20, added("g", Q0)), java5(30, persisted("g", "A", Q0, 4)))
        put(tmp_path / case, "east/broker.log", *log)

    rows = read_clusters(spark, {case: tmp_path / case for case in LOGS}).collect()

    def seconds(at_ms: int | None) -> float | None:
        return None if at_ms is None else (at_ms - MIDNIGHT_MS) / 1_000

    ends = {row["cluster"]: (row["ended"], seconds(row["until_after_ms"]), seconds(row["until_ms"])) for row in rows}
    assert ends == {
        case: ("open", 30, 100) if is_watched else ("open", None, 30) for case, (_, is_watched) in LOGS.items()
    }


def test_a_notification_that_no_broker_explains_shows_that_their_logs_lack_lines(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A is killed at 31; where a broker says that C comes then, nothing tells that it was."""
    told_of_change = (
        "receive broker's notification[10.0.0.9:10911], the consumer group: g changed, rebalance immediately"
    )
    put(tmp_path, "web1/a.log", java5(2, added("g", Q0)), java5(30, persisted("g", "A", Q0, 4)))
    both = [java5(2, result("g", "B", [])), java5(31.2, told_of_change), java5(90, persisted("g", "B", Q1, 4))]
    put(tmp_path, "web2/b.log", *both)
    lines = [broker(0, joined("g", "A")), broker(0, joined("g", "B")), *registers(10, 40, 70, 100)]
    put(tmp_path, "east/broker.log", *lines)
    put(tmp_path / "explained", "web1/a.log", (tmp_path / "web1/a.log").read_text())
    put(tmp_path / "explained", "web2/b.log", *both)
    put(tmp_path / "explained", "east/broker.log", *sorted([*lines, broker(31, joined("g", "C"))]))

    def of_a(folder: Path) -> tuple[Any, ...]:
        (row,) = read_holds(spark, folder).where("client_id = 'A'").collect()
        return row["ended"], (row["until_ms"] - MIDNIGHT_MS) / 1_000

    assert of_a(tmp_path / "explained") == ("open", 100)
    for part in ("web1/a.log", "web2/b.log", "east/broker.log"):
        (tmp_path / "explained" / part).unlink()
    assert of_a(tmp_path) == ("lost", 31.2)
