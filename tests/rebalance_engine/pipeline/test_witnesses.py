from pathlib import Path

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
    read_holds,
    result,
)

STARTING = "the consumer [replaced] start beginning. messageModel=CLUSTERING, isUnitMode=false"
Q0, Q1 = QUEUE.format("east", 0), QUEUE.format("east", 1)


@pytest.mark.spark
def test_whose_log_ends_before_others_is_lost_only_where_somebody_tells_that_it_ended(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Logs of A end at 30; B of its group goes on, and takes nothing, or all at once, a part, all later, or one by one.

    In another A's process falls silent in a log that goes on, and in one a broker gives A up. Where B takes all, and
    divides by two still, A has let it go; C starts when it divides by two no more without it.
    """
    takes: dict[str, dict[int, list[str]]] = {
        "none": {},
        "all": {31: [Q0, Q1]},
        "part": {31: [Q0]},
        "late": {50: [Q0, Q1]},
        "apart": {50: [Q0], 120: [Q1]},
        "own": {},
        "given": {},
        "counted": {50: [Q0, Q1]},
        "missed": {50: [Q0, Q1]},
        "replaced": {50: [Q0, Q1]},
    }
    members = {"counted": 2, "missed": 1, "replaced": 2}
    for group, taken in takes.items():
        own: list[tuple[float, str]] = [
            (20, added(group, Q0)),
            (20, added(group, Q1)),
            (20.1, result(group, "A", [Q0, Q1], members=2)),
        ]
        own += [(at, persisted(group, "A", queue, 4)) for at in (25, 30) for queue in (Q0, Q1)]
        others: list[tuple[float, str]] = [
            (20, result(group, "B", [], members=2)),
            *((at, added(group, queue)) for at, both in taken.items() for queue in both),
        ]
        others += [
            (at, persisted(group, "B", queue, 4))
            for at in range(55, 200, 5)
            for both in taken.values()
            for queue in both
        ]
        if group in members:
            others.append((50.1, result(group, "B", [Q0, Q1], members=members[group])))
        if group == "replaced":
            (tmp_path / "replaced-c").mkdir()
            (tmp_path / "replaced-c" / "c.log").write_text(java5(45, STARTING))
        goes_on = [java5(100, "RebalanceService service end", pid=8)] if group == "own" else []
        for host, lines in {"a": own, "b": [*others, (200, result(group, "B", []))]}.items():
            (tmp_path / f"{group}-{host}").mkdir()
            text = [java5(at, line) for at, line in sorted(lines)] + (goes_on if host == "a" else [])
            (tmp_path / f"{group}-{host}" / "a.log").write_text("".join(text))
    expired = (
        "SCAN: remove expired channel from ConsumerManager consumerTable. channel=10.0.0.2:51234, consumerGroup=given"
    )
    (tmp_path / "east").mkdir()
    (tmp_path / "east" / "broker.log").write_text(broker(20, joined("given", "A")) + broker(155, expired))

    rows = read_holds(spark, tmp_path).where("client_id = 'A'").collect()

    def seconds(at_ms: int | None) -> float | None:
        return None if at_ms is None else (at_ms - MIDNIGHT_MS) / 1_000

    told = {
        (row["group"], row["queue_id"]): (seconds(row["until_after_ms"]), seconds(row["until_ms"]), row["ended"])
        for row in rows
    }
    assert told == {
        **dict.fromkeys([("none", 0), ("none", 1), ("part", 1)], (None, 30, "open")),
        ("part", 0): (30, 31, "released"),
        **{("apart", number): (30, at, "released") for number, at in ((0, 50), (1, 120))},
        **dict.fromkeys(
            [(group, number) for group in ("all", "own", "given") for number in (0, 1)], (None, 30, "lost")
        ),
        **dict.fromkeys(
            [(group, number) for group in ("late", "missed", "replaced") for number in (0, 1)], (30, 52, "lost")
        ),
        **dict.fromkeys([("counted", 0), ("counted", 1)], (30, 50, "released")),
    }
