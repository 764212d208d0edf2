from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.zones import BadZone, given_zones, infer_zones
from tests.rebalance_engine.pipeline.frames import broker, java4, joined, read_lines


def put(folder: Path, name: str, *lines: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), newline="")


def started(group: str) -> str:
    return f"the consumer [{group}] start OK."


NOTIFIED = "receive broker's notification[10.0.0.9:10911], the consumer group: g changed, rebalance immediately"


@pytest.mark.spark
def test_three_zones_of_one_group_are_told_by_the_brokers(spark: SparkSession, tmp_path: Path) -> None:
    zones = {"kolkata": 5.5, "utc": 0, "new-york": -5}
    for number, (host, hours) in enumerate(zones.items()):
        at = 60 * (number + 1)
        put(
            tmp_path,
            f"{host}/rocketmq_client.log",
            java4(at, started("g"), zone_hours=hours),
            *(java4(60 * later + 0.4, NOTIFIED, zone_hours=hours) for later in range(number + 1, 4)),
        )
    put(tmp_path, "east/broker.log", *(broker(60 * n, joined("g", f"{n}")) for n in (1, 2, 3)))

    found = {row["host"]: row["zone_ms"] for row in infer_zones(read_lines(spark, tmp_path)).collect()}

    assert found == {host: hours * 3_600_000 for host, hours in zones.items()}


@pytest.mark.spark
def test_without_a_broker_of_the_same_group_no_zone_is_assumed(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, "web1/rocketmq_client.log", java4(60, started("g")), java4(61, NOTIFIED))
    put(tmp_path, "east/broker.log", broker(60, joined("another", "A")))

    assert infer_zones(read_lines(spark, tmp_path)).collect() == []


@pytest.mark.spark
def test_lines_that_meet_by_chance_are_no_proof(spark: SparkSession, tmp_path: Path) -> None:
    """Most of the host's notifications have no broker's line at any one distance, one or two always have."""
    put(tmp_path, "web1/rocketmq_client.log", *(java4(900 * n + 97 * n * n % 900, NOTIFIED) for n in range(1, 20)))
    put(tmp_path, "east/broker.log", *(broker(900 * n + 61 * n * n % 900, joined("g", f"{n}")) for n in range(1, 20)))

    assert infer_zones(read_lines(spark, tmp_path)).collect() == []


@pytest.mark.spark
def test_a_clock_that_is_put_back_within_a_log_is_of_no_one_zone(spark: SparkSession, tmp_path: Path) -> None:
    """Both hosts are told of the same; one of them is in a country that ends its summer."""
    at = [7_000 * n + 97 * n * n for n in range(1, 12)]
    put(tmp_path, "winter/rocketmq_client.log", *(java4(one + 0.4, NOTIFIED, zone_hours=1) for one in at))
    put(
        tmp_path,
        "summer/rocketmq_client.log",
        *(java4(one + 0.4, NOTIFIED, zone_hours=2 if n < 8 else 1) for n, one in enumerate(at)),
    )
    put(tmp_path, "east/broker.log", *(broker(one, joined("g", f"{one}")) for one in at))

    found = {row["host"]: row["zone_ms"] for row in infer_zones(read_lines(spark, tmp_path)).collect()}

    assert found == {"winter": 3_600_000}


@pytest.mark.spark
def test_a_zone_is_told_by_the_whole_time_and_not_by_its_beginning(spark: SparkSession, tmp_path: Path) -> None:
    """Brokers tell of hundreds before the one host comes; the clock of the other is put on after hundreds of signs."""
    early = [1_000 * n + 97 * n * n % 900 for n in range(400)]
    late = [500_000 + 7_000 * n + 97 * n * n for n in range(1, 12)]
    put(tmp_path, "late/rocketmq_client.log", *(java4(one + 0.4, NOTIFIED, zone_hours=5.5) for one in late))
    put(
        tmp_path,
        "spring/rocketmq_client.log",
        *(java4(one + 0.4, NOTIFIED, zone_hours=1) for one in early),
        *(java4(one + 0.4, NOTIFIED, zone_hours=2) for one in late),
    )
    put(tmp_path, "east/broker.log", *(broker(one, joined("g", f"{one}")) for one in (*early, *late)))

    found = {row["host"]: row["zone_ms"] for row in infer_zones(read_lines(spark, tmp_path)).collect()}

    assert found == {"late": round(5.5 * 3_600_000)}


def test_given_zones_are_names_or_offsets() -> None:
    rows = given_zones({"a": "Asia/Shanghai", "b": "-03:30"})

    assert {(row[0], row[2], row[3]) for row in rows} == {("a", None, "Asia/Shanghai"), ("b", -12_600_000, None)}


@pytest.mark.parametrize("zone", ["Mars/Olympus", "+8", "+25:00", "08:00"])
def test_a_zone_that_is_none_is_refused(zone: str) -> None:
    with pytest.raises(BadZone, match="needs a name as"):
        given_zones({"a": zone})
