from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.zones import BadZone, given_zones, infer_zones, put_back, silences, strangers
from tests.rebalance_engine.pipeline.frames import broker, java4, joined, read_lines


def put(folder: Path, name: str, *lines: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), newline="")


def started(group: str) -> str:
    return f"the consumer [{group}] start OK."


def made(client: str) -> str:
    return f"the client factory [{client}] start OK"


NOTIFIED = "receive broker's notification[10.0.0.9:10911], the consumer group: g changed, rebalance immediately"


@pytest.mark.spark
def test_three_zones_of_one_group_are_told_by_the_brokers(spark: SparkSession, tmp_path: Path) -> None:
    zones = {"kolkata": 5.5, "utc": 0, "new-york": -5}
    for number, (host, hours) in enumerate(zones.items()):
        at = 60 * (number + 1)
        put(
            tmp_path,
            f"{host}/rocketmq_client.log",
            java4(at, made(host), zone_hours=hours),
            java4(at, started("g"), zone_hours=hours),
            *(java4(60 * later + 0.4, NOTIFIED, zone_hours=hours) for later in range(number + 1, 4)),
        )
    put(tmp_path, "east/broker.log", *(broker(60 * n, joined("g", host)) for n, host in enumerate(zones, 1)))

    found = {row["host"]: row["zone_ms"] for row in infer_zones(read_lines(spark, tmp_path)).collect()}

    assert found == {host: hours * 3_600_000 for host, hours in zones.items()}


@pytest.mark.spark
def test_without_a_broker_of_the_same_group_no_zone_is_assumed(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, "web1/rocketmq_client.log", java4(59, made("A")), java4(60, started("g")), java4(61, NOTIFIED))
    put(tmp_path, "east/broker.log", broker(60, joined("another", "A")))
    lines = read_lines(spark, tmp_path)

    assert (infer_zones(lines).collect(), strangers(lines).collect()) == ([], [])


@pytest.mark.spark
def test_a_zone_is_never_taken_from_what_brokers_say_of_another_client(spark: SparkSession, tmp_path: Path) -> None:
    """The log of web1 is of UTC; an hour later another member of its group joins, and the brokers' logs begin then.

    They have the other two by name: one that joins again and was told of the others, one that leaves.
    """
    put(
        tmp_path,
        "web1/rocketmq_client.log",
        java4(59, made("10.0.0.1@1#1")),
        java4(60, started("g")),
        java4(60.4, NOTIFIED),
        java4(75, NOTIFIED),
    )
    put(tmp_path, "told/rocketmq_client.log", java4(3670, made("C"), zone_hours=3), java4(3675, NOTIFIED, zone_hours=3))
    gone = "unregister client[Producer: null Consumer: g] from broker[east 0 10.0.0.9:10911] success"
    put(tmp_path, "left/rocketmq_client.log", java4(3700, made("D"), zone_hours=-2), java4(3702, gone, zone_hours=-2))
    info = "ClientChannelInfo [channel=[id: 0x1, L:/10.0.0.9:10911 - R:/10.0.0.2:5], clientId=D, language=JAVA]"
    put(
        tmp_path,
        "east/broker.log",
        broker(3660, joined("g", "10.0.0.1@1#11")),
        broker(3675, joined("g", "C")),
        broker(3702, f"unregister a consumer[g] from consumerGroupInfo {info}"),
    )
    lines = read_lines(spark, tmp_path)

    found = {row["host"]: row["zone_ms"] for row in infer_zones(lines).collect()}

    assert found == {"told": 3 * 3_600_000, "left": -2 * 3_600_000}
    assert [row["host"] for row in strangers(lines).collect()] == ["web1"]


@pytest.mark.spark
def test_lines_that_meet_by_chance_are_no_proof(spark: SparkSession, tmp_path: Path) -> None:
    """Most of the host's notifications have no broker's line at any one distance, one or two always have."""
    put(
        tmp_path,
        "web1/rocketmq_client.log",
        java4(0, made("5")),
        *(java4(900 * n + 97 * n * n % 900, NOTIFIED) for n in range(1, 20)),
    )
    put(tmp_path, "east/broker.log", *(broker(900 * n + 61 * n * n % 900, joined("g", f"{n}")) for n in range(1, 20)))

    assert infer_zones(read_lines(spark, tmp_path)).collect() == []


@pytest.mark.spark
def test_a_clock_that_is_put_back_within_a_log_is_of_no_one_zone(spark: SparkSession, tmp_path: Path) -> None:
    """Both hosts are told of the same; one of them is in a country that ends its summer."""
    at = [7_000 * n + 97 * n * n for n in range(1, 12)]
    put(
        tmp_path,
        "winter/rocketmq_client.log",
        java4(0, made("winter"), zone_hours=1),
        *(java4(one + 0.4, NOTIFIED, zone_hours=1) for one in at),
    )
    put(
        tmp_path,
        "summer/rocketmq_client.log",
        java4(0, made("summer"), zone_hours=2),
        *(java4(one + 0.4, NOTIFIED, zone_hours=2 if n < 8 else 1) for n, one in enumerate(at)),
    )
    who = ("winter", "summer", *map(str, at))
    put(tmp_path, "east/broker.log", *(broker(one, joined("g", name)) for one, name in zip(at, who, strict=False)))

    found = {row["host"]: row["zone_ms"] for row in infer_zones(read_lines(spark, tmp_path)).collect()}

    assert found == {"winter": 3_600_000}


@pytest.mark.spark
def test_a_clock_that_is_put_on_or_back_within_minutes_of_log_is_of_no_one_zone(
    spark: SparkSession, tmp_path: Path
) -> None:
    """All are told of the same, every 40 s; of three the clock is moved after the sixth time, of one while it rolls."""
    at = [3_600 + 40 * n + n * n for n in range(10)]
    moved = {"steady": (1, 1), "back": (2, 1), "on": (1, 2), "rolled": (2, 1)}
    for host, (before, after) in moved.items():
        lines = [java4(one + 0.4, NOTIFIED, zone_hours=before if n < 6 else after) for n, one in enumerate(at)]
        parts = {"rocketmq_client.log": lines}
        if host == "rolled":
            parts = {"rocketmq_client.log.1": lines[:6], "rocketmq_client.log": lines[6:]}
        for number, (name, those) in enumerate(parts.items()):
            begin = [java4(at[0] - 9, made(host), zone_hours=before)] if not number else []
            put(tmp_path, f"{host}/{name}", *begin, *those)
    who = (*moved, *map(str, at))
    put(tmp_path, "east/broker.log", *(broker(one, joined("g", name)) for one, name in zip(at, who, strict=False)))
    read = read_lines(spark, tmp_path)

    found = {row["host"]: row["zone_ms"] for row in infer_zones(read).collect()}

    assert found == {"steady": 3_600_000}
    assert [row["host"] for row in put_back(read).collect()] == ["back"]


@pytest.mark.spark
@pytest.mark.parametrize(("is_told_after", "silent_s"), [(False, 3_605), (True, 3_605), (False, 5 * 3_600)])
def test_a_silence_as_long_as_clocks_are_put_on_needs_a_sign_on_both_sides_of_it(
    spark: SparkSession, tmp_path: Path, is_told_after: bool, silent_s: int
) -> None:
    """A member that is killed soon after its clock was put on has no sign of the time after; nor has one that slept."""
    persisted = "[persistAll] Group: g ClientId: web1 updateConsumeOffsetToBroker MessageQueue [topic=t, brokerName=a"
    offset = f"{persisted}, queueId=0] 7"
    later = [java4(silent_s + 10, offset), *([java4(silent_s + 60.4, NOTIFIED)] if is_told_after else [])]
    signs = (java4(0, made("web1")), java4(1, started("g")), java4(4.4, NOTIFIED), java4(5, offset))
    put(tmp_path, "web1/rocketmq_client.log", *signs, *later)
    more = [broker(silent_s + 60, joined("g", "C"))]
    put(tmp_path, "east/broker.log", broker(1, joined("g", "web1")), broker(4, joined("g", "B")), *more)
    lines = read_lines(spark, tmp_path)

    found = {row["host"]: row["zone_ms"] for row in infer_zones(lines).collect()}

    assert found == ({"web1": 0} if is_told_after or silent_s > 3_605 else {})
    assert [row["host"] for row in silences(lines).collect()] == (["web1"] if silent_s == 3_605 else [])


@pytest.mark.spark
def test_a_zone_is_told_by_the_whole_time_and_not_by_its_beginning(spark: SparkSession, tmp_path: Path) -> None:
    """Brokers tell of hundreds before the one host comes; the clock of the other is put on after hundreds of signs."""
    early = [1_000 * n + 97 * n * n % 900 for n in range(400)]
    late = [500_000 + 7_000 * n + 97 * n * n for n in range(1, 12)]
    put(
        tmp_path,
        "late/rocketmq_client.log",
        java4(499_000, made("1"), zone_hours=5.5),
        *(java4(one + 0.4, NOTIFIED, zone_hours=5.5) for one in late),
    )
    put(
        tmp_path,
        "spring/rocketmq_client.log",
        java4(0, made("0"), zone_hours=1),
        *(java4(one + 0.4, NOTIFIED, zone_hours=1) for one in early),
        *(java4(one + 0.4, NOTIFIED, zone_hours=2) for one in late),
    )
    told = enumerate((*early, *late))
    put(tmp_path, "east/broker.log", *(broker(one, joined("g", f"{number}")) for number, one in told))

    found = {row["host"]: row["zone_ms"] for row in infer_zones(read_lines(spark, tmp_path)).collect()}

    assert found == {"late": round(5.5 * 3_600_000)}


def test_given_zones_are_names_or_offsets() -> None:
    rows = given_zones({"a": "Asia/Shanghai", "b": "-03:30"})

    assert {(row[0], row[2], row[3]) for row in rows} == {("a", None, "Asia/Shanghai"), ("b", -12_600_000, None)}


@pytest.mark.parametrize("zone", ["Mars/Olympus", "+8", "+25:00", "08:00"])
def test_a_zone_that_is_none_is_refused(zone: str) -> None:
    with pytest.raises(BadZone, match="needs a name as"):
        given_zones({"a": zone})
