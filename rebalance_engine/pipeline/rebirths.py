"""Processes that come again under the same pid and client id, as in containers, and whose own start is in no line.

In a container the pid is always the same, and so may the client's id be (``instanceName``, one host). Where the lines
of its start are lost, two processes look like one that took what it had, once more. Brokers tell them apart: they saw
the client connect anew between both takes. A process that lives on may connect anew as well, but persists what it has
without taking it again, every 5 s.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.clients import QUEUE_KEY, moment
from rebalance_engine.pipeline.departures import LAST_WORD_MS, MEMBER
from rebalance_engine.pipeline.keeping import computed_once
from rebalance_engine.pipeline.layouts import HISTORY
from rebalance_engine.pipeline.silences import PERSISTING
from rebalance_engine.pipeline.templates import ADDS, REMOVES

WROTE_ONCE_MS = 1_000  # a line that stands there twice, as a logger with two appenders writes it, is one take
TAKES_WITHIN_MS = 60_000  # from its connection at a broker on: it divides at once, or every 20 s
PERSISTS_WITHIN_MS = 60_000
OF_CLIENT = ["cluster", "group", "client_id"]
OF_TAKE = [*MEMBER, *QUEUE_KEY, "host", "layout", "at_ms"]


def rebirths_of(changes: DataFrame, marks: DataFrame, events: DataFrame) -> DataFrame:
    """Give, as marks of members (``start``), the first line of processes that came again without a line of a start.

    Args:
        changes: of :func:`rebalance_engine.pipeline.clients.changes_of`.
        marks: the starts and stops that lines tell.
    """
    twice = computed_once(_taken_again(changes))
    if twice.isEmpty():  # asked first, of changes alone: most logs lack no line
        return _marked(twice.withColumn("first", F.struct("at_ms", "file", "place")))
    met = computed_once(_connected_anew(_untold(twice, marks), events))
    if met.isEmpty():  # nor do most clients connect anew
        return _marked(twice.limit(0).withColumn("first", F.struct("at_ms", "file", "place")))
    own = events.join(F.broadcast(met.select("cluster", "process").distinct()), on=["cluster", "process"])
    own = own.where(F.col("layout") != HISTORY.name)
    begun = computed_once(_begun(met, own))
    return _marked(begun.join(_proved(begun, changes, own), on=[*MEMBER, "first"], how="left_semi"))


def _taken_again(changes: DataFrame) -> DataFrame:
    """Give the takes of queues that the same member had taken before, ``had_ms``, and let go in no line."""
    mine = changes.where(F.col("what").isin(*ADDS, *REMOVES) & F.col("client_id").isNotNull())
    mine = mine.where(F.col("layout") != HISTORY.name)
    queue = mine.select(*OF_TAKE, "file", "place", F.col("what").isin(*ADDS).alias("is_add"))
    of_queue = Window.partitionBy(*MEMBER, *QUEUE_KEY).orderBy(moment())
    before = F.lag(F.struct("is_add", "at_ms")).over(of_queue)
    twice = queue.withColumn("before", before).where(F.col("is_add") & F.col("before.is_add"))
    since = twice.withColumn("had_ms", F.col("before.at_ms")).drop("before", "is_add")
    return since.where(F.col("at_ms") - F.col("had_ms") > WROTE_ONCE_MS)


def _untold(twice: DataFrame, marks: DataFrame) -> DataFrame:
    """Leave those of which no line tells that the member ended, or started, in between."""
    ends = marks.where(F.col("mark").isin("start", "stop")).select(*MEMBER, F.col("at_ms").alias("end_ms"))
    between = F.col("end_ms").between(F.col("had_ms"), F.col("at_ms"))
    known = twice.join(ends, on=MEMBER, how="inner").where(between).select(*twice.columns).distinct()
    return twice.join(known, on=twice.columns, how="left_anti").select(*twice.columns)


def _connected_anew(again: DataFrame, events: DataFrame) -> DataFrame:
    """Leave those before which brokers saw the client connect anew, at ``came_ms``, and say when they saw it go."""
    seen = events.where((F.col("layout") == "broker") & F.col("what").isin("joined", "left", "closed"))
    seen = seen.select(*OF_CLIENT, "what", F.col("at_ms").alias("seen_ms"))
    is_join, told_ms = F.col("what") == "joined", F.col("seen_ms")
    met = again.select(*OF_TAKE, "had_ms").join(seen, on=OF_CLIENT, how="inner")
    came = F.max(F.when(is_join & told_ms.between(F.col("at_ms") - TAKES_WITHIN_MS, F.col("at_ms")), told_ms))
    is_going = ~is_join & told_ms.between(F.col("had_ms") - LAST_WORD_MS, F.col("at_ms"))
    goings = F.array_agg(F.when(is_going, told_ms)).alias("goings")
    return met.groupBy(*OF_TAKE, "had_ms").agg(came.alias("came_ms"), goings).where(
        F.col("came_ms") > F.col("had_ms")
    )  # fmt: skip


def _begun(met: DataFrame, own: DataFrame) -> DataFrame:
    """Give each take's process's first line, ``first``, since brokers saw its client connect anew, and go before."""
    going = F.array_max(F.filter("goings", lambda at: at <= F.col("came_ms")))
    whose = own.where(F.col("client_id").isNotNull()).select(*MEMBER, F.col("at_ms").alias("spoke_ms"))
    spoke = F.max(F.when(F.col("spoke_ms") < F.col("came_ms"), F.col("spoke_ms")))
    last = met.join(whose, on=MEMBER, how="left").groupBy(*met.columns).agg(spoke.alias("spoke_ms"))
    # A going's second ends a second later; where no broker saw it, what its client said last was said before it.
    since = last.withColumn("since_ms", F.coalesce(going + LAST_WORD_MS, F.col("spoke_ms") + 1))
    lines = own.select("cluster", "process", moment().alias("line"))
    inside = F.col("line.at_ms").between(F.col("since_ms"), F.col("at_ms"))
    first = since.join(lines, on=["cluster", "process"], how="inner").where(inside)
    return first.groupBy(*OF_TAKE).agg(F.min("line").alias("first"))


def _proved(begun: DataFrame, changes: DataFrame, own: DataFrame) -> DataFrame:
    """Leave the beginnings behind which more queues are taken anew than are held without it.

    What a member persists it holds; and what it had before, and lists as its own: a queue without messages is persisted
    by nobody.
    """
    dead = begun.groupBy(*MEMBER, "first").agg(F.countDistinct(*QUEUE_KEY).alias("anew"))
    said = [
        own.where(F.col("what").isin("persisted all", "persisted")),
        changes.where(F.col("what").isin(*ADDS, *REMOVES)),
        _listed_again(dead, changes, own),
    ]
    told = reduce(
        DataFrame.unionByName, [one.select(*MEMBER, *QUEUE_KEY, "what", moment().alias("said")) for one in said]
    )
    since = F.col("said.at_ms") - F.col("first.at_ms")
    after = told.join(dead, on=MEMBER, how="inner").where(
        (F.col("said") >= F.col("first")) & (since <= PERSISTS_WITHIN_MS)
    )
    is_held = ~F.min_by("what", "said").isin(*ADDS)
    each = after.groupBy(*MEMBER, "first", "anew", *QUEUE_KEY).agg(is_held.alias("is_held"))
    counted = each.groupBy(*MEMBER, "first", "anew").agg(F.sum(F.col("is_held").cast("int")).alias("held"))
    return counted.where(F.col("anew") > F.col("held"))


def _listed_again(dead: DataFrame, changes: DataFrame, own: DataFrame) -> DataFrame:
    """Give the queues that results list, of those that their member had taken before: Java writes takes before them."""
    results = own.where((F.col("what") == "result") & F.col("layout").isin(*PERSISTING) & F.col("queues").isNotNull())
    each = results.withColumn("listed", F.explode("queues")).withColumns(
        {
            "broker": F.substring_index("listed", "|", 1),
            "queue_id": F.substring_index("listed", "|", -1).try_cast("int"),
        }
    )
    took = changes.where(F.col("what").isin(*ADDS)).select(*MEMBER, *QUEUE_KEY, moment().alias("took"))
    had = took.join(F.broadcast(dead.select(*MEMBER, "first")), on=MEMBER, how="inner")
    had = had.where(F.col("took") < F.col("first")).select(*MEMBER, *QUEUE_KEY).distinct()
    return each.join(had, on=[*MEMBER, *QUEUE_KEY], how="left_semi")


def _marked(begun: DataFrame) -> DataFrame:
    rows = begun.groupBy(*MEMBER, "first").agg(F.first("host").alias("host"), F.first("layout").alias("layout"))
    return rows.select(
        *MEMBER,
        "host",
        "layout",
        "first.at_ms",
        "first.file",
        (F.col("first.place") - 1).alias("place"),
        F.lit("start").alias("mark"),
    )
