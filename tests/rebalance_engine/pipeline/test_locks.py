import pytest
from pyspark.sql import DataFrame, SparkSession

from rebalance_engine.pipeline import schemas
from rebalance_engine.pipeline.locks import waits_of, with_losses, with_waits
from tests.rebalance_engine.pipeline.test_measures import frame, handoff

pytestmark = pytest.mark.spark


def line(second: int, what: str, client: str = "B", **more: object) -> dict[str, object]:
    place = {"topic": "orders", "broker": "east", "queue_id": 0, "place": second}
    who: dict[str, object] = {"client_id": client, "other": "A", "layout": "broker"}
    return {**place, **who, "what": what, "at_ms": 1_000 * second, **more}


def own(second: int, what: str) -> dict[str, object]:
    """Give a line of a client's log, which names no client."""
    return line(second, what) | {"layout": "java5", "client_id": None, "other": None, "process": "web1/7"}


def hold(begin: int, end: int, client: str = "B") -> dict[str, object]:
    return {
        "topic": "orders", "broker": "east", "queue_id": 0, "client_id": client, "process": "web1/7",
        "from_ms": 1_000 * begin, "until_ms": 1_000 * end, "first_seen_ms": 1_000 * begin,
    }  # fmt: skip


def no_holds(spark: SparkSession) -> DataFrame:
    return frame(spark, schemas.SPANS)


def test_a_lock_that_a_holder_lost_is_waited_for_until_it_has_it_again_or_the_queue_no_more(
    spark: SparkSession,
) -> None:
    """It tries every 20 s. What it says of a lock that it had never lost, or before it had the queue, is no loss."""
    events = frame(
        spark,
        schemas.EVENTS,
        own(5, "lock lost"),
        own(10, "lock granted"),
        own(30, "lock lost"),
        own(50, "lock lost"),
        own(70, "lock kept"),
        own(90, "lock lost"),
    )

    waits = waits_of(events, frame(spark, schemas.SPANS, hold(10, 100)))

    columns = ("client", "holder", "at_ms", "until_ms", "refusals", "is_granted", "is_held")
    assert sorted(tuple(row[name] for name in columns) for row in waits.collect()) == [
        ("B", None, 30_000, 70_000, 2, True, True),
        ("B", None, 90_000, 100_000, 1, False, True),
    ]
    costs = frame(spark, schemas.COSTS, {"rounds": 1}, {"rounds": 1, "group": "quiet"})
    told = {row["group"]: row["lock_lost_ms"] for row in with_losses(costs, waits).collect()}
    assert told == {"g": 50_000, "quiet": None}
    moved = frame(spark, schemas.HANDOFFS, handoff(9_000, "A", "B", taken_ms=71_000))
    assert with_waits(moved, waits).collect()[0]["lock_wait_ms"] is None


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
    assert sorted(tuple(row[name] for name in columns) for row in waits_of(events, no_holds(spark)).collect()) == [
        ("B", "A", 10_000, 60_000, 3, True),
        ("B", "A", 500_000, 520_000, 1, True),
        ("C", "A", 20_000, 40_000, 2, False),
    ]


def test_brokers_tell_how_long_a_new_owner_waited_whose_log_does_not(spark: SparkSession) -> None:
    said = frame(spark, schemas.EVENTS, line(10, "refused"), line(30, "refused"), line(50, "granted"))
    waits = waits_of(said, no_holds(spark))
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
