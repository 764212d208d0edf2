"""Logs of one process that lie under several hosts' names: copies of a log, whole or in part, and parts of a cut one.

A log is copied before somebody looks at it, and goes on; a host is renamed while its process runs. What several logs
tell of one process is one story: none of it ended where one of its logs does, and nothing happened twice. Two logs are
of one process where they name a client of one id, and tell the same at the same millisecond as far as both reach; or
where one goes on where the other breaks off. Two processes that use one client id at once tell different things.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.clients import moment
from rebalance_engine.pipeline.keeping import computed_once, hash_of
from rebalance_engine.pipeline.layouts import HISTORY
from rebalance_engine.pipeline.schemas import EVENTS

Process = tuple[str, str]  # cluster, name
GAP_MS = 60_000  # the most that may be missing between two parts of a log
BROKERS_SECOND_MS = 1_000
OF_BROKERS = "/(?:broker|filter|lock)$"  # what has such a name is not asked for clients, as their logs are long
COPIES = "cluster string, process string, as_process string"
NOT_SAID = ("cluster", "day", "host", "process", "file", "place")  # of a line: where it stands


@dataclass
class Log:
    """What a process's log tells: from when until when, and of each client its first line and its last."""

    from_ms: int
    until_ms: int
    clients: dict[str, tuple[int, str, int, str]] = field(default_factory=dict)


def copies_of(events: DataFrame, life: DataFrame) -> list[tuple[str, str, str]]:
    """Name the processes whose logs are those of one, as (cluster, process, the process that they are).

    Args:
        life: of :func:`rebalance_engine.pipeline.events.signs_of_life`.
    """
    pid = F.regexp_extract("process", r"/(\d+)$", 1)  # another pid is another process; where there is none, any may be
    seen = life.where(~F.col("process").rlike(OF_BROKERS)).select("cluster", "process", pid.alias("pid"))
    several = seen.groupBy("cluster", "pid").agg(F.countDistinct("process").alias("logs")).where(F.col("logs") > 1)
    beside = computed_once(seen.join(several.drop("logs"), on=["cluster", "pid"], how="left_semi"))
    if beside.isEmpty():  # asked first: where pids differ no line is read
        return []
    said = events.where(~F.col("layout").isin("broker", HISTORY.name) & F.col("client_id").isNotNull())
    named = (
        said.select("cluster", "process", "client_id").distinct().join(F.broadcast(beside), on=["cluster", "process"])
    )
    of_id = Window.partitionBy("cluster", "pid", "client_id")
    met = named.withColumns({"least": F.min("process").over(of_id), "most": F.max("process").over(of_id)})
    shared = met.where(F.col("least") < F.col("most")).select("cluster", "process", "client_id", "pid").collect()
    if not shared:  # most client ids are of one log
        return []
    by_id: dict[tuple[str, str, str], list[str]] = {}
    for row in shared:
        by_id.setdefault((row["cluster"], row["pid"], row["client_id"]), []).append(row["process"])
    pairs = [
        (cluster, client, one, other)
        for (cluster, _, client), those in by_id.items()
        for one, other in combinations(sorted(those), 2)
    ]
    names = sorted({name for _, _, *both in pairs for name in both})
    mine = computed_once(events.where(F.col("process").isin(names)))
    logs = _logs(mine)
    goings = _goings(events, {client for _, client, _, _ in pairs})
    apart = {pair for pair in pairs if _goes_on(logs, goings, *pair)}
    found = [(cluster, one, other) for cluster, _, one, other in {*apart, *_alike(mine, logs, pairs)}]
    return _joined(found, logs)


def _logs(mine: DataFrame) -> dict[Process, Log]:
    process = ["cluster", "process"]
    times = mine.groupBy(*process).agg(F.min("at_ms").alias("from_ms"), F.max("at_ms").alias("until_ms"))
    logs = {(row["cluster"], row["process"]): Log(row["from_ms"], row["until_ms"]) for row in times.collect()}
    line = F.struct(moment().alias("moment"), "what")
    of_client = mine.where(F.col("client_id").isNotNull()).groupBy(*process, "client_id")
    for row in of_client.agg(F.min(line).alias("first"), F.max(line).alias("last")).collect():
        first, last = row["first"], row["last"]
        told = (first["moment"]["at_ms"], first["what"], last["moment"]["at_ms"], last["what"])
        logs[row["cluster"], row["process"]].clients[row["client_id"]] = told
    return logs


def _goings(events: DataFrame, clients: Collection[str]) -> set[tuple[str, str, int]]:
    """Give when brokers saw these clients go."""
    seen = events.where((F.col("layout") == "broker") & F.col("what").isin("left", "closed"))
    mine = seen.where(F.col("client_id").isin(sorted(clients))).select("cluster", "client_id", "at_ms").distinct()
    return {(row["cluster"], row["client_id"], row["at_ms"]) for row in mine.collect()}


def _goes_on(
    logs: Mapping[Process, Log], goings: Iterable[tuple[str, str, int]], cluster: str, client: str, *names: str
) -> bool:
    """Ask whether one log ends where the other begins, and the client goes on over it."""
    earlier, later = sorted((logs[cluster, name] for name in names), key=lambda log: (log.from_ms, log.until_ms))
    begins_ms, first, _, _ = later.clients[client]
    _, _, ends_ms, last = earlier.clients[client]
    if earlier.until_ms > later.from_ms or begins_ms - ends_ms > GAP_MS:
        return False
    between = range(ends_ms - BROKERS_SECOND_MS, begins_ms)
    is_gone = any((cluster, client) == (where, who) and at in between for where, who, at in goings)
    return first != "instance made" and last != "instance stopped" and not is_gone


def _alike(
    mine: DataFrame, logs: Mapping[Process, Log], pairs: Sequence[tuple[str, str, str, str]]
) -> set[tuple[str, str, str, str]]:
    """Give the pairs that tell mostly the same of their client while both tell anything."""
    both = [
        (*pair, max(log.from_ms for log in those), min(log.until_ms for log in those))
        for pair in pairs
        for those in ([logs[pair[0], name] for name in pair[2:]],)
    ]
    asked = mine.sparkSession.createDataFrame(
        both, "cluster string, client_id string, one string, other string, begin long, end long"
    )
    said = mine.where(F.col("client_id").isNotNull())
    lines = said.select("cluster", "process", "client_id", "at_ms", hash_of(EVENTS, *NOT_SAID).alias("line")).distinct()
    pair = ["cluster", "client_id", "one", "other"]
    met = lines.join(F.broadcast(asked), on=["cluster", "client_id"], how="inner").where(
        F.col("process").isin(F.col("one"), F.col("other")) & F.col("at_ms").between(F.col("begin"), F.col("end"))
    )
    is_one = (F.col("process") == F.col("one")).cast("int")
    each = met.groupBy(*pair, "at_ms", "line").agg(F.max(is_one).alias("in_one"), F.max(1 - is_one).alias("in_other"))
    counted = each.groupBy(*pair).agg(
        F.sum(F.col("in_one") * F.col("in_other")).alias("same"),
        F.least(F.sum("in_one"), F.sum("in_other")).alias("fewer"),
    )
    return {
        (row["cluster"], row["client_id"], row["one"], row["other"])
        for row in counted.where((F.col("same") > 0) & (2 * F.col("same") >= F.col("fewer"))).collect()
    }


def _joined(pairs: Iterable[tuple[str, str, str]], logs: Mapping[Process, Log]) -> list[tuple[str, str, str]]:
    """Call all that belong together by the name of that of them which begins first, and of these goes on longest."""
    parts: dict[Process, set[Process]] = {}
    for cluster, one, other in pairs:
        whole = parts.get((cluster, one), {(cluster, one)}) | parts.get((cluster, other), {(cluster, other)})
        parts |= dict.fromkeys(whole, whole)

    def place(process: Process) -> tuple[int, int, Process]:
        return logs[process].from_ms, -logs[process].until_ms, process

    return [(*process, min(whole, key=place)[1]) for process, whole in sorted(parts.items())]


def as_one(events: DataFrame, copies: Sequence[tuple[str, str, str]]) -> DataFrame:
    """Give the lines of several logs of one process as its own, each once.

    Args:
        events: as ``EVENTS``, or the last line of every process, of
            :func:`rebalance_engine.pipeline.events.signs_of_life`.
        copies: of :func:`copies_of`.
    """
    if not copies:
        return events
    known = F.broadcast(events.sparkSession.createDataFrame(copies, COPIES))
    process = ["cluster", "process"]
    rest = events.join(known, on=process, how="left_anti").select(*events.columns)
    mine = events.join(known, on=process, how="inner")
    if "last_ms" in events.columns:
        latest = mine.groupBy("cluster", F.col("as_process").alias("process")).agg(
            F.min("host").alias("host"), F.max("last_ms").alias("last_ms")
        )
        return rest.unionByName(latest)
    told = mine.withColumn("line", hash_of(EVENTS, *NOT_SAID))
    in_log = Window.partitionBy(*process, "at_ms", "line").orderBy("file", "place")
    among_logs = Window.partitionBy("cluster", "as_process", "at_ms", "line", "time").orderBy(
        F.col("process") != F.col("as_process"), "process"
    )
    once = (
        told.withColumn("time", F.row_number().over(in_log))
        .withColumn("copy", F.row_number().over(among_logs))
        .where(F.col("copy") == 1)
        .withColumn("process", F.col("as_process"))
    )
    return rest.unionByName(once.select(*events.columns))
