"""Events to holds: each time a queue entered a client's process-queue table until it left it.

A hold ends by the first of: its queue's removal line, or, where that was lost, a result without it (``released``); the
consumer's "shutdown OK", or, where the log breaks off while shutting down, its last line (``stopped``); the process's
next start, or its connections' end at a broker without a line of its own (``lost``); the end of the input (``open``).

A Java client that is stopped says good-bye to one broker after the other ("unregister client", ``MQClientInstance``),
shuts its threads and connections down, and only then says "shutdown OK" and clears its table. The first good-bye is
when it began to be no member any more, which may be seconds before: it is the hold's ``until_after_ms``. The first,
because a line follows the broker's answer: by the last one no broker may have listed it for a while. C++ and Go write
no such line that names the group.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.bounds import DROPS_WITHIN_MS, UNKEPT
from rebalance_engine.pipeline.clients import QUEUE_KEY, moment
from rebalance_engine.pipeline.departures import FOREVER_MS, MEMBER, SPEAKS_WITHIN_MS, departures_of, last_words
from rebalance_engine.pipeline.holes import with_bounds
from rebalance_engine.pipeline.keeping import computed_once
from rebalance_engine.pipeline.layouts import HISTORY
from rebalance_engine.pipeline.logends import ends_of_logs
from rebalance_engine.pipeline.lost import drops_of, gaps_of, kept_of, marks_of_results, takes_of
from rebalance_engine.pipeline.rebirths import rebirths_of
from rebalance_engine.pipeline.schemas import FILED_HOLDS, SPANS, day_of, shaped
from rebalance_engine.pipeline.silences import PERSISTING, watched_of
from rebalance_engine.pipeline.sweep import PERSISTS_WITHIN_MS
from rebalance_engine.pipeline.templates import ADDS, REMOVES
from rebalance_engine.pipeline.unkept import unkept_of
from rebalance_engine.pipeline.witnesses import SILENT_MS, with_witnesses

TAKEN_BEFORE_MS = 1_000  # brokers tell the second of an end; what others take then they take because of it
SHUTS_DOWN_WITHIN_MS = 5_000  # from its good-bye to the end of its threads: seldom more than 2 s
SILENT_WHILE_CONNECTED_MS = 150_000  # heartbeats of 30 s, expiry of 120 s: no broker would still have it
# How a hold ended that no line of its own log ended.
LEFT, CLOSED = "a broker's unregister line", "a broker saw its connection end"
HEARD, INPUT_ENDS = "the others were told of a change after its last line", "the input's end"
LOG_ENDS = "its log's end; nobody tells that it ended"


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
    marks = _marks(changes, events)
    marks = marks.unionByName(rebirths_of(changes, marks, events), allowMissingColumns=True)
    kept = computed_once(kept_of(events))
    results = computed_once(marks_of_results(events, marks.where(F.col("mark") == "start")))
    own = begun.withColumn("mark", F.lit("begin")).unionByName(
        removed.withColumn("mark", F.lit("remove")), allowMissingColumns=True
    )
    seen = own.unionByName(marks.where(F.col("mark").isin("stop", "start")), allowMissingColumns=True)
    seen = seen.select(*_columns(), "mark").unionByName(gaps_of(seen, results, events))
    unseen = computed_once(takes_of(seen, results.where(F.col("mark") == "came"), kept, events))
    earlier = _begun_before(own.select(*_columns(), "mark").unionByName(unseen.select(*_columns(), "mark")), kept)
    timeline = (
        begun.select(*_columns(), F.lit("begin").alias("mark"), "from_ms", "from_after_ms")
        .unionByName(unseen.select(*_columns(), "mark", "from_ms", "from_after_ms"))
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
            marks.unionByName(results.where(F.col("mark") == "left"), allowMissingColumns=True).select(
                *_columns(), "mark", F.lit(None).cast("long").alias("from_ms")
            ),
            allowMissingColumns=True,
        )
    )
    # Kept: it is as small as the table of holds, and much is asked of it below.
    spans = computed_once(_shaped(_ended(computed_once(_with_what_follows(timeline)), kept, events, life)))
    return with_bounds(_let_go_unseen(spans, events, life), events, life)


def _columns() -> list[str]:
    return [*MEMBER, *QUEUE_KEY, "host", "layout", "at_ms", "file", "place"]


def _begun_before(changes: DataFrame, kept: DataFrame) -> DataFrame:
    """Find queues that were held when the input began: the first seen of them is no take."""
    key = [*MEMBER, *QUEUE_KEY]
    seen = kept.select(*_columns()).withColumn("is_add", F.lit(False))
    told = changes.select(*_columns(), (F.col("mark") == "begin").alias("is_add"))
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
            "next_left": next_mark("left", of_queue),
            "next_remove": next_mark("remove", of_queue),
            "next_stop": next_mark("stop", of_member),
            "next_stopping": next_mark("stopping", of_member),
            "next_start": next_mark("start", of_member),
        }
    ).where(F.col("mark") == "begin")


def _ended(begun: DataFrame, kept: DataFrame, events: DataFrame, life: DataFrame) -> DataFrame:
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
    is_inside = first.isNull() | (F.col("next_left") < first)
    left_ms = F.when(is_inside, F.col("next_left.at_ms"))
    known = begun.withColumns({"how": how, "end_ms": first["at_ms"], "is_stopping": is_stopping, "left_ms": left_ms})
    # A line that stands there twice, as a logger with two appenders writes it, is one take.
    known = known.where(~((F.col("how") == "begin") & (F.col("end_ms") == F.col("at_ms"))).eqNullSafe(True))
    told = _with_unkept(_with_lost_drops(known, events, life), kept, events)
    closed = told.where(F.col("how").isin("remove", "stop", "begin", "left", "unkept"))
    ended = (
        F.when(F.col("how") == "stop", "stopped")
        .when(F.col("how") == "remove", F.coalesce(F.col("next_removal.other"), F.lit("released")))
        .otherwise("released")
    )
    evidence = (
        F.when(F.col("how") == "stop", "shutdown line")
        .when(F.col("how") == "remove", "removal line")
        .when(F.col("how") == "left", "a result without it; its removal is not in the log")
        .when(F.col("how") == "unkept", UNKEPT)
        .otherwise("added again; its removal is not in the log")
    )
    by_line = closed.withColumns(
        {
            "until_ms": F.col("end_ms"),
            "until_after_ms": F.when(F.col("how") == "remove", F.col("next_removal.removed_after_ms"))
            .when(F.col("how").isin("left", "begin", "unkept"), F.col("left_after_ms"))
            .when(F.col("is_stopping"), F.col("next_stopping.at_ms")),
            "ended": ended,
            "evidence": evidence,
            "first_seen_ms": F.col("at_ms"),
        }
    )
    silent = told.where(F.col("how").isNull() | (F.col("how") == "start"))
    takes = known.select(
        "cluster", "group", *QUEUE_KEY, F.col("client_id").alias("taker"), F.col("from_ms").alias("taken_ms")
    )
    spoke = kept.groupBy(*MEMBER).agg(F.max("last_ms").alias("persisted_ms"))
    silent = silent.join(spoke, on=MEMBER, how="left")
    return by_line.unionByName(_ended_with_process(silent, takes, events, life), allowMissingColumns=True)


def _with_lost_drops(told: DataFrame, events: DataFrame, life: DataFrame) -> DataFrame:
    """Let results end what no removal line ends (``left``), and bound what only the next take of the queue ends."""
    is_asked = (F.col("how") == "begin") | (F.col("left_ms").isNotNull() & ~F.col("how").eqNullSafe("remove"))
    asked = computed_once(told.where(is_asked).select(*MEMBER, *QUEUE_KEY, "at_ms", "left_ms", "end_ms", "how"))
    if asked.isEmpty():  # asked first: most logs lack none, and a plan that does nothing still costs seconds to make
        return told.withColumn("left_after_ms", F.lit(None).cast("long")).drop("left_ms")
    drops = drops_of(asked, events, life)
    met = told.drop("left_ms").join(drops, on=[*MEMBER, *QUEUE_KEY, "at_ms"], how="left")
    is_left = F.col("left_ms").isNotNull()
    return met.withColumns(
        {
            "how": F.when(is_left, "left").otherwise(F.col("how")),
            "end_ms": F.when(is_left, F.col("left_ms")).otherwise(F.col("end_ms")),
        }
    ).drop("left_ms")


def _with_unkept(told: DataFrame, kept: DataFrame, events: DataFrame) -> DataFrame:
    """Let holds that neither a removal line nor a result ends end when their offset is persisted no more."""
    is_asked = F.col("how").isNull() | F.col("how").isin("stop", "start", "begin")
    found = unkept_of(told.where(is_asked), kept, events)
    met = told.join(found, on=[*MEMBER, *QUEUE_KEY, "at_ms"], how="left")
    is_unkept, by_then = F.col("unkept_ms").isNotNull(), F.least("unkept_ms", "end_ms")
    return met.withColumns(
        {
            "how": F.when(is_unkept & is_asked, "unkept").otherwise(F.col("how")),
            "end_ms": F.when(is_unkept, by_then).otherwise(F.col("end_ms")),
            "left_after_ms": F.when(is_unkept, F.col("unkept_after_ms")).otherwise(F.col("left_after_ms")),
        }
    ).drop("unkept_ms", "unkept_after_ms")


def _ended_with_process(told: DataFrame, takes: DataFrame, events: DataFrame, life: DataFrame) -> DataFrame:
    restart = F.when(F.col("how") == "start", F.col("end_ms")).otherwise(F.lit(FOREVER_MS))
    begun = told.withColumn("reborn_ms", restart)
    joined = (
        begun.join(last_words(begun, events, life), on=[*MEMBER, "reborn_ms"], how="left")
        .join(life.groupBy("cluster").agg(F.max("last_ms").alias("input_end_ms")), on="cluster", how="left")
        .withColumn(
            "last_ms", F.greatest("last_ms", "at_ms", F.when(F.col("is_stopping"), F.col("next_stopping.at_ms")))
        )
    )
    asked = joined.groupBy(*MEMBER, "last_ms", "reborn_ms", "is_alone").agg(
        F.min(F.least("came_ms", "at_ms")).alias("came_ms")
    )
    gone = departures_of(asked.drop("came_ms"), events)
    seen = joined.join(gone, on=[*MEMBER, "last_ms", "reborn_ms"], how="left")
    watched = watched_of(asked.select(*MEMBER, "last_ms", "came_ms"), events, life).withColumn("is_told", F.lit(True))
    seen = seen.join(watched.drop("came_ms"), on=[*MEMBER, "last_ms"], how="left")
    silent = F.col("input_end_ms") - F.col("last_ms")
    # That the others were told of what no broker's log has shows that these lack lines.
    is_watched = F.col("is_told").isNotNull() & F.col("heard_ms").isNull()
    has_own_log = F.col("layout") != HISTORY.name  # only changes are facts: who says nothing goes on
    is_reborn = F.col("next_ms") != FOREVER_MS
    is_stopped = F.col("is_stopping") | F.col("left_ms").isNotNull()
    says_nothing = has_own_log & F.when(is_watched, silent > SILENT_WHILE_CONNECTED_MS).otherwise(silent > SILENT_MS)
    is_open = says_nothing & ~is_stopped & ~is_reborn & F.col("closed_ms").isNull()
    seen = with_witnesses(seen.withColumn("is_asked", F.coalesce(is_open, F.lit(False))), takes, events, life)
    is_silent = says_nothing & (F.col("is_witnessed") | F.col("heard_ms").isNotNull())
    is_bounded = F.col("gone_after_ms") < F.col("gone_before_ms")
    # Who persisted a moment before would have done so again: its log is cut, and what it holds since then is unknown.
    spoke_lately = F.col("last_ms") - F.col("persisted_ms") < PERSISTS_WITHIN_MS
    is_cut = spoke_lately & (silent > 2 * PERSISTS_WITHIN_MS)
    stops_ms = F.when(F.col("is_stopping"), F.col("last_ms")).otherwise(F.greatest("last_ms", "left_ms"))
    late_ms = F.when(F.col("is_stopping"), stops_ms).otherwise(F.greatest(stops_ms, "gone_before_ms"))
    by_then = F.least(late_ms + SHUTS_DOWN_WITHIN_MS, "input_end_ms", "next_ms")
    shuts_down = is_stopped & F.col("layout").isin(*PERSISTING) & (by_then > stops_ms)
    return seen.withColumns(
        {
            "ended": F.when(is_stopped, "stopped")
            .when(F.col("closed_ms").isNotNull() | is_reborn | is_silent, "lost")
            .otherwise("open"),
            "until_ms": F.when(is_stopped, stops_ms)
            .when(F.col("closed_ms").isNotNull(), F.col("closed_ms"))
            .when(is_reborn | is_silent, F.coalesce("heard_ms", "others_ms", "last_ms"))
            .when(says_nothing, F.col("last_ms"))
            .otherwise(F.col("input_end_ms")),
            "until_after_ms": F.when(F.col("is_stopping"), F.col("next_stopping.at_ms"))
            .when(is_bounded, F.col("gone_after_ms"))
            .when(
                ((is_reborn | is_silent) & F.coalesce("heard_ms", "others_ms").isNotNull())
                | (is_cut & ~is_stopped & ~is_reborn & ~says_nothing & F.col("closed_ms").isNull()),
                F.col("last_ms"),
            ),
            "until_before_ms": F.when(shuts_down, by_then).when(
                ~F.col("is_stopping") & is_bounded, F.col("gone_before_ms")
            ),
            "evidence": F.when(F.col("is_stopping"), "last line of a shutdown")
            .when(F.col("left_ms").isNotNull(), LEFT)
            .when(F.col("closed_ms").isNotNull(), CLOSED)
            .when(
                (is_reborn | is_silent) & F.col("heard_ms").isNotNull(),
                HEARD,
            )
            .when(is_reborn, "the process started anew; its last line before")
            .when(is_silent & F.col("others_ms").isNotNull(), "others took all that it had; its log had ended before")
            .when(is_silent, "last line; silent until the input's end")
            .when(says_nothing, LOG_ENDS)
            .otherwise(INPUT_ENDS),
            "first_seen_ms": F.col("at_ms"),
        }
    )


def _let_go_unseen(spans: DataFrame, events: DataFrame, life: DataFrame) -> DataFrame:
    """Let another's take end what a member had when its log was cut, and whose end only others tell.

    Between the log's end and that take it let the queue go: it was there, and no line would tell it. Who hangs lets
    nothing go: brokers give it up ("expired") before others take what it had.
    """
    key = ["cluster", "group", *QUEUE_KEY]
    known = spans
    told_ms = F.coalesce("until_after_ms", "until_ms") - TAKEN_BEFORE_MS
    ends = (
        F.when(F.col("evidence") == LOG_ENDS, F.lit(FOREVER_MS))
        .when(F.col("evidence") == INPUT_ENDS, F.col("until_ms") - TAKEN_BEFORE_MS)
        .otherwise(told_ms)
    )
    unseen = known.where(F.col("evidence").isin(LEFT, CLOSED, HEARD, INPUT_ENDS, LOG_ENDS)).withColumn("ends_ms", ends)
    takes = known.select(*key, F.col("client_id").alias("taker"), F.col("from_ms").alias("taken_ms"))
    began = F.coalesce("from_ms", "first_seen_ms")
    is_inside = (F.col("taken_ms") > began) & (F.col("taken_ms") < F.col("ends_ms"))
    of_hold = ["cluster", "group", "client_id", *QUEUE_KEY, "process", "first_seen_ms"]
    met = unseen.join(takes, on=key, how="inner").where((F.col("taker") != F.col("client_id")) & is_inside)
    asked = computed_once(met.select(*of_hold, "ends_ms", "taken_ms"))
    if asked.isEmpty():  # most logs are whole
        return known
    log_ends = ends_of_logs(events, known, life).select(*MEMBER, F.col("at_ms").alias("log_end_ms"))
    # The line of who is given up names its address only.
    expired = events.where(F.col("what") == "expired").select("cluster", "group", F.col("at_ms").alias("expired_ms"))
    since = asked.join(log_ends, on=MEMBER, how="inner").where(
        (F.col("taken_ms") > F.col("log_end_ms")) & (F.col("ends_ms") > F.col("log_end_ms") + SPEAKS_WITHIN_MS)
    )
    is_given_up = F.col("expired_ms").between(F.col("log_end_ms"), F.col("taken_ms"))
    sure = (
        since.join(expired, on=["cluster", "group"], how="left")
        .groupBy(*of_hold, "log_end_ms")
        .agg(F.min("taken_ms").alias("taken_ms"), F.max(is_given_up).alias("is_given_up"))
        .where(~F.coalesce("is_given_up", F.lit(False)))
        .drop("is_given_up")
    )
    told = known.join(sure, on=of_hold, how="left")
    later, by_then = F.col("taken_ms") + DROPS_WITHIN_MS, F.coalesce("until_before_ms", "until_ms")
    instead = {
        "until_ms": F.col("taken_ms"),
        "until_after_ms": F.col("log_end_ms"),
        "until_before_ms": F.when(F.col("evidence") == LOG_ENDS, later).otherwise(F.least(later, by_then)),
        "ended": F.lit("released"),
        "evidence": F.lit("another took it; its own log had ended before"),
    }
    is_told = F.col("taken_ms").isNotNull()
    return told.withColumns(
        {name: F.when(is_told, one).otherwise(F.col(name)) for name, one in instead.items()}
    ).select(*SPANS.names)


def _shaped(ended: DataFrame) -> DataFrame:
    began = F.coalesce("from_ms", "first_seen_ms")
    return shaped(ended.withColumn("from_place", F.col("place")).withColumn("day", day_of(began)), SPANS)
