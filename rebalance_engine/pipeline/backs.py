"""Which broker a broker's line is of: few lines name it, and the log is the broker's own.

Offsets that went back: of a commit below the one they have brokers say which queue it is of, not on which broker
(``ConsumerOffsetManager``: "[NOTIFYME]update consumer offset less than store").
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

LOGICAL = "__syslo__"  # the brokers of static topics, which are none


def backs_of(events: DataFrame, spans: DataFrame) -> DataFrame:
    """Give brokers' lines about offsets that went back, with the broker's name, which other lines of its folder tell.

    Where none does, it is the group's only broker of that topic.
    """
    topics = spans.groupBy("cluster", "group", "topic").agg(
        F.min("broker").alias("only"), F.max("broker").alias("last")
    )
    back = events.where((F.col("what") == "offset back") & F.col("group").isNotNull())
    met = with_names(back, events).join(topics, on=["cluster", "group", "topic"])
    alone = F.when(F.col("only") == F.col("last"), F.col("only"))
    named = met.withColumn("broker", F.coalesce("broker", alone))
    return named.where(F.col("broker").isNotNull()).select(*events.columns)


def with_names(lines: DataFrame, events: DataFrame) -> DataFrame:
    """Give brokers' lines that name no broker the one name that other lines of their folder tell; others as they are.

    Args:
        lines: some of ``events``.
    """
    is_own = F.col("layout") == "broker"
    told = is_own & F.col("broker").isNotNull() & ~F.col("broker").startswith(LOGICAL)
    least, most = F.min("broker").alias("named"), F.max("broker").alias("other_name")
    names = events.where(told).groupBy("cluster", _place().alias("broker_place")).agg(least, most)
    names = names.where(F.col("named") == F.col("other_name")).drop("other_name")
    placed = lines.withColumn("broker_place", F.when(is_own, _place()))
    met = placed.join(F.broadcast(names), on=["cluster", "broker_place"], how="left")
    return met.withColumn("broker", F.coalesce("broker", "named")).select(*lines.columns)


def _place() -> Column:
    """Give the process without the name of its log: one broker has several, ``broker`` and ``lock``."""
    return F.regexp_extract("process", r"^(.*)/[^/]*$", 1)
