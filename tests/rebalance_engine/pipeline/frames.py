"""Frames out of log text, for tests of single stages."""

from collections.abc import Mapping
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from rebalance_engine.pipeline import clients, copies, events, holds, lines, zones
from rebalance_engine.pipeline.sources import find_files

QUEUE = "MessageQueue [topic=orders, brokerName={}, queueId={}]"


def read_lines(spark: SparkSession, folder: Path, cluster: str = "default") -> DataFrame:
    """Read every file of a folder, unparsed lines too."""
    records = lines.read_records(spark, find_files(folder), folder, folder / ".names")
    frames = [lines.lines_of(lines.parse_lines(frame, layout), layout, cluster) for layout, frame in records]
    return reduce(DataFrame.unionByName, frames).localCheckpoint()


def no_zones(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([], zones.ZONES)


def read_events(spark: SparkSession, folder: Path, known: DataFrame | None = None) -> DataFrame:
    return events.events_of(read_lines(spark, folder), known or no_zones(spark)).localCheckpoint()


def read_holds(spark: SparkSession, folder: Path, given: str | None = None) -> DataFrame:
    """Give all holds of a folder; ``given`` is the zone of every host, where the brokers' logs do not tell it."""
    found = read_lines(spark, folder)
    known = zones.infer_zones(found).localCheckpoint()
    if given:
        hosts = {row["host"]: given for row in found.select("host").distinct().collect()}
        known = spark.createDataFrame(zones.given_zones(hosts), zones.ZONES)
    return holds_from(found, known)


def read_clusters(spark: SparkSession, folders: Mapping[str, Path]) -> DataFrame:
    """Give all holds of several folders, each a cluster of its own: told in one go."""
    frames = [
        lines.lines_of(lines.parse_lines(frame, layout), layout, cluster)
        for cluster, folder in folders.items()
        for layout, frame in lines.read_records(spark, find_files(folder), folder, folder / ".names")
    ]
    found = reduce(DataFrame.unionByName, frames).localCheckpoint()
    return holds_from(found, zones.infer_zones(found).localCheckpoint())


def holds_from(found: DataFrame, known: DataFrame) -> DataFrame:
    """Give all holds of lines, which may be of several clusters."""
    said = events.events_of(found, known).localCheckpoint()
    seen = events.signs_of_life(found, known).localCheckpoint()
    same = copies.copies_of(said, seen)
    told, life = copies.as_one(said, same).localCheckpoint(), copies.as_one(seen, same)
    changes = clients.changes_of(told).localCheckpoint()
    return holds.spans_of(told, changes, life)


def put(folder: Path, name: str, *lines: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), newline="")


def java5(second: float, message: str, *, thread: str = "RebalanceService", pid: int = 7) -> str:
    """Make a line of a 5.x client; second 0 is 2026-11-21 00:00:00 UTC, 08:00 by its own clock."""
    return f"{_stamp(second, 8)} INFO  [{pid}] [{thread}] [o.a.r.c.i.c.RebalanceImpl#?:?] - {message}\n"


def java4(second: float, message: str, *, zone_hours: float = 0) -> str:
    return f"{_stamp(second, zone_hours).replace('.', ',')} INFO RocketmqClient - {message}\r\n"


def broker(second: float, message: str) -> str:
    return f"{_stamp(second, 8)[:19]} INFO HeartbeatThread_1 - {message}\n"


def _stamp(second: float, zone_hours: float) -> str:
    whole = round((second + zone_hours * 3600) * 1000)
    minutes, ms = divmod(whole, 60_000)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"2026-11-{21 + days:02} {hours:02}:{minutes:02}:{ms // 1000:02}.{ms % 1000:03}"


MIDNIGHT_MS = 1_795_219_200_000  # 2026-11-21 00:00:00 UTC


def joined(group: str, client: str) -> str:
    channel = "[id: 0x1a2b3c4d, L:/10.0.0.1:10911 - R:/10.0.0.2:51234]"
    info = f"ClientChannelInfo [channel={channel}, clientId={client}, language=JAVA, version=1, lastUpdateTimestamp=1]"
    return f"new consumer connected, group: {group} CONSUME_PASSIVELY CLUSTERING channel: {info}"


def closed(group: str, client: str) -> str:
    channel = "[id: 0x1a2b3c4d, L:/10.0.0.1:10911 ! R:/10.0.0.2:51234]"
    info = f"ClientChannelInfo [channel={channel}, clientId={client}, language=JAVA, version=1, lastUpdateTimestamp=1]"
    return (
        f"NETTY EVENT: remove not active channel[{info}] from ConsumerGroupInfo groupChannelTable,"
        f" consumer group: {group}"
    )


def added(group: str, queue: str) -> str:
    return f"doRebalance, {group}, add a new mq, {queue}"


def removed(group: str, queue: str) -> str:
    return f"doRebalance, {group}, remove unnecessary mq, {queue}"


def persisted(group: str, client: str, queue: str, offset: int, *, every: bool = True) -> str:
    which = "persistAll" if every else "persist"
    return f"[{which}] Group: {group} ClientId: {client} updateConsumeOffsetToBroker {queue} {offset}"


def result(group: str, client: str, queues: list[str], *, members: int = 1) -> str:
    return (
        f"client rebalanced result changed. allocateMessageQueueStrategyName=AVG, group={group}, topic=orders,"
        f" clientId={client}, mqAllSize=4, cidAllSize={members}, rebalanceResultSize={len(queues)},"
        f" rebalanceResultSet=[{', '.join(queues)}]"
    )
