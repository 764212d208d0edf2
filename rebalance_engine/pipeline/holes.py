"""Holes in clients' logs: lines are missing, and nobody knows what a member took or let go meanwhile.

A log is rolled away, its disk was full, or somebody deleted a file. A Java member that holds something persists its
offset every 5 s and says so: silent for longer, and there before and after, its log has a hole (``silences.py``).
What was taken or let go in one, and between which moments, is told by plain Python, group by group (``bounds.py``).
"""

from __future__ import annotations

import pyarrow as pa  # type: ignore[import-untyped] # pyarrow has no types
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.bounds import BY_LINES_OF_OTHERS, Shown, bounded
from rebalance_engine.pipeline.clients import KEY, QUEUE_KEY
from rebalance_engine.pipeline.departures import MEMBER
from rebalance_engine.pipeline.keeping import computed_once
from rebalance_engine.pipeline.layouts import JAVA5
from rebalance_engine.pipeline.schemas import HOLES, SPANS, day_of, shaped
from rebalance_engine.pipeline.silences import PERSISTING, PERSISTS_FIRST_WITHIN_MS
from rebalance_engine.pipeline.sweep import PERSISTS_WITHIN_MS
from rebalance_engine.pipeline.templates import ADDS, REMOVES
from rebalance_engine.pipeline.unkept import UNKEPT_MS

HOLE = [*MEMBER, "hole_ms", "heard_ms"]
ANSWERED = ("heartbeat", "persisted all", "notified", "result")  # a client writes so when a broker has answered


def holes_of(spans: DataFrame, events: DataFrame, life: DataFrame) -> DataFrame:
    """Give the holes in the logs of members that held something all through them, as HOLE, with their host.

    In between no line is: hole_ms is that of the last one before, heard_ms that of the first one after. That a member
    had some queue before, and persists some at once after without having taken it anew, shows that lines are missing:
    the same; or another one, not waiting for its first message, if it gave all away in the hole. So does that a process
    which goes on neither persists nor removes what it persisted to the last.

    Args:
        spans: as ``SPANS``.
        life: of :func:`rebalance_engine.pipeline.events.signs_of_life`.
    """
    parts = F.array_sort("spoken")
    before, after = F.slice(parts, F.lit(1), F.size(parts) - 1), F.slice(parts, F.lit(2), F.size(parts) - 1)
    hole = F.zip_with(
        before, after, lambda one, other: F.struct(one["until_ms"].alias("hole_ms"), other["from_ms"].alias("heard_ms"))
    )
    broken = life.where(F.size("spoken") > 1).select("cluster", "process", F.explode(hole).alias("hole"))
    gaps = broken.select("cluster", "process", "hole.hole_ms", "hole.heard_ms")
    own = spans.where(F.col("layout").isin(*PERSISTING))
    met = own.join(F.broadcast(gaps), on=["cluster", "process"], how="inner")
    began = F.coalesce("from_ms", "first_seen_ms")
    # Who shuts down says good-bye, and is silent while it does; who was lost, until it is started anew.
    goes = F.when(F.col("ended") == "stopped", F.coalesce("until_after_ms", "until_ms")).otherwise(F.col("until_ms"))
    is_there = (began <= F.col("hole_ms")) & (goes > F.col("hole_ms"))
    is_over = F.col("ended").isin("stopped", "lost") & (F.col("until_ms") < F.col("heard_ms"))
    inside = met.where(is_there & ~is_over)
    silent = computed_once(inside.select(*HOLE, "host").distinct())
    if silent.isEmpty():  # asked first: most logs are whole
        return silent
    lasting = inside.where(~F.col("evidence").isin(*BY_LINES_OF_OTHERS)).select(*HOLE, *QUEUE_KEY).distinct()
    proved = _proved(silent, lasting.withColumn("lasts", F.lit(True)), events)
    return silent.join(proved, on=HOLE, how="left_semi").select(*silent.columns)


def _proved(silent: DataFrame, lasting: DataFrame, events: DataFrame) -> DataFrame:
    """Leave the holes in which lines are missing.

    Args:
        lasting: by HOLE, the queues of which no later line tells that they were let go: ``lasts``.
    """
    at, is_add, is_removal = F.col("at_ms"), F.col("what").isin(*ADDS), F.col("what").isin(*REMOVES)
    kinds = is_add | is_removal | (F.col("what") == "persisted all")
    rows = events.where(kinds).select(*KEY, *QUEUE_KEY, "what", "layout", "at_ms")
    around = rows.join(F.broadcast(silent.select(*HOLE)), on=KEY, how="inner").groupBy(*HOLE, *QUEUE_KEY, "layout")
    is_before, is_after = at <= F.col("hole_ms"), at >= F.col("heard_ms")
    is_kept = ~is_add & ~is_removal
    told = around.agg(
        F.max(F.when(is_before & ~is_removal, at)).alias("had_ms"),
        F.max(F.when(is_before & is_kept, at)).alias("kept_ms"),
        F.max(F.when(is_before & is_removal, at)).alias("gone_ms"),
        F.min(F.when(is_after & is_kept, at)).alias("again_ms"),
        F.min(F.when(is_after & is_add, at)).alias("added_ms"),
        F.min(F.when(is_after & is_removal, at)).alias("removed_ms"),
    )
    reached = events.where(F.col("what").isin(*ANSWERED)).groupBy("cluster", "process")
    told = told.join(reached.agg(F.max("at_ms").alias("reached_ms")), on=["cluster", "process"], how="left")
    told = told.join(lasting, on=[*HOLE, *QUEUE_KEY], how="left")
    was_had = F.col("gone_ms").isNull() | (F.col("gone_ms") < F.col("had_ms"))
    had = was_had & (F.col("hole_ms") - F.col("had_ms") < PERSISTS_FIRST_WITHIN_MS)
    has = F.col("again_ms") - F.col("heard_ms") < PERSISTS_WITHIN_MS
    is_held = F.col("added_ms").isNull() | (F.col("added_ms") > F.col("again_ms"))
    # Only lines with a pid tell that a process goes on which has nothing any more; while no broker answers it
    # persists nothing of what it has.
    goes_on = (F.col("layout") == JAVA5.name) & (F.col("reached_ms") > F.col("heard_ms") + UNKEPT_MS)
    never_again = F.coalesce("again_ms", "removed_ms", "added_ms").isNull() & F.col("lasts").isNotNull() & goes_on
    let_go = was_had & (F.col("hole_ms") - F.col("kept_ms") < PERSISTS_WITHIN_MS) & never_again
    # What is taken and was not consumed from yet is persisted by nobody: that it is later proves nothing of others.
    may_wait = was_had & F.col("had_ms").isNotNull() & F.col("kept_ms").isNull()
    shown = {"had": had, "has": has & is_held & ~may_wait, "kept": had & has & is_held, "let_go": let_go}
    signs = told.groupBy(*HOLE).agg(
        *(F.max(F.coalesce(sign, F.lit(False))).alias(name) for name, sign in shown.items())
    )
    return signs.where((F.col("had") & F.col("has")) | F.col("kept") | F.col("let_go")).select(*HOLE)


def table_of(holes: DataFrame) -> DataFrame:
    """Give what :func:`holes_of` found as ``HOLES``."""
    told = holes.withColumnsRenamed({"hole_ms": "at_ms", "heard_ms": "until_ms", "client_id": "client"})
    return shaped(told.withColumn("day", day_of(F.col("at_ms"))), HOLES)


def clues_of_holes(holes: DataFrame, spans: DataFrame) -> DataFrame:
    """Give those of members that have any of the spans as clues of groups, ``hole``, ``at_ms`` until ``number``."""
    members = spans.select(*MEMBER).distinct()
    times = F.col("hole_ms").alias("at_ms"), F.col("heard_ms").alias("number")
    return holes.join(members, on=MEMBER, how="left_semi").select(
        "cluster", "group", F.lit("hole").alias("what"), "process", "client_id", *times
    )


def with_bounds(spans: DataFrame, events: DataFrame, life: DataFrame) -> DataFrame:
    """Let what was taken or let go in a hole have happened between its edges.

    Args:
        spans: as ``SPANS``.
    """
    holes = computed_once(holes_of(spans, events, life))
    if holes.isEmpty():  # asked first: most logs are whole
        return spans
    group = ["cluster", "group"]
    asked = F.broadcast(holes.select(*group).distinct())
    mine, rest = (spans.join(asked, on=group, how=how).select(*SPANS.names) for how in ("left_semi", "left_anti"))
    shown = _shown(holes, events)
    shown = shown.toDF(*shown.columns)  # columns of their own: some came from the spans
    told = mine.groupBy(*group).cogroup(shown.groupBy(*group)).applyInArrow(_bounded, SPANS)
    return computed_once(rest.unionByName(told))


def _shown(holes: DataFrame, events: DataFrame) -> DataFrame:
    """Give what members show of queues around each hole; without a queue, when they speak again."""
    at, hole, heard = F.col("at_ms"), F.col("hole_ms"), F.col("heard_ms")
    asked = F.broadcast(holes.select(*HOLE))
    kept = events.where(F.col("what").isin("persisted all", "persisted")).select(*MEMBER, *QUEUE_KEY, "at_ms")
    around = kept.join(asked, on=MEMBER, how="inner").groupBy(*HOLE, *QUEUE_KEY)
    persisted = around.agg(
        F.max(F.when(at <= hole, at)).alias("persisted_ms"), F.min(F.when(at >= heard, at)).alias("again_ms")
    )
    results = events.where(F.col("what") == "result").join(asked, on=MEMBER, how="inner").where(at >= heard)
    each = results.withColumn("queue", F.explode("queues")).withColumns(
        {"broker": F.substring_index("queue", "|", 1), "queue_id": F.substring_index("queue", "|", -1).try_cast("int")}
    )
    listed = each.groupBy(*HOLE, *QUEUE_KEY).agg(F.min(at).alias("listed_ms"))
    by_queue = persisted.join(listed, on=[*HOLE, *QUEUE_KEY], how="full")
    return holes.select(*HOLE).unionByName(by_queue, allowMissingColumns=True)


def _bounded(spans: pa.Table, shown: pa.Table) -> pa.Table:
    signs = shown.to_pylist()
    of_member: dict[tuple[object, ...], set[tuple[int, int]]] = {}
    speaks: dict[tuple[object, ...], int] = {}
    of_queue: dict[tuple[object, ...], dict[tuple[int, int], tuple[int | None, int | None, int | None]]] = {}
    for sign in signs:
        member, hole = (sign["process"], sign["client_id"]), (sign["hole_ms"], sign["heard_ms"])
        of_member.setdefault(member, set()).add(hole)
        if sign["topic"] is not None:
            queue = (*member, sign["topic"], sign["broker"], sign["queue_id"])
            of_queue.setdefault(queue, {})[hole] = sign["persisted_ms"], sign["again_ms"], sign["listed_ms"]
        if sign["again_ms"] is not None:
            speaks[*member, hole] = min(sign["again_ms"], speaks.get((*member, hole), sign["again_ms"]))
    rows = spans.to_pylist()
    queues = {(row["process"], row["client_id"], row["topic"], row["broker"], row["queue_id"]) for row in rows}
    told: dict[tuple[object, ...], list[Shown]] = {
        queue: [
            Shown(*hole, *of_queue.get(queue, {}).get(hole, (None, None, None)), speaks.get((*queue[:2], hole)))
            for hole in sorted(of_member.get(queue[:2], ()))
        ]
        for queue in queues
    }
    return pa.Table.from_pylist(list(bounded(rows, told)), schema=spans.schema)
