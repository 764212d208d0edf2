"""In which time zone a client ran whose log does not tell it: a log of a 4.x or C++ client is in its process's zone.

A client that joins says so, and a second or two later so does the broker, which names it; one that leaves likewise. A
broker that sees a member come or go notifies the members that it has, of which this client must be one by name. A zone
is ahead of UTC by a multiple of 15 minutes: the one that makes most of a host's joins, leaves and notifications meet
those of the brokers is its zone. Where none makes half of those meet that it moves into the time of the brokers' logs,
or two do equally, it stays unknown: of any two busy logs some lines meet by chance.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import reduce
from operator import or_
from zoneinfo import available_timezones

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.keeping import computed_once
from rebalance_engine.pipeline.layouts import GMT8_MS, LAYOUTS
from rebalance_engine.pipeline.naming import factory_client, named_client, persisting_client

STEP_MS = 15 * 60 * 1000
EARLIEST_MS, LATEST_MS = -12 * 3_600_000, 14 * 3_600_000  # the zones of the world
JOIN_WITHIN_MS = 12_000  # from "start OK" to the broker's line, or back; a first heartbeat waits for a connection
NOTIFIED_WITHIN_MS = 3_000
SHIFTS_MS, SHIFT_SIGNS = (1_800_000, 3_600_000), 2  # by which clocks are put on in summer; one may meet by chance
PUT_BACK_SLOT_MS, PUT_BACK_SLOTS = 300_000, (2, 13)  # by no less than some minutes, by no more than an hour
# A client that runs writes every ten minutes at least: it logs every 20th of its heartbeats (``MQClientInstance``).
SILENT_MS, SILENCE_SLOT_MS = 600_000, 60_000
# Of one group, and of one host, in a quarter of an hour, which is one of both clocks: a sample over the whole time, for
# brokers may have been there long before the client, and a clock may be put on long after. More of a broker's, because
# several of its lines may go with one of a client.
MOST_SAID, MOST_SEEN = 4, 20
TELLS_ITS_CLIENT = (
    "persisted all",
    "persisted",
    "result",
    "instance made",
    "instance started",
    "instance stopped",
    "heartbeat data",
)
PHASE_MS, DAY_MS = 15_000, 86_400_000  # pairs are looked for by the place within the quarter, and on neighbouring days
# zone_ms: ahead of UTC. zone_name: it may change twice a year; zone_ms beside it is what brokers tell of the lines that
# the name leaves open, if they do. signs: how many lines prove it.
ZONES = "host string, layout string, zone_ms long, zone_name string, signs long"


class BadZone(Exception):
    """A zone that was given is none."""


def given_zones(given: Mapping[str, str]) -> list[tuple[str, str, int | None, str | None, int]]:
    """Read zones that were given for hosts, as rows of ``ZONES``: a name, or an offset as ``+05:30``.

    Raises:
        BadZone: it is neither.
    """
    unzoned = [name for name, layout in LAYOUTS.items() if layout.zone_ms is None]
    rows: list[tuple[str, str, int | None, str | None, int]] = []
    for host, zone in given.items():
        zone_ms = _offset_ms(zone)
        if zone_ms is None and zone not in available_timezones():
            raise BadZone(f"{host} is given the zone {zone!r}; it needs a name as Asia/Shanghai or an offset as +08:00")
        rows += [(host, layout, zone_ms, None if zone_ms is not None else zone, 0) for layout in unzoned]
    return rows


def _offset_ms(zone: str) -> int | None:
    found = re.fullmatch(r"([+-])(\d\d):([0-5]\d)", zone)
    if not found:
        return None
    sign, hours, minutes = found.groups()
    offset = (int(hours) * 60 + int(minutes)) * 60_000 * (-1 if sign == "-" else 1)
    return offset if EARLIEST_MS <= offset <= LATEST_MS else None


def infer_zones(lines: DataFrame) -> DataFrame:
    """Give, as ``ZONES``, the zone of every host that tells it.

    Args:
        lines: as ``LINES``; brokers' among them.
    """
    clients = _unzoned(lines)
    ids = computed_once(_client_ids(clients))
    named = computed_once(_broker_signs(lines.where(F.col("layout") == "broker")))
    said = computed_once(_of_named(_client_signs(clients), ids, named))
    apart = F.col("wall_ms") - F.col("broker_ms")
    zone = F.round(apart / STEP_MS).cast("bigint") * STEP_MS
    is_its_own = (F.col("kind") == "notified") | F.col("is_its_own")
    pairs = (
        _near(said)
        .join(_placed(_seen(named, ids), "broker_ms"), on=["kind", "key", "date", "phase"], how="inner")
        .withColumn("zone_ms", zone)
        .where(F.abs(apart - F.col("zone_ms")) <= F.col("within_ms"))
        .where(F.col("zone_ms").between(EARLIEST_MS, LATEST_MS))
        .join(F.broadcast(ids.withColumn("is_its_own", F.lit(True))), on=["host", "layout", "client"], how="left")
        .where(is_its_own)
    )
    votes = pairs.groupBy("host", "layout", "zone_ms").agg(F.countDistinct("kind", "key", "wall_ms").alias("signs"))
    best = Window.partitionBy("host", "layout").orderBy(F.desc("signs"))
    found = (
        _meeting_half(votes, said, named)
        .withColumn("rank", F.rank().over(best))
        .withColumn("ties", F.count(F.lit(1)).over(Window.partitionBy("host", "layout", "rank")))
        .where((F.col("rank") == 1) & (F.col("ties") == 1))
        .select("host", "layout", "zone_ms", F.lit(None).cast("string").alias("zone_name"), "signs")
    )
    found = computed_once(found)
    moved = _changed(found, pairs).unionByName(put_back(lines)).unionByName(_untold_behind_silence(found, pairs, lines))
    return found.join(moved.distinct(), on=["host", "layout"], how="left_anti")


def put_back(lines: DataFrame) -> DataFrame:
    """Name the hosts in one of whose logs the clock jumps back, by up to an hour: host, layout.

    A log is written in order, but for moments: of the lines of a time all stand before those of ten minutes later.
    """
    slot = F.floor(F.col("wall_ms") / PUT_BACK_SLOT_MS).cast("bigint").alias("slot")
    file = ["host", "layout", "file"]
    known = _unzoned(lines).where(F.col("wall_ms").isNotNull())
    slots = known.groupBy(*file, slot).agg(F.min("place").alias("first"), F.max("place").alias("last"))
    later = F.min("first").over(Window.partitionBy(*file).orderBy("slot").rangeBetween(*PUT_BACK_SLOTS))
    return slots.withColumn("later", later).where(F.col("last") > F.col("later")).select("host", "layout").distinct()


def silences(lines: DataFrame) -> DataFrame:
    """Find where a log is silent for about as long as clocks are put on: host, layout, begin_ms, end_ms.

    So does a log look whose clock was put on within it, and one whose process was not there.
    """
    file = ["host", "layout", "file"]
    slot = F.floor(F.col("wall_ms") / SILENCE_SLOT_MS).alias("slot")
    known = _unzoned(lines).where(F.col("wall_ms").isNotNull())
    slots = known.groupBy(*file, slot).agg(F.min("wall_ms").alias("first"), F.max("wall_ms").alias("begin_ms"))
    next_ms = F.lead("first").over(Window.partitionBy(*file).orderBy("slot"))
    silent = F.col("end_ms") - F.col("begin_ms")
    is_shift = reduce(or_, (silent.between(shift, shift + SILENT_MS) for shift in SHIFTS_MS))
    return slots.withColumn("end_ms", next_ms).where(is_shift).select("host", "layout", "begin_ms", "end_ms")


def _untold_behind_silence(found: DataFrame, pairs: DataFrame, lines: DataFrame) -> DataFrame:
    """Name the hosts of whose clock nothing tells on one side of such a silence: it may have been put on meanwhile."""
    met = pairs.join(found.select("host", "layout", "zone_ms"), on=["host", "layout", "zone_ms"], how="left_semi")
    told = met.groupBy("host", "layout").agg(F.min("wall_ms").alias("first_ms"), F.max("wall_ms").alias("last_ms"))
    both = silences(lines).join(told, on=["host", "layout"], how="inner")
    is_told = (F.col("first_ms") <= F.col("begin_ms")) & (F.col("last_ms") >= F.col("end_ms"))
    return both.where(~is_told).select("host", "layout").distinct()


def strangers(lines: DataFrame) -> DataFrame:
    """Name the hosts of whose groups brokers name other clients, and none of theirs: host, layout."""
    clients = _unzoned(lines)
    named = computed_once(_broker_signs(lines.where(F.col("layout") == "broker")))
    said = computed_once(_client_signs(clients))
    others = said.join(named.select("key").distinct(), on="key", how="left_semi").select("host", "layout").distinct()
    own = _of_named(said, _client_ids(clients), named)
    return others.join(own, on=["host", "layout"], how="left_anti")


def _unzoned(lines: DataFrame) -> DataFrame:
    unzoned = [name for name, layout in LAYOUTS.items() if layout.zone_ms is None and layout.is_client]
    return lines.where(F.col("layout").isin(unzoned))


def _client_ids(clients: DataFrame) -> DataFrame:
    """Name the clients whose lines a host's log has: host, layout, client."""
    message, what = F.col("message"), F.col("what")
    client = (
        F.when(what.isin("persisted all", "persisted"), persisting_client(message))
        .when(what.isin("instance started", "instance stopped"), factory_client(message))
        .otherwise(named_client(message))
    )
    told = clients.where(what.isin(*TELLS_ITS_CLIENT)).select("host", "layout", client.alias("client"))
    return told.where(F.col("client").isNotNull()).distinct()


def _of_named(said: DataFrame, ids: DataFrame, named: DataFrame) -> DataFrame:
    """Keep the signs of the groups of which a broker names one of the host's own clients.

    Without its name a broker's line of the group may be of another cluster's group, or of a time before this client.
    """
    of_group = named.select("key", "client").distinct()
    known = ids.join(of_group, on="client", how="inner").select("host", "layout", "key").distinct()
    return said.join(known, on=["host", "layout", "key"], how="left_semi")


def _seen(named: DataFrame, ids: DataFrame) -> DataFrame:
    """Choose a sample of what brokers say: a coming or a going of one of the hosts' clients, a change of a group."""
    mine = named.where(F.col("kind") != "notified").join(F.broadcast(ids.select("client").distinct()), on="client")
    changes = named.where(F.col("kind") == "notified").withColumn("client", F.lit(None).cast("string"))
    every = mine.select(*named.columns).unionByName(changes).dropDuplicates()
    return computed_once(_first(every, MOST_SEEN, "broker_ms", "client"))


def _placed(signs: DataFrame, time: str) -> DataFrame:
    """Say the day of each sign, and the place within its quarter of an hour, which no zone changes."""
    date, phase = F.floor(F.col(time) / DAY_MS), F.floor(F.col(time) % STEP_MS / PHASE_MS)
    return signs.withColumns({"date": date.cast("bigint"), "phase": phase.cast("bigint")})


def _near(said: DataFrame) -> DataFrame:
    """Give each sign of a client once for every day and place at which a broker may tell of it."""
    around, phases = F.array(F.lit(-1), F.lit(0), F.lit(1)), STEP_MS // PHASE_MS
    on_days = _placed(said, "wall_ms").withColumn("more", F.explode(around))
    moved = on_days.withColumn("date", F.col("date") + F.col("more")).withColumn("more", F.explode(around))
    return moved.withColumn("phase", (F.col("phase") + F.col("more") + phases) % phases).drop("more")


def _changed(found: DataFrame, pairs: DataFrame) -> DataFrame:
    """Find hosts whose clock was put on or back within their log: what the zone does not fit lies at one end of it.

    Or it is a rolled part of its own. One zone would place a part of their lines an hour off; only its name tells when
    it changes.
    """
    met = pairs.select("host", "layout", "file", "kind", "key", "wall_ms", "zone_ms").dropDuplicates()
    fits = met.join(found.select("host", "layout", "zone_ms"), on=["host", "layout", "zone_ms"], how="left_semi")
    rest = met.join(fits.drop("zone_ms", "file"), on=["host", "layout", "kind", "key", "wall_ms"], how="left_anti")
    mine = fits.groupBy("host", "layout", F.col("zone_ms").alias("mine_ms")).agg(
        F.min("wall_ms").alias("first_ms"), F.max("wall_ms").alias("last_ms")
    )
    other = rest.groupBy("host", "layout", "zone_ms").agg(
        F.min("wall_ms").alias("from_ms"), F.max("wall_ms").alias("to_ms"), F.count(F.lit(1)).alias("signs")
    )
    both = mine.join(other, on=["host", "layout"], how="inner")
    shift = F.col("zone_ms") - F.col("mine_ms")
    is_shift = F.abs(shift).isin(*SHIFTS_MS) & (F.col("signs") >= SHIFT_SIGNS)
    # The hour that is put back is there twice; a log of few hours has all its signs at both ends.
    hour = max(SHIFTS_MS)
    is_apart = (F.col("from_ms") > F.col("last_ms") - hour) | (F.col("to_ms") < F.col("first_ms") + hour)
    is_long = F.col("last_ms") - F.col("first_ms") > 3 * hour
    # Put on, the clock leaves the hour out: that is seen in a log of any length.
    skipped = F.when(shift > 0, F.col("from_ms") - F.col("last_ms")).otherwise(F.col("first_ms") - F.col("to_ms"))
    is_put_on = skipped >= F.abs(shift) - JOIN_WITHIN_MS
    part = ["host", "layout", "file"]
    of_part = rest.join(fits, on=part, how="left_anti").groupBy(*part, "zone_ms").agg(F.count(F.lit(1)).alias("signs"))
    apart = of_part.join(mine, on=["host", "layout"], how="inner").where(is_shift)
    within = both.where(is_shift & ((is_apart & is_long) | is_put_on))
    return within.select("host", "layout").unionByName(apart.select("host", "layout")).distinct()


def _meeting_half(votes: DataFrame, said: DataFrame, named: DataFrame) -> DataFrame:
    covered = named.groupBy("kind", "key").agg(F.min("broker_ms").alias("begin"), F.max("broker_ms").alias("end"))
    moved = F.col("wall_ms") - F.col("zone_ms")
    could = (
        votes.join(said, on=["host", "layout"], how="inner")
        .join(covered, on=["kind", "key"], how="inner")
        .where(moved.between(F.col("begin") - NOTIFIED_WITHIN_MS, F.col("end") + NOTIFIED_WITHIN_MS))
        .groupBy("host", "layout", "zone_ms")
        .agg(F.countDistinct("kind", "key", "wall_ms").alias("could"))
    )
    joined = votes.join(could, on=["host", "layout", "zone_ms"], how="left")
    return joined.where(2 * F.col("signs") >= F.coalesce("could", F.lit(0))).drop("could")


def _client_signs(clients: DataFrame) -> DataFrame:
    """Give what a client says of its own coming and going, and what it is told of others'.

    Columns: host, layout, file, wall_ms, kind, key (the group), within_ms.
    """
    group = F.regexp_extract("message", r"the (?:consumer|producer) \[([^\]]+)\]", 1)
    told = F.regexp_extract("message", r"group: ?(\S+) changed", 1)
    left = F.regexp_extract("message", r"Consumer: ([^\]]+)\]", 1)
    what = F.col("what")
    kind = (
        F.when(what == "consumer started", "consumer")
        .when(what == "producer started", "producer")
        .when(what == "unregistered", "gone")
        .when(what == "notified", "notified")
    )
    key = F.when(what == "notified", told).when(what == "unregistered", left).otherwise(group)
    signs = clients.withColumn("kind", kind).where(F.col("kind").isNotNull())
    is_at_once = F.col("kind").isin("notified", "gone")
    shaped = signs.select(
        "host",
        "layout",
        "file",
        "wall_ms",
        "kind",
        key.alias("key"),
        F.when(is_at_once, NOTIFIED_WITHIN_MS).otherwise(JOIN_WITHIN_MS).alias("within_ms"),
    )
    is_told = ~F.col("key").isin("CLIENT_INNER_PRODUCER", "null", "")
    return _first(shaped.where(is_told), MOST_SAID, "wall_ms", "host", "layout")


def _broker_signs(lines: DataFrame) -> DataFrame:
    """Give the comings and goings that brokers tell, and of which they notify others: kind, key, client, broker_ms."""
    joined = F.regexp_extract("message", r"connected, group: (\S+)", 1)
    gone = F.regexp_extract("message", r"(?:consumer group: (\S+)|unregister a consumer\[([^\]]+)\])", 1)
    left = F.regexp_extract("message", r"unregister a consumer\[([^\]]+)\]", 1)
    client = named_client(F.col("message")).alias("client")
    broker_ms = (F.col("wall_ms") - GMT8_MS).alias("broker_ms")

    def signs(kind: str, what: tuple[str, ...], key: Column) -> DataFrame:
        mine = lines.where(F.col("what").isin(*what))
        return mine.select(F.lit(kind).alias("kind"), key.alias("key"), client, broker_ms)

    either = F.coalesce(F.nullif(joined, F.lit("")), F.nullif(gone, F.lit("")), left)
    return (
        signs("consumer", ("joined",), joined)
        .unionByName(signs("producer", ("producer joined",), joined))
        .unionByName(signs("gone", ("left",), left))
        .unionByName(signs("notified", ("joined", "left", "closed"), either))
    )


def _first(signs: DataFrame, most: int, time: str, *of: str) -> DataFrame:
    quarter = F.floor(F.col(time) / STEP_MS)
    in_order = Window.partitionBy("kind", "key", *of, quarter).orderBy(time)
    return signs.withColumn("n", F.row_number().over(in_order)).where(F.col("n") <= most).drop("n")
