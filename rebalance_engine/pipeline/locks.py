"""Waits for order locks, as brokers tell them: who was refused, by whose lock, until it was granted. Native functions.

A client that has no lock writes so; where its log is not there, or has lost it, the broker's does
(``RebalanceLockManager``, lock.log or filter.log), to the second. An orderly member that loses the lock of a queue it
holds writes that too, and when it has it again (``RebalanceImpl.lockAll``): meanwhile it consumes nothing of it.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.schemas import LOCK_WAITS, day_of, shaped

GRANTED = ("granted", "granted expired")
LOST, REGAINED = "lock lost", ("lock kept", "lock granted")
OF_QUEUE = ["cluster", "group", "topic", "broker", "queue_id"]
TRIED_WITHIN_MS = 25_000  # two tries of one wait are a timer's round of 20 s apart, at most
SECOND_MS = 1_000  # a broker's line was written within it
TAKEN_WITHIN_MS = 5_000  # behind the grant: the client adds the queue at once, and its clock may be another


def waits_of(events: DataFrame, spans: DataFrame) -> DataFrame:
    """Tell who waited for the lock of a queue: of one to take, by brokers; of one that it held, by its own log.

    Args:
        spans: as ``SPANS``.
    """
    lost = events.where((F.col("what") == LOST) & F.col("group").isNotNull() & F.col("queue_id").isNotNull())
    if lost.isEmpty():  # asked first: most logs have none, and a plan that does nothing still costs seconds to make
        return _refused(events)
    return _refused(events).unionByName(_lost(events, spans))


def _lost(events: DataFrame, spans: DataFrame) -> DataFrame:
    """Put what a holder wrote of a lost lock together until it has the lock again, or the queue no more."""
    said = events.where(
        F.col("what").isin(LOST, *REGAINED) & F.col("group").isNotNull() & F.col("queue_id").isNotNull()
    )
    key = ["cluster", "process", "group", "topic", "broker", "queue_id"]
    held = spans.select(
        *key, F.col("client_id").alias("client"), began().alias("began_ms"), F.col("until_ms").alias("ended_ms")
    )
    met = said.select(*key, "what", "at_ms", "place").join(held, on=key, how="inner")
    inside = met.where(F.col("at_ms").between(F.col("began_ms"), F.col("ended_ms")))
    of_hold = Window.partitionBy(*key, "client", "began_ms").orderBy("at_ms", "place")
    follows = F.coalesce(F.lag("what").over(of_hold) == LOST, F.lit(False))
    told = inside.withColumn("wait", F.sum(F.when(follows, 0).otherwise(1)).over(of_hold))
    is_lost = F.col("what") == LOST
    waits = told.groupBy(*key, "client", "began_ms", "ended_ms", "wait").agg(
        F.min("at_ms").alias("at_ms"),
        F.max(F.when(~is_lost, F.col("at_ms"))).alias("regained_ms"),
        F.count(F.when(is_lost, 1)).alias("refusals"),
    )
    filed = waits.where(F.col("refusals") > 0).withColumns(
        {
            "day": day_of(F.col("at_ms")),
            "holder": F.lit(None).cast("string"),
            "until_ms": F.coalesce("regained_ms", "ended_ms"),
            "is_granted": F.col("regained_ms").isNotNull(),
            "is_held": F.lit(True),
        }
    )
    return shaped(filed, LOCK_WAITS)


def began() -> Column:
    """Give when a hold began, or was first seen."""
    return F.coalesce("from_ms", "first_seen_ms")


def _refused(events: DataFrame) -> DataFrame:
    """Put the refusals of one client and queue together that follow each other, and the grant behind them."""
    asked = events.where((F.col("layout") == "broker") & F.col("what").isin("refused", *GRANTED))
    known = asked.where(F.col("group").isNotNull() & F.col("client_id").isNotNull() & F.col("queue_id").isNotNull())
    in_order = Window.partitionBy(*OF_QUEUE, "client_id").orderBy("at_ms", "place")
    follows = (F.lag("what").over(in_order) == "refused") & (
        F.col("at_ms") - F.lag("at_ms").over(in_order) <= TRIED_WITHIN_MS
    )
    begins = F.when(F.coalesce(follows, F.lit(False)), 0).otherwise(1)
    told = known.withColumn("wait", F.sum(begins).over(in_order)).groupBy(*OF_QUEUE, "client_id", "wait")
    is_refused = F.col("what") == "refused"
    waits = told.agg(
        F.min("at_ms").alias("at_ms"),
        F.max("at_ms").alias("until_ms"),
        F.count(F.when(is_refused, 1)).alias("refusals"),
        F.max(~is_refused).alias("is_granted"),
        F.min_by("other", F.when(is_refused, F.struct("at_ms", "place"))).alias("holder"),
    )
    filed = waits.where(F.col("refusals") > 0).withColumns(
        {"day": day_of(F.col("at_ms")), "client": F.col("client_id"), "is_held": F.lit(False)}
    )
    return shaped(filed, LOCK_WAITS)


def with_waits(handoffs: DataFrame, waits: DataFrame) -> DataFrame:
    """Let brokers tell how long the new owner waited, at least, where its own log does not."""
    key = [*OF_QUEUE, "to_client", "taken_ms"]
    granted = waits.where("is_granted AND NOT is_held").select(
        *OF_QUEUE, F.col("client").alias("to_client"), F.col("at_ms").alias("refused_ms"), "until_ms"
    )
    met = handoffs.where(F.col("lock_wait_ms").isNull()).select(*key).join(granted, on=[*OF_QUEUE, "to_client"])
    behind = F.col("taken_ms").between(F.col("until_ms") - SECOND_MS, F.col("until_ms") + SECOND_MS + TAKEN_WITHIN_MS)
    waited = F.greatest(F.col("taken_ms") - F.col("refused_ms") - SECOND_MS, F.lit(0))
    found = met.where(behind).groupBy(*key).agg(F.max(waited).alias("told_wait_ms"))
    whole = handoffs.join(found, on=key, how="left")
    filled = whole.withColumn("lock_wait_ms", F.coalesce("lock_wait_ms", "told_wait_ms"))
    return filled.select(*handoffs.columns)


def with_losses(costs: DataFrame, waits: DataFrame) -> DataFrame:
    """Sum up for each group's day how long members held queues whose locks they had lost; empty where none did."""
    of_day = ["cluster", "day", "group"]
    lost = waits.where("is_held").groupBy(*of_day).agg(F.sum(F.col("until_ms") - F.col("at_ms")).alias("lost_ms"))
    met = costs.join(lost, on=of_day, how="left")
    return met.withColumn("lock_lost_ms", F.col("lost_ms")).select(*costs.columns)
