"""Hosts whose clocks differ: what a client and a broker say of one event stands too far apart in their logs.

Times are told as they stand in the logs, and compared across hosts: clocks must agree. A client that starts is listed
by a broker within seconds, one that says good-bye is listed no more when it has the answer, and of both, and of
connections that end, a broker notifies the members at once. Each such pair bounds by how much the client's clock may be
ahead of the broker's. Where most of a host's signs meet at another distance than at none, the two differ. Native
functions only.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.keeping import computed_once
from rebalance_engine.pipeline.layouts import BROKER, HISTORY
from rebalance_engine.pipeline.rounds import BY_BROKERS, SECOND_MS
from rebalance_engine.pipeline.schemas import CLOCKS, day_of, shaped

MOST_APART_MS = 900_000  # more is another zone, or another event
QUARTER_MS = MOST_APART_MS
MOST_SAID, MOST_SEEN = 4, 20  # signs of a kind and group in each quarter of an hour: of a host, of a broker; even
STARTS_MS, ANSWERED_MS, NOTIFIED_MS = 12_000, 3_000, 1_500
# What a client says, what a broker says of it, and from when until when the former is after the latter.
KINDS = {
    "consumer starting": (("joined",), -STARTS_MS, 0),
    "unregistered": (("left",), 0, ANSWERED_MS),
    "notified": (BY_BROKERS, 0, NOTIFIED_MS),
}
LEAST_SIGNS = 2  # one may meet by chance
OF_PAIR = ["cluster", "host", "broker_host"]


def clocks_of(events: DataFrame, changes: DataFrame) -> DataFrame:
    """Name each host of clients and each broker's whose clocks differ, and by how much, as ``CLOCKS``.

    Args:
        events: as ``EVENTS``.
        changes: the same with client ids.
    """
    pairs = reduce(DataFrame.unionByName, (_pairs(kind, events, changes) for kind in KINDS))
    least, most = (F.floor(F.col(name) / SECOND_MS).cast("bigint") for name in ("least_ms", "most_ms"))
    each = computed_once(pairs.withColumn("ahead", F.explode(F.sequence(least, most))))
    by_second = each.groupBy(*OF_PAIR, "ahead").agg(F.count_distinct("sign").alias("signs"))
    agree = each.where(F.col("ahead").between(-1, 1)).groupBy(*OF_PAIR).agg(F.count_distinct("sign").alias("agree"))
    whole = each.groupBy(*OF_PAIR).agg(F.count_distinct("sign").alias("all"), F.min("said_ms").alias("at_ms"))
    of_pair = Window.partitionBy(*OF_PAIR)
    best = by_second.withColumn("best", F.max("signs").over(of_pair)).where(F.col("signs") == F.col("best"))
    found = best.groupBy(*OF_PAIR).agg(
        (F.min("ahead") * SECOND_MS).alias("least_ms"),
        ((F.max("ahead") + 1) * SECOND_MS).alias("most_ms"),
        F.first("best").alias("signs"),
        (F.max("ahead") - F.min("ahead") + 1 == F.count(F.lit(1))).alias("is_one"),
    )
    met = found.join(whole, on=OF_PAIR).join(agree, on=OF_PAIR, how="left")
    differs = (F.col("signs") >= LEAST_SIGNS) & (F.col("signs") > 2 * F.coalesce("agree", F.lit(0)))
    told = met.where(differs & F.col("is_one") & (2 * F.col("signs") > F.col("all")))
    return shaped(told.withColumn("day", day_of(F.col("at_ms"))), CLOCKS)


def _pairs(kind: str, events: DataFrame, changes: DataFrame) -> DataFrame:
    """Give each sign of a kind that a client's host says, and beside it what a broker says within a quarter."""
    whats, since_ms, until_ms = KINDS[kind]
    is_notified = kind == "notified"
    key = ["cluster", "group"] if is_notified else ["cluster", "group", "client_id"]
    own = (events if is_notified else changes).where((F.col("what") == kind) & F.col("group").isNotNull())
    own = own.where(~F.col("layout").isin(BROKER.name, HISTORY.name))
    said = own.select(*key, "host", F.col("at_ms").alias("said_ms")).distinct()
    seen = events.where((F.col("layout") == BROKER.name) & F.col("what").isin(*whats) & F.col("group").isNotNull())
    listed = seen.select(*key, F.col("host").alias("broker_host"), F.col("at_ms").alias("seen_ms")).distinct()
    said = _some(said, [*key, "host"], "said_ms", MOST_SAID).withColumn(
        "slot", F.explode(F.sequence(_slot("said_ms") - 1, _slot("said_ms") + 1))
    )
    listed = _some(listed, [*key, "broker_host"], "seen_ms", MOST_SEEN).withColumn("slot", _slot("seen_ms"))
    apart = F.col("said_ms") - F.col("seen_ms")
    met = said.join(listed, on=[*key, "slot"], how="inner").where(F.abs(apart) <= MOST_APART_MS)
    return met.select(
        *OF_PAIR,
        "said_ms",
        F.concat_ws("|", F.lit(kind), *key[1:], "said_ms").alias("sign"),
        (apart - until_ms - SECOND_MS + 1).alias("least_ms"),
        (apart - since_ms).alias("most_ms"),
    )


def _some(rows: DataFrame, key: list[str], time: str, most: int) -> DataFrame:
    """Leave a few of each quarter of an hour: those that come first, and as many that come last.

    What happens at one time says one thing many times: where a broker's log has a hole just there, all that its members
    say of their start may meet, as one, what they do behind it.
    """
    quarter = Window.partitionBy(*key, _slot(time))
    first, last = (F.row_number().over(quarter.orderBy(by)) for by in (time, F.desc(time)))
    nth = F.least(first, last)
    return rows.withColumn("nth", nth).where(F.col("nth") <= most // 2).drop("nth")


def _slot(time: str) -> Column:
    return F.floor(F.col(time) / QUARTER_MS).cast("bigint")
