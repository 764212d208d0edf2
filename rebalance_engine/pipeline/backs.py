"""Offsets that went back: brokers say of a commit below the one they have which queue it is of, not on which broker.

``ConsumerOffsetManager``: "[NOTIFYME]update consumer offset less than store"; the log is the broker's own.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

LOGICAL = "__syslo__"  # the brokers of static topics, which are none


def backs_of(events: DataFrame, spans: DataFrame) -> DataFrame:
    """Give brokers' lines about offsets that went back, with the broker's name, which other lines of its host tell.

    Where none does, it is the group's only broker of that topic.
    """
    told = (F.col("layout") == "broker") & F.col("broker").isNotNull() & ~F.col("broker").startswith(LOGICAL)
    least, most = F.min("broker").alias("named"), F.max("broker").alias("other_name")
    named = events.where(told).groupBy("cluster", "host").agg(least, most)
    topics = spans.groupBy("cluster", "group", "topic").agg(
        F.min("broker").alias("only"), F.max("broker").alias("last")
    )
    back = events.where((F.col("what") == "offset back") & F.col("group").isNotNull())
    met = back.join(named, on=["cluster", "host"], how="left").join(topics, on=["cluster", "group", "topic"])
    own = F.when(F.col("named") == F.col("other_name"), F.col("named"))
    alone = F.when(F.col("only") == F.col("last"), F.col("only"))
    return met.withColumn("broker", F.coalesce(own, alone)).where(F.col("broker").isNotNull()).select(*events.columns)
