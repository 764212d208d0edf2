"""Which queues a topic had, from when on, as far as the input tells: routes of clients' logs and of Evenkeel's."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.model import MessageQueue

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
