"""What brokers' logs lack, as far as it is known: holes, and that one begins later, or ends earlier, than others.

What a log does not tell then proves nothing. Native functions only. Of clients' logs ``holes.py`` tells.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.layouts import BROKER
from rebalance_engine.pipeline.schemas import GAPS, day_of, shaped
from rebalance_engine.pipeline.silences import PERSISTING, REGISTERS_WITHIN_MS
from rebalance_engine.pipeline.templates import LOCK_LOGS

HOLE, LATE, EARLY = "hole", "begins late", "ends early"


def gaps_of(events: DataFrame, life: DataFrame) -> DataFrame:
    """Give, as ``GAPS``, the holes of brokers' logs, and how much later a broker's log begins, or earlier it ends.

    That is told of logs in which a broker names who comes and goes, where others go on for longer than a broker goes
    without registering.

    Args:
        life: of :func:`rebalance_engine.pipeline.events.signs_of_life`.
    """
    log = F.col("cluster"), F.col("host"), F.col("process").alias("log")
    part = F.sort_array("spoken")
    following = F.arrays_zip(part.alias("this"), F.slice(part, F.lit(2), F.size("spoken")).alias("next"))
    clients = events.where(F.col("layout").isin(*PERSISTING)).select("cluster", "process").distinct()
    others = life.join(clients, on=["cluster", "process"], how="left_anti")
    each = others.select(*log, F.explode(following).alias("gap")).where(F.col("gap.next").isNotNull())
    holes = each.select(
        "cluster",
        "host",
        "log",
        F.lit(HOLE).alias("what"),
        "gap.this.until_ms",
        F.col("gap.next.from_ms").alias("ends_ms"),
    ).withColumnsRenamed({"until_ms": "at_ms", "ends_ms": "until_ms"})
    of_all = Window.partitionBy("cluster")
    times = life.withColumn("begins_ms", F.array_min("spoken.from_ms")).withColumns(
        {"first_ms": F.min("begins_ms").over(of_all), "end_ms": F.max("last_ms").over(of_all)}
    )
    names = (F.col("layout") == BROKER.name) & ~F.col("process").rlike(LOCK_LOGS)
    mine = times.join(events.where(names).select("cluster", "process").distinct(), on=["cluster", "process"])
    late = mine.select(
        *log, F.lit(LATE).alias("what"), F.col("first_ms").alias("at_ms"), F.col("begins_ms").alias("until_ms")
    )
    early = mine.select(
        *log, F.lit(EARLY).alias("what"), F.col("last_ms").alias("at_ms"), F.col("end_ms").alias("until_ms")
    )
    is_long = F.col("until_ms") - F.col("at_ms") > REGISTERS_WITHIN_MS
    found = holes.unionByName(late.unionByName(early).where(is_long))
    return shaped(found.withColumn("day", day_of(F.col("at_ms"))), GAPS)
