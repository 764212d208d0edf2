"""When logs speak: one that falls silent for longer than its writer ever does has a hole, and tells nothing of it.

A broker registers itself at the NameServers every 10 to 60 s (``BrokerController``), and says so each time. That it
tells of nobody meanwhile proves nothing where it does not say that either: a part of its log is lost, or it was away.
A Java client that holds something persists its offset every 5 s, from 10 s after its start on, and says so.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.layouts import BROKER, HISTORY, JAVA4, JAVA5
from rebalance_engine.pipeline.rounds import BY_BROKERS
from rebalance_engine.pipeline.sweep import PERSISTS_WITHIN_MS
from rebalance_engine.pipeline.templates import ADDS

REGISTERS_WITHIN_MS = 75_000  # every 60 s at the least, and it may be late
MINUTE_MS = 60_000
PERSISTS_EVERY_MS = 5_000
PERSISTS_FIRST_WITHIN_MS = 12_500  # of what it took at its start
WATCHES_FOR_MS = 30_000  # an end that nobody tells so long after a member's last line was none, or had no witness
LOG = ["cluster", "host", "process"]
PERSISTING = (JAVA5.name, JAVA4.name)
HELD = {"persisted_ms": ("persisted all",), "added_ms": ADDS}


def spoken_of(lines: DataFrame) -> DataFrame:
    """Give of every process its last line, ``last_ms``, and the times in which its log has no hole, ``spoken``.

    Args:
        lines: with their UTC time, ``at_ms``.
    """
    is_broker, is_java = F.col("layout") == BROKER.name, F.col("layout").isin(*PERSISTING)
    minute = F.when(is_broker, F.floor(F.col("at_ms") / MINUTE_MS)).when(
        is_java, F.floor(F.col("at_ms") / PERSISTS_EVERY_MS)
    )
    registers = F.max(F.when(is_broker & (F.col("what") == "alive"), 1))
    said = {name: F.max(F.when(is_java & F.col("what").isin(*whats), F.col("at_ms"))) for name, whats in HELD.items()}
    minutes = lines.groupBy(*LOG, minute.alias("minute")).agg(
        *(F.min("at_ms").alias("from_ms"), F.max("at_ms").alias("until_ms"), registers.alias("registers")),
        *(time.alias(name) for name, time in said.items()),
    )
    in_order, whole = Window.partitionBy(*LOG).orderBy("minute"), Window.partitionBy(*LOG)
    last_ms, lately = F.lag("until_ms").over(in_order), in_order.rowsBetween(-3, -1)
    silence = F.col("from_ms") - last_ms

    def falls_silent(name: str, within_ms: int) -> Column:
        """Ask whether who says so again, unless it lets go all that it has, does not."""
        return (silence > within_ms) & (last_ms - F.max(name).over(lately) < within_ms)

    persists = F.max("persisted_ms").over(whole).isNotNull()
    is_hole = (
        ((silence > REGISTERS_WITHIN_MS) & F.max("registers").over(whole).isNotNull())
        | falls_silent("persisted_ms", PERSISTS_WITHIN_MS)
        | (falls_silent("added_ms", PERSISTS_FIRST_WITHIN_MS) & persists)
    )
    is_hole = F.coalesce(is_hole, F.lit(False))
    parts = minutes.withColumn("is_hole", F.when(is_hole, 1).otherwise(0)).withColumn(
        "part", F.sum("is_hole").over(in_order)
    )
    of_part = parts.groupBy(*LOG, "part").agg(F.min("from_ms").alias("from_ms"), F.max("until_ms").alias("until_ms"))
    return of_part.groupBy(*LOG).agg(
        F.max("until_ms").alias("last_ms"), F.collect_list(F.struct("from_ms", "until_ms")).alias("spoken")
    )


def tellers_of(events: DataFrame, life: DataFrame) -> DataFrame:
    """Give each group the logs of brokers, or history, that name any of its members, and when these speak: ``spoken``.

    One that never names anybody of a group may have no topic of it, and would not name its members.
    """
    own = events.where(F.col("layout").isin(BROKER.name, HISTORY.name))
    named = own.where(F.col("what").isin(*BY_BROKERS) & F.col("group").isNotNull())
    groups = named.groupBy("cluster", "process", "group").agg(F.collect_set("client_id").alias("clients"))
    return groups.join(life.select("cluster", "process", "spoken"), on=["cluster", "process"], how="inner")


def watched_of(members: DataFrame, events: DataFrame, life: DataFrame) -> DataFrame:
    """Find the members whose end a broker's log would have told: it speaks from before their last line until after it.

    A log that names others of the group and began before a member came would have named it, if that broker had known
    it; one that began later need not.

    Args:
        members: cluster, group, client_id, came_ms, last_ms, and others.

    Returns:
        The members of whom it is so.
    """
    told = tellers_of(events.where(F.col("layout") == BROKER.name), life)
    begins = F.array_min(F.col("spoken.from_ms"))
    may_tell = F.array_contains("clients", F.col("client_id")) | (begins > F.col("came_ms"))
    spoke = F.exists(
        "spoken",
        lambda part: (part["from_ms"] <= F.col("last_ms")) & (part["until_ms"] >= F.col("last_ms") + WATCHES_FOR_MS),
    )
    met = members.join(told.drop("process"), on=["cluster", "group"], how="inner")
    return met.where(may_tell & spoke).select(*members.columns).distinct()
