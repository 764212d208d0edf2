"""Which member's doing a line about a queue tells of, and which of the offsets that are persisted every 5 s count.

Lines about pulls, offsets and locks name their queue, sometimes their group, seldom their client. They are of the group
that they name, else of all groups of their process; and of the one client whose changes its log tells.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.silences import tellers_of
from rebalance_engine.pipeline.templates import ADDS, REMOVES

QUEUE_KEY = ["cluster", "process", "folder", "group", "topic", "broker", "queue_id"]
FOLDER = r"^(.*?)(?:/other_?days)?/[^/]*$"  # rolled logs lie in a folder of their own beside the log


def folder_of() -> Column:
    """Name the folder in which a process keeps its log: one machine's pods may all have the pid 1."""
    return F.regexp_extract("file", FOLDER, 1)


def alone_in_folder(changes: DataFrame) -> DataFrame:
    """Name the one client of a group whose lines a process has in a folder, where it is one."""
    of_folder = ["cluster", "process", "folder", "group"]
    named = changes.where(F.col("client_id").isNotNull()).withColumn("folder", folder_of())
    counted = named.groupBy(*of_folder).agg(F.min("client_id").alias("alone"), F.max("client_id").alias("last"))
    return counted.where(F.col("alone") == F.col("last")).drop("last")


def of_groups(lines: DataFrame, members: DataFrame, alone: DataFrame) -> DataFrame:
    """Give lines about queues to the groups that they name.

    One that names a queue and no group is of the only one of its process, or nobody knows of which; one that names
    neither may be of any. A line that names no client is of the only one in its folder, or may be of any.
    """
    counted = members.groupBy("cluster", "process").agg(F.countDistinct("group").alias("groups"))
    whose = members.join(counted, on=["cluster", "process"])
    told = lines.withColumnsRenamed({"group": "named"}).join(whose, on=["cluster", "process"], how="inner")
    is_free = F.col("named").isNull() & ((F.col("groups") == 1) | F.col("topic").isNull())
    mine = told.where(is_free | (F.col("named") == F.col("group"))).drop("groups").withColumn("folder", folder_of())
    met = mine.join(F.broadcast(alone), on=["cluster", "process", "folder", "group"], how="left")
    return met.withColumn("client_id", F.coalesce("client_id", "alone")).drop("folder", "alone", "named")


def beside_changes(events: DataFrame, members: DataFrame, alone: DataFrame) -> DataFrame:
    """Keep the two offsets before a removal, or before the end, the first after an add, and the first that grew."""
    kinds = ("persisted all", *ADDS, *REMOVES)
    rows = events.where(F.col("what").isin(*kinds) & F.col("queue_id").isNotNull()).withColumn("folder", folder_of())
    # Rows are sorted by a number first: names that begin alike are compared to their end, row by row.
    rows = rows.withColumn("hash", F.xxhash64(*QUEUE_KEY))
    in_order = Window.partitionBy("hash", *QUEUE_KEY).orderBy("at_ms", "place")
    is_add = F.when(F.col("what").isin(*ADDS), 1).otherwise(0)
    rows = rows.withColumns(
        {
            "next": F.lead("what").over(in_order),
            "after_next": F.lead("what", 2).over(in_order),
            "epoch": F.sum(is_add).over(in_order),
        }
    )
    of_epoch = Window.partitionBy("hash", *QUEUE_KEY, "epoch").orderBy("at_ms", "place")
    kept = rows.where(F.col("what") == "persisted all")
    grew = F.when(F.col("number") > F.first("number").over(of_epoch), 1).otherwise(0)
    kept = kept.withColumn("grew", grew).withColumn("grown", F.sum("grew").over(of_epoch))
    kept = kept.withColumn("nth", F.row_number().over(of_epoch))

    def ends(column: str) -> Column:
        return F.col(column).isNull() | F.col(column).isin(*REMOVES)

    first = (F.col("nth") == 1) | ((F.col("grew") == 1) & (F.col("grown") == 1))
    chosen = kept.where(ends("next") | ends("after_next") | first)
    return of_groups(chosen.drop("folder"), members, alone)


def counts_of(events: DataFrame, spans: DataFrame) -> DataFrame:
    """Give by how many members each of them divided, and how many queues of a topic (``divided``).

    Of results that say the same these are the first and the last.
    """
    groups = spans.select("cluster", "group").distinct()
    told = events.where((F.col("what") == "result") & F.col("number").isNotNull() & (F.col("layout") != "broker"))
    member, nothing = ["cluster", "group", "process", "client_id"], F.lit(None)

    def is_edge(number: str, *of: str) -> Column:
        in_order = Window.partitionBy(*member, *of).orderBy("at_ms", "place")
        before, after = F.lag(number).over(in_order), F.lead(number).over(in_order)
        return ~(before.eqNullSafe(F.col(number)) & after.eqNullSafe(F.col(number)))

    def says(what: str, topic: Column, number: str) -> Column:
        return F.struct(F.lit(what).alias("what"), topic.cast("string").alias("topic"), F.col(number).alias("number"))

    edges = told.join(groups, on=["cluster", "group"], how="left_semi").withColumns(
        {"by_members": is_edge("number"), "by_queues": is_edge("number2", "topic") & F.col("number2").isNotNull()}
    )
    both = F.array(
        F.when(F.col("by_members"), says("counted", nothing, "number")),
        F.when(F.col("by_queues"), says("divided", F.col("topic"), "number2")),
    )
    each = edges.withColumn("said", F.explode(F.array_compact(both)))
    return each.select("cluster", "group", "at_ms", "client_id", "said.what", "said.topic", "said.number")


def clocks_of_groups(clocks: DataFrame, spans: DataFrame) -> DataFrame:
    """Give every group by how much the clocks of its members' hosts are ahead of brokers', ``number`` to ``number2``.

    Args:
        clocks: as ``CLOCKS``.
    """
    hosts = spans.select("cluster", "group", "host").distinct()
    told = hosts.join(clocks, on=["cluster", "host"], how="inner")
    bounds = F.col("least_ms").alias("number"), F.col("most_ms").alias("number2")
    names = F.col("host").alias("process"), F.col("broker_host").alias("broker")
    return told.select("cluster", "group", F.lit("clock").alias("what"), "at_ms", *names, *bounds)


def covers_of(events: DataFrame, life: DataFrame) -> DataFrame:
    """Give every group from when until when (``number``) each broker's log, or history, tells who comes and goes.

    In a hole of its log a broker tells nothing.
    """
    each = tellers_of(events, life).withColumn("part", F.explode("spoken"))
    times = F.col("part.from_ms").alias("at_ms"), F.col("part.until_ms").alias("number")
    return each.select("cluster", "group", F.lit("brokers tell").alias("what"), "process", *times)
