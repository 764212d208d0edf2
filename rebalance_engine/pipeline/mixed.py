"""Logs in which clients of one group cannot be told apart: their lines lie together, and most name no client.

A 4.x log is shared by all processes of one user on a machine and has neither pid nor thread in its lines; those of 5.x
have a pid, but pods of one machine may all have the pid 1, and a process may have two clients of a group. Takes and
releases are told apart by results and by what is persisted (``clients.py``). Lines about pulls, listeners and locks
name no client: they may be of any that was there. Native functions only.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.clues import folder_of
from rebalance_engine.pipeline.layouts import HISTORY
from rebalance_engine.pipeline.schemas import MIXED, day_of, shaped

OF_LOG = ["cluster", "process", "folder", "group"]
AT_ONCE_MS = 2_000  # of the end of one that was killed brokers tell the second only


def mixed_of(changes: DataFrame, spans: DataFrame) -> DataFrame:
    """Name the groups of which a folder has lines of several clients that were there at once, as ``MIXED``.

    Args:
        changes: as ``EVENTS``, with client ids.
        spans: as ``SPANS``.
    """
    named = changes.where(
        F.col("client_id").isNotNull() & F.col("group").isNotNull() & (F.col("layout") != HISTORY.name)
    )
    places = named.select("cluster", "process", folder_of().alias("folder"), "host", "group", "client_id").distinct()
    began = F.coalesce("from_ms", "first_seen_ms")
    lives = spans.groupBy("cluster", "process", "group", "client_id").agg(
        F.min(began).alias("at_ms"), F.max("until_ms").alias("until_ms")
    )
    there = places.join(lives, on=["cluster", "process", "group", "client_id"], how="inner")
    others = there.select(
        *OF_LOG,
        F.col("client_id").alias("other"),
        F.col("at_ms").alias("other_at_ms"),
        F.col("until_ms").alias("other_until_ms"),
    )
    begins, ends = F.greatest("at_ms", "other_at_ms"), F.least("until_ms", "other_until_ms")
    is_beside = (F.col("client_id") != F.col("other")) & (ends - begins >= AT_ONCE_MS)
    met = there.join(others, on=OF_LOG, how="inner").where(is_beside)
    counted = met.groupBy(*OF_LOG, "host").agg(
        F.countDistinct("client_id").alias("clients"), F.min(begins).alias("at_ms"), F.max(ends).alias("until_ms")
    )
    return shaped(counted.withColumn("day", day_of(F.col("at_ms"))), MIXED)
