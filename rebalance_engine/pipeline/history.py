"""Evenkeel's own event log to events: the same stages then tell its holds, rounds and costs. Native functions only.

What a member reported of itself is exact. Of a member that reports nothing the admin answers are compared, look by
look (``HeldSeen``): a take or a release is filed at the look that showed it, with the time of the look before as
``number2``; what the first look shows began before, unless the member was seen to join after any look. How uncertain a
look is stays in the history.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.keeping import computed_once
from rebalance_engine.pipeline.layouts import HISTORY
from rebalance_engine.pipeline.schemas import EVENTS, day_of, shaped

FACT = (
    "event string, at bigint, `group` string, client string, queue array<string>, queues array<string>,"
    " start_offset bigint, committed_offset bigint, offset bigint, reason string, departure string, broker string,"
    " backoff_ms bigint, is_isolated boolean, latency_ms bigint, outcome string, strategy string,"
    " topic string, brokers array<string>"
)
BROKER_QUEUES = "broker string, read_queues int, permission int"
PROGRESS = "queue array<string>, committed bigint"
ENDED = {"stopped": "stopped", "lost": "lost"}  # by DropReason; all others release
GONE = {"unregistered": "left", "heartbeat expired": "expired"}  # by Departure; all others closed
_CARRIED = ("cluster", "host", "process", "thread", "layout", "file", "place", "at_ms", "resolution_ms")


def facts_of(lines: DataFrame) -> DataFrame:
    """Read the lines of event logs, as ``EVENTS``; equal lines once, as its writer may repeat them after a crash.

    Args:
        lines: as ``LINES``, with at_ms, resolution_ms and process beside.
    """
    once = lines.where(F.col("layout") == HISTORY.name).dropDuplicates(["cluster", "message"])
    facts = once.withColumn("fact", F.from_json("message", FACT)).select(*_CARRIED, "fact.*")
    read = computed_once(facts)  # each part would sort out the lines anew
    parts = [_plain(read), _offsets(read), _looks(read), _progress(read), _routes(read)]
    told = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    return shaped(told.withColumn("day", day_of(F.col("at_ms"))), EVENTS)


def _routes(facts: DataFrame) -> DataFrame:
    """Give a topic's route as logs have it, ``broker|queues|permission`` each; none where a NameServer has none."""
    told = facts.where(F.col("event").isin("RouteSeen", "RouteMissing")).withColumn("routed", F.col("topic"))
    each = F.transform(
        F.coalesce("brokers", F.array().cast("array<string>")), lambda one: F.from_json(one, BROKER_QUEUES)
    )
    parts = F.transform(each, lambda one: F.concat_ws("|", one["broker"], one["read_queues"], one["permission"]))
    return _event(told, F.lit("route"), topic=F.col("routed"), queues=parts)


def _event(facts: DataFrame, what: Column, **columns: Column) -> DataFrame:
    """Give one event a fact; nothing where ``what`` is None."""
    told = {
        "what": what,
        "client_id": F.col("client"),
        "topic": F.try_element_at("queue", F.lit(1)),
        "broker": F.coalesce(F.try_element_at("queue", F.lit(2)), F.col("broker")),
        "queue_id": F.try_element_at("queue", F.lit(3)).try_cast("int"),
    }
    empty = {
        name: F.lit(None).cast(EVENTS[name].dataType)
        for name in ("other", "number", "number2", "queues", "broadcasting")
    }
    kept = facts.withColumns({**told, **empty, **columns}).where(F.col("what").isNotNull())
    return kept.select(*(name for name in EVENTS.names if name != "day"))


def _plain(facts: DataFrame) -> DataFrame:
    event, failed = F.col("event"), F.col("outcome") != "ok"
    left = reduce(lambda told, one: told.when(F.col("departure") == one, GONE[one]), GONE, F.when(F.lit(False), None))
    what = (
        F.when(event == "QueueTaken", "added")
        .when(event == "QueueDropped", "removed")
        .when(event == "QueuePulled", "first pull")
        .when(event == "PullRefused", "pull refused")
        .when(event == "LockRefused", "lock refused")
        .when(event == "MemberJoined", "joined")
        .when(event == "MemberLeft", left.otherwise("closed"))
        .when(event == "MemberStrategySeen", "result")
        .when((event == "BrokerBackedOff") & F.col("is_isolated"), "isolated")
        .when(event == "BrokerUnreachable", "unreachable")
        .when((event == "BrokerLatency") & failed, "send failed")
        .when(event == "BrokerLatency", "sent")
    )
    number = F.coalesce("offset", "backoff_ms", "latency_ms")
    ended = reduce(lambda told, one: told.when(F.col("reason") == one, ENDED[one]), ENDED, F.when(F.lit(False), None))
    return _event(facts, what, number=number, other=ended)


def _offsets(facts: DataFrame) -> DataFrame:
    begins, ends = F.col("start_offset"), F.col("committed_offset")
    what = F.when(begins.isNotNull(), "start offset").when(ends.isNotNull(), "persisted")
    return _event(facts, what, number=F.coalesce(begins, ends))


def _looks(facts: DataFrame) -> DataFrame:
    """Compare the looks at every member that does not report its takes itself."""
    key = ["cluster", "group", "client"]
    reporting = facts.where(F.col("event").isin("QueueTaken", "QueueDropped")).select(*key).dropDuplicates()
    of_member = Window.partitionBy(*key).orderBy("at_ms", "place")
    seen = facts.where(F.col("event").isin("HeldSeen", "MemberJoined", "MemberLeft")).join(
        reporting, on=key, how="left_anti"
    )
    nothing = F.array().cast("array<string>")
    is_look = F.col("event") == "HeldSeen"
    now = F.when(is_look, F.array_distinct("queues")).otherwise(nothing)  # who comes or went holds nothing
    before = {"had": F.lag("now").over(of_member), "had_at_ms": F.lag("at_ms").over(of_member)}
    looks = seen.withColumn("now", now).withColumns(before).where(is_look)
    changes = F.concat(_each("added", F.array_except("now", "had")), _each("removed", F.array_except("had", "now")))
    shown = F.when(F.col("had").isNull(), _each("persisted all", F.col("now"))).otherwise(changes)
    each = looks.withColumn("shown", F.explode(shown)).withColumn("what", F.col("shown.what"))
    told = each.withColumn("queue", F.from_json("shown.one", "array<string>"))
    # A change lies between two looks; what the first one shows lies before it.
    return _event(told, F.col("what"), number2=F.col("had_at_ms"))


def _each(what: str, queues: Column) -> Column:
    return F.transform(queues, lambda one: F.struct(F.lit(what).alias("what"), one.alias("one")))


def _progress(facts: DataFrame) -> DataFrame:
    """Give committed offsets, by which rates are told, as a group's, not a member's."""
    each = facts.where(F.col("event") == "ProgressSeen").withColumn("one", F.explode("queues"))
    told = (
        each.withColumn("one", F.from_json("one", PROGRESS))
        .withColumn("queue", F.col("one.queue"))
        .where(F.col("one.committed").isNotNull())
    )
    return _event(told, F.lit("persisted all"), number=F.col("one.committed"))
