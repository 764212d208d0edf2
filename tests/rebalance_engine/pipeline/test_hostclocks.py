"""Hosts whose clocks differ are noticed by what a client and a broker say of one event."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.clients import changes_of
from rebalance_engine.pipeline.hostclocks import clocks_of
from rebalance_engine.pipeline.page import page
from rebalance_engine.pipeline.reports import read_report
from rebalance_engine.pipeline.summary import summary
from tests.rebalance_engine.pipeline.frames import QUEUE, added, broker, java5, joined, persisted, read_events, result
from tests.rebalance_engine.pipeline.test_reports import COST, folder, put

__all__ = ["folder"]
Q0 = QUEUE.format("east", 0)
NOTIFIED = "receive broker's notification[10.0.0.9:10911], the consumer group: {} changed, rebalance immediately"
START = "the consumer [{}] start beginning. messageModel=CLUSTERING, isUnitMode=false"
GOOD_BYE = "unregister client[Producer: null Consumer: {}] from broker[east 0 10.0.0.9:10911] success"


def log(group: str, client: str, ahead: float, *, notified: tuple[float, ...] = (12.3, 47.6)) -> str:
    """Write the log of a member from 10 s to 90 s, whose clock is ahead."""
    lines = [
        (10, START.format(group)),
        (12.5, added(group, Q0)),
        (12.6, result(group, client, [Q0])),
        (20, persisted(group, client, Q0, 1)),
        (90.2, GOOD_BYE.format(group)),
        (90.4, f"the consumer [{group}] shutdown OK"),
        *((at, NOTIFIED.format(group)) for at in notified),
    ]
    return "".join(java5(at + ahead, text) for at, text in sorted(lines))


def listed(group: str, client: str) -> list[tuple[float, str]]:
    channel = "[id: 0x1a2b3c4d, L:/10.0.0.1:10911 - R:/10.0.0.2:51234]"
    info = f"ClientChannelInfo [channel={channel}, clientId={client}, language=JAVA, version=1, x]"
    left = f"unregister a consumer[{group}] from consumerGroupInfo {info}"
    return [(12, joined(group, client)), (47, joined(group, f"other {client}")), (90, left)]


@pytest.mark.spark
def test_a_host_whose_clock_differs_from_a_brokers_is_named_with_the_offset(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A second may be the broker's own; of f one line is late, as a host may be busy."""
    ahead = {"a": 0.0, "b": 30.0, "c": -300.0, "d": 1.0}
    logs = {f"web-{name}/a.log": log(f"g{name}", name, by) for name, by in ahead.items()}
    logs["web-f/a.log"] = log("gf", "f", 0, notified=(12.3, 60))
    lines = sorted(line for name in (*ahead, "f") for line in listed(f"g{name}", name))
    logs["east/broker.log"] = "".join(broker(at, text) for at, text in lines)
    for name, text in logs.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    said = read_events(spark, tmp_path)

    found = {row["host"]: row for row in clocks_of(said, changes_of(said)).collect()}

    assert {host: row["broker_host"] for host, row in found.items()} == {"web-b": "east", "web-c": "east"}
    for host, by in (("web-b", 30_000), ("web-c", -300_000)):
        assert by - 3_000 <= found[host]["least_ms"] <= by <= found[host]["most_ms"] <= by + 3_000
        assert found[host]["signs"] == 4


@pytest.mark.spark
def test_that_a_start_lies_in_a_hole_of_a_brokers_log_makes_no_clock_differ(
    spark: SparkSession, tmp_path: Path
) -> None:
    """As in a real run: the broker died in the hole, and its members came again 118 s later."""
    channel = "[id: 0x1a2b3c4d, L:/10.0.0.1:10911 - R:/10.0.0.2:51234]"
    info = f"ClientChannelInfo [channel={channel}, clientId=A, language=JAVA, version=1, x]"
    left = f"unregister a consumer[g] from consumerGroupInfo {info}"
    seen = [(130, joined("g", "A")), (131, joined("g", "B")), (190, left), (191, left.replace("=A,", "=B,"))]
    said = [
        (10, START.format("g")),
        *((at, NOTIFIED.format("g")) for at in (12.3, 12.6, 12.9, 13.1, 130.2, 131.3, 190.3, 191.2)),
        (190.2, GOOD_BYE.format("g")),
    ]
    mine = [(12.5, added("g", Q0)), (12.7, result("g", "A", [Q0])), (20, persisted("g", "A", Q0, 1))]
    (tmp_path / "web").mkdir()
    (tmp_path / "east").mkdir()
    (tmp_path / "web/a.log").write_text("".join(java5(at, text) for at, text in sorted(said + mine)))
    (tmp_path / "east/broker.log").write_text("".join(broker(at, text) for at, text in seen))
    told = read_events(spark, tmp_path)

    assert clocks_of(told, changes_of(told)).count() == 0


def test_summary_and_page_name_hosts_whose_clocks_differ(folder: Path) -> None:
    clock = {"broker_host": "east", "at_ms": 0, "signs": 4}
    put(folder, "costs", {**COST, "group": "g"})
    put(folder, "clocks", {**clock, "host": "web1", "least_ms": 29_000, "most_ms": 31_000},
        {**clock, "host": "web2", "least_ms": -300_000, "most_ms": -299_000})  # fmt: skip

    told = summary(read_report(folder))

    assert "clocks of hosts differ" in told
    assert "\n  web1: 29.0 s to 31.0 s ahead of east\n  web2: 5.0 min behind of east\n" in told
    assert "<li class=below>web1: 29.0 s to 31.0 s ahead of east</li>" in page(read_report(folder))
