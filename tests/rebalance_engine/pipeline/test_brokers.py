import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline import schemas
from rebalance_engine.pipeline.brokers import brokers_of
from tests.rebalance_engine.pipeline.test_measures import frame

pytestmark = pytest.mark.spark


def test_brokers_are_isolated_for_a_share_of_what_the_logs_cover(spark: SparkSession) -> None:
    base = {"process": "p", "broker": "east"}
    events = frame(
        spark,
        schemas.EVENTS,
        {**base, "what": "isolated", "at_ms": 0, "number": 30_000},
        {**base, "what": "resent", "at_ms": 1, "number": 3_000},
        {"process": "p", "what": "heartbeat", "at_ms": 120_000},
    )

    (row,) = brokers_of(events).collect()

    assert (row["isolated_ms"], row["isolated_share"], row["resent"]) == (30_000, 0.25, 1)


def test_latencies_of_sends_that_failed_are_not_the_brokers_and_those_that_went_well_are_told_apart(
    spark: SparkSession,
) -> None:
    base = {"process": "p", "layout": "java5"}
    events = frame(
        spark,
        schemas.EVENTS,
        {**base, "what": "resent", "broker": "east", "at_ms": 1, "number": 3_000},
        {**base, "what": "send failed", "broker": "east", "at_ms": 2, "number": 1_000},
        {**base, "what": "sent", "broker": "west", "at_ms": 3, "number": 70, "layout": "history"},
        {**base, "what": "sent", "broker": "west", "at_ms": 4, "number": 40, "layout": "history"},
    )

    told = {row["broker"]: row for row in brokers_of(events).collect()}

    columns = ("failed_slowest_ms", "failed_mean_ms", "went_well_slowest_ms", "resent")
    assert [told["east"][name] for name in columns] == [3_000, 2_000, None, 2]
    assert [told["west"][name] for name in columns] == [None, None, 70, 0]


def test_isolations_that_extend_each_other_count_once_and_end_with_their_process(spark: SparkSession) -> None:
    base = {"process": "p", "broker": "east", "what": "isolated", "number": 30_000}
    events = frame(
        spark,
        schemas.EVENTS,
        *({**base, "at_ms": 1_000 * second} for second in range(60)),
        {**base, "at_ms": 190_000},
        {"process": "p", "what": "heartbeat", "at_ms": 200_000},
    )

    (row,) = brokers_of(events).collect()

    assert (row["isolations"], row["isolated_ms"], row["isolated_share"]) == (61, 99_000, 0.495)


def test_how_long_a_producer_that_logs_no_isolation_left_a_broker_out_is_unknown(spark: SparkSession) -> None:
    base = {"process": "p", "broker": "east", "layout": "java4"}
    events = frame(
        spark,
        schemas.EVENTS,
        {**base, "what": "resent", "at_ms": 1, "number": 3_000},
        {**base, "what": "heartbeat", "at_ms": 120_000},
    )

    (row,) = brokers_of(events).collect()

    isolation = [row[name] for name in ("isolations", "isolated_ms", "isolated_share", "unreachable")]
    assert (isolation, row["resent"], row["failed_mean_ms"]) == ([None] * 4, 1, 3_000)


def test_how_long_4x_left_a_broker_out_is_bounded_by_its_failures(spark: SparkSession) -> None:
    """Ten minutes for each, as far as they do not overlap, until its log ends; nothing tells whether it did at all."""
    base = {"process": "p", "broker": "east", "layout": "java4", "number": 3_000}
    events = frame(
        spark,
        schemas.EVENTS,
        *({**base, "what": "resent", "at_ms": 1_000 * second} for second in (0, 300, 1_800)),
        {"process": "p", "layout": "java4", "what": "heartbeat", "at_ms": 2_000_000},
        {**base, "process": "q", "what": "resent", "layout": "go", "broker": "west", "at_ms": 1},
    )

    told = {row["broker"]: row for row in brokers_of(events).collect()}

    columns = ("isolated_ms", "isolated_most_ms", "isolated_share", "isolated_share_most")
    assert [told["east"][name] for name in columns] == [None, 1_100_000, None, 0.55]
    assert [told["west"][name] for name in columns] == [None] * 4


def test_how_long_5x_leaves_a_broker_out_tells_how_slow_a_send_was(spark: SparkSession) -> None:
    """Not where it is 10 s, which any failure makes, nor where its durations are not RocketMQ's own."""
    base = {"process": "p", "what": "isolated", "layout": "java5"}
    lasted = {"east": (2_000, 6_000, 10_000), "west": (10_000, 7_777), "north": (2_000, 30_000)}
    events = frame(
        spark,
        schemas.EVENTS,
        *(
            {**base, "broker": broker, "at_ms": 1_000 * number, "number": lasts}
            for broker, durations in lasted.items()
            for number, lasts in enumerate(durations)
        ),
    )

    told = {row["broker"]: row for row in brokers_of(events).collect()}

    columns = ("slow_sends", "slow_least_ms", "slow_most_ms")
    assert [told["east"][name] for name in columns] == [2, 3_000, 5_000]
    assert [told["west"][name] for name in columns] == [0, None, None]
    assert [told["north"][name] for name in columns] == [2, 15_000, None]
