"""Events to holds: each time a queue entered a client's process-queue table until it left it.

A hold ends by the first of: its queue's removal line (``released``); the consumer's "shutdown OK", or, where the log
breaks off while shutting down, its last line (``stopped``); the process's next start, or its connections' end at a
broker without a line of its own (``lost``); the end of the input (``open``).

A Java client that is stopped says good-bye to one broker after the other ("unregister client", ``MQClientInstance``),
shuts its threads and connections down, and only then says "shutdown OK" and clears its table. The first good-bye is
when it began to be no member any more, which may be seconds before: it is the hold's ``until_after_ms``. The first,
because a line follows the broker's answer: by the last one no broker may have listed it for a while. C++ and Go write
no such line that names the group.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.clients import KEY, QUEUE_KEY, moment
from rebalance_engine.pipeline.layouts import HISTORY
from rebalance_engine.pipeline.schemas import FILED_HOLDS, SPANS, day_of, shaped
from rebalance_engine.pipeline.templates import ADDS, REMOVES

MEMBER = [*KEY, "client_id"]
LAST_WORD_MS = 1_000  # a broker's second may begin before the client's last line
NOTIFIED_AFTER_MS = 1_500  # a broker notifies the others at once; its own line has only the second
SILENT_MS = 30_000  # a consumer persists every 5 s
FOREVER_MS = 1 << 53  # it never starts again
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
    looked_before = F.when(F.col("layout") == HISTORY.name, F.col("number2"))
    begun = changes.where(F.col("what").isin(*ADDS)).withColumns(
        {"from_ms": F.col("at_ms"), "from_after_ms": looked_before}
    )
    removed = changes.where(F.col("what").isin(*REMOVES)).withColumn("removed_after_ms", looked_before)
    earlier = _begun_before(begun.unionByName(removed, allowMissingColumns=True), events)
    marks = _marks(changes, events)
    timeline = (
        begun.select(*_columns(), F.lit("begin").alias("mark"), "from_ms", "from_after_ms")
        .unionByName(earlier.select(*_columns(), F.lit("begin").alias("mark"), "from_ms"), allowMissingColumns=True)
        .unionByName(
            removed.select(
                *_columns(),
                F.lit("remove").alias("mark"),
                F.lit(None).cast("long").alias("from_ms"),
                "other",
                "removed_after_ms",
            ),
            allowMissingColumns=True,
        )
        .unionByName(
            marks.select(*_columns(), "mark", F.lit(None).cast("long").alias("from_ms")), allowMissingColumns=True
        )
    )
    # Kept: it is as small as the table of holds, and much is asked of it below.
    return _shaped(_ended(_with_what_follows(timeline).localCheckpoint(), events, life))


def _columns() -> list[str]:
    return [*MEMBER, *QUEUE_KEY, "host", "layout", "at_ms", "file", "place"]


def _begun_before(changes: DataFrame, events: DataFrame) -> DataFrame:
    """Find queues that were held when the input began: the first seen of them is no add."""
    key = [*MEMBER, *QUEUE_KEY]
    kept = events.where(
        (F.col("what") == "persisted all")
        & F.col("client_id").isNotNull()
        & F.col("group").isNotNull()
        & F.col("queue_id").isNotNull()  # a line may be cut
    )
    # First those of one file: two numbers are summed up in passing, where a whole row takes a sorting of all lines.
    of_file = kept.groupBy(*key, "host", "layout", "file").agg(
        F.min("at_ms").alias("at_ms"), F.min("place").alias("place")
    )
    seen = of_file.select(*_columns()).withColumn("is_add", F.lit(False))
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

    # Only a member's own report tells why it let a queue go: logs have other lines for the end of a process.
    removal = F.when(F.col("mark") == "remove", F.struct(moment().alias("moment"), "other", "removed_after_ms"))
    return timeline.withColumns(
        {
            "next_removal": F.last(removal, ignorenulls=True).over(of_queue),
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
    ended = (
        F.when(F.col("how") == "stop", "stopped")
        .when(F.col("how") == "remove", F.coalesce(F.col("next_removal.other"), F.lit("released")))
        .otherwise("released")
    )
    evidence = (
        F.when(F.col("how") == "stop", "shutdown line")
        .when(F.col("how") == "remove", "removal line")
        .otherwise("added again; its removal is not in the log")
    )
    by_line = closed.withColumns(
        {
            "until_ms": F.col("end_ms"),
            "until_after_ms": F.when(F.col("how") == "remove", F.col("next_removal.removed_after_ms")).when(
                F.col("is_stopping"), F.col("next_stopping.at_ms")
            ),
            "ended": ended,
            "evidence": evidence,
            "first_seen_ms": F.col("at_ms"),
        }
    )
    silent = told.where(F.col("how").isNull() | (F.col("how") == "start"))
    return by_line.unionByName(_ended_with_process(silent, events, life), allowMissingColumns=True)


def _ended_with_process(told: DataFrame, events: DataFrame, life: DataFrame) -> DataFrame:
    restart = F.when(F.col("how") == "start", F.col("end_ms")).otherwise(F.lit(FOREVER_MS))
    begun = told.withColumn("reborn_ms", restart)
    joined = (
        begun.join(_last_words(begun, events, life), on=[*MEMBER, "reborn_ms"], how="left")
        .join(_ends_of_input(life, events), on="cluster", how="left")
        .withColumn("last_ms", F.greatest("last_ms", "at_ms"))
    )
    gone = _departures(joined.select(*MEMBER, "last_ms", "reborn_ms", "is_alone").dropDuplicates(), events)
    seen = joined.join(gone, on=[*MEMBER, "last_ms", "reborn_ms"], how="left")
    silent = F.col("input_end_ms") - F.col("last_ms")
    is_watched = F.coalesce(F.col("broker_end_ms") >= F.col("last_ms") + SILENT_MS, F.lit(False))
    has_own_log = F.col("layout") != HISTORY.name  # only changes are facts: who says nothing goes on
    is_silent = has_own_log & F.when(is_watched, silent > SILENT_WHILE_CONNECTED_MS).otherwise(silent > SILENT_MS)
    is_reborn = F.col("next_ms") != FOREVER_MS
    is_stopped = F.col("is_stopping") | F.col("left_ms").isNotNull()
    return seen.withColumns(
        {
            "ended": F.when(is_stopped, "stopped")
            .when(F.col("closed_ms").isNotNull() | is_reborn | is_silent, "lost")
            .otherwise("open"),
            "until_ms": F.when(F.col("is_stopping"), F.col("last_ms"))
            .when(F.col("left_ms").isNotNull(), F.greatest("last_ms", "left_ms"))
            .when(F.col("closed_ms").isNotNull(), F.col("closed_ms"))
            .when(is_reborn | is_silent, F.col("last_ms"))
            .otherwise(F.col("input_end_ms")),
            "until_after_ms": F.when(F.col("is_stopping"), F.col("next_stopping.at_ms")).when(
                F.col("left_ms").isNull() & (F.col("closed_after_ms") < F.col("closed_ms")), F.col("closed_after_ms")
            ),
            "evidence": F.when(F.col("is_stopping"), "last line of a shutdown")
            .when(F.col("left_ms").isNotNull(), "a broker's unregister line")
            .when(F.col("closed_ms").isNotNull(), "a broker saw its connection end")
            .when(is_reborn, "the process started anew; its last line before")
            .when(is_silent, "last line; silent until the input's end")
            .otherwise("the input's end"),
            "first_seen_ms": F.col("at_ms"),
        }
    )


def _last_words(begun: DataFrame, events: DataFrame, life: DataFrame) -> DataFrame:
    """Give every member's last line before it starts anew, or of all: its process's, or its own where others share it.

    A log without pids is one process's here, whoever writes into it.
    """
    own = events.where(F.col("client_id").isNotNull() & F.col("group").isNotNull() & (F.col("layout") != "broker"))
    of_log = Window.partitionBy(*KEY)
    members = own.select(*MEMBER).dropDuplicates().withColumn("is_alone", F.count(F.lit(1)).over(of_log) == 1)
    asked = begun.select(*MEMBER, "reborn_ms").dropDuplicates().join(members, on=MEMBER, how="left").localCheckpoint()
    restarts = asked.where(F.col("reborn_ms") != FOREVER_MS)
    own_at_end = own.groupBy(*MEMBER).agg(F.max("at_ms").alias("own_ms")).withColumn("reborn_ms", F.lit(FOREVER_MS))
    spoken, process = own_at_end, ["cluster", "process"]
    written = life.select(*process, F.lit(FOREVER_MS).alias("reborn_ms"), F.col("last_ms").alias("process_ms"))
    if not restarts.isEmpty():
        spoken = spoken.unionByName(_last_before(own, restarts, MEMBER, "own_ms"))
        written = written.unionByName(_last_before(events, restarts, process, "process_ms"))
    last = F.when(F.col("is_alone"), F.greatest("process_ms", "own_ms")).otherwise(F.col("own_ms"))
    return (
        asked.join(spoken, on=[*MEMBER, "reborn_ms"], how="left")
        .join(written, on=[*process, "reborn_ms"], how="left")
        .select(*MEMBER, "reborn_ms", "is_alone", last.alias("last_ms"))
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


def _ends_of_input(life: DataFrame, events: DataFrame) -> DataFrame:
    brokers = events.where(F.col("layout") == "broker").groupBy("cluster").agg(F.max("at_ms").alias("broker_end_ms"))
    return life.groupBy("cluster").agg(F.max("last_ms").alias("input_end_ms")).join(brokers, on="cluster", how="left")


def _departures(members: DataFrame, events: DataFrame) -> DataFrame:
    """Find how brokers saw a member go between its last line and its next start: left_ms, closed_ms, or None.

    A broker tells a second: it was not before closed_after_ms.

    Its next start may also be that of another process with its client id: whatever goes later is that one.
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
    seen = events.where(F.col("what").isin("left", "closed") & F.col("layout").isin("broker", HISTORY.name)).select(
        "cluster", "group", "client_id", "what", F.col("at_ms").alias("seen_ms"), "resolution_ms"
    )
    after = known.join(seen, on=["cluster", "group", "client_id"], how="left")
    is_mine = F.col("seen_ms").between(F.col("last_ms") - LAST_WORD_MS, F.col("next_ms"))

    def first(what: str) -> Column:
        return F.min(F.when(is_mine & (F.col("what") == what), F.col("seen_ms")))

    gone = after.groupBy(*key, "is_alone", "next_ms").agg(
        first("left").alias("left_ms"), first("closed").alias("second_ms"), F.max("resolution_ms").alias("within_ms")
    )
    told = events.where(F.col("what") == "notified").select(
        "cluster",
        "group",
        F.col("process").alias("peer"),
        F.col("at_ms").alias("told_ms"),
        _slot("at_ms").alias("slot"),
    )
    second = F.col("second_ms")
    in_second = F.col("told_ms").between(F.greatest(second, F.col("last_ms")), second + NOTIFIED_AFTER_MS)
    is_other = (F.col("peer") != F.col("process")) | ~F.col("is_alone")
    told_after = (
        gone.withColumn("slot", F.explode_outer(F.sequence(_slot("second_ms"), _slot("second_ms") + 1)))
        .join(told, on=["cluster", "group", "slot"], how="left")
        .groupBy(*key, "next_ms", "left_ms", "second_ms", "within_ms")
        .agg(F.min(F.when(in_second & is_other, F.col("told_ms"))).alias("told_ms"))
    )
    latest = second + F.col("within_ms") - 1
    exact = F.when(F.col("told_ms").isNotNull(), F.least(F.col("told_ms"), latest))
    middle = F.greatest(F.col("last_ms"), second + F.floor(F.col("within_ms") / 2))
    closed = F.when(second.isNotNull(), F.coalesce(exact, middle)).alias("closed_ms")
    closed_after = F.when(second.isNotNull() & (F.col("within_ms") > 1), F.greatest(second, F.col("last_ms")))
    return told_after.select(*key, "next_ms", "left_ms", closed, closed_after.alias("closed_after_ms"))


def _slot(time: str) -> Column:
    """Number the times in which a second and what follows at once lie: in its slot, or the next."""
    return F.floor(F.col(time) / NOTIFIED_AFTER_MS).cast("bigint")


def _shaped(ended: DataFrame) -> DataFrame:
    began = F.coalesce("from_ms", "first_seen_ms")
    return shaped(ended.withColumn("from_place", F.col("place")).withColumn("day", day_of(began)), SPANS)
