"""How a member went of which no line tells that it let its queues go: its last words, and who saw it go.

Brokers see a connection end and tell a second; the other members are told at once, and have the millisecond.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.clients import KEY, moment
from rebalance_engine.pipeline.keeping import computed_once
from rebalance_engine.pipeline.layouts import HISTORY
from rebalance_engine.pipeline.rounds import BY_BROKERS

MEMBER = [*KEY, "client_id"]
LAST_WORD_MS = 1_000  # a broker's second may begin before the client's last line
NOTIFIED_AFTER_MS = 1_500  # a broker notifies the others at once; its own line has only the second
SPEAKS_WITHIN_MS = 6_000  # who holds something says so, with its id, when it persists: every 5 s
EXPLAINED_MS = 2_000  # from another member's coming or going to the notifications that it makes
FOREVER_MS = 1 << 53  # it never starts again


def last_words(begun: DataFrame, events: DataFrame, life: DataFrame) -> DataFrame:
    """Give every member's last line before it starts anew, or of all: its process's, or its own where others share it.

    Its first one, ``came_ms``, stands beside.

    A log without pids is one process's here, whoever writes into it. What follows the last line that names anybody is
    of whom that names, as far as it comes soon: an end of many lines names nobody, as that of a client that is stopped.
    """
    own = events.where(F.col("client_id").isNotNull() & F.col("group").isNotNull() & (F.col("layout") != "broker"))
    of_log, process = Window.partitionBy(*KEY), ["cluster", "process"]
    # Of a member that broadcasts no line names both group and client: only what it took tells that it was there.
    there = (
        own.select(*MEMBER).unionByName(begun.where(F.col("client_id").isNotNull()).select(*MEMBER)).dropDuplicates()
    )
    members = there.withColumn("members", F.count(F.lit(1)).over(of_log))
    asked = begun.select(*MEMBER, "reborn_ms").dropDuplicates()
    asked = asked.join(members, on=MEMBER, how="left").join(_named(events), on=process, how="left")
    is_alone = (F.col("members") == 1) & F.coalesce(F.col("clients") <= 1, F.lit(True))
    asked = computed_once(asked.withColumn("is_alone", is_alone))
    restarts = asked.where(F.col("reborn_ms") != FOREVER_MS)
    of_member = own.groupBy(*MEMBER).agg(F.min("at_ms").alias("came_ms"), F.max("at_ms").alias("own_ms"))
    spoken = of_member.drop("came_ms").withColumn("reborn_ms", F.lit(FOREVER_MS))
    written = life.select(*process, F.lit(FOREVER_MS).alias("reborn_ms"), F.col("last_ms").alias("process_ms"))
    if not restarts.isEmpty():
        spoken = spoken.unionByName(_last_before(own, restarts, MEMBER, "own_ms"))
        written = written.unionByName(_last_before(events, restarts, process, "process_ms"))
    is_last = (F.col("reborn_ms") == FOREVER_MS) & (F.col("client_id") == F.col("named_last"))
    is_its_own = F.col("is_alone") | (is_last & (F.col("process_ms") <= F.col("own_ms") + SPEAKS_WITHIN_MS))
    last = F.when(is_its_own, F.greatest("process_ms", "own_ms")).otherwise(F.col("own_ms"))
    return (
        asked.join(spoken, on=[*MEMBER, "reborn_ms"], how="left")
        .join(of_member.drop("own_ms"), on=MEMBER, how="left")
        .join(written, on=[*process, "reborn_ms"], how="left")
        .select(*MEMBER, "reborn_ms", "is_alone", "came_ms", last.alias("last_ms"))
    )


def _named(events: DataFrame) -> DataFrame:
    """Say of every log without pids how many clients write into it, producers too, and whom it names last."""
    by_name = events.where(F.col("client_id").isNotNull() & F.col("layout").isin("java4", "cpp", "go"))
    return (
        by_name.groupBy("cluster", "process", "client_id")
        .agg(F.max(moment()).alias("moment"))
        .groupBy("cluster", "process")
        .agg(F.count(F.lit(1)).alias("clients"), F.max_by("client_id", "moment").alias("named_last"))
    )


def _last_before(lines: DataFrame, restarts: DataFrame, key: list[str], name: str) -> DataFrame:
    """Give the last line before each restart of whoever restarts: in one pass over the lines, however often that is."""
    asked = restarts.select(*key, "reborn_ms").dropDuplicates()
    # First lines are timed a little out of order.
    marks = asked.select(
        *key, "reborn_ms", (F.col("reborn_ms") - 5).alias("at_ms"), F.lit(None).cast("long").alias(name)
    )
    who = asked.select(*key).dropDuplicates()
    said = lines.select(*key, "at_ms", F.col("at_ms").alias(name)).join(F.broadcast(who), on=key, how="left_semi")
    both = marks.unionByName(said, allowMissingColumns=True).withColumn("hash", F.xxhash64(*key))
    before = Window.partitionBy("hash", *key).orderBy("at_ms", F.col("reborn_ms").asc_nulls_last())
    told = both.withColumn(name, F.last(name, ignorenulls=True).over(before.rowsBetween(Window.unboundedPreceding, 0)))
    return told.where(F.col("reborn_ms").isNotNull()).select(*key, "reborn_ms", name)


def departures_of(members: DataFrame, events: DataFrame) -> DataFrame:
    """Find how brokers saw a member go between its last line and its next start: left_ms, else closed_ms, or None.

    A broker tells a second: it was not before gone_after_ms, and no later than gone_before_ms, the second's end, or
    when the others were told; left_ms and closed_ms are when they were told, or the middle of what is possible. Where
    no broker's log tells, heard_ms is when the others were told of a change soon after its last line, which nobody's
    coming or going explains.

    Its next start may also be that of another process with its client id: whatever goes later is that one. So it is
    where brokers see its client go and come again, and no line tells of a start.
    """
    key = [*MEMBER, "last_ms", "reborn_ms"]
    made = events.where(F.col("what") == "instance made").select(
        "cluster", "client_id", F.col("at_ms").alias("made_ms")
    )
    later = F.min(F.when(F.col("made_ms") > F.col("last_ms"), F.col("made_ms")))
    known = (
        members.join(made, on=["cluster", "client_id"], how="left")
        .groupBy(*key, "is_alone")
        .agg(F.least("reborn_ms", later).alias("next_ms"))
    )
    gone = _goings(known, events, key)
    second = F.col("second_ms")
    in_second = F.col("told_ms").between(F.greatest(second, F.col("last_ms")), second + NOTIFIED_AFTER_MS)
    is_next = F.col("told_ms").between(F.col("last_ms"), F.least("next_ms", F.col("last_ms") + SPEAKS_WITHIN_MS))
    is_unseen = second.isNull() & ~F.col("is_explained")
    is_other = (F.col("peer") != F.col("process")) | ~F.col("is_alone")
    slots = F.when(second.isNotNull(), F.sequence(_slot("second_ms"), _slot("second_ms") + 1)).otherwise(
        F.sequence(_slot("last_ms"), _slot("last_ms") + SPEAKS_WITHIN_MS // NOTIFIED_AFTER_MS)
    )
    told_after = (
        gone.withColumn("slot", F.explode(slots))
        .join(_notifications(events), on=["cluster", "group", "slot"], how="left")
        .groupBy(*key, "next_ms", "left_second", "second_ms", "within_ms")
        .agg(
            F.min(F.when(in_second & is_other, F.col("told_ms"))).alias("told_ms"),
            F.min(F.when(is_next & is_unseen & is_other, F.col("told_ms"))).alias("heard_ms"),
        )
    )
    earliest = F.greatest(second, F.col("last_ms"))
    latest = F.greatest(F.col("last_ms"), second + F.col("within_ms") - 1)
    by_then = F.least(F.col("told_ms"), latest)
    middle = earliest + F.ceil((latest - earliest) / 2).cast("bigint")
    gone_ms = F.when(F.col("told_ms").isNotNull(), by_then).otherwise(middle)
    has_left = F.col("left_second").isNotNull()
    return told_after.select(
        *key,
        "next_ms",
        F.when(has_left, gone_ms).alias("left_ms"),
        F.when(second.isNotNull() & ~has_left, gone_ms).alias("closed_ms"),
        F.when(second.isNotNull() & (F.col("within_ms") > 1), earliest).alias("gone_after_ms"),
        F.when(second.isNotNull(), by_then).alias("gone_before_ms"),
        "heard_ms",
    )


def _goings(known: DataFrame, events: DataFrame, key: list[str]) -> DataFrame:
    """Give the second in which brokers saw a member go, second_ms, and left_second where it said good-bye."""
    told = events.where(F.col("what").isin("joined", "left", "closed") & F.col("layout").isin("broker", HISTORY.name))
    seen = told.select("cluster", "group", "client_id", "what", F.col("at_ms").alias("seen_ms"), "resolution_ms")
    after = known.join(seen, on=["cluster", "group", "client_id"], how="left")
    is_mine = F.col("seen_ms").between(F.col("last_ms") - LAST_WORD_MS, F.col("next_ms"))
    is_going = F.col("what") != "joined"
    those = F.array_agg(F.when(is_mine, F.struct("seen_ms", "what")))
    found = after.groupBy(*key, "is_alone", "next_ms").agg(
        those.alias("those"), F.max(F.when(is_going, F.col("resolution_ms"))).alias("within_ms")
    )

    def first(*what: str, since: Column | None = None) -> Column:
        fits = F.filter(
            "those", lambda one: one["what"].isin(*what) & (F.lit(True) if since is None else one["seen_ms"] > since)
        )
        return F.array_min(F.transform(fits, lambda one: one["seen_ms"]))

    back = first("joined", since=first("left", "closed"))
    until = found.withColumn("next_ms", F.least("next_ms", back))
    left, closed = (F.when(first(what) <= F.col("next_ms"), first(what)) for what in ("left", "closed"))
    return until.select(
        *key, "is_alone", "next_ms", left.alias("left_second"), F.coalesce(left, closed).alias("second_ms"), "within_ms"
    )


def _notifications(events: DataFrame) -> DataFrame:
    """Give what members are told of changes of their group: peer, told_ms; is_explained: a log tells why."""
    whys = ("consumer started", "consumer stopped", "unregistered", *BY_BROKERS)
    around = Window.partitionBy("cluster", "group").orderBy("at_ms").rangeBetween(-EXPLAINED_MS, EXPLAINED_MS // 10)
    those = events.where(F.col("what").isin("notified", *whys) & F.col("group").isNotNull())
    return (
        those.withColumn("is_explained", F.max(F.col("what") != "notified").over(around))
        .where(F.col("what") == "notified")
        .select(
            "cluster",
            "group",
            F.col("process").alias("peer"),
            F.col("at_ms").alias("told_ms"),
            "is_explained",
            _slot("at_ms").alias("slot"),
        )
    )


def _slot(time: str) -> Column:
    """Number the times in which a second and what follows at once lie: in its slot, or the next."""
    return F.floor(F.col(time) / NOTIFIED_AFTER_MS).cast("bigint")
