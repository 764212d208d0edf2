"""What rebalancing cost: a group's day in figures, storms, deploys, spikes, heartbeats, brokers. Native functions only.

An interval belongs to the day on which it began. What no line tells is missing, never 0.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.layouts import HISTORY
from rebalance_engine.pipeline.schemas import (
    BROKERS,
    COSTS,
    HEARTBEATS,
    LOOKED,
    SPIKES,
    STORMS,
    WAVES,
    day_of,
    shaped,
)
from rebalance_engine.pipeline.templates import ADDS, POPS, REMOVES

OF_DAY = ["cluster", "day", "group"]
OF_GROUP = ["cluster", "group"]
FLAP_WITHIN_MS = 60_000
STORM_GAP_MS, STORM_ROUNDS = 60_000, 4  # one process that is replaced makes two rounds
STORM_ROUNDS_MORE = 2  # than comings and goings explain: somebody came and went again
COME_AND_GO = ("member joined", "member left", "connection closed", "heartbeat expired")
OF_SESSION = ("first", "last", "gone", "came", "again")
_WAYS = (("before", "after"), ("after", "before"))
WAVE_GAP_MS, WAVE_MEMBERS = 300_000, 2
MINUTE_MS = 60_000
BEFORE_MINUTES, AFTER_MINUTES = 10, 15
SILENT_ON_ISOLATION = ("java4", "cpp", "go")  # their producers leave brokers out, and log no line of it
RECOVERED = 1.2  # times the rate before


def costs_of(
    rounds: DataFrame, handoffs: DataFrame, stretches: DataFrame, member_loads: DataFrame, group_loads: DataFrame
) -> DataFrame:
    """Sum up every group's day."""
    moved = handoffs.groupBy(*OF_DAY).agg(
        F.count(F.lit(1)).alias("handoffs"),
        *(F.sum(name).alias(name) for name in ("pause_ms", "lock_wait_ms")),
        # Of members whose logs tell none there may have been any number: a sum of 0 would say too much.
        F.when(
            (F.sum("refused_pulls") > 0) | (F.count("refused_pulls") == F.count(F.lit(1))), F.sum("refused_pulls")
        ).alias("refused_pulls"),
        *(F.sum(name).alias(name) for name in ("duplicates_least", "duplicates_most")),
        F.count(F.when(F.col("duplicates_most").isNull(), 1)).alias("duplicates_unbounded"),
        F.sum(_locked()).alias("pause_locked_ms"),
        F.max("silence_most_ms").alias("silence_most_ms"),
        F.count(F.when(F.col("silence_most_ms").isNull(), 1)).alias("silence_unbounded"),
    )
    lasted = F.col("until_ms") - F.col("at_ms")
    is_deserted = F.coalesce("is_deserted", F.lit(False))
    is_unowned = (F.size("clients") == 0) & ~is_deserted
    is_sure = is_unowned & (F.coalesce("unheard", F.lit(0)) == 0)
    apart = stretches.groupBy(*OF_DAY).agg(
        F.sum(F.when(is_sure, lasted).otherwise(0)).alias("unowned_ms"),
        F.sum(F.when(is_unowned, lasted).otherwise(0)).alias("unowned_most_ms"),
        F.sum(F.when(is_sure & F.col("is_open"), lasted).otherwise(0)).alias("unowned_open_ms"),
        F.sum(F.when(is_deserted, lasted).otherwise(0)).alias("deserted_ms"),
        F.sum(F.when(F.size("clients") == 0, 0).otherwise(lasted)).alias("overlap_ms"),
        F.sum("stopping_ms").alias("overlap_stopping_ms"),
    )
    told = rounds.groupBy(*OF_DAY).agg(F.count(F.lit(1)).alias("rounds"), F.sum("above_fewest").alias("above_fewest"))
    flapped = flaps_of(handoffs).groupBy(*OF_DAY).agg(F.count(F.lit(1)).alias("flaps"))
    idle = member_loads.groupBy(*OF_DAY).agg(F.sum("idle_ms").alias("idle_ms"), F.sum("present_ms").alias("present_ms"))
    unheard = F.coalesce("unheard", F.lit(0)).alias("unheard")
    is_even = F.when(unheard == 0, F.col("max_over_mean")).alias("max_over_mean")  # of whom nobody tells may have much
    skewed = group_loads.select(*OF_DAY, is_even, unheard)
    whole = idle
    for part in (told, moved, apart, flapped, skewed):
        whole = whole.join(part, on=OF_DAY, how="left" if part is skewed else "full")
    none_moved = F.col("handoffs").isNull()
    for known in ("refused_pulls", "pause_ms"):  # of what moved it may be unknown
        whole = whole.withColumn(known, F.when(none_moved, F.lit(0)).otherwise(F.col(known)))
    counts = (
        "rounds",
        "handoffs",
        "unowned_ms",
        "unowned_most_ms",
        "unowned_open_ms",
        "deserted_ms",
        "overlap_ms",
        "overlap_stopping_ms",
        "unheard",
        "above_fewest",
        "flaps",
    )
    return shaped(whole.fillna(0, subset=[*counts, "duplicates_unbounded", "silence_unbounded"]), COSTS)


def _locked() -> Column:
    """Give how long after the release the new owner still waited for the lock: as long as it has waited, at most.

    Empty where no lock was refused, or where somebody may have held the queue of whom nobody tells.
    """
    apart = F.col("taken_ms") - F.col("released_ms")
    is_known = F.col("lock_wait_ms").isNotNull() & F.col("pause_ms").isNotNull() & (apart > 0)
    return F.when(is_known, F.least("lock_wait_ms", apart, "pause_ms"))


def flaps_of(handoffs: DataFrame) -> DataFrame:
    """Find handoffs from A to B whose queue had come from B to A within a minute."""
    queue = Window.partitionBy("cluster", "group", "topic", "broker", "queue_id").orderBy("taken_ms")
    back = handoffs.withColumns(
        {
            "was_from": F.lag("from_client").over(queue),
            "was_to": F.lag("to_client").over(queue),
            "was_taken_ms": F.lag("taken_ms").over(queue),
        }
    )
    is_back = (F.col("was_from") == F.col("to_client")) & (F.col("was_to") == F.col("from_client"))
    return back.where(is_back & (F.col("taken_ms") - F.col("was_taken_ms") <= FLAP_WITHIN_MS))


def storms_of(rounds: DataFrame, handoffs: DataFrame) -> DataFrame:
    """Find rounds of one group that follow each other closely, and who began.

    Where members start, stop or are replaced one after another, each of them makes a round when it goes and one when it
    comes: as many rounds as that are no storm, as long as each settles before the next opens.
    """
    grouped = _sessions(rounds, STORM_GAP_MS)
    told = grouped.groupBy(*OF_GROUP, "session").agg(
        *_members_of_session(),
        F.count(F.when(F.col("superseded"), 1)).alias("superseded"),
        F.min("opened_ms").alias("at_ms"),
        F.max(F.coalesce("settled_ms", "last_cause_ms")).alias("until_ms"),
        F.count(F.lit(1)).alias("rounds"),
        F.min_by(F.try_element_at("who", F.lit(1)), "opened_ms").alias("starter"),
        F.min_by("cause", "opened_ms").alias("cause"),
    )
    explained = reduce(Column.__add__, (F.size(F.array_distinct(one)) for one in ("gone", "came", "again")))
    is_more = (F.col("rounds") - explained >= STORM_ROUNDS_MORE) | (F.col("superseded") >= STORM_ROUNDS)
    storms = told.where((F.col("rounds") >= STORM_ROUNDS) & is_more).drop(*OF_SESSION, "superseded")
    return shaped(_with_costs(storms, handoffs).withColumn("day", day_of(F.col("at_ms"))), STORMS)


def waves_of(rounds: DataFrame, handoffs: DataFrame) -> DataFrame:
    """Find deploys: several members are replaced, one shortly after another, by others or by themselves.

    A group's first start and its last stop, before and after which nobody is there, replace nobody.
    """
    in_order = Window.partitionBy(*OF_GROUP).orderBy("opened_ms")
    number, count = F.row_number().over(in_order), F.count(F.lit(1)).over(Window.partitionBy(*OF_GROUP))
    is_first = (number == 1) & (F.size("members_before") == 0)
    is_last = (number == count) & (F.size("members_after") == 0)
    inner = rounds.withColumn("is_edge", is_first | is_last).where(~F.col("is_edge"))
    changes = inner.where(F.arrays_overlap("causes", F.array(*map(F.lit, COME_AND_GO))))
    told = (
        _sessions(changes, WAVE_GAP_MS)
        .groupBy(*OF_GROUP, "session")
        .agg(
            F.min("opened_ms").alias("at_ms"),
            F.max(F.coalesce("settled_ms", "last_cause_ms")).alias("until_ms"),
            F.count(F.lit(1)).alias("rounds"),
            *_members_of_session(),
        )
    )
    waves = _replaced(told).where((F.size("left") >= WAVE_MEMBERS) & (F.size("joined") >= WAVE_MEMBERS))
    filed = _with_costs(waves.drop(*OF_SESSION), handoffs)
    return shaped(filed.withColumn("day", day_of(F.col("at_ms"))), WAVES)


def _members_of_session() -> list[Column]:
    """Give, as OF_SESSION, who was there before its rounds and after, who came and went, and who did both in one."""
    gone, came = (F.array_except(f"members_{one}", f"members_{other}") for one, other in _WAYS)
    both = F.array_intersect("members_before", "members_after")
    again = F.filter(both, lambda name: F.size(F.filter("who", lambda one: one == name)) > 1)
    return [
        F.min_by("members_before", "opened_ms").alias("first"),
        F.max_by("members_after", "opened_ms").alias("last"),
        F.flatten(F.collect_list(gone)).alias("gone"),
        F.flatten(F.collect_list(came)).alias("came"),
        F.flatten(F.collect_list(again)).alias("again"),
    ]


def _replaced(sessions: DataFrame) -> DataFrame:
    """Say who left and who joined from before a session until after it; who is back under its id did both."""
    back = F.array_union(F.array_intersect("gone", "came"), "again")
    restarted = F.array_intersect(F.array_intersect("first", "last"), back)
    return sessions.withColumns(
        {
            "left": F.array_sort(F.array_union(F.array_except("first", "last"), restarted)),
            "joined": F.array_sort(F.array_union(F.array_except("last", "first"), restarted)),
        }
    )


def _sessions(rounds: DataFrame, gap_ms: int) -> DataFrame:
    in_order = Window.partitionBy(*OF_GROUP).orderBy("opened_ms")
    apart = F.col("opened_ms") - F.lag("last_cause_ms").over(in_order)
    return rounds.withColumn("begins", F.when(apart <= gap_ms, 0).otherwise(1)).withColumn(
        "session", F.sum("begins").over(in_order)
    )


def _with_costs(sessions: DataFrame, handoffs: DataFrame) -> DataFrame:
    mine = handoffs.select(
        *OF_GROUP, F.greatest("released_ms", "taken_ms").alias("moved_ms"), "pause_ms", "duplicates_least"
    )
    inside = F.col("moved_ms").between(F.col("at_ms"), F.col("until_ms"))
    key = sessions.columns
    joined = sessions.join(mine, on=OF_GROUP, how="left")
    return joined.groupBy(*key).agg(
        F.count(F.when(inside, 1)).alias("handoffs"),
        F.sum(F.when(inside, F.col("pause_ms"))).alias("pause_ms"),
        F.sum(F.when(inside, F.col("duplicates_least"))).alias("duplicates_least"),
    )


def spikes_of(events: DataFrame, spans: DataFrame, rounds: DataFrame) -> DataFrame:
    """Compare the rate at which offsets grew after every round with that before it, minute by minute.

    Whole minutes only: in the first one and the last one that a group's logs reach, its rate would seem low.
    """
    rate = _rates(events, spans)
    opened = rounds.select(*OF_GROUP, "number", "opened_ms").withColumn(
        "opened_minute", F.floor(F.col("opened_ms") / MINUTE_MS)
    )
    apart = F.col("minute") - F.col("opened_minute")
    first, last = F.col("opened_minute") - BEFORE_MINUTES, F.col("opened_minute") + AFTER_MINUTES
    # Met by minute: every round of a group with every minute of weeks would grow as their square. Merged, as Spark does
    # not see that exploding makes 26 rows of one, and would send all of them to every task.
    minutes = opened.withColumn("minute", F.explode(F.sequence(first, last)))
    near = minutes.hint("merge").join(rate, on=[*OF_GROUP, "minute"])
    before = F.when(apart < 0, F.col("per_s"))
    told = near.groupBy(*OF_GROUP, "number", "opened_ms").agg(
        F.percentile(before, F.lit(0.5)).alias("before_per_s"),
        F.max(F.when(apart >= 0, F.col("per_s"))).alias("peak_per_s"),
        F.collect_list(F.when(apart >= 0, F.struct("minute", "per_s"))).alias("after"),
    )
    told = told.where((F.col("before_per_s") > 0) & F.col("peak_per_s").isNotNull())
    high = F.filter("after", lambda one: one["per_s"] > RECOVERED * F.col("before_per_s"))
    last = F.array_max(F.transform(high, lambda one: one["minute"]))
    ends = (last + 1) * MINUTE_MS - F.col("opened_ms")
    return shaped(
        told.withColumns(
            {
                "at_ms": F.col("opened_ms"),
                "day": day_of(F.col("opened_ms")),
                "round": F.col("number"),
                "factor": F.col("peak_per_s") / F.col("before_per_s"),
                "recovered_ms": F.coalesce(ends, F.lit(0)),
                "is_over": F.coalesce(F.array_max(F.transform("after", lambda one: one["minute"])) > last, F.lit(True)),
            }
        ),
        SPIKES,
    )


def _rates(events: DataFrame, spans: DataFrame) -> DataFrame:
    """Give messages per second, by group and minute, from the offsets that members persist every 5 s."""
    key = ["cluster", "process", "group", "topic", "broker", "queue_id"]
    kept = events.where((F.col("what") == "persisted all") & F.col("number").isNotNull() & F.col("group").isNotNull())
    before = Window.partitionBy(F.xxhash64(*key), *key).orderBy("at_ms", "place")  # sorted by a number, not by names
    grown = F.greatest(F.col("number") - F.lag("number").over(before), F.lit(0))
    groups = spans.select(*OF_GROUP).dropDuplicates()
    minutes = kept.withColumn("grown", grown).withColumn("minute", F.floor(F.col("at_ms") / MINUTE_MS))
    summed = minutes.groupBy(*OF_GROUP, "minute").agg((F.sum("grown") / 60).alias("per_s"))
    whole = Window.partitionBy(*OF_GROUP)
    edges = summed.withColumns({"first": F.min("minute").over(whole), "last": F.max("minute").over(whole)})
    inside = edges.where((F.col("minute") > F.col("first")) & (F.col("minute") < F.col("last")))
    return inside.drop("first", "last").join(groups, on=OF_GROUP, how="left_semi")


def heartbeats_of(events: DataFrame) -> DataFrame:
    """Count heartbeats that failed at the sender, and members that a broker gave up, by host.

    Clients' logs name hosts by their folders, brokers by their addresses: what only one of them tells is of the other
    unknown.
    """
    failed = events.where(F.col("what") == "heartbeat failed").select(
        "cluster", "day", "host", F.lit(1).alias("failed")
    )
    address = F.regexp_extract("other", r"^(.*):\d+$", 1)
    expired = events.where(F.col("what") == "expired").select(
        "cluster", "day", address.alias("host"), F.lit(1).alias("expired")
    )
    both = failed.unionByName(expired, allowMissingColumns=True)
    counted = both.groupBy("cluster", "day", "host").agg(
        F.sum("failed").alias("failed"), F.sum("expired").alias("expired")
    )
    return shaped(counted, HEARTBEATS)


def brokers_of(events: DataFrame) -> DataFrame:
    """Tell from which brokers producers backed away, and for what share of the time that their logs cover."""
    watched = ("isolated", "unreachable", "resent", "send failed", "sent")
    of_day = ["cluster", "day", "process"]
    covered = (
        events.groupBy(*of_day)
        .agg(F.max("at_ms").alias("said_ms"), (F.max("at_ms") - F.min("at_ms")).alias("covered_ms"))
        .withColumn("last_ms", F.max("said_ms").over(Window.partitionBy("cluster", "process")))
    )
    told = _isolated(events.where(F.col("what").isin(*watched) & F.col("broker").isNotNull()), covered)
    isolation = {
        "isolations": F.count(_when("isolated")),
        "isolated_ms": F.sum("alone_ms"),
        "unreachable": F.count(_when("unreachable")),
    }
    by_process = told.groupBy("cluster", "day", "broker", "process").agg(
        *(
            F.when(~F.coalesce(F.first("layout").isin(*SILENT_ON_ISOLATION), F.lit(False)), told).alias(name)
            for name, told in isolation.items()
        ),
        F.count(_when("resent", "send failed")).alias("resent"),
        F.max(_took("resent", "send failed")).alias("failed_slowest_ms"),
        F.sum(_took("resent", "send failed")).alias("failed_ms"),
        F.count(_took("resent", "send failed")).alias("timed"),
        F.max(_took("sent")).alias("went_well_slowest_ms"),
    )
    joined = by_process.join(covered, on=["cluster", "day", "process"], how="inner")
    covering = F.when(F.col("isolations").isNotNull(), F.col("covered_ms"))
    summed = (
        joined.withColumn("covered_ms", covering)
        .groupBy("cluster", "day", "broker")
        .agg(
            *(F.sum(name).alias(name) for name in ("isolations", "isolated_ms", "unreachable", "resent", "covered_ms")),
            *(F.max(name).alias(name) for name in ("failed_slowest_ms", "went_well_slowest_ms")),
            (F.sum("failed_ms") / F.nullif(F.sum("timed"), F.lit(0))).alias("failed_mean_ms"),
        )
    )
    # Producers of one day isolate each by itself, and one that begins before midnight is of the day before.
    ratio = F.col("isolated_ms") / F.nullif(F.col("covered_ms"), F.lit(0))
    share = F.when(ratio.isNotNull(), F.least(ratio, F.lit(1.0)))  # the least of nothing and 1 is 1
    return shaped(summed.withColumn("isolated_share", share), BROKERS)


def _isolated(told: DataFrame, covered: DataFrame) -> DataFrame:
    """Say of each isolation for how long it lasts alone: a further line extends one that goes on, it adds none to it.

    It ends with its process's last line.
    """
    before = Window.partitionBy("cluster", "process", "broker").orderBy("at_ms")
    earlier = F.max("ends_ms").over(before.rowsBetween(Window.unboundedPreceding, -1))
    ends = F.least(F.col("at_ms") + F.coalesce("number", F.lit(0)), F.col("last_ms"))
    known = told.join(covered.select("cluster", "day", "process", "last_ms"), on=["cluster", "day", "process"])
    timed = known.withColumn("ends_ms", F.when(F.col("what") == "isolated", ends))
    alone = F.greatest(F.col("ends_ms") - F.greatest("at_ms", earlier), F.lit(0))
    return timed.withColumn("alone_ms", F.when(F.col("what") == "isolated", alone).otherwise(0)).drop("last_ms")


def _when(*what: str) -> Column:
    return F.when(F.col("what").isin(*what), 1)


def _took(*what: str) -> Column:
    return F.when(F.col("what").isin(*what), F.col("number"))


def looked_of(events: DataFrame) -> DataFrame:
    """Count, as ``LOOKED``, who would have told of what: an empty measure says something only where somebody would.

    A process sends where its log says that a producer started, or that something became of a send, or lists no consumer
    group in its heartbeats.
    """
    what, layout = F.col("what"), F.col("layout")
    is_java, is_own = layout.isin("java5", "java4"), layout == HISTORY.name
    starts = (what == "producer started") & (F.col("group") != "CLIENT_INNER_PRODUCER")
    is_alone = (what == "heartbeat data") & (F.size("queues") == 0)
    sends = starts | is_alone | what.isin("isolated", "unreachable", "reachable", "resent", "send failed", "sent")
    told = {
        "holds": (layout != "broker")
        & (what.isin(*ADDS, *REMOVES, *POPS, "result") | ((what == "persisted all") & F.col("client_id").isNotNull())),
        "offsets": what == "persisted all",
        "sends": sends,
        "isolations": sends & ~layout.isin(*SILENT_ON_ISOLATION),
        "heartbeats": is_java,
        "expiries": (layout == "broker") | (is_own & what.isin("joined", "left", "closed", "expired")),
    }
    by_process = events.groupBy("cluster", "day", "process").agg(
        *(F.max(F.when(F.coalesce(would, F.lit(False)), 1).otherwise(0)).alias(name) for name, would in told.items())
    )
    return shaped(by_process.groupBy("cluster", "day").agg(*(F.sum(name).alias(name) for name in told)), LOOKED)
