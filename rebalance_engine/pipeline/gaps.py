"""What brokers' logs lack, as far as it is known: holes, and that one begins later, or ends earlier, than others.

What a log does not tell then proves nothing. Where it tells besides that its broker stopped, or started, that may be
all: it was away then. Native functions only. Of clients' logs ``holes.py`` tells.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.layouts import BROKER
from rebalance_engine.pipeline.schemas import GAPS, day_of, shaped
from rebalance_engine.pipeline.silences import PERSISTING, REGISTERS_WITHIN_MS
from rebalance_engine.pipeline.templates import LOCK_LOGS

HOLE, LATE, EARLY = "hole", "begins late", "ends early"
STOPPED, DIED, STARTED = "stopped", "died", "started"
STOPS_WITHIN_MS = 60_000  # from a broker's first word of it to its last line
BOOTS_WITHIN_MS = 60_000  # from its first line to that which says that it has started: it loads its store meanwhile


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
    named = _with_lives(found, events)
    return shaped(named.withColumn("day", day_of(F.col("at_ms"))), GAPS)


def _with_lives(found: DataFrame, events: DataFrame) -> DataFrame:
    """Say of each whether its broker was stopped or started there, or died, ``why``, and name the ``broker``.

    That it died is told by its start behind a hole, where no line says that it had stopped: that may be in the hole.
    """
    lives = events.where(F.col("what").isin("broker started", "broker stopping"))
    lives = lives.select(
        "cluster", "host", F.col("process").alias("log"), F.col("what").alias("life"), F.col("broker").alias("named"),
        F.col("at_ms").alias("seen_ms"),
    )  # fmt: skip
    key, seen = ["cluster", "host", "log", "what", "at_ms", "until_ms"], F.col("seen_ms")
    is_stop = (F.col("life") == "broker stopping") & seen.between(F.col("at_ms") - STOPS_WITHIN_MS, F.col("until_ms"))
    starts_by = F.col("until_ms") + BOOTS_WITHIN_MS
    is_start = (F.col("life") == "broker started") & seen.between(F.col("until_ms"), starts_by)
    told = found.join(lives, on=["cluster", "host", "log"], how="left").groupBy(*key)
    each = told.agg(
        F.max_by("named", F.when(F.col("named").isNotNull(), seen)).alias("broker"),
        *(F.max(F.coalesce(one, F.lit(False))).alias(name) for name, one in (("stops", is_stop), ("starts", is_start))),
    )
    is_hole, is_early = F.col("what") == HOLE, F.col("what") == EARLY
    why = (
        F.when(F.col("stops") & (is_early | (is_hole & F.col("starts"))), STOPPED)
        .when(F.col("starts") & is_hole, DIED)
        .when(F.col("starts") & ~is_early, STARTED)
    )
    return each.withColumn("why", why)
