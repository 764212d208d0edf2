"""Brokers as producers saw them: for how long they were left out, how long sends took. Native functions only.

The figures of fault avoidance are those of ``MQFaultStrategy`` (``latencyMax``, ``notAvailableDuration``), as they are
unless somebody sets others.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.schemas import BROKERS, shaped

SILENT_ON_ISOLATION = ("java4", "cpp", "go")  # their producers leave brokers out, and log no line of it
HAVE_NO_TABLE = ("cpp", "go")  # of brokers and their latencies; what they leave out is told by nothing
FAILED = ("resent", "send failed")
# 4.x: a send that failed counts as one of 30 s, and leaves its broker out for so long, if fault avoidance is on, which
# it is not unless somebody asks for it, and until a send to it goes well.
LEFT_OUT_BY_FAILURE_MS = 600_000
# 5.1.4 and later: how long a broker is left out -> how long the send took: at least, and less than. 10 s say nothing:
# a send that failed counts as one of 10 s, however long it took.
TOOK_MS: dict[int, tuple[int, int | None]] = {
    2_000: (550, 1_800),
    5_000: (1_800, 3_000),
    6_000: (3_000, 5_000),
    30_000: (15_000, None),
}


def brokers_of(events: DataFrame) -> DataFrame:
    """Tell from which brokers producers backed away, for what share of the time that their logs cover, and how slow.

    Of 4.x, whose logs do not tell it, the most that can have been, by the sends that failed; of sends that went well
    the bounds of the slowest, by the time for which 5.x then left their broker out.
    """
    watched = ("isolated", "unreachable", *FAILED, "sent")
    of_day = ["cluster", "day", "process"]
    covered = (
        events.groupBy(*of_day)
        .agg(F.max("at_ms").alias("said_ms"), (F.max("at_ms") - F.min("at_ms")).alias("covered_ms"))
        .withColumn("last_ms", F.max("said_ms").over(Window.partitionBy("cluster", "process")))
    )
    told = _left_out(events.where(F.col("what").isin(*watched) & F.col("broker").isNotNull()), covered)
    by_process = _of_processes(told).join(covered, on=of_day, how="inner")
    by_process = by_process.withColumns(
        {
            "covered_most_ms": F.when(F.col("isolated_most_ms").isNotNull(), F.col("covered_ms")),
            "covered_ms": F.when(F.col("isolations").isNotNull(), F.col("covered_ms")),
        }
    )
    added = ("isolations", "isolated_ms", "isolated_most_ms", "unreachable", "resent", "covered_ms", "covered_most_ms",
             "slow_sends")  # fmt: skip
    summed = by_process.groupBy("cluster", "day", "broker").agg(
        *(F.sum(name).alias(name) for name in added),
        *(F.max(name).alias(name) for name in ("failed_slowest_ms", "went_well_slowest_ms", "slow_least_ms")),
        (F.sum("failed_ms") / F.nullif(F.sum("timed"), F.lit(0))).alias("failed_mean_ms"),
    )
    shares = {
        "isolated_share": _share("isolated_ms", "covered_ms"),
        "isolated_share_most": _share("isolated_most_ms", "covered_most_ms"),
        "slow_most_ms": _looked_up(F.col("slow_least_ms"), {least: most for least, most in TOOK_MS.values() if most}),
    }
    return shaped(summed.withColumns(shares), BROKERS)


def _of_processes(told: DataFrame) -> DataFrame:
    isolation = {
        "isolations": F.count(_when("isolated")),
        "isolated_ms": F.sum("alone_ms"),
        "unreachable": F.count(_when("unreachable")),
    }
    least = _looked_up(F.col("number"), {lasts: least for lasts, (least, _) in TOOK_MS.items()})
    slow = F.when((F.col("what") == "isolated") & (F.col("layout") == "java5"), least)
    return told.groupBy("cluster", "day", "broker", "process").agg(
        *(
            F.when(~F.coalesce(F.first("layout").isin(*SILENT_ON_ISOLATION), F.lit(False)), told).alias(name)
            for name, told in isolation.items()
        ),
        F.when(~F.coalesce(F.first("layout").isin(*HAVE_NO_TABLE), F.lit(False)), F.sum("alone_ms")).alias(
            "isolated_most_ms"
        ),
        F.count(_when(*FAILED)).alias("resent"),
        F.max(_took(*FAILED)).alias("failed_slowest_ms"),
        F.sum(_took(*FAILED)).alias("failed_ms"),
        F.count(_took(*FAILED)).alias("timed"),
        F.max(_took("sent")).alias("went_well_slowest_ms"),
        F.count(slow).alias("slow_sends"),
        F.max(slow).alias("slow_least_ms"),
    )


def _left_out(told: DataFrame, covered: DataFrame) -> DataFrame:
    """Say of each line for how long it leaves a broker out alone: a further one extends that, it adds none to it.

    It ends with its process's last line. Of 4.x, of which no line says so, for how long at most.
    """
    before = Window.partitionBy("cluster", "process", "broker").orderBy("at_ms")
    earlier = F.max("ends_ms").over(before.rowsBetween(Window.unboundedPreceding, -1))
    is_failure = F.coalesce(F.col("layout") == "java4", F.lit(False)) & F.col("what").isin(*FAILED)
    lasts = F.when(F.col("what") == "isolated", F.coalesce("number", F.lit(0))).when(
        is_failure, F.lit(LEFT_OUT_BY_FAILURE_MS)
    )
    known = told.join(covered.select("cluster", "day", "process", "last_ms"), on=["cluster", "day", "process"])
    timed = known.withColumn("ends_ms", F.least(F.col("at_ms") + lasts, F.when(lasts.isNotNull(), F.col("last_ms"))))
    alone = F.greatest(F.col("ends_ms") - F.greatest("at_ms", earlier), F.lit(0))
    return timed.withColumn("alone_ms", F.when(lasts.isNotNull(), alone).otherwise(0)).drop("last_ms")


def _share(part: str, whole: str) -> Column:
    """Producers of one day isolate each by itself, and one that begins before midnight is of the day before."""
    ratio = F.col(part) / F.nullif(F.col(whole), F.lit(0))
    return F.when(ratio.isNotNull(), F.least(ratio, F.lit(1.0)))  # the least of nothing and 1 is 1


def _looked_up(value: Column, table: dict[int, int]) -> Column:
    begun = F.when(value == next(iter(table)), table[next(iter(table))])
    return reduce(lambda found, key: found.when(value == key, table[key]), list(table)[1:], begun)


def _when(*what: str) -> Column:
    return F.when(F.col("what").isin(*what), 1)


def _took(*what: str) -> Column:
    return F.when(F.col("what").isin(*what), F.col("number"))
