"""Logs that take turns: of two that name one client, one says nothing while the other speaks, and goes on after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.clients import moment

Pair = tuple[str, str, str, str]  # cluster, client id, the names of two processes
SPEAKS_WITHIN_MS = 6_000  # a process that holds something persists every 5 s
OUT_OF_ORDER_MS = 100  # threads write lines a little later than they time them


@dataclass(frozen=True, slots=True)
class Turn:
    """One log's last line of the client before the other speaks, and the other's first."""

    ends_ms: int
    last: str
    begins_ms: int
    first: str


def turns_of(mine: DataFrame, pairs: Sequence[Pair]) -> list[tuple[Pair, Turn]]:
    """Give the turns of the pairs of logs that take turns.

    Two processes that run at once do not: either speaks while the other does, or within seconds, again and again.

    Args:
        mine: the events of these processes.
    """
    asked = mine.sparkSession.createDataFrame(pairs, "cluster string, client_id string, one string, other string")
    pair, log = ["cluster", "client_id", "one", "other"], ["cluster", "process"]
    silent = F.col("at_ms") - F.lag("at_ms").over(Window.partitionBy(*log).orderBy("at_ms")) > SPEAKS_WITHIN_MS
    numbered = mine.withColumn("is_new", F.when(silent, 1).otherwise(0)).withColumn(
        "piece", F.sum("is_new").over(Window.partitionBy(*log).orderBy("at_ms", "file", "place"))
    )
    times = F.min("at_ms").alias("from_ms"), F.max("at_ms").alias("until_ms")
    pieces = numbered.groupBy(*log, "piece").agg(*times)
    line = F.struct(moment().alias("moment"), "what")
    of_client = numbered.where(F.col("client_id").isNotNull()).groupBy(*log, "piece", "client_id")
    said = of_client.agg(F.min(line).alias("first"), F.max(line).alias("last"))
    logs = asked.withColumn("process", F.explode(F.array("one", "other")))
    of_pairs = logs.join(pieces, on=log, how="inner").join(said, on=[*log, "piece", "client_id"], how="left")
    in_order = Window.partitionBy(*pair).orderBy("from_ms", "until_ms")
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    is_other = F.lag("process").over(in_order) != F.col("process")
    met = of_pairs.withColumns(
        {
            "is_turn": F.when(is_other, 1).otherwise(0),
            "is_over": F.max("until_ms").over(before) > F.col("from_ms") + OUT_OF_ORDER_MS,
        }
    ).withColumn("turn", F.sum("is_turn").over(in_order.rowsBetween(Window.unboundedPreceding, 0)))
    spoken = met.groupBy(*pair, "turn").agg(
        *(F.min("from_ms").alias("from_ms"), F.max("until_ms").alias("until_ms")),
        *(F.min("first").alias("first"), F.max("last").alias("last"), F.max("is_over").alias("is_over")),
    )
    turn, whole = Window.partitionBy(*pair).orderBy("turn"), Window.partitionBy(*pair)
    is_between = F.lag("turn").over(turn).isNotNull() & F.lead("turn").over(turn).isNotNull()
    is_often = F.max("turn").over(whole) > 2  # one lies in more than one hole of the other
    is_short = is_often & is_between & (F.col("until_ms") - F.col("from_ms") < SPEAKS_WITHIN_MS)
    told = spoken.withColumns({"next": F.lead("first").over(turn), "is_short": is_short})
    is_at_once = F.max(F.coalesce(F.col("is_over"), F.lit(False)) | F.col("is_short")).over(whole)
    sure = told.withColumn("is_at_once", is_at_once).where(~F.col("is_at_once") & F.col("last").isNotNull())
    return [
        (
            (row["cluster"], row["client_id"], row["one"], row["other"]),
            Turn(
                row["last"]["moment"]["at_ms"], row["last"]["what"], row["next"]["moment"]["at_ms"], row["next"]["what"]
            ),
        )
        for row in sure.where(F.col("next").isNotNull()).collect()
    ]
