"""Which queues a topic had, from when on, as far as the input tells: routes of clients' logs and of Evenkeel's."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.rounds import ROUTES, Cause

MAY_BE_READ = 4  # PermName.PERM_READ
Route = dict[str, int]  # by broker, how many queues there are to consume of


def routes_of(events: DataFrame) -> DataFrame:
    """Give every change of a topic's route, whoever tells it: cluster, topic, at_ms, queues.

    A NameServer tells all of a cluster the same: what many processes say one after another is one change.
    """
    told = events.where(F.col("what").isin("route changed", "route") & F.col("queues").isNotNull())
    each = told.select("cluster", "topic", "at_ms", F.array_sort("queues").alias("queues")).distinct()
    before = F.lag("queues").over(Window.partitionBy("cluster", "topic").orderBy("at_ms", "queues"))
    return each.withColumn("before", before).where(~F.col("queues").eqNullSafe(F.col("before"))).drop("before")


def route_clues(events: DataFrame, spans: DataFrame) -> DataFrame:
    """Give, as clues of groups, every route of a topic of which a group has queues, whoever tells it."""
    topics = spans.select("cluster", "group", "topic").distinct()
    told = routes_of(events).join(topics, on=["cluster", "topic"], how="inner")
    return told.select("cluster", "group", F.lit("route").alias("what"), "at_ms", "topic", "queues")


def read_route(queues: object) -> Route:
    """Read ``broker|queues|permission`` each."""
    assert isinstance(queues, list)
    parts = [str(one).rsplit("|", 2) for one in queues]
    return {broker: int(count) for broker, count, permission in parts if int(permission) & MAY_BE_READ}


def gone(queue: MessageQueue, routes: Sequence[tuple[int, Route]], end_ms: int) -> list[tuple[int, int]]:
    """Say from when until when the routes that were told, in order, had no such queue."""
    untils = [*(at for at, _ in routes[1:]), end_ms]
    return [
        (at, until)
        for (at, route), until in zip(routes, untils, strict=False)
        if queue.queue_id >= route.get(queue.broker, 0)
    ]


def with_broker(cause: Cause, routes: Mapping[str, Sequence[tuple[int, Route]]]) -> Cause:
    """Name the brokers by which a changed route differs from the one before, where that is known; others as they are.

    Args:
        routes: by topic, in order.
    """
    told = routes.get(cause.topic or "", ()) if cause.what in ROUTES else ()
    last = bisect_right(told, cause.at_ms, key=lambda one: one[0]) - 1
    if last < 1:
        return cause
    (_, before), (_, after) = told[last - 1 : last + 1]
    differ = sorted(broker for broker in before.keys() | after.keys() if before.get(broker, 0) != after.get(broker, 0))
    return replace(cause, broker=", ".join(differ) or None)
