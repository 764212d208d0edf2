"""Client ids that two processes used at once: both are members under one name, and both hold the same queues.

Told by the queues that two logs say one client held at one time; native functions only. Brokers know a client by its
id, so that none of their lines tells two of one id apart.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.keeping import computed_once
from rebalance_engine.pipeline.schemas import DOUBLES, day_of, shaped

OF_CLIENT = ["cluster", "group", "client"]
LEAST_MS = 2_000  # one that is killed and comes back: of the end of the first brokers tell the second only


def doubles_of(stretches: DataFrame, spans: DataFrame) -> DataFrame:
    """Name each client id that was there twice, the queues that it held twice, and the processes, as ``DOUBLES``.

    Args:
        stretches: in which who held a queue in two processes is named twice.
        spans: as ``SPANS``.
    """
    both = stretches.where(F.size(F.array_distinct("clients")) < F.size("clients")).withColumn(
        "client", F.explode(F.filter(F.array_distinct("clients"), _is_twice))
    )
    lasting = both.where(F.col("until_ms") - F.col("at_ms") >= LEAST_MS)
    found = computed_once(
        lasting.groupBy(*OF_CLIENT).agg(
            F.min("at_ms").alias("at_ms"),
            F.max("until_ms").alias("until_ms"),
            F.countDistinct("topic", "broker", "queue_id").alias("queues"),
            F.sum(F.col("until_ms") - F.col("at_ms")).alias("twice_ms"),
        )
    )
    if found.isEmpty():  # asked first: most groups have none
        return stretches.sparkSession.createDataFrame([], DOUBLES)
    holds = spans.select(
        "cluster",
        "group",
        F.col("client_id").alias("client"),
        "process",
        F.coalesce("from_ms", "first_seen_ms").alias("began"),
        F.col("until_ms").alias("ended_ms"),
    )
    meanwhile = (F.col("began") < F.col("until_ms")) & (F.col("ended_ms") > F.col("at_ms"))
    whose = holds.join(F.broadcast(found), on=OF_CLIENT, how="inner").where(meanwhile)
    named = whose.groupBy(*OF_CLIENT).agg(F.array_sort(F.collect_set("process")).alias("processes"))
    told = found.join(named, on=OF_CLIENT, how="left").withColumn("day", day_of(F.col("at_ms")))
    return shaped(told, DOUBLES)


def _is_twice(client: Column) -> Column:
    return F.size(F.filter(F.col("clients"), lambda other: other == client)) > 1
