import pytest
from pyspark.sql import Row, SparkSession

from rebalance_engine.pipeline import schemas
from rebalance_engine.pipeline.bursts import spikes_of
from tests.rebalance_engine.pipeline.test_measures import frame, opened

pytestmark = pytest.mark.spark


def persisted(at_ms: int, offset: int, process: str = "a") -> dict[str, object]:
    at = {"what": "persisted all", "at_ms": at_ms, "place": at_ms, "process": process}
    return {**at, "topic": "orders", "broker": "east", "queue_id": 0, "number": offset}


def spikes(spark: SparkSession, events: list[dict[str, object]], *rounds: dict[str, object]) -> list[Row]:
    spans = frame(spark, schemas.SPANS, {"topic": "orders"})
    return spikes_of(frame(spark, schemas.EVENTS, *events), spans, frame(spark, schemas.ROUNDS, *rounds)).collect()


def test_a_burst_after_a_round_is_told_with_the_time_it_took(spark: SparkSession) -> None:
    """10 messages a second until the round, 40 in its first two minutes, then 10 again."""
    events, offset = [], 0
    for minute in range(20):
        offset += 60 * (40 if minute in (10, 11) else 10)
        events.append(persisted(60_000 * minute + 59_000, offset))

    (spike,) = spikes(spark, events, opened(1, 600_000))

    assert (spike["before_per_s"], spike["peak_per_s"], spike["factor"], spike["recovered_ms"]) == (10, 40, 4, 120_000)
    assert spike["is_over"]


def test_a_burst_that_goes_on_as_long_as_anybody_looks_lasts_at_least_so_long(spark: SparkSession) -> None:
    """10 messages a second until the round, 50 from then on."""
    events, offset = [], 0
    for minute in range(40):
        offset += 60 * (50 if minute >= 10 else 10)
        events.append(persisted(60_000 * minute + 59_000, offset))

    (spike,) = spikes(spark, events, opened(1, 600_000))

    assert (spike["recovered_ms"], spike["is_over"]) == (960_000, False)


def test_a_log_that_begins_and_ends_within_a_minute_tells_no_burst_of_it(spark: SparkSession) -> None:
    """10 messages a second throughout, told from the 45th second of the first minute to the 5th of the last."""
    events = [persisted(at_ms, at_ms // 100) for at_ms in range(45_000, 485_001, 5_000)]

    near, early, late = opened(1, 240_000), opened(2, 65_000), opened(3, 480_000)
    told = spikes(spark, events, near, early, late)

    assert [(spike["round"], spike["factor"]) for spike in told] == [(1, 1)]


def test_no_burst_is_told_of_a_group_that_was_away_by_minutes_in_which_it_stopped_and_started(
    spark: SparkSession,
) -> None:
    """10 messages a second; the group stops within the sixth minute and starts again within the thirteenth."""
    a = [persisted(5_000 * n, 50 * n) for n in range(66)]
    b = [persisted(735_000 + 5_000 * n, 9_000 + 50 * n, "b") for n in range(80)]

    told = spikes(spark, a + b, opened(1, 200_000), opened(2, 780_001))

    assert [(spike["round"], spike["factor"]) for spike in told] == [(1, 1), (2, 1)]


def test_a_backlog_eaten_before_a_new_owner_persists_first_is_a_burst(spark: SparkSession) -> None:
    """10 messages a second; nobody consumes for 130 s, and the next owner eats what came in within its first 5 s."""
    a = [persisted(5_000 * n, 50 * n) for n in range(121)]
    b = [persisted(735_000 + 5_000 * n, 7_350 + 50 * n, "b") for n in range(121)]

    (spike,) = spikes(spark, a + b, opened(1, 600_000))

    assert (spike["before_per_s"], spike["peak_per_s"]) == (10, (1_350 + 50 * 8) / 60)


def test_what_two_owners_persist_at_a_time_counts_once_and_what_nobody_saw_counts_for_no_minute(
    spark: SparkSession,
) -> None:
    """Both persist what one has consumed; later one is back after ten minutes in which another may have had it."""
    both = [persisted(5_000 * n + late, 50 * n, name) for n in range(180) for late, name in ((0, "a"), (1, "b"))]
    again = [persisted(1_500_000 + 5_000 * n, 15_000 + 50 * n, "b") for n in range(60)]

    told = spikes(spark, both + again, opened(1, 660_000), opened(2, 1_500_000))

    assert [round(spike["peak_per_s"]) for spike in told] == [10]


def test_a_burst_is_that_of_the_last_round_before_it_alone(spark: SparkSession) -> None:
    """Round 1 moves nothing; 5 minutes on, after 2, it is 50 a second for four minutes; in these 3 opens."""
    events, offset = [], 0
    for minute in range(40):
        offset += 60 * (50 if 15 <= minute < 19 else 10)
        events.append(persisted(60_000 * minute + 59_000, offset))

    told = spikes(spark, events, opened(1, 600_000), opened(2, 900_000), opened(3, 1_020_000))

    factors = {spike["round"]: (spike["factor"], spike["recovered_ms"], spike["is_over"]) for spike in told}
    assert factors == {1: (1, 0, True), 2: (5, 240_000, True), 3: (1, 0, True)}
