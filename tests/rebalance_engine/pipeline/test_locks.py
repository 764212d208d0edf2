import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline import schemas
from rebalance_engine.pipeline.locks import waits_of, with_waits
from tests.rebalance_engine.pipeline.test_measures import frame, handoff

pytestmark = pytest.mark.spark


def line(second: int, what: str, client: str = "B", **more: object) -> dict[str, object]:
    place = {"topic": "orders", "broker": "east", "queue_id": 0, "place": second}
    who: dict[str, object] = {"client_id": client, "other": "A", "layout": "broker"}
    return {**place, **who, "what": what, "at_ms": 1_000 * second, **more}


def test_a_wait_is_from_the_first_refusal_to_the_grant(spark: SparkSession) -> None:
    """B waits twice; C gives up; what a client's own log tells is no broker's word; a lock at once is no wait."""
    events = frame(
        spark,
        schemas.EVENTS,
        *(line(second, "refused") for second in (10, 30, 50)),
        line(60, "granted"),
        line(500, "refused"),
        line(520, "granted expired"),
        line(20, "refused", "C"),
        line(40, "refused", "C"),
        line(70, "granted", "D"),
        line(70, "refused", "E", layout="java5"),
    )

    columns = ("client", "holder", "at_ms", "until_ms", "refusals", "is_granted")
    assert sorted(tuple(row[name] for name in columns) for row in waits_of(events).collect()) == [
        ("B", "A", 10_000, 60_000, 3, True),
        ("B", "A", 500_000, 520_000, 1, True),
        ("C", "A", 20_000, 40_000, 2, False),
    ]


def test_brokers_tell_how_long_a_new_owner_waited_whose_log_does_not(spark: SparkSession) -> None:
    waits = waits_of(frame(spark, schemas.EVENTS, line(10, "refused"), line(30, "refused"), line(50, "granted")))
    moved = [
        handoff(9_000, "A", "B", taken_ms=50_400),
        handoff(9_000, "A", "B", taken_ms=50_400, lock_wait_ms=7, queue_id=1),
        handoff(9_000, "A", "C", taken_ms=50_400),
        handoff(9_000, "A", "B", taken_ms=90_000),
    ]

    told = with_waits(frame(spark, schemas.HANDOFFS, *moved), waits).collect()

    assert sorted((row["to_client"], row["taken_ms"], row["lock_wait_ms"]) for row in told if row["lock_wait_ms"]) == [
        ("B", 50_400, 7),
        ("B", 50_400, 39_400),
    ]
    assert len(told) == len(moved)
