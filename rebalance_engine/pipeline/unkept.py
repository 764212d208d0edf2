"""Queues that a member persists no more while it goes on persisting others: it let them go, and no line says when.

A removal and the result behind it may be lost together (``lost.py``). A Java client persists the offset of each queue
in its table every 5 s, as long as the queue's broker answers. So a queue of which it persists nothing for 20 s, while
it persists others of that broker, it let go within 5 s of the last time. Not so an orderly member, which up to 5.1
persists nothing of what it lists no more, and may still have it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.clients import KEY, QUEUE_KEY
from rebalance_engine.pipeline.departures import MEMBER
from rebalance_engine.pipeline.keeping import computed_once
from rebalance_engine.pipeline.lost import JAVA, OF_LOCKS, PERSISTING_MS, PERSISTS_MS

UNKEPT_MS, ROUNDS = 20_000, 3  # for so long, and in so many rounds of its others, nothing of a queue is persisted
OF_BROKER = [*MEMBER, "broker"]
OF_HOLD = [*MEMBER, *QUEUE_KEY, "at_ms"]


def unkept_of(holds: DataFrame, kept: DataFrame, events: DataFrame) -> DataFrame:
    """Find, of holds that no line ends, those that ended so: unkept_ms, no later; unkept_after_ms, no sooner.

    Args:
        holds: MEMBER, QUEUE_KEY, layout, at_ms of the begin and end_ms of what ends it else, or None.
        kept: of :func:`rebalance_engine.pipeline.lost.kept_of`.
    """
    locked = events.where(F.col("what").isin(*OF_LOCKS)).select(*KEY).distinct()
    free = holds.where(F.col("layout").isin(*JAVA)).join(locked, on=KEY, how="left_anti")
    asked = computed_once(_silent(free.select(*OF_HOLD, "end_ms"), kept))
    if asked.isEmpty():  # most logs lack no such line
        empty = F.lit(None).cast("long")
        return asked.select(*OF_HOLD, empty.alias("unkept_ms"), empty.alias("unkept_after_ms"))
    said = events.where(F.col("what") == "persisted all").select(*MEMBER, *QUEUE_KEY, F.col("at_ms").alias("kept_ms"))
    is_inside = (F.col("kept_ms") >= F.col("at_ms")) & (F.col("end_ms").isNull() | (F.col("kept_ms") < F.col("end_ms")))
    own = asked.join(said, on=[*MEMBER, *QUEUE_KEY], how="inner").where(is_inside)
    last = own.groupBy(*OF_HOLD, "end_ms").agg(F.max("kept_ms").alias("last_ms"))
    others = said.select(*OF_BROKER, "kept_ms")
    later = last.join(others, on=OF_BROKER, how="inner").where(is_inside & (F.col("kept_ms") > F.col("last_ms")))
    goes_on = later.where(F.col("kept_ms") > F.col("last_ms") + PERSISTING_MS)
    rounds = F.count_distinct(F.floor((F.col("kept_ms") - F.col("last_ms")) / PERSISTS_MS))
    told = goes_on.groupBy(*OF_HOLD, "last_ms").agg(F.max("kept_ms").alias("other_ms"), rounds.alias("rounds"))
    sure = told.where((F.col("other_ms") >= F.col("last_ms") + UNKEPT_MS) & (F.col("rounds") >= ROUNDS))
    ends = (F.col("last_ms") + PERSISTS_MS).alias("unkept_ms"), F.col("last_ms").alias("unkept_after_ms")
    return sure.select(*OF_HOLD, *ends)


def _silent(holds: DataFrame, kept: DataFrame) -> DataFrame:
    """Leave the holds of which nothing is persisted for long before their member's last others of that broker are."""
    others = kept.groupBy(*OF_BROKER).agg(F.max("last_ms").alias("other_ms"))
    own = kept.select(*MEMBER, *QUEUE_KEY, F.col("at_ms").alias("kept_ms"), "last_ms")
    is_inside = (F.col("kept_ms") >= F.col("at_ms")) & (F.col("end_ms").isNull() | (F.col("kept_ms") < F.col("end_ms")))
    ends = F.when(F.col("last_ms") < F.coalesce("end_ms", F.col("last_ms") + 1), F.col("last_ms"))
    last = (
        holds.join(own, on=[*MEMBER, *QUEUE_KEY], how="inner")
        .where(is_inside)
        .groupBy(*OF_HOLD, "end_ms")
        .agg(F.max(F.coalesce(ends, "kept_ms")).alias("own_ms"))
    )
    met = last.join(others, on=OF_BROKER, how="inner")
    return met.where(F.col("other_ms") >= F.col("own_ms") + UNKEPT_MS).select(*OF_HOLD, "end_ms")
