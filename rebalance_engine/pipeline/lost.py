"""What other lines prove of takes and drops whose own line is not in the log.

A client's asynchronous appender drops INFO lines when its queue is nearly full (``spec/logs.md`` 1.1): that a line is
missing proves nothing. A Java client that added or removed a queue lists, at the end of the same round, what it wants
of the topic ("rebalanced result changed"), and every 5 s it persists the offset of each queue in its table. So a result
that has a queue no more tells that it is gone, and one that has it anew, with something that only a holder writes after
it, that it was taken. An orderly member lists a queue before it has its lock, and may keep one it lists no more: up to
5.1 it forgets the offset before it tries for the right to let go, so that nothing is persisted of what it still has.
When it lets go it unlocks the queue at the broker, or 20 s later, and says so in a warning, which is never dropped.
Nor is the warning that it was refused a lock, which it asks for in each round in which it has not got what it lists.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.clients import KEY, QUEUE_KEY, moment
from rebalance_engine.pipeline.departures import MEMBER, SPEAKS_WITHIN_MS
from rebalance_engine.pipeline.keeping import computed_once

JAVA = ("java5", "java4")
OF_LOCKS = ("lock granted", "lock kept", "lock lost", "lock refused", "unlocked")
REFUSED = ("lock refused", "add failed")
BUCKET_MS = 600_000  # of what is persisted every 5 s, the first and the last of each such time
PERSISTING_MS = 2_000  # offsets that were being sent when their queue was removed are written down after it
PERSISTS_MS = 5_000
QUIET_MS = 20_000  # whoever had a queue all the time would have persisted it several times
BROKERS_SECOND_MS = 1_000
UNLOCKED_BEFORE_MS = 2_000  # the result is the end of the round in which a queue is let go
ROUND_MS = 900  # a round's refusals stand before its result; rounds begin a second apart
ROW = [*MEMBER, *QUEUE_KEY, "host", "layout", "at_ms", "file", "place", "mark"]


def kept_of(events: DataFrame) -> DataFrame:
    """Give, of the offsets that members persist, the first and the last of every ten minutes of each file."""
    kept = events.where(
        (F.col("what") == "persisted all")
        & F.col("client_id").isNotNull()
        & F.col("group").isNotNull()
        & F.col("queue_id").isNotNull()  # a line may be cut
    )
    bucket = F.floor(F.col("at_ms") / BUCKET_MS).alias("bucket")
    # Numbers are summed up in passing, where a whole row takes a sorting of all lines.
    return kept.groupBy(*MEMBER, *QUEUE_KEY, "host", "layout", "file", bucket).agg(
        F.min("at_ms").alias("at_ms"),
        F.min("place").alias("place"),
        F.max("at_ms").alias("last_ms"),
        F.max("place").alias("last_place"),
    )


def marks_of_results(events: DataFrame, starts: DataFrame) -> DataFrame:
    """Give, as ROW, each queue that a result has and the one before it had not (``came``), or the other way (``left``).

    The first result of a member whose start is not in the log lists what it may have held for long; one that started
    anew had nothing.

    Args:
        starts: the starts of members.
    """
    results = events.where(
        F.col("layout").isin(*JAVA)
        & (F.col("what") == "result")
        & F.col("client_id").isNotNull()
        & F.col("group").isNotNull()
        & F.col("queues").isNotNull()
    )
    both = results.withColumn("is_start", F.lit(False)).unionByName(
        starts.select(*results.columns, F.lit(True).alias("is_start"))
    )
    before = Window.partitionBy(*MEMBER).orderBy(moment()).rowsBetween(Window.unboundedPreceding, -1)
    began = F.last(F.when(F.col("is_start"), moment()), ignorenulls=True).over(before)
    lasting = both.withColumn("began", began).where(~F.col("is_start"))
    of_topic = Window.partitionBy(*MEMBER, "topic").orderBy(moment())
    last = F.lag(F.struct(moment().alias("moment"), "queues")).over(of_topic)
    is_anew = F.col("last").isNull() | (F.col("last.moment") < F.col("began"))
    nothing = F.when(F.col("began").isNotNull(), F.array().cast("array<string>"))
    had = F.when(is_anew, nothing).otherwise(F.col("last.queues"))
    told = lasting.withColumn("last", last).withColumn("had", had).where(F.col("had").isNotNull())

    def marked(mark: str, queues: Column) -> Column:
        return F.transform(queues, lambda queue: F.struct(F.lit(mark).alias("mark"), queue.alias("queue")))

    changes = F.concat(marked("came", F.array_except("queues", "had")), marked("left", F.array_except("had", "queues")))
    each = told.withColumn("change", F.explode(changes)).withColumns(
        {
            "mark": F.col("change.mark"),
            "broker": F.substring_index("change.queue", "|", 1),
            "queue_id": F.substring_index("change.queue", "|", -1).try_cast("int"),
        }
    )
    return each.select(*ROW)


def gaps_of(changes: DataFrame, results: DataFrame, events: DataFrame) -> DataFrame:
    """Find drops between which and the next take no line of a change is: results alone tell that both were.

    A member that is not orderly holds nothing that it does not list; of an orderly one only that it unlocked the queue,
    or was refused its lock, tells that it had let go. What it persists within 20 s, before a result lists the queue
    anew, contradicts: then it took it again before, at nobody knows what time. By what it persists first after that it
    had taken it again.

    Args:
        changes: as ROW: ``begin``, ``remove``, and ``stop`` and ``start`` of members.
        results: of :func:`marks_of_results`.

    Returns:
        As ROW, the results that have a queue no more, or what tells so of an orderly member, as ``gone``, and what is
        persisted first after the queue has come back, as ``kept``.
    """
    whole = [*MEMBER, *QUEUE_KEY]
    before = Window.partitionBy(*whole).orderBy(moment()).rowsBetween(Window.unboundedPreceding, -1)
    after = Window.partitionBy(*whole).orderBy(F.desc(moment())).rowsBetween(Window.unboundedPreceding, -1)
    of_queue = changes.where(F.col("mark").isin("begin", "remove")).select(*ROW).unionByName(results.select(*ROW))
    mark = F.struct("mark", "at_ms")
    told = of_queue.withColumns({"last": F.last(mark).over(before), "next": F.last(mark).over(after)}).where(
        (F.col("mark") == "left") & F.col("last.mark").isin("begin", "came") & F.col("next.mark").isin("came", "remove")
    )
    until = {"until_ms": F.col("next.at_ms"), "is_back": F.col("next.mark") == "came"}
    seen = computed_once(told.withColumns(until).select(*ROW, *until))
    if seen.isEmpty():  # most logs lack no such lines
        return seen.select(*ROW)
    found = computed_once(_sure(seen, events))
    persisted = events.where(F.col("what") == "persisted all").select(*whole, moment().alias("said"))
    said_ms, until_ms = F.col("said.at_ms"), F.col("until_ms")
    met = found.join(persisted, on=whole, how="left").where(said_ms > F.col("at_ms") + PERSISTING_MS)
    is_late = (said_ms > F.col("at_ms") + QUIET_MS) & (said_ms < until_ms)
    first = met.groupBy(*ROW, "is_back").agg(
        F.max((said_ms < until_ms) & ~is_late).alias("is_held"),
        F.min(F.when(is_late, F.col("said"))).alias("late"),
        F.min(F.when((said_ms > until_ms) & F.col("is_back"), F.col("said"))).alias("said"),
    )
    told = computed_once(first.withColumn("said", F.coalesce("late", "said")))
    proof = told.withColumns({name: F.col(f"said.{name}") for name in ("at_ms", "file", "place")})
    is_sure = F.col("is_back") | F.col("is_late")
    late = told.where("late is not null").select(*whole, "at_ms", F.lit(True).alias("is_late"))
    gone = found.join(late, on=[*whole, "at_ms"], how="left").where(F.coalesce(is_sure, F.lit(False)))
    return (
        gone.withColumn("mark", F.lit("gone"))
        .join(told.where("is_held"), on=[*whole, "at_ms"], how="left_anti")
        .select(*ROW)
        .unionByName(proof.where("said is not null").withColumn("mark", F.lit("kept")).select(*ROW))
    )


def _sure(seen: DataFrame, events: DataFrame) -> DataFrame:
    """Leave of orderly members what their locks tell, when they do, and what they list again."""
    locked = computed_once(events.where(F.col("what").isin(*OF_LOCKS)).select(*KEY).distinct())
    free, orderly = (seen.join(locked, on=KEY, how=how) for how in ("left_anti", "left_semi"))
    orderly = orderly.where("is_back")
    if orderly.isEmpty():
        return free
    whole = [*MEMBER, *QUEUE_KEY]
    unlocked = events.where((F.col("what") == "unlocked") & F.col("client_id").isNotNull())
    signs = unlocked.select(*whole, moment().alias("said"), F.lit(UNLOCKED_BEFORE_MS).alias("before_ms"))
    signs = signs.unionByName(_refusals(events).select(*whole, "said", F.lit(0).alias("before_ms")))
    met = orderly.join(signs, on=whole, how="inner").where(
        F.col("said.at_ms").between(F.col("at_ms") - F.col("before_ms"), F.col("until_ms"))
    )
    first = met.groupBy(*ROW, "until_ms", "is_back").agg(F.min("said").alias("said"))
    return free.unionByName(
        first.withColumns({name: F.col(f"said.{name}") for name in ("at_ms", "file", "place")}).drop("said")
    )


def _refusals(events: DataFrame) -> DataFrame:
    """Give when members were refused a queue, ``said``: no line names the client, so of those alone in their log."""
    named = events.where((F.col("what") == "result") & F.col("client_id").isNotNull() & F.col("group").isNotNull())
    clients = named.groupBy(*KEY).agg(F.min("client_id").alias("client_id"), F.max("client_id").alias("last"))
    alone = clients.where(F.col("client_id") == F.col("last")).drop("last")
    refused = events.where(F.col("what").isin(*REFUSED)).select(*KEY, *QUEUE_KEY, moment().alias("said"))
    return refused.join(alone, on=KEY, how="inner")


def takes_of(changes: DataFrame, came: DataFrame, kept: DataFrame, events: DataFrame) -> DataFrame:
    """Find takes that no line of their own tells: where nobody held a queue of which a holder's lines follow.

    That may be its next removal alone, of a queue of which nothing was consumed, or behind a hole of the log.

    Args:
        changes: as ROW: ``begin``, ``remove``, and ``stop`` and ``start`` of members, and those of :func:`gaps_of`.
        came: of :func:`marks_of_results`.
        kept: of :func:`kept_of`.

    Returns:
        As ROW, with from_ms, which is no later than the take, by a line, and from_after_ms, which is no sooner.
    """
    # A member that was assigned its queues by hand persists, too, and divides nothing: what it has nobody tells.
    divided = (
        changes.where(F.col("mark").isin("begin", "remove"))
        .select(*MEMBER, "topic")
        .unionByName(events.where(F.col("what") == "result").select(*MEMBER, "topic"))
        .distinct()
    )
    java = kept.where(F.col("layout").isin(*JAVA)).withColumn("mark", F.lit("kept"))
    mine = java.join(divided, on=[*MEMBER, "topic"], how="left_semi")
    last = mine.withColumns({"at_ms": F.col("last_ms"), "place": F.col("last_place")})
    rows = changes.select(*ROW)
    for more in (came, mine, last):
        rows = rows.unionByName(more.select(*ROW))
    whole = [*MEMBER, *QUEUE_KEY]
    before = Window.partitionBy(*whole).orderBy(moment()).rowsBetween(Window.unboundedPreceding, -1)
    of_member = Window.partitionBy(*MEMBER).orderBy(moment()).rowsBetween(Window.unboundedPreceding, -1)

    def latest(window: object, *marks: str) -> Column:
        return F.last(F.when(F.col("mark").isin(*marks), moment()), ignorenulls=True).over(window)  # type: ignore[arg-type]

    seen = rows.withColumns(
        {
            "begun": latest(before, "begin"),
            "gap": F.greatest(latest(before, "remove", "gone"), latest(of_member, "stop", "start")),
        }
    )
    is_held = F.col("begun").isNotNull() & (F.col("gap").isNull() | (F.col("begun") > F.col("gap")))
    evidence = seen.where(F.col("mark").isin("came", "kept", "remove") & ~is_held)
    is_late = F.col("gap").isNull() | (F.col("at_ms") >= F.col("gap.at_ms") + SPEAKS_WITHIN_MS)
    gaps = evidence.groupBy(*whole, "gap").agg(
        F.min(F.when(F.col("mark") == "came", moment())).alias("came"),
        F.min(F.when((F.col("mark") == "kept") & is_late, moment())).alias("kept"),
        F.max(F.when(F.col("mark") != "came", moment())).alias("proof"),
        F.min(F.when((F.col("mark") == "remove") & is_late & F.col("layout").isin(*JAVA), moment())).alias("removed"),
        F.first("host").alias("host"),
        F.first("layout").alias("layout"),
    )
    in_gap = _first_kept(computed_once(gaps), events)
    has_come = (F.col("proof") > F.col("came")) & (F.col("kept").isNull() | (F.col("kept") > F.col("came")))
    began = F.when(has_come, F.col("came")).when(F.col("gap").isNotNull(), F.coalesce("kept", _just_before("removed")))
    found = computed_once(in_gap.withColumn("began", began).where(F.col("began").isNotNull()))
    return _once_locked(found, events)


def _just_before(removal: str) -> Column:
    """Give the latest moment at which what is removed may have been taken."""
    at, place = F.col(f"{removal}.at_ms") - 1, F.col(f"{removal}.place") - 1
    told = F.struct(at.alias("at_ms"), F.col(f"{removal}.file").alias("file"), place.alias("place"))
    return F.when(F.col(removal).isNotNull(), told)


def _first_kept(gaps: DataFrame, events: DataFrame) -> DataFrame:
    """Let what was persisted first in a gap be its ``kept``: of ten minutes only the first and the last are there."""
    asked = gaps.where(F.col("gap").isNotNull() & F.col("proof").isNotNull()).select(
        *MEMBER, *QUEUE_KEY, "gap", F.col("proof.at_ms").alias("until_ms")
    )
    if asked.isEmpty():  # most logs lack no such line
        return gaps
    own = events.where(F.col("what") == "persisted all").select(*MEMBER, *QUEUE_KEY, moment().alias("first"))
    since = F.col("gap.at_ms") + SPEAKS_WITHIN_MS
    first = (
        own.join(asked, on=[*MEMBER, *QUEUE_KEY], how="inner")
        .where(F.col("first.at_ms").between(since, F.col("until_ms")))
        .groupBy(*MEMBER, *QUEUE_KEY, "gap")
        .agg(F.min("first").alias("first"))
    )
    met = gaps.join(first, on=[*MEMBER, *QUEUE_KEY, "gap"], how="left")
    return met.withColumn("kept", F.least("kept", "first")).drop("first")


def _once_locked(found: DataFrame, events: DataFrame) -> DataFrame:
    """Let who was refused when it listed a queue, or later, have taken it after that: when the next line tells so.

    Of the round in which it has the lock at last a line says that, and another lists what it wants once more.
    """
    no = events.where(F.col("what").isin(*REFUSED)).select(*KEY, *QUEUE_KEY, F.col("at_ms").alias("refused_at"))
    key = [*MEMBER, *QUEUE_KEY]
    known = F.coalesce("kept", "proof")
    is_later = F.col("refused_at").between(F.col("began.at_ms") - ROUND_MS, known["at_ms"])
    after = (
        found.join(no, on=[*KEY, *QUEUE_KEY], how="inner")
        .where(is_later)
        .groupBy(*key, "began")
        .agg(F.max("refused_at").alias("refused_ms"))
    )
    refused = computed_once(after)
    granted = events.where(F.col("what") == "lock granted").select(*KEY, *QUEUE_KEY, moment().alias("said"))
    listed = events.where(F.col("what") == "result").select(*MEMBER, "topic", "queues", moment().alias("said"))
    has_it = F.array_contains("queues", F.concat_ws("|", "broker", "queue_id"))
    told = (
        refused.join(granted, on=[*KEY, *QUEUE_KEY], how="inner")
        .unionByName(refused.join(listed, on=[*MEMBER, "topic"], how="inner").where(has_it).drop("queues"))
        .where(F.col("said.at_ms") > F.col("refused_ms") + ROUND_MS // 2)
        .groupBy(*key, "began")
        .agg(F.min("said").alias("said"))
    )
    late = refused.join(told, on=[*key, "began"], how="left")
    told = found.join(late, on=[*key, "began"], how="left")
    begin = F.when(F.col("refused_ms").isNull(), F.col("began")).otherwise(F.least(known, "said"))
    return told.withColumn("begin", begin).select(
        *key,
        "host",
        "layout",
        "begin.at_ms",
        "begin.file",
        "begin.place",
        F.lit("begin").alias("mark"),
        F.col("begin.at_ms").alias("from_ms"),
        F.coalesce("refused_ms", "gap.at_ms").alias("from_after_ms"),
    )


def drops_of(holds: DataFrame, events: DataFrame, life: DataFrame) -> DataFrame:
    """Tell of holds that no removal line ends when they ended before what ends them else, as far as other lines tell.

    Of an orderly member a result ends nothing; that it unlocked the queue, from the result's round on, does, by its own
    word or by a broker's.

    Args:
        holds: MEMBER, QUEUE_KEY, at_ms of the begin, left_ms of the first result that has the queue no more, or None,
            how and end_ms of what ends it else.

    Returns:
        The same with left_ms, None where it is not sure, and left_after_ms, the last line that tells that it was held.
    """
    key = [*MEMBER, *QUEUE_KEY, "at_ms"]
    asked = holds.select(*key, "left_ms", "end_ms", "how")
    signs = events.where(
        F.col("what").isin("persisted all", "persisted", "unlocked") & F.col("client_id").isNotNull()
    ).select(*MEMBER, *QUEUE_KEY, "what", F.col("at_ms").alias("kept_ms"))
    refused = _refusals(events).select(
        *MEMBER, *QUEUE_KEY, F.lit("refused").alias("what"), F.col("said.at_ms").alias("kept_ms")
    )
    signs = signs.unionByName(_unlocked_at_brokers(asked, events)).unionByName(refused)
    ends = life.groupBy("cluster", "process").agg(F.max("last_ms").alias("process_end_ms"))
    locked = events.where(F.col("what").isin(*OF_LOCKS)).select(*KEY).distinct().withColumn("is_orderly", F.lit(True))
    is_before = F.when(F.col("how") == "begin", F.col("kept_ms") < F.col("end_ms")).otherwise(
        F.col("kept_ms") <= F.col("end_ms")
    )
    inside = (F.col("kept_ms") >= F.col("at_ms")) & (F.col("end_ms").isNull() | is_before)
    is_unlock, is_refusal = F.col("what") == "unlocked", F.col("what") == "refused"
    is_all = inside & (F.col("what") == "persisted all")
    is_kept = inside & ~is_unlock & ~is_refusal
    is_since = inside & is_unlock & (F.col("kept_ms") >= F.col("left_ms") - UNLOCKED_BEFORE_MS)
    known = (
        asked.join(signs, on=[*MEMBER, *QUEUE_KEY], how="left")
        .groupBy(*key, "left_ms", "end_ms", "how")
        .agg(
            F.max(F.when(is_all, F.col("kept_ms"))).alias("kept_ms"),
            F.max(F.when(is_kept & (F.col("kept_ms") <= F.col("left_ms")), F.col("kept_ms"))).alias("held_ms"),
            F.min(F.when(is_since, F.col("kept_ms"))).alias("unlocked_ms"),
            F.min(F.when(inside & is_refusal & (F.col("kept_ms") > F.col("left_ms")), F.col("kept_ms"))).alias(
                "refused_ms"
            ),
        )
        .join(ends, on=["cluster", "process"], how="left")
        .join(locked, on=KEY, how="left")
    )
    end = F.coalesce("end_ms", "process_end_ms")
    is_orderly = F.coalesce("is_orderly", F.lit(False))
    # Who is refused a queue has it no more: since when, of the time before, only what it persisted tells.
    by_refusal = F.when(
        F.col("refused_ms").isNotNull(), F.least("refused_ms", F.greatest("left_ms", "kept_ms"))
    )  # fmt: skip
    gone_ms = F.when(~is_orderly, F.col("left_ms")).otherwise(F.coalesce("unlocked_ms", by_refusal))
    is_quiet = F.coalesce(F.col("kept_ms") <= F.coalesce(gone_ms, "left_ms") + PERSISTING_MS, F.lit(True))
    is_gone = is_quiet & (is_orderly | (F.col("how") == "begin") | (end - F.col("left_ms") > SPEAKS_WITHIN_MS))
    # An orderly member of 5.2 or later kept it for a while, persisted it, and then no more.
    is_later = ~is_quiet & (end - F.col("kept_ms") > 2 * SPEAKS_WITHIN_MS)
    left = F.when(is_gone, gone_ms).when(is_later, F.col("kept_ms") + PERSISTS_MS)
    is_told = is_gone & gone_ms.isNotNull()
    before = (F.when(F.col(sign) <= gone_ms, F.col(sign)) for sign in ("held_ms", "kept_ms"))
    since = F.when(is_told, F.greatest(*before, "at_ms")).otherwise(F.greatest("kept_ms", "at_ms"))
    return known.select(*key, left.alias("left_ms"), since.alias("left_after_ms"))


def _unlocked_at_brokers(asked: DataFrame, events: DataFrame) -> DataFrame:
    """Give when brokers let go of members' locks, as signs: within the second that they tell, so by its end."""
    whose = ["cluster", "group", "client_id", *QUEUE_KEY]
    said = events.where((F.col("layout") == "broker") & (F.col("what") == "released")).select(*whose, "at_ms")
    told = said.withColumn("kept_ms", F.col("at_ms") + BROKERS_SECOND_MS - 1).drop("at_ms")
    members = asked.select(*MEMBER, *QUEUE_KEY).distinct()
    met = members.join(told, on=whose, how="inner").withColumn("what", F.lit("unlocked"))
    return met.select(*MEMBER, *QUEUE_KEY, "what", "kept_ms")
