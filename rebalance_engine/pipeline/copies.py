"""Logs of one process that lie under several hosts' names: copies of a log, whole or in part, and parts of a cut one.

A log is copied before somebody looks at it, and goes on; a host is renamed while its process runs. What several logs
tell of one process is one story: none of it ended where one of its logs does, and nothing happened twice. Two logs are
of one process where they name a client of one id, and tell the same at the same millisecond as far as both reach; or
where one goes on where the other breaks off, once or in turns. Two processes that use one client id at once tell
different things. Logs of brokers are of one where they tell the same of the same connections and locks: no two brokers
share any.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.clients import QUEUE_KEY, moment
from rebalance_engine.pipeline.keeping import computed_once, hash_of
from rebalance_engine.pipeline.layouts import BROKER, HISTORY
from rebalance_engine.pipeline.named import merged
from rebalance_engine.pipeline.schemas import EVENTS
from rebalance_engine.pipeline.turns import Pair, Turn, turns_of

Process = tuple[str, str]  # cluster, name
CONNECTIONS = ("joined", "left", "closed", "producer joined")
LOCKS = ("granted", "granted expired", "refused", "released")
GAP_MS = 60_000  # the most that may be missing between two parts of a log
BROKERS_SECOND_MS = 1_000
STARTS_IN_MS = 1_000  # the least that another process takes to start
OF_BROKERS_LEAST = 3  # as many lines must be the same
OF_BROKERS = "/(?:broker|filter|lock)$"  # what has such a name is not asked for clients, as their logs are long
COPIES = "cluster string, process string, as_process string"
LIVES = "cluster string, process string, host string, spoken array<struct<from_ms: long, until_ms: long>>"
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
    pairs = [*_of_clients(events, life), *_of_brokers(events)]
    if not pairs:  # most client ids are of one log
        return []
    names = sorted({name for _, _, *both in pairs for name in both})
    mine = computed_once(_as_one_client(events.where(F.col("process").isin(names))))
    logs = _logs(mine)
    goings = _goings(events, {client for _, client, _, _ in pairs if client})
    turns = _turns(mine, [pair for pair in pairs if pair[1]], logs)
    apart = {pair for pair in pairs if _goes_on(turns.get(pair, ()), goings, pair)}
    found = [(cluster, one, other) for cluster, _, one, other in {*apart, *_alike(mine, logs, pairs)}]
    return _joined(found, logs)


def _as_one_client(mine: DataFrame) -> DataFrame:
    """Let what no two brokers share be of one client, without a name, by which their logs are compared."""
    is_broker = F.col("layout") == BROKER.name
    client = F.when(~is_broker, F.col("client_id")).when(_is_own(), F.lit(""))
    return mine.withColumn("client_id", client)


def _is_own() -> Column:
    return (F.col("what").isin(*CONNECTIONS) & F.col("other").isNotNull()) | F.col("what").isin(*LOCKS)


def _of_clients(events: DataFrame, life: DataFrame) -> list[Pair]:
    """Give the pairs of logs of one pid, or without one, that name a client of one id."""
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
    by_id: dict[tuple[str, str, str], list[str]] = {}
    for row in shared:
        by_id.setdefault((row["cluster"], row["pid"], row["client_id"]), []).append(row["process"])
    return [
        (cluster, client, one, other)
        for (cluster, _, client), those in by_id.items()
        for one, other in combinations(sorted(those), 2)
    ]


def _of_brokers(events: DataFrame) -> list[Pair]:
    """Give the pairs of brokers' logs that tell in one second the same of one connection, or of the lock of one queue.

    No two brokers share any of these.
    """
    told = events.where((F.col("layout") == BROKER.name) & _is_own())
    line = ["cluster", "at_ms", "what", "group", "client_id", "other", *QUEUE_KEY]
    several = told.groupBy(*line).agg(F.collect_set("process").alias("logs")).where(F.size("logs") > 1)
    found = several.select("cluster", F.array_sort("logs").alias("logs")).distinct().collect()
    pairs = {(row["cluster"], *pair) for row in found for pair in combinations(row["logs"], 2)}
    return [(cluster, "", one, other) for cluster, one, other in sorted(pairs)]


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


def _turns(mine: DataFrame, pairs: Iterable[Pair], logs: Mapping[Process, Log]) -> dict[Pair, list[Turn]]:
    """Tell where the one log of a pair begins behind the other, or where they take turns."""
    turns: dict[Pair, list[Turn]] = {}
    woven = []
    for pair in pairs:
        cluster, client, *names = pair
        earlier, later = sorted((logs[cluster, name] for name in names), key=lambda log: (log.from_ms, log.until_ms))
        if earlier.until_ms > later.from_ms:
            woven.append(pair)
            continue
        begins_ms, first, _, _ = later.clients[client]
        _, _, ends_ms, last = earlier.clients[client]
        turns[pair] = [Turn(ends_ms, last, begins_ms, first)]
    for pair, turn in turns_of(mine, woven) if woven else ():
        turns.setdefault(pair, []).append(turn)
    return turns


def _goes_on(turns: Iterable[Turn], goings: Collection[tuple[str, str, int]], pair: Pair) -> bool:
    """Ask whether the client goes on over a turn of its logs: also in its shutdown, when brokers have seen it leave."""
    return any(
        turn.begins_ms - turn.ends_ms <= GAP_MS
        and turn.first != "instance made"
        and turn.last != "instance stopped"
        and not any(
            turn.begins_ms - turn.ends_ms >= STARTS_IN_MS
            and pair[:2] == (where, who)
            and turn.ends_ms - BROKERS_SECOND_MS <= at < turn.begins_ms
            for where, who, at in goings
        )
        for turn in turns
    )


def _alike(mine: DataFrame, logs: Mapping[Process, Log], pairs: Sequence[Pair]) -> set[Pair]:
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
    enough = F.when(F.col("client_id") == "", F.lit(OF_BROKERS_LEAST)).otherwise(1)
    is_same = (F.col("same") >= enough) & (2 * F.col("same") >= F.col("fewer"))
    return {(row["cluster"], row["client_id"], row["one"], row["other"]) for row in counted.where(is_same).collect()}


def _joined(pairs: Iterable[tuple[str, str, str]], logs: Mapping[Process, Log]) -> list[tuple[str, str, str]]:
    """Call all that belong together by the name of that of them which begins first, and of these goes on longest."""
    parts: dict[Process, set[Process]] = {}
    for cluster, one, other in pairs:
        whole = parts.get((cluster, one), {(cluster, one)}) | parts.get((cluster, other), {(cluster, other)})
        parts |= dict.fromkeys(whole, whole)

    def place(process: Process) -> tuple[int, int, Process]:
        return logs[process].from_ms, -logs[process].until_ms, process

    return [(*process, min(whole, key=place)[1]) for process, whole in sorted(parts.items())]


def _one_life(lives: DataFrame) -> DataFrame:
    """Put together when several logs of one process speak: where one has a hole another may have none."""
    of_one: dict[Process, tuple[str, list[tuple[int, int]]]] = {}
    for row in lives.collect():
        host, spoken = of_one.get((row["cluster"], row["as_process"]), (row["host"], []))
        parts = [(part["from_ms"], part["until_ms"]) for part in row["spoken"]]
        of_one[row["cluster"], row["as_process"]] = min(host, row["host"]), [*spoken, *parts]
    rows = [(*process, host, merged(spoken)) for process, (host, spoken) in of_one.items()]
    told = lives.sparkSession.createDataFrame(rows, LIVES)
    return told.withColumn("last_ms", F.array_max("spoken.until_ms"))


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
        return rest.unionByName(_one_life(mine).select(*events.columns))
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
