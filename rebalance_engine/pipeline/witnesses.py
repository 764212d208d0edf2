"""Who saw that a member ended which says nothing any more: a log that was copied earlier than others is no death.

Its own log goes on without it; or others took all that it had, all at one time, and do not count it any more; or a
broker gave it up.
Brokers that see it go, and members that are told of it, are asked before (``departures.py``).
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.bounds import DROPS_WITHIN_MS
from rebalance_engine.pipeline.clients import QUEUE_KEY
from rebalance_engine.pipeline.departures import MEMBER, SPEAKS_WITHIN_MS
from rebalance_engine.pipeline.keeping import computed_once
from rebalance_engine.pipeline.layouts import BROKER
from rebalance_engine.pipeline.logends import ends_of_logs
from rebalance_engine.pipeline.silences import WATCHES_FOR_MS

SILENT_MS = WATCHES_FOR_MS  # several times as long as a consumer goes without persisting
TAKEN_BEFORE_MS = 1_000  # clocks differ
TOLD_WITHIN_MS = 2_000  # from an end to the takes of those who are told
LIFE = [*MEMBER, "last_ms", "reborn_ms"]


def with_witnesses(begun: DataFrame, takes: DataFrame, events: DataFrame, life: DataFrame) -> DataFrame:
    """Say of members that fell silent whether anybody tells that they ended: ``is_witnessed``.

    Where others took all that one had so late that it must have lived on, each queue has ``others_ms``: by when it had
    let it go.

    Args:
        begun: holds that no line ends: LIFE, QUEUE_KEY, ``is_asked``.
        takes: cluster, group, QUEUE_KEY, taker, taken_ms.
    """
    kept = computed_once(begun)
    asked = kept.where("is_asked").select(*LIFE, *QUEUE_KEY)
    if asked.isEmpty():  # asked first: a plan that does nothing still costs seconds to make
        return kept.withColumns({"is_witnessed": F.lit(False), "others_ms": F.lit(None).cast("long")})
    ends = ends_of_logs(events, asked, life).select(*MEMBER, F.col("at_ms").alias("log_end_ms"))
    given_up = _given_up(events)
    of_queue, is_all = _taken(asked, takes), F.count("taken_ms") == F.count(F.lit(1))
    told = (
        of_queue.groupBy(*LIFE)
        .agg(F.min("taken_ms").alias("first_ms"), F.max("taken_ms").alias("latest_ms"), is_all.alias("is_all"))
        .withColumn("are_taken", F.col("is_all") & (F.col("latest_ms") - F.col("first_ms") <= SILENT_MS))
    )
    told = (
        _without_counted(told, events)
        .join(ends, on=MEMBER, how="left")
        .join(given_up, on=["cluster", "group", "client_id"], how="left")
    )
    goes_on = F.coalesce(F.col("log_end_ms") - F.col("last_ms") > SILENT_MS, F.lit(False))
    is_given_up = F.coalesce(F.col("expired_ms") > F.col("last_ms"), F.lit(False))
    # Who was killed, others are told of at once; it would have persisted until then.
    is_late = F.col("are_taken") & (F.col("first_ms") > F.col("last_ms") + SPEAKS_WITHIN_MS + TOLD_WITHIN_MS)
    seen = told.groupBy(*LIFE).agg(
        F.max(F.coalesce("are_taken", F.lit(False)) | goes_on | is_given_up).alias("is_witnessed"),
        F.max(is_late & ~goes_on & ~is_given_up).alias("is_late"),
    )
    joined = kept.join(F.broadcast(seen), on=LIFE, how="left").join(of_queue, on=[*LIFE, *QUEUE_KEY], how="left")
    return joined.withColumns(
        {
            "is_witnessed": F.coalesce("is_witnessed", F.lit(False)),
            "others_ms": F.when(F.coalesce("is_late", F.lit(False)), F.col("taken_ms") + DROPS_WITHIN_MS),
        }
    ).drop("is_late", "taken_ms")


def _without_counted(told: DataFrame, events: DataFrame) -> DataFrame:
    """Let nobody have ended whom the others count as before when they have taken all that it had: it let that go.

    They divide by how many they are (``cidAllSize``); whoever starts in between is counted besides.
    """
    asked = computed_once(told.where("are_taken").select(*LIFE, "first_ms", "latest_ms"))
    if asked.isEmpty():
        return told
    group = ["cluster", "group"]
    results = events.where((F.col("what") == "result") & F.col("number").isNotNull() & F.col("client_id").isNotNull())
    said = results.select(*group, F.col("client_id").alias("teller"), F.col("at_ms").alias("said_ms"), "number")
    began_ms, ends_ms = F.col("first_ms") - TAKEN_BEFORE_MS, F.col("latest_ms") + TOLD_WITHIN_MS
    at, is_before = F.col("said_ms"), F.col("said_ms") < began_ms
    is_then = F.col("said_ms").between(began_ms, ends_ms) & (F.col("teller") != F.col("client_id"))
    counted = (
        asked.join(said, on=group, how="inner")
        .groupBy(*LIFE, "first_ms", "latest_ms")
        .agg(
            F.max(F.when(is_before, at)).alias("before_ms"),
            F.max_by(F.when(is_before, F.col("number")), F.when(is_before, at)).alias("before"),
            F.max_by(F.when(is_then, F.col("number")), F.when(is_then, at)).alias("then"),
        )
    )
    starts = events.where(F.col("what") == "consumer starting").select(*group, F.col("at_ms").alias("start_ms"))
    is_new = F.col("start_ms").between(F.col("before_ms"), ends_ms)
    still = (
        counted.join(starts, on=group, how="left")
        .groupBy(*LIFE, "before", "then")
        .agg(F.count(F.when(is_new, 1)).alias("new"))
        .where(F.col("then") >= F.col("before") + F.col("new"))
        .select(*LIFE, F.lit(True).alias("is_counted"))
    )
    met = told.join(still, on=LIFE, how="left")
    return met.withColumn("are_taken", F.col("are_taken") & F.col("is_counted").isNull()).drop("is_counted")


def _taken(asked: DataFrame, takes: DataFrame) -> DataFrame:
    """Give of each queue that a member had when it fell silent the first take by another, or None."""
    met = asked.join(takes, on=["cluster", "group", *QUEUE_KEY], how="left")
    since = F.col("last_ms") - TAKEN_BEFORE_MS
    is_next = (F.col("taker") != F.col("client_id")) & F.col("taken_ms").between(since, F.col("reborn_ms"))
    return met.groupBy(*LIFE, *QUEUE_KEY).agg(F.min(F.when(is_next, F.col("taken_ms"))).alias("taken_ms"))


def _given_up(events: DataFrame) -> DataFrame:
    """Give when brokers gave up members that had said nothing for long: its line names the channel only."""
    channel = ["cluster", "process", "group", "other"]
    own = events.where((F.col("layout") == BROKER.name) & F.col("other").isNotNull())
    joined = own.where(F.col("what") == "joined").select(*channel, "client_id").distinct()
    expired = own.where(F.col("what") == "expired").select(*channel, F.col("at_ms").alias("expired_ms"))
    met = joined.join(expired, on=channel, how="inner")
    return met.groupBy("cluster", "group", "client_id").agg(F.max("expired_ms").alias("expired_ms"))
