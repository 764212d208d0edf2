"""Which queues a topic had, from when on, as far as the input tells: routes of clients' logs and of Evenkeel's."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.layouts import HISTORY
from rebalance_engine.pipeline.named import merged
from rebalance_engine.pipeline.rounds import ROUTES, Cause

ROUTED = r"^(.*)\|\d+\|\d+$"  # broker|queues|permission
MAY_BE_READ = 4  # PermName.PERM_READ
LEARNT_WITHIN_MS = 51_000  # members ask for routes every 30 s, and divide anew every 20 s
Route = dict[str, int]  # by broker, how many queues there are to consume of


def routes_of(events: DataFrame, spans: DataFrame) -> DataFrame:
    """Give every change of a topic's route to each group with queues of it: cluster, group, topic, at_ms, queues.

    A NameServer tells all of a cluster the same: what many processes say one after another is one change. Logs of
    several clusters may lie together, with topics, and brokers, of one name: a group's routes are what its own members
    tell, and whoever tells no other one; where none of them tells any, what others tell that have a broker of which it
    has queues. Evenkeel's are of its own cluster: they count wherever that is so.
    """
    told = events.where(F.col("what").isin("route changed", "route") & F.col("queues").isNotNull())
    is_own = (F.col("layout") == HISTORY.name).alias("is_history")
    queues = F.array_sort("queues").alias("queues")
    each = told.select("cluster", "process", "topic", "at_ms", queues, is_own).distinct()
    held = spans.groupBy("cluster", "group", "topic").agg(F.collect_set("broker").alias("held"))
    members = spans.select("cluster", "group", "process").distinct().withColumn("is_member", F.lit(True))
    met = each.join(held, on=["cluster", "topic"], how="inner").join(
        members, on=["cluster", "group", "process"], how="left"
    )
    topic = ["cluster", "group", "topic"]
    of_topic, of_process = Window.partitionBy(*topic), Window.partitionBy(*topic, "process")
    theirs = F.col("is_member").isNotNull()
    counted = met.withColumns(
        {
            "known": F.collect_set(F.when(theirs, F.col("queues"))).over(of_topic),
            "said": F.collect_set("queues").over(of_process),
        }
    )
    brokers = F.transform(F.flatten("said"), lambda one: F.regexp_extract(one, ROUTED, 1))
    is_free = (F.size("known") == 0) | F.coalesce("is_history", F.lit(False))
    has_share = is_free & F.arrays_overlap(brokers, F.col("held"))
    is_mine = theirs | (F.size(F.array_except("said", "known")) == 0) | has_share
    mine = counted.where(is_mine).select(*topic, "at_ms", "queues").distinct()
    before = F.lag("queues").over(of_topic.orderBy("at_ms", "queues"))
    return mine.withColumn("before", before).where(~F.col("queues").eqNullSafe(F.col("before"))).drop("before")


def route_clues(events: DataFrame, spans: DataFrame) -> DataFrame:
    """Give, as clues of groups, every route of a topic of which a group has queues."""
    told = routes_of(events, spans)
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


@dataclass(frozen=True, slots=True)
class Divided:
    """How many queues of a topic a member divided, as its result says (``mqAllSize``)."""

    at_ms: int
    client: str | None
    queues: int


def short_of_queues(told: Iterable[Divided], routes: Sequence[tuple[int, Route]], end_ms: int) -> list[tuple[int, int]]:
    """Tell when a topic had fewer queues than is known by its routes, as results say: which it lacked nobody tells.

    Where no route was told, than any result had said before. A line of a changed route is lost then; what is told of
    one by whoever learnt it sooner, or later, explains a result. Until the same member divides anew, or another one
    divides all of them, when all must have learnt it.

    Args:
        routes: that were told, in order.
    """
    results = sorted(told, key=lambda one: one.at_ms)
    most = [0, *accumulate((one.queues for one in results), max)]
    needed = [_route_size(routes, one.at_ms) or most[place] for place, one in enumerate(results)]
    whole = [one.at_ms for one, size in zip(results, needed, strict=True) if one.queues >= size]
    own: dict[str | None, list[int]] = {}
    for one in results:
        own.setdefault(one.client, []).append(one.at_ms)
    found: list[tuple[int, int]] = []
    for one, size in zip(results, needed, strict=True):
        if one.queues >= size or _is_told(routes, one):
            continue
        before, after = (find(own[one.client], one.at_ms) for find in (bisect_left, bisect_right))
        since = max([one.at_ms - LEARNT_WITHIN_MS, *own[one.client][:before][-1:]])
        back = whole[bisect_left(whole, one.at_ms + LEARNT_WITHIN_MS) :][:1]
        found.append((since, min([end_ms, *own[one.client][after : after + 1], *back])))
    return merged(span for span in found if span[0] < span[1])


def _route_size(routes: Sequence[tuple[int, Route]], at_ms: int) -> int:
    """Count the queues of the latest route; 0 where none was told by then."""
    place = bisect_right(routes, at_ms, key=lambda one: one[0])
    return sum(routes[place - 1][1].values()) if place else 0


def _is_told(routes: Sequence[tuple[int, Route]], one: Divided) -> bool:
    """Ask whether a route of no more queues was told that was there around a result."""
    since, until = one.at_ms - LEARNT_WITHIN_MS, one.at_ms + LEARNT_WITHIN_MS
    first = max(0, bisect_right(routes, since, key=lambda each: each[0]) - 1)
    return any(at <= until and sum(route.values()) <= one.queues for at, route in routes[first:])


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
