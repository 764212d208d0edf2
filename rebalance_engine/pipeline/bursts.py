"""Bursts after rounds: how much faster messages were consumed than before, and for how long. Native functions only."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.schemas import SPIKES, day_of, shaped

OF_GROUP = ["cluster", "group"]
OF_QUEUE = [*OF_GROUP, "topic", "broker", "queue_id"]
MINUTE_MS = 60_000
BEFORE_MINUTES, AFTER_MINUTES = 10, 15
RECOVERED = 1.2  # times the rate before
HANDED_ON_WITHIN_MS = 160_000  # a silent member expires after 120 s, its broker looks every 10 s, a round takes 20 s


def spikes_of(events: DataFrame, spans: DataFrame, rounds: DataFrame) -> DataFrame:
    """Compare the rate at which offsets grew after every round with that before it, minute by minute.

    Whole minutes only. A burst is that of the last round before it: one that went on when a round opened is not told of
    that round again, nor is one that began after the next round had opened told of this one.
    """
    near = _near(_rates(events, spans), rounds)
    apart = F.col("minute") - F.col("opened_minute")
    before = F.when(apart < 0, F.col("per_s"))
    told = near.groupBy(*OF_GROUP, "number", "opened_ms", "next_minute").agg(
        F.percentile(before, F.lit(0.5)).alias("before_per_s"),
        F.max(F.when(apart == -1, F.col("per_s"))).alias("just_before_per_s"),
        F.array_sort(F.collect_list(F.when(apart >= 0, F.struct("minute", "per_s")))).alias("after"),
    )
    told = told.where(F.col("before_per_s") > 0).withColumn("mine", F.filter("after", _is_of_this_round))
    told = told.withColumn("peak_per_s", F.array_max(F.transform("mine", lambda one: one["per_s"])))
    told = told.where(F.col("peak_per_s").isNotNull())
    peaks = F.filter("mine", lambda one: one["per_s"] == F.col("peak_per_s"))
    told = told.withColumn("peak_minute", peaks[0]["minute"]).withColumn("calm", _first_calm(F.col("peak_minute")))
    high = F.filter("after", lambda one: _is_high(one["per_s"]) & _is_before(one["minute"], F.col("calm")))
    is_burst = _is_high(F.col("peak_per_s"))
    ends = (F.array_max(F.transform(high, lambda one: one["minute"])) + 1) * MINUTE_MS - F.col("opened_ms")
    return shaped(
        told.withColumns(
            {
                "at_ms": F.col("opened_ms"),
                "day": day_of(F.col("opened_ms")),
                "round": F.col("number"),
                "factor": F.col("peak_per_s") / F.col("before_per_s"),
                "recovered_ms": F.when(is_burst, ends).otherwise(0),
                "is_over": ~is_burst | F.col("calm").isNotNull(),
            }
        ),
        SPIKES,
    )


def _near(rate: DataFrame, rounds: DataFrame) -> DataFrame:
    """Put the minutes around it beside each round.

    Met by minute: every round of a group with every minute of weeks would grow as their square. Merged, as Spark does
    not see that exploding makes 26 rows of one, and would send all of them to every task.
    """
    in_order = Window.partitionBy(*OF_GROUP).orderBy("opened_ms")
    opened = rounds.select(
        *OF_GROUP,
        "number",
        "opened_ms",
        F.floor(F.col("opened_ms") / MINUTE_MS).alias("opened_minute"),
        F.floor(F.lead("opened_ms").over(in_order) / MINUTE_MS).alias("next_minute"),
    )
    first, last = F.col("opened_minute") - BEFORE_MINUTES, F.col("opened_minute") + AFTER_MINUTES
    minutes = opened.withColumn("minute", F.explode(F.sequence(first, last)))
    return minutes.hint("merge").join(rate, on=[*OF_GROUP, "minute"])


def _is_of_this_round(one: Column) -> Column:
    """Leave out what goes on from before the round, and what comes after the next one has opened."""
    goes_on = F.coalesce(_is_high(F.col("just_before_per_s")), F.lit(False))
    is_mine = ~goes_on | (one["minute"] >= _first_calm(F.lit(0)))
    return is_mine & _is_before(one["minute"], F.col("next_minute"))


def _first_calm(since: Column) -> Column:
    """Give the first minute from one on that was as before the round; none where nobody saw it."""
    calm = F.filter("after", lambda one: ~_is_high(one["per_s"]) & (one["minute"] >= since))
    return F.array_min(F.transform(calm, lambda one: one["minute"]))


def _is_high(per_s: Column) -> Column:
    return per_s > RECOVERED * F.col("before_per_s")


def _is_before(minute: Column, end: Column) -> Column:
    return end.isNull() | (minute < end)


def _rates(events: DataFrame, spans: DataFrame) -> DataFrame:
    """Give messages per second, by group and minute, from the offsets that members persist every 5 s.

    What a queue's new owner has consumed by the first offset that it persists lies above the last one of any owner
    before it: that is what has come in while nobody consumed. Where nobody persisted for longer than a handoff takes,
    somebody may have consumed whose log is not there: then it is unknown when, and counts for no minute.
    """
    kept = events.where((F.col("what") == "persisted all") & F.col("number").isNotNull() & F.col("group").isNotNull())
    place = F.xxhash64(*OF_QUEUE)  # sorted by a number, not by names
    before = Window.partitionBy(place, *OF_QUEUE).orderBy("at_ms", "place")
    reached = F.max("number").over(before.rowsBetween(Window.unboundedPreceding, -1))
    is_same = F.lag("process").over(before) == F.col("process")
    is_handed_on = F.col("at_ms") - F.lag("at_ms").over(before) <= HANDED_ON_WITHIN_MS
    since = F.when(is_same, F.lag("number").over(before)).when(is_handed_on, reached)
    grown = F.greatest(F.col("number") - since, F.lit(0))
    groups = spans.select(*OF_GROUP).dropDuplicates()
    minutes = kept.withColumn("grown", F.when(since.isNotNull(), grown)).withColumn(
        "minute", F.floor(F.col("at_ms") / MINUTE_MS)
    )
    summed = minutes.groupBy(*OF_GROUP, "minute").agg(
        (F.sum("grown") / 60).alias("per_s"), F.min("at_ms").alias("first_ms"), F.max("at_ms").alias("last_ms")
    )
    return _whole(summed).join(groups, on=OF_GROUP, how="left_semi")


def _whole(minutes: DataFrame) -> DataFrame:
    """Leave out the first and the last minute of each time in which a group's offsets came: its rate would seem low.

    Such a time ends where none came for longer than a handoff takes.
    """
    in_order = Window.partitionBy(*OF_GROUP).orderBy("minute")
    apart = F.col("first_ms") - F.lag("last_ms").over(in_order)
    known = minutes.withColumn("begins", F.coalesce(apart > HANDED_ON_WITHIN_MS, F.lit(True)))
    known = known.withColumn("ends", F.lead("begins", 1, True).over(in_order))
    return known.where(~F.col("begins") & ~F.col("ends")).drop("begins", "ends", "first_ms", "last_ms")
