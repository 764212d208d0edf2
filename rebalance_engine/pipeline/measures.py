"""What rebalancing cost: a group's day in figures, storms, deploys, heartbeats. Native functions only.

An interval belongs to the day on which it began. What no line tells is missing, never 0.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.brokers import SILENT_ON_ISOLATION
from rebalance_engine.pipeline.layouts import HISTORY
from rebalance_engine.pipeline.offs import RESTARTED_WITHIN_MS
from rebalance_engine.pipeline.schemas import (
    COSTS,
    HEARTBEATS,
    LOOKED,
    STORMS,
    WAVES,
    day_of,
    shaped,
)
from rebalance_engine.pipeline.templates import ADDS, LOCK_LOGS, POPS, REMOVES

OF_DAY = ["cluster", "day", "group"]
OF_GROUP = ["cluster", "group"]
FLAP_WITHIN_MS = 60_000
UNSURE = "unknown"  # pause_is of a handoff between whose owners another may have had the queue
STORM_GAP_MS, STORM_ROUNDS = 60_000, 4  # one process that is replaced makes two rounds
STORM_ROUNDS_MORE = 2  # than comings and goings explain: somebody came and went again
COME_AND_GO = ("member joined", "member left", "connection closed", "heartbeat expired")
STOPPED = "member left"
OF_SESSION = ("first", "last", "gone", "came", "again")
_WAYS = (("before", "after"), ("after", "before"))
WAVE_GAP_MS, WAVE_MEMBERS = RESTARTED_WITHIN_MS, 2
OF_OTHERS = ("not in list", "granted expired", "refused")  # whose client id need not be of the log's own host


def costs_of(
    rounds: DataFrame, moved: DataFrame, stretches: DataFrame, member_loads: DataFrame, group_loads: DataFrame
) -> DataFrame:
    """Sum up every group's day.

    That a queue went back to the member that had let it go is told only where nobody may have had it in between.

    Args:
        moved: handoffs and returns.
    """
    moved = moved.where(_is_handoff() | _is_sure())
    is_handoff, handoffs = _is_handoff(), moved.where(_is_handoff())
    costs = moved.groupBy(*OF_DAY).agg(
        F.count(F.when(is_handoff, 1)).alias("handoffs"),
        F.count(F.when(~is_handoff, 1)).alias("returns"),
        *(F.sum(name).alias(name) for name in ("pause_ms", "lock_wait_ms")),
        # Of members whose logs tell none there may have been any number: a sum of 0 would say too much.
        F.when(
            (F.sum("refused_pulls") > 0) | (F.count("refused_pulls") == F.count(F.lit(1))), F.sum("refused_pulls")
        ).alias("refused_pulls"),
        *(F.sum(name).alias(name) for name in ("duplicates_least", "duplicates_most")),
        F.count(F.when(F.col("duplicates_most").isNull(), 1)).alias("duplicates_unbounded"),
        F.sum(_locked()).alias("pause_locked_ms"),
        F.sum("restart_ms").alias("pause_restart_ms"),
        F.max(F.when(is_handoff, F.col("silence_most_ms"))).alias("silence_most_ms"),
        F.count(F.when(is_handoff & F.col("silence_most_ms").isNull(), 1)).alias("silence_unbounded"),
        F.sum("overlap_ms").alias("overlap_moved_ms"),
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
        F.sum(F.when(F.size("clients") > 0, F.coalesce("surely_ms", lasted))).alias("overlap_least_ms"),
        F.sum("stopping_ms").alias("overlap_stopping_ms"),
    )
    told = rounds.groupBy(*OF_DAY).agg(
        F.count(F.lit(1)).alias("rounds"),
        F.sum("above_fewest").alias("above_fewest"),
        F.count(F.when(F.col("above_fewest").isNull(), 1)).alias("above_fewest_unknown"),
    )
    flapped = flaps_of(handoffs).groupBy(*OF_DAY).agg(F.count(F.lit(1)).alias("flaps"))
    idle = member_loads.groupBy(*OF_DAY).agg(F.sum("idle_ms").alias("idle_ms"), F.sum("present_ms").alias("present_ms"))
    unheard = F.coalesce("unheard", F.lit(0)).alias("unheard")
    is_even = F.when(unheard == 0, F.col("max_over_mean")).alias("max_over_mean")  # of whom nobody tells may have much
    counted = (F.coalesce(name, F.lit(0)).alias(name) for name in ("disputes", "clocks_apart", "routes_unknown"))
    skewed = group_loads.select(*OF_DAY, is_even, unheard, *counted)
    whole = idle
    for part in (told, costs, apart, flapped, skewed):
        whole = whole.join(part, on=OF_DAY, how="left" if part is skewed else "full")
    whole = whole.withColumn("lock_lost_ms", F.lit(None).cast("bigint"))  # of locks, with_losses
    none_moved = F.col("handoffs").isNull() & (F.coalesce("unheard", F.lit(0)) == 0)
    # Of what moved it may be unknown, and what members had of whom nobody tells may have moved.
    for known in ("refused_pulls", "pause_ms", "duplicates_least", "duplicates_most"):
        whole = whole.withColumn(known, F.when(none_moved, F.lit(0)).otherwise(F.col(known)))
    overlap_moved = F.coalesce("overlap_moved_ms", F.lit(0))
    whole = whole.withColumn("overlap_unmoved_ms", F.greatest(F.col("overlap_ms") - overlap_moved, F.lit(0)))
    counts = (
        "rounds",
        "handoffs",
        "returns",
        "unowned_ms",
        "unowned_most_ms",
        "unowned_open_ms",
        "deserted_ms",
        "overlap_ms",
        "overlap_least_ms",
        "overlap_stopping_ms",
        "overlap_unmoved_ms",
        "unheard",
        "disputes",
        "clocks_apart",
        "routes_unknown",
        "above_fewest",
        "above_fewest_unknown",
        "flaps",
    )
    return shaped(whole.fillna(0, subset=[*counts, "duplicates_unbounded", "silence_unbounded"]), COSTS)


def _is_handoff() -> Column:
    """Tell it from a return, by which a queue goes back to the member that had let it go."""
    return F.col("from_client") != F.col("to_client")


def _locked() -> Column:
    """Give how long after the release the new owner still waited for the lock: as long as it has waited, at most.

    Empty where no lock was refused, or where somebody may have held the queue of whom nobody tells.
    """
    apart = F.col("taken_ms") - F.col("released_ms")
    is_known = F.col("lock_wait_ms").isNotNull() & F.col("pause_ms").isNotNull() & (apart > 0)
    return F.when(is_known, F.least("lock_wait_ms", apart, "pause_ms"))


def flaps_of(handoffs: DataFrame) -> DataFrame:
    """Find handoffs from A to B whose queue had come from B to A within a minute.

    Not where another may have had it in between, of whom nobody tells.
    """
    queue = Window.partitionBy("cluster", "group", "topic", "broker", "queue_id").orderBy("taken_ms")
    back = handoffs.withColumns(
        {
            "was_from": F.lag("from_client").over(queue),
            "was_to": F.lag("to_client").over(queue),
            "was_taken_ms": F.lag("taken_ms").over(queue),
            "was_sure": F.lag(_is_sure()).over(queue),
        }
    )
    is_back = (F.col("was_from") == F.col("to_client")) & (F.col("was_to") == F.col("from_client"))
    is_soon = F.col("taken_ms") - F.col("was_taken_ms") <= FLAP_WITHIN_MS
    return back.where(is_back & is_soon & _is_sure() & F.col("was_sure"))


def _is_sure() -> Column:
    """Tell that nobody had the queue between its two owners of whom nobody tells what it held."""
    return ~F.col("pause_is").eqNullSafe(UNSURE)


def storms_of(rounds: DataFrame, moved: DataFrame, bare: DataFrame | None = None) -> DataFrame:
    """Find rounds of one group that follow each other closely, and who began.

    Where members start, stop or are replaced one after another, each of them makes a round when it goes and one when it
    comes: as many rounds as that are no storm, as long as each settles before the next opens. That somebody stops in an
    orderly way, and does not come back soon, is none of its rounds.

    Args:
        moved: handoffs and returns.
        bare: rounds of groups of which nobody tells what was held: what their storms cost is unknown.
    """
    if bare is not None:
        unknown = _storms(bare, moved.limit(0)).withColumn("pause_ms", F.lit(None).cast("bigint"))
        return _storms(rounds, moved).unionByName(unknown)
    return _storms(rounds, moved)


def _storms(rounds: DataFrame, moved: DataFrame) -> DataFrame:
    grouped = _sessions(_without_stops(_sessions(rounds, STORM_GAP_MS)), STORM_GAP_MS)
    told = grouped.groupBy(*OF_GROUP, "session").agg(
        *_members_of_session(),
        F.count(F.when(F.col("superseded"), 1)).alias("superseded"),
        F.min("opened_ms").alias("at_ms"),
        F.max(F.coalesce("settled_ms", "last_cause_ms")).alias("until_ms"),
        F.count(F.lit(1)).alias("rounds"),
        F.min_by("begun_by", "opened_ms").alias("starter"),
        F.min_by(_causes(), "opened_ms").alias("cause"),
    )
    explained = reduce(Column.__add__, (F.size(F.array_distinct(one)) for one in ("gone", "came", "again")))
    is_more = (F.col("rounds") - explained >= STORM_ROUNDS_MORE) | (F.col("superseded") >= STORM_ROUNDS)
    storms = told.where((F.col("rounds") >= STORM_ROUNDS) & is_more).drop(*OF_SESSION, "superseded")
    return shaped(_with_costs(storms, moved).withColumn("day", day_of(F.col("at_ms"))), STORMS)


def _without_stops(sessions: DataFrame) -> DataFrame:
    """Leave out rounds in which members stopped, and no more, of whom no later round of the session tells.

    Not those that overlap with another round.
    """
    of_one = Window.partitionBy(*OF_GROUP, "session", "one")
    each = sessions.withColumn("one", F.explode("who")).withColumn("last_ms", F.max("opened_ms").over(of_one))
    stays = F.min(F.col("opened_ms") == F.col("last_ms")).alias("is_last")
    last = each.groupBy(*OF_GROUP, "number").agg(stays).where("is_last").drop("is_last")
    after = F.lag("superseded", 1, default=False).over(Window.partitionBy(*OF_GROUP).orderBy("opened_ms"))
    settled = sessions.withColumn("overlaps", F.coalesce(F.col("superseded") | after, F.lit(False)))
    is_stop = (F.array_distinct("causes") == F.array(F.lit(STOPPED))) & ~F.col("overlaps")
    stops = settled.where(is_stop).select(*OF_GROUP, "number")
    return sessions.join(last.join(stops, on=[*OF_GROUP, "number"]), on=[*OF_GROUP, "number"], how="left_anti")


def _causes() -> Column:
    """Name all causes of a round, each once."""
    return F.coalesce(F.nullif(F.concat_ws(", ", F.array_distinct("causes")), F.lit("")), F.col("cause"))


def waves_of(rounds: DataFrame, moved: DataFrame) -> DataFrame:
    """Find deploys: most of a group is replaced, one member shortly after another, by others or by themselves.

    Who comes with it stays. A group's first start and its last stop, before and after which nobody is there, replace
    nobody.

    Args:
        moved: handoffs and returns.
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
    are_several = (F.size("left") >= WAVE_MEMBERS) & (F.size("joined") >= WAVE_MEMBERS)
    are_most = 2 * F.size("left") > F.size("first")
    do_stay = F.size(F.array_except(F.array_intersect("gone", "came"), "first")) == 0
    waves = _replaced(told).where(are_several & are_most & do_stay)
    filed = _with_costs(waves.drop(*OF_SESSION), moved)
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


def _with_costs(sessions: DataFrame, moved: DataFrame) -> DataFrame:
    mine = moved.withColumns({"moved_ms": F.greatest("released_ms", "taken_ms"), "is_handoff": _is_handoff()}).select(
        *OF_GROUP,
        "moved_ms",
        "is_handoff",
        "pause_ms",
        "duplicates_least",
        F.col("restart_ms").alias("pause_restart_ms"),
    )
    inside = F.col("moved_ms").between(F.col("at_ms"), F.col("until_ms"))
    key = sessions.columns
    joined = sessions.join(mine, on=OF_GROUP, how="left")
    count = F.count(F.when(inside, 1))
    return joined.groupBy(*key).agg(
        F.count(F.when(inside & F.col("is_handoff"), 1)).alias("handoffs"),
        *(
            F.when(count == 0, 0).otherwise(F.sum(F.when(inside, F.col(name)))).alias(name)
            for name in ("pause_ms", "pause_restart_ms", "duplicates_least")
        ),
    )


def heartbeats_of(events: DataFrame) -> DataFrame:
    """Count heartbeats that failed at the sender, and members that a broker gave up, by host.

    Clients' logs name hosts by their folders, brokers by their addresses. Of which address a host is those clients tell
    that a broker and a log both name, by their ids: a client id that logs of several hosts have tells nothing, nor does
    an address of several hosts (a NAT, a proxy). What only one of them tells is of the other unknown.
    """
    failed = events.where(F.col("what") == "heartbeat failed").select(
        "cluster", "day", "host", F.lit(1).alias("failed")
    )
    expired = events.where(F.col("what") == "expired").select(
        "cluster", "day", "other", _address().alias("address"), F.lit(1).alias("expired")
    )
    by_channel, by_address = _hosts(events)
    placed = (
        expired.join(by_channel, on=["cluster", "other"], how="left")
        .join(by_address, on=["cluster", "address"], how="left")
        .withColumn("host", F.coalesce("host_of_client", "host_of_address", "address"))
    )
    both = failed.unionByName(placed.select("cluster", "day", "host", "expired"), allowMissingColumns=True)
    counted = both.groupBy("cluster", "day", "host").agg(
        F.sum("failed").alias("failed"), F.sum("expired").alias("expired")
    )
    return shaped(counted, HEARTBEATS)


def _hosts(events: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Give of what host a channel is, by the client that a broker saw on it, and an address, by all of its channels."""
    is_own = (F.col("layout") != "broker") & F.col("client_id").isNotNull() & ~F.col("what").isin(*OF_OTHERS)
    own = events.where(is_own).groupBy("cluster", "client_id")
    by_client = own.agg(*_the_one("host", "host_of_client"))
    met = events.where((F.col("layout") == "broker") & F.col("client_id").isNotNull() & _address().isNotNull())
    known = met.select("cluster", "client_id", "other", _address().alias("address"))
    known = known.join(by_client, on=["cluster", "client_id"])
    by_channel = known.groupBy("cluster", "other").agg(*_the_one("host_of_client", "host_of_client"))
    return by_channel, known.groupBy("cluster", "address").agg(*_the_one("host_of_client", "host_of_address"))


def _the_one(column: str, name: str) -> list[Column]:
    """Give what all rows have; nothing where they differ."""
    return [F.when(F.min(column) == F.max(column), F.min(column)).alias(name)]


def _address() -> Column:
    """Give the address of ``address:port``; IPv6 has brackets, or not."""
    return F.nullif(F.regexp_extract("other", r"^/?(.*):\d+$", 1), F.lit(""))


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
        "expiries": ((layout == "broker") & ~F.col("process").rlike(LOCK_LOGS))
        | (is_own & what.isin("joined", "left", "closed", "expired")),
    }
    by_process = events.groupBy("cluster", "day", "process").agg(
        *(F.max(F.when(F.coalesce(would, F.lit(False)), 1).otherwise(0)).alias(name) for name, would in told.items())
    )
    return shaped(by_process.groupBy("cluster", "day").agg(*(F.sum(name).alias(name) for name in told)), LOOKED)
