from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.clocks import open_lines, repeated_hours
from rebalance_engine.pipeline.zones import ZONES
from tests.rebalance_engine.pipeline.frames import QUEUE, added, read_events, read_lines

ADD = added("g", QUEUE.format("east", 0))
BERLIN = "Europe/Berlin"
HOUR_MS = 3_600_000


def ms(stamp: str) -> int:
    return round(datetime.fromisoformat(stamp).replace(tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("zone", "begin", "end"),
    [
        (BERLIN, "2026-10-25 02:00:00", "2026-10-25 03:00:00"),
        ("America/New_York", "2026-11-01 01:00:00", "2026-11-01 02:00:00"),
        ("America/Havana", "2026-11-01 00:00:00", "2026-11-01 01:00:00"),
        ("Australia/Lord_Howe", "2026-04-05 01:30:00", "2026-04-05 02:00:00"),
    ],
)
def test_a_zone_has_an_hour_twice_when_its_clocks_are_put_back(zone: str, begin: str, end: str) -> None:
    year = [hour for hour in repeated_hours(zone) if ms("2026-01-01") <= hour[0] < ms("2027-01-01")]

    assert year == [(ms(begin), ms(end))]


def test_a_zone_that_keeps_its_time_has_no_hour_twice() -> None:
    assert repeated_hours("Asia/Kolkata") == ()


# By host: its clock at its lines, one after the other, on the day on which Berlin's is put back from 03:00 to 02:00 (at
# 01:00 UTC), and what time it was in UTC; None: nothing tells.
TWICE: dict[str, tuple[list[str], list[str | None]]] = {
    "jump": (["01:59:50", "02:30:00", "02:59:58", "02:00:03", "02:30:00", "03:00:05"],
             ["23:59:50", "00:30:00", "00:59:58", "01:00:03", "01:30:00", "02:00:05"]),
    "jitter": (["02:10:00.500", "02:10:00.400", "02:50:00", "02:09:59", "02:55:00"],
               ["00:10:00.500", "00:10:00.400", "00:50:00", "01:09:59", "01:55:00"]),
    "cut": (["01:55:00", "02:00:00", "02:09:00", "02:25:00"], ["23:55:00", "00:00:00", "00:09:00", None]),
    "late": (["02:30:00", "02:52:00", "02:59:00", "03:03:00"], [None, "01:52:00", "01:59:00", "02:03:00"]),
    "within": (["02:10:00", "02:11:00"], [None, None]),
    "told": (["02:10:00", "02:11:00"], ["01:10:00", "01:11:00"]),  # brokers do
    "misled": (["02:10:00"], [None]),  # by a zone that Berlin has not
    "never": (["01:59:00", *(f"02:{minute:02}:00" for minute in range(1, 60, 6)), "03:00:00"],
              ["23:59:00", *[None] * 10, "02:00:00"]),
}  # fmt: skip
TOLD_MS = {"told": HOUR_MS, "misled": 3 * HOUR_MS}


@pytest.mark.spark
def test_the_order_of_a_log_tells_which_of_two_equal_hours_its_lines_mean(spark: SparkSession, tmp_path: Path) -> None:
    for host, (clock, _) in TWICE.items():
        (tmp_path / host).mkdir()
        stamps = (f"2026-10-25 {at if '.' in at else f'{at}.000'}".replace(".", ",") for at in clock)
        lines = "".join(f"{stamp} INFO RocketmqClient - {ADD}\r\n" for stamp in stamps)
        (tmp_path / host / "rocketmq_client.log").write_text(lines, newline="")
    rows = [(host, "java4", TOLD_MS.get(host), BERLIN, 0) for host in TWICE]
    zones = spark.createDataFrame(rows, ZONES)

    found: dict[str, list[int]] = {}
    for row in read_events(spark, tmp_path, zones).orderBy("place").collect():
        found.setdefault(row["host"], []).append(row["at_ms"])
    left_open = open_lines(read_lines(spark, tmp_path), zones).groupBy("host").count().collect()

    days = {host: ["24" if at and at > "12" else "25" for at in utc] for host, (_, utc) in TWICE.items()}
    true = {
        host: [ms(f"2026-10-{day} {at}") for day, at in zip(days[host], utc, strict=True) if at]
        for host, (_, utc) in TWICE.items()
    }
    assert {host: found.get(host, []) for host in TWICE} == true
    assert {row["host"]: row["count"] for row in left_open} == {
        host: utc.count(None) for host, (_, utc) in TWICE.items() if None in utc
    }


@pytest.mark.spark
def test_a_clock_that_is_put_on_crashes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "web1").mkdir()
    stamps = ("2026-03-29 01:59:58,000", "2026-03-29 02:30:00,000", "2026-03-29 03:00:03,000")  # one that is not there
    lines = "".join(f"{stamp} INFO RocketmqClient - {ADD}\r\n" for stamp in stamps)
    (tmp_path / "web1" / "rocketmq_client.log").write_text(lines, newline="")
    zones = spark.createDataFrame([("web1", "java4", None, BERLIN, 0)], ZONES)

    first, _, last = (row["at_ms"] for row in read_events(spark, tmp_path, zones).orderBy("place").collect())

    assert (first, last) == (ms("2026-03-29 00:59:58"), ms("2026-03-29 01:00:03"))
