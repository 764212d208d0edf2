"""Where the logs of members begin and end: one that was cut, rolled or copied early does not tell what lies beyond.

A log is what one host has under one name, rolled parts and all; where lines have pids, whatever the host has of them.
That a process falls silent in a log that goes on is its own end.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.beginnings import SHOWS_WITHIN_MS
from rebalance_engine.pipeline.events import family_of
from rebalance_engine.pipeline.rounds import SECOND_MS

WRITERS = ("java5", "java4")  # they persist the offsets of what they hold every 5 s; the others may be silent for long


def latest_end() -> Column:
    """Give when a hold ended as late as may be.

    Of a shutdown whose end no line tells the last that is known counts: who shuts down is no member any more.
    """
    is_stop = (F.col("ended") == "stopped") & F.col("layout").isin(*WRITERS)
    return F.when(is_stop, F.col("until_ms")).otherwise(F.coalesce("until_before_ms", "until_ms"))


def log_ends_of(events: DataFrame, changes: DataFrame, spans: DataFrame, life: DataFrame) -> DataFrame:
    """Give as clues of groups, ``log ends``, the last line of each member's logs.

    A member that took queues, and of which no line persists an offset, may be silent as well: it is left out. A log
    that breaks off soon after its member's start names that in the start alone.

    Args:
        changes: as ``EVENTS``, with client ids.
    """
    member = ["cluster", "group", "client_id"]
    taken = spans.select(*member, F.lit(True).alias("took")).distinct()
    return (
        _ends(events, spans, life, changes.where(F.col("what") == "consumer starting"))
        .groupBy(*member)
        .agg(F.max("at_ms").alias("at_ms"), F.max("persists").alias("persists"))
        .join(taken, on=member, how="left")
        .where(F.col("persists") | F.col("took").isNull())
        .select("cluster", "group", F.lit("log ends").alias("what"), "at_ms", "client_id")
    )


def ends_of_logs(events: DataFrame, spans: DataFrame, life: DataFrame) -> DataFrame:
    """Give the last line, ``at_ms``, of the log of each process in which a member persists, by MEMBER.

    One client id may be that of several processes, one after another: the log of one may be cut, and another's not.
    """
    return _ends(events, spans, life).where("persists").select("cluster", "process", "group", "client_id", "at_ms")


def log_begins_of(changes: DataFrame, spans: DataFrame, life: DataFrame) -> DataFrame:
    """Give as clues of groups, ``log begins``, until when the logs of members that had come before do not tell all.

    That is their first line, or the first that shows something that they had then: what they hold they persist every
    5 s. A log that has its process's start begins with it.
    """
    key = ["cluster", "process", "group", "client_id"]
    early = spans.where(F.col("from_ms").isNull() & F.col("layout").isin(*WRITERS))
    seen = early.groupBy(*key).agg(F.collect_list("first_seen_ms").alias("seen"))
    started = changes.where(F.col("what") == "consumer starting").select(*key, F.col("at_ms").alias("start_ms"))
    first = F.array_min("spoken.from_ms").alias("first_ms")
    begun = (
        seen.join(life.select("cluster", "process", first), on=["cluster", "process"], how="inner")
        .join(started, on=key, how="left")
        .groupBy(*key, "seen", "first_ms")
        .agg(F.min("start_ms").alias("start_ms"))
    )
    late = begun.where(F.col("start_ms").isNull() | (F.col("start_ms") > F.array_min("seen")))
    soon = F.filter("seen", lambda at: at <= F.col("first_ms") + SHOWS_WITHIN_MS)
    at = F.greatest("first_ms", F.array_max(soon))
    return (
        late.groupBy("cluster", "group", "client_id")
        .agg(F.min(at).alias("at_ms"))
        .select("cluster", "group", F.lit("log begins").alias("what"), "at_ms", "client_id")
    )


def _ends(events: DataFrame, spans: DataFrame, life: DataFrame, starts: DataFrame | None = None) -> DataFrame:
    own = events.where(F.col("layout").isin(*WRITERS))
    log = ["cluster", "host", "family"]
    of_file = own.groupBy("cluster", "host", "layout", "file").agg(F.max("at_ms").alias("said_ms"))
    ends = of_file.groupBy("cluster", "host", family_of().alias("family")).agg(F.max("said_ms").alias("said_ms"))
    beats = own.where(F.col("what") == "heartbeat data").withColumn("group", F.explode("queues"))
    both = own.where(F.col("group").isNotNull()).unionByName(beats.select(own.columns))
    if starts is not None:
        both = both.unionByName(starts.where(F.col("layout").isin(*WRITERS)), allowMissingColumns=True)
    named = both.where(F.col("client_id").isNotNull())
    persists = F.max(F.col("what") == "persisted all").alias("persists")
    member = ["cluster", "process", "group", "client_id"]
    in_log = named.groupBy(*member, "host", "layout", "file").agg(persists)
    processes = life.select("cluster", "process", F.col("last_ms").alias("process_ms"))
    groups = spans.select("cluster", "group").distinct()
    return (
        in_log.withColumn("family", family_of())
        .join(ends, on=log, how="inner")
        .join(processes, on=["cluster", "process"], how="left")
        .groupBy(*member)
        .agg(F.max(F.greatest("said_ms", "process_ms")).alias("at_ms"), F.max("persists").alias("persists"))
        .join(groups, on=["cluster", "group"], how="left_semi")
    )


def input_ends_of(events: DataFrame, spans: DataFrame, life: DataFrame) -> DataFrame:
    """Tell every group when its input ends: what was given up and not taken until then nobody has.

    That is when the last log ends that names the group, a member's or a broker's, or what is told of its last hold.
    Others' logs may go on for long: who came to the group then they would not say.
    """
    group = ["cluster", "group"]
    groups = spans.select(*group).distinct()
    named = events.where(F.col("group").isNotNull()).select(*group, "process").distinct()
    logs = named.join(groups, on=group, how="left_semi").join(life, on=["cluster", "process"], how="inner")
    ends = logs.select(*group, F.col("last_ms").alias("at_ms"))
    ends_ms = F.col("until_ms") + SECOND_MS  # a broker tells a second; of a shutdown that is cut no line tells more
    by_then = F.when(F.col("until_before_ms").isNotNull(), F.least("until_before_ms", ends_ms))
    held = spans.select(*group, F.coalesce(by_then, "until_ms").alias("at_ms"))
    last = ends.unionByName(held).groupBy(*group).agg(F.max("at_ms").alias("at_ms"))
    return last.select(*group, F.lit("input ends").alias("what"), "at_ms")
