"""Waits for order locks, as brokers tell them: who was refused, by whose lock, until it was granted. Native functions.

A client that has no lock writes so; where its log is not there, or has lost it, the broker's does
(``RebalanceLockManager``, lock.log or filter.log), to the second.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.schemas import LOCK_WAITS, day_of, shaped

GRANTED = ("granted", "granted expired")
OF_QUEUE = ["cluster", "group", "topic", "broker", "queue_id"]
TRIED_WITHIN_MS = 25_000  # two tries of one wait are a timer's round of 20 s apart, at most
SECOND_MS = 1_000  # a broker's line was written within it
TAKEN_WITHIN_MS = 5_000  # behind the grant: the client adds the queue at once, and its clock may be another


def waits_of(events: DataFrame) -> DataFrame:
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
        {"day": day_of(F.col("at_ms")), "client": F.col("client_id")}
    )
    return shaped(filed, LOCK_WAITS)


def with_waits(handoffs: DataFrame, waits: DataFrame) -> DataFrame:
    """Let brokers tell how long the new owner waited, at least, where its own log does not."""
    key = [*OF_QUEUE, "to_client", "taken_ms"]
    granted = waits.where("is_granted").select(
        *OF_QUEUE, F.col("client").alias("to_client"), F.col("at_ms").alias("refused_ms"), "until_ms"
    )
    met = handoffs.where(F.col("lock_wait_ms").isNull()).select(*key).join(granted, on=[*OF_QUEUE, "to_client"])
    behind = F.col("taken_ms").between(F.col("until_ms") - SECOND_MS, F.col("until_ms") + SECOND_MS + TAKEN_WITHIN_MS)
    waited = F.greatest(F.col("taken_ms") - F.col("refused_ms") - SECOND_MS, F.lit(0))
    found = met.where(behind).groupBy(*key).agg(F.max(waited).alias("told_wait_ms"))
    whole = handoffs.join(found, on=key, how="left")
    filled = whole.withColumn("lock_wait_ms", F.coalesce("lock_wait_ms", "told_wait_ms"))
    return filled.select(*handoffs.columns)
