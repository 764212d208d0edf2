"""Events to holds: each time a queue entered a client's process-queue table until it left it.

A hold ends by the first of: its queue's removal line (``released``); the consumer's "shutdown OK", or, where the log
breaks off while shutting down, its last line (``stopped``); the process's next start, or its connections' end at a
broker without a line of its own (``lost``); the end of the input (``open``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.clients import KEY, QUEUE_KEY, moment
from rebalance_engine.pipeline.schemas import FILED_HOLDS, SPANS, day_of, shaped
from rebalance_engine.pipeline.templates import ADDS, REMOVES

MEMBER = [*KEY, "client_id"]
LAST_WORD_MS = 1_000  # a broker's second may begin before the client's last line
NOTIFIED_AFTER_MS = 1_500  # a broker notifies the others at once; its own line has only the second
SILENT_MS = 30_000  # a consumer persists every 5 s
SILENT_WHILE_CONNECTED_MS = 150_000  # heartbeats of 30 s, expiry of 120 s: no broker would still have it


def holds_of(spans: DataFrame) -> DataFrame:
    """Give the holds whose beginning was seen, each with the cluster and day under which it is filed."""
    return shaped(spans.where(F.col("from_ms").isNotNull()), FILED_HOLDS)


def spans_of(events: DataFrame, changes: DataFrame, life: DataFrame) -> DataFrame:
    """Give every hold, those that began before the input too.

    Args:
        events: as ``EVENTS``, all of a cluster.
        changes: of :func:`rebalance_engine.pipeline.clients.changes_of`.
        life: the last line of every process, of :func:`rebalance_engine.pipeline.events.signs_of_life`.
    """
    begun = changes.where(F.col("what").isin(*ADDS)).withColumn("from_ms", F.col("at_ms"))
    removed = changes.where(F.col("what").isin(*REMOVES))
    earlier = _begun_before(begun.unionByName(removed, allowMissingColumns=True), events)
    marks = _marks(changes, events)
    timeline = (
        begun.select(*_columns(), F.lit("begin").alias("mark"), "from_ms")
        .unionByName(earlier.select(*_columns(), F.lit("begin").alias("mark"), "from_ms"))
        .unionByName(
            removed.select(*_columns(), F.lit("remove").alias("mark"), F.lit(None).cast("long").alias("from_ms"))
        )
        .unionByName(marks.select(*_columns(), "mark", F.lit(None).cast("long").alias("from_ms")))
    )
    return _shaped(_ended(_with_what_follows(timeline), events, life))


def _columns() -> list[str]:
    return [*MEMBER, *QUEUE_KEY, "host", "layout", "at_ms", "file", "place"]


def _begun_before(changes: DataFrame, events: DataFrame) -> DataFrame:
    """Find queues that were held when the input began: the first seen of them is no add."""
    key = [*MEMBER, *QUEUE_KEY]
    kept = events.where(
        (F.col("what") == "persisted all") & F.col("client_id").isNotNull() & F.col("group").isNotNull()
    )
    seen = kept.select(*_columns()).withColumn("is_add", F.lit(False))
    told = changes.select(*_columns(), F.col("what").isin(*ADDS).alias("is_add"))
    first = (
        seen.unionByName(told)
        .groupBy(*key)
        .agg(F.min_by(F.struct("is_add", "host", "layout"), moment()).alias("first"), F.min(moment()).alias("moment"))
    )
    # One place before, so that a removal that is the first to be seen ends it.
    return first.where(~F.col("first.is_add")).select(
        *key,
        "first.host",
        "first.layout",
        "moment.at_ms",
        "moment.file",
        (F.col("moment.place") - 1).alias("place"),
        F.lit(None).cast("long").alias("from_ms"),
    )


def _marks(changes: DataFrame, events: DataFrame) -> DataFrame:
    """Give starts and stops of members, as far as clients' own logs tell them."""
    of_group = changes.where(F.col("client_id").isNotNull()).withColumn(
        "mark",
        F.when(F.col("what") == "consumer stopped", "stop")
        .when(F.col("what") == "unregistered", "stopping")
        .when(F.col("what") == "consumer starting", "start"),
    )
    members = changes.where(F.col("client_id").isNotNull()).select(*MEMBER).dropDuplicates()
    made = (
        events.where(F.col("what") == "instance made")
        .drop("group")
        .join(members, on=["cluster", "process", "client_id"], how="inner")
    )
    return of_group.where(F.col("mark").isNotNull()).unionByName(
        made.withColumn("mark", F.lit("start")), allowMissingColumns=True
    )


def _with_what_follows(timeline: DataFrame) -> DataFrame:
    """Give every begin the next change of its queue, and the next stop and start of its member.

    Windows run backwards, because a frame that ends at the last row costs the square of the rows.
    """
    of_queue = (
        Window.partitionBy(*MEMBER, *QUEUE_KEY).orderBy(F.desc(moment())).rowsBetween(Window.unboundedPreceding, -1)
    )
    of_member = Window.partitionBy(*MEMBER).orderBy(F.desc(moment())).rowsBetween(Window.unboundedPreceding, -1)

    def next_mark(mark: str, window: object) -> Column:
        return F.last(F.when(F.col("mark") == mark, moment()), ignorenulls=True).over(window)  # type: ignore[arg-type]

    return timeline.withColumns(
        {
            "next_begin": next_mark("begin", of_queue),
            "next_remove": next_mark("remove", of_queue),
            "next_stop": next_mark("stop", of_member),
            "next_stopping": next_mark("stopping", of_member),
            "next_start": next_mark("start", of_member),
        }
    ).where(F.col("mark") == "begin")


def _ended(begun: DataFrame, events: DataFrame, life: DataFrame) -> DataFrame:
    nexts = [F.col(f"next_{name}") for name in ("begin", "remove", "stop", "start")]
    first = F.least(*nexts)
    how = (
        F.when(first.isNull(), None)
        .when(first == F.col("next_remove"), "remove")
        .when(first == F.col("next_stop"), "stop")
        .when(first == F.col("next_start"), "start")
        .otherwise("begin")
    )
    is_stopping = F.col("next_stopping").isNotNull() & (first.isNull() | (F.col("next_stopping") < first))
    told = begun.withColumns({"how": how, "end_ms": first["at_ms"], "is_stopping": is_stopping})
    closed = told.where(F.col("how").isin("remove", "stop", "begin"))
    ended = F.when(F.col("how") == "stop", "stopped").otherwise("released")
    evidence = (
        F.when(F.col("how") == "stop", "shutdown line")
        .when(F.col("how") == "remove", "removal line")
        .otherwise("added again; its removal is not in the log")
    )
    by_line = closed.withColumns(
        {"until_ms": F.col("end_ms"), "ended": ended, "evidence": evidence, "first_seen_ms": F.col("at_ms")}
    )
    at_restart = _ended_by_restart(told.where(F.col("how") == "start"), events)
    at_last = _ended_with_process(told.where(F.col("how").isNull()), events, life)
    return by_line.unionByName(at_restart, allowMissingColumns=True).unionByName(at_last, allowMissingColumns=True)


def _ended_by_restart(told: DataFrame, events: DataFrame) -> DataFrame:
    restarts = told.select("cluster", "process", "end_ms").dropDuplicates()
    lines = events.select("cluster", "process", F.col("at_ms").alias("line_ms"))
    last = (
        lines.join(F.broadcast(restarts), on=["cluster", "process"], how="inner")
        .where(F.col("line_ms") < F.col("end_ms") - 5)  # a restarted process's first lines, timed a little out of order
        .groupBy("cluster", "process", "end_ms")
        .agg(F.max("line_ms").alias("last_ms"))
    )
    joined = told.join(last, on=["cluster", "process", "end_ms"], how="left")
    return joined.withColumns(
        {
            "until_ms": F.greatest(F.coalesce("last_ms", "end_ms"), F.col("at_ms")),
            "ended": F.when(F.col("is_stopping"), "stopped").otherwise("lost"),
            "evidence": F.lit("the process started anew; its last line before"),
            "first_seen_ms": F.col("at_ms"),
        }
    )


def _ended_with_process(told: DataFrame, events: DataFrame, life: DataFrame) -> DataFrame:
    joined = (
        told.join(_last_words(events, life), on=MEMBER, how="left")
        .join(_ends_of_input(life, events), on="cluster", how="left")
        .withColumn("last_ms", F.greatest("last_ms", "at_ms"))
    )
    gone = _departures(joined.select(*MEMBER, "last_ms").dropDuplicates(), events)
    seen = joined.join(gone, on=[*MEMBER, "last_ms"], how="left")
    silent = F.col("input_end_ms") - F.col("last_ms")
    is_watched = F.coalesce(F.col("broker_end_ms") >= F.col("last_ms") + SILENT_MS, F.lit(False))
    is_silent = F.when(is_watched, silent > SILENT_WHILE_CONNECTED_MS).otherwise(silent > SILENT_MS)
    is_stopped = F.col("is_stopping") | F.col("left_ms").isNotNull()
    return seen.withColumns(
        {
            "ended": F.when(is_stopped, "stopped")
            .when(F.col("closed_ms").isNotNull() | is_silent, "lost")
            .otherwise("open"),
            "until_ms": F.when(F.col("is_stopping"), F.col("last_ms"))
            .when(F.col("left_ms").isNotNull(), F.greatest("last_ms", "left_ms"))
            .when(F.col("closed_ms").isNotNull(), F.col("closed_ms"))
            .when(is_silent, F.col("last_ms"))
            .otherwise(F.col("input_end_ms")),
            "evidence": F.when(F.col("is_stopping"), "last line of a shutdown")
            .when(F.col("left_ms").isNotNull(), "a broker's unregister line")
            .when(F.col("closed_ms").isNotNull(), "a broker saw its connection end")
            .when(is_silent, "last line; silent until the input's end")
            .otherwise("the input's end"),
            "first_seen_ms": F.col("at_ms"),
        }
    )


def _last_words(events: DataFrame, life: DataFrame) -> DataFrame:
    """Give every member's last line: its process's, or, where others write into the same log, its own."""
    own = (
        events.where(F.col("client_id").isNotNull() & F.col("group").isNotNull())
        .where(F.col("layout") != "broker")
        .groupBy(*MEMBER)
        .agg(F.max("at_ms").alias("own_ms"))
    )
    alone = F.count(F.lit(1)).over(Window.partitionBy(*KEY)) == 1
    last = F.when(F.col("alone"), F.greatest("process_ms", "own_ms")).otherwise(F.col("own_ms"))
    of_process = life.select("cluster", "process", F.col("last_ms").alias("process_ms"))
    joined = own.withColumn("alone", alone).join(of_process, on=["cluster", "process"], how="left")
    return joined.select(*MEMBER, last.alias("last_ms"))


def _ends_of_input(life: DataFrame, events: DataFrame) -> DataFrame:
    brokers = events.where(F.col("layout") == "broker").groupBy("cluster").agg(F.max("at_ms").alias("broker_end_ms"))
    return life.groupBy("cluster").agg(F.max("last_ms").alias("input_end_ms")).join(brokers, on="cluster", how="left")


def _departures(members: DataFrame, events: DataFrame) -> DataFrame:
    """Find how brokers saw a member go after its last line: left_ms, closed_ms; None where none did."""
    seen = events.where(F.col("what").isin("left", "closed", "joined") & (F.col("layout") == "broker")).select(
        "cluster", "group", "client_id", "what", F.col("at_ms").alias("seen_ms")
    )
    after = members.join(seen, on=["cluster", "group", "client_id"], how="inner").where(
        F.col("seen_ms") >= F.col("last_ms") - LAST_WORD_MS
    )
    key = [*MEMBER, "last_ms"]
    gone = after.groupBy(*key).agg(
        F.min(F.when(F.col("what") == "left", F.col("seen_ms"))).alias("left_ms"),
        F.min(F.when(F.col("what") == "closed", F.col("seen_ms"))).alias("second_ms"),
    )
    told = events.where(F.col("what") == "notified").select(
        "cluster", "group", F.col("process").alias("peer"), F.col("at_ms").alias("told_ms")
    )
    second = F.col("second_ms")
    in_second = F.col("told_ms").between(F.greatest(second, F.col("last_ms")), second + NOTIFIED_AFTER_MS)
    told_after = (
        gone.join(told, on=["cluster", "group"], how="left")
        .groupBy(*key, "left_ms", "second_ms")
        .agg(F.min(F.when(in_second & (F.col("peer") != F.col("process")), F.col("told_ms"))).alias("told_ms"))
    )
    exact = F.least(F.col("told_ms"), second + 999)
    middle = F.greatest(F.col("last_ms"), second + 500)
    return told_after.select(*key, "left_ms", F.when(second.isNotNull(), F.coalesce(exact, middle)).alias("closed_ms"))


def _shaped(ended: DataFrame) -> DataFrame:
    began = F.coalesce("from_ms", "first_seen_ms")
    return shaped(ended.withColumn("from_place", F.col("place")).withColumn("day", day_of(began)), SPANS)
