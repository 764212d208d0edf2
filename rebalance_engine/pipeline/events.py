"""Lines to events: what each line says, in columns, at a UTC time. Native functions only, one pass.

The texts are RocketMQ's own ``log.info`` calls, see :mod:`rebalance_engine.pipeline.templates`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import reduce
from pathlib import Path

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.clocks import in_named_zone, with_second_hours
from rebalance_engine.pipeline.history import facts_of
from rebalance_engine.pipeline.layouts import HISTORY, LAYOUTS
from rebalance_engine.pipeline.naming import (
    factory_client,
    found_in,
    locked_client,
    locking_client,
    named_client,
    persisting_client,
)
from rebalance_engine.pipeline.schemas import EVENTS, day_of, shaped
from rebalance_engine.pipeline.silences import spoken_of
from rebalance_engine.pipeline.templates import QUEUE

QUEUE_DATA = r"QueueData \[brokerName=([^,]+), readQueueNums=(\d+), writeQueueNums=\d+, perm=(\d+)"
BROADCASTER = r"ConsumerData \[groupName=([^,\]]+), consumeType=[^,\]]*, messageModel=BROADCASTING"
GROUP = r"(?:[Gg]roup(?:Name)?|GROUP)(?:[=:] ?| )\"?([^ ,\[\]\"]+)"
REBALANCE_GROUP = r"^(?:\[BUG\])?(?:doRebalance|Fix Offset), ([^ ,]+)"
QUEUE_BEGINS, BROKER_BEGINS, ID_BEGINS = "MessageQueue [topic=", ", brokerName=", ", queueId="
DAY_MS = 86_400_000
READ_BY = ("events", "clocks", "history", "naming")


def readers() -> str:
    """Give a checksum of what reads lines: another version of it reads all lines anew."""
    rooms = b"".join((Path(__file__).parent / f"{room}.py").read_bytes() for room in READ_BY)
    return hashlib.blake2b(rooms, digest_size=8).hexdigest()


def events_of(lines: DataFrame, zones: DataFrame) -> DataFrame:
    """Read the lines whose time zone is known.

    Args:
        lines: as ``LINES``.
        zones: as ``ZONES``, of the clients whose log does not tell its zone.
    """
    told = with_second_hours(lines.where(F.col("wall_ms").isNotNull()), zones).where(F.col("what") != "alive")
    # Asked first: what there is nothing of costs a reading of all lines for each part of the plan that looks for it.
    seen = lines.select("host", "layout", "file").distinct().collect()
    files = [(row["host"], row["layout"], row["file"]) for row in seen]
    timed = _in_utc(_without_copies(told, _with_siblings(files)), zones)
    if HISTORY.name not in {layout for _, layout, _ in files}:
        return _texts(timed)
    return _texts(timed.where(F.col("layout") != HISTORY.name)).unionByName(facts_of(timed))


def _texts(timed: DataFrame) -> DataFrame:
    return shaped(
        _with_queue(timed)
        .select("*", *_told(), _day_of().alias("day_utc"))
        .drop("day")
        .withColumnRenamed("day_utc", "day"),
        EVENTS,
    )


def _day_of() -> Column:
    """Give the UTC day; mostly it is that of the line's own clock, which need not be made of a number again."""
    is_same = (F.col("at_ms") / DAY_MS).cast("bigint") == (F.col("wall_ms") / DAY_MS).cast("bigint")
    return F.when(is_same, F.col("day")).otherwise(day_of(F.col("at_ms")))


def signs_of_life(lines: DataFrame, zones: DataFrame) -> DataFrame:
    """Give the last line of every process, and when its log speaks: host, process, last_ms, spoken."""
    return spoken_of(_in_utc(with_second_hours(lines.where(F.col("wall_ms").isNotNull()), zones), zones))


def refused_hosts(lines: DataFrame, zones: DataFrame) -> DataFrame:
    """Name the hosts whose lines cannot be placed in time: host, layout, lines."""
    unknown = [name for name, layout in LAYOUTS.items() if layout.zone_ms is None]
    without = lines.where(F.col("layout").isin(unknown) & F.col("wall_ms").isNotNull()).join(
        F.broadcast(zones), on=["host", "layout"], how="left_anti"
    )
    return without.groupBy("host", "layout").agg(F.count(F.lit(1)).alias("lines"))


def _with_siblings(files: Iterable[tuple[str, str, str]]) -> list[str]:
    """Name the files beside which their host has others that may repeat their lines.

    A line with a pid tells itself whose it is, whatever the file of a copy is called.
    """
    families: dict[tuple[str, str], list[str]] = {}
    for host, layout, file in files:
        family = layout if layout in PIDS else FAMILY.sub("", file.rpartition("/")[2])
        families.setdefault((host, family), []).append(file)
    return sorted({file for those in families.values() if len(those) > 1 for file in those})


def _without_copies(lines: DataFrame, with_siblings: list[str]) -> DataFrame:
    """Drop what several files of one host repeat: a rolled file and its copy. Two equal lines of one file stay two.

    Only lines of files that have siblings are sorted for it.
    """
    if not with_siblings:
        return lines
    same = ["host", "family", "process", "wall_ms", "message"]
    in_file = Window.partitionBy(*same, "file").orderBy("place")
    among_files = Window.partitionBy(*same, "time").orderBy(F.col("again_ms").isNull(), "file")
    is_one_of_several = F.col("file").isin(with_siblings)
    once = (
        lines.where(is_one_of_several)
        .withColumn("family", family_of())
        .withColumn("time", F.row_number().over(in_file))
        .withColumn("copy", F.row_number().over(among_files))
        .where(F.col("copy") == 1)
        .drop("family", "time", "copy")
    )
    return lines.where(~is_one_of_several).unionByName(once)


PIDS = ("java5",)  # layouts whose lines name their process
# Whatever rolled or kept file of a log this is: ``other_days/rocketmq_client-3.log.gz``, ``rocketmq_client.log.bak``
# and ``old-rocketmq_client.log`` are ``rocketmq_client``.
_KEPT_AS = "(?:bak|backup|old|orig|save|copy|prev)"
FAMILY = re.compile(rf"(?i)(?:^{_KEPT_AS}[-._ ]|\.gz|\.log|[-._]\d+|[-._ ]{_KEPT_AS}(?=[-._ ]|$)| ?\(\d+\)|~$)")


def _family() -> Column:
    return F.regexp_replace(F.substring_index("file", "/", -1), FAMILY.pattern, "")


def family_of() -> Column:
    """Name the log that a file is a part of, among those of its host."""
    return F.when(F.col("layout").isin(*PIDS), F.col("layout")).otherwise(_family())


# Folders in which logs are kept by age or by day: whose they are the folder around them tells.
KEPT_IN = rf"(?i)/(?:other_?days|archived?|{_KEPT_AS}s?|\d{{4}}[-_.]?\d\d[-_.]?\d\d[^/]*)(?=/|$)"
INNER_FOLDERS = r"^[^/]*((?:/[^/]*)*)/[^/]*$"  # without the host


def process_of() -> Column:
    """Name the process that wrote a line: its host and pid, or its file where lines carry no pid.

    Brokers of one host write into folders of their own (``brokerLogDir``).
    """
    inner = F.regexp_replace(F.regexp_extract("file", INNER_FOLDERS, 1), KEPT_IN, "")
    place = F.when(F.col("layout") == "broker", F.concat("host", inner)).otherwise(F.col("host"))
    return F.concat_ws("/", place, F.coalesce(F.nullif(F.col("process"), F.lit("")), _family()))


def _in_utc(lines: DataFrame, zones: DataFrame) -> DataFrame:
    fixed = F.create_map(
        *(
            F.lit(part)
            for name, layout in LAYOUTS.items()
            if layout.zone_ms is not None
            for part in (name, layout.zone_ms)
        )
    )
    resolution = F.create_map(
        *(F.lit(part) for name, layout in LAYOUTS.items() for part in (name, layout.resolution_ms))
    )
    told = zones.select("host", "layout", "zone_ms", "zone_name")
    joined = lines.join(F.broadcast(told), on=["host", "layout"], how="left")
    zone = F.coalesce(fixed[F.col("layout")], F.col("zone_ms"))
    return (
        joined.withColumns(
            {
                "at_ms": F.when(F.col("zone_name").isNull(), F.col("wall_ms") - zone).otherwise(in_named_zone()),
                "resolution_ms": resolution[F.col("layout")],
                "process": process_of(),
            }
        )
        .where(F.col("at_ms").isNotNull())
        .drop("zone_ms", "zone_name", "again_ms")
    )


def _with_queue(lines: DataFrame) -> DataFrame:
    """Add the first whole queue that a line is about, as ``q_topic``, ``q_broker`` and ``q_id``; mostly none is sought.

    Each step is a column, which Spark computes once as long as the next one names it more than once: written as one
    expression, every part of it is computed again wherever it stands, as it stands behind a condition.
    """
    message, what = F.col("message"), F.col("what")
    many = what.isin("result", "broker result", "route changed", "heartbeat data", "instance made")
    before = F.octet_length(F.substring_index(message, QUEUE_BEGINS, 1)) + len(QUEUE_BEGINS)
    its_only = F.substring_index(message, QUEUE_BEGINS, -1)  # it stands near the end
    first = _bytes(message, before, F.octet_length(message))
    has_one = ~many & message.contains(QUEUE_BEGINS)
    behind = F.when(_is_persisted(message), its_only).when(has_one, first)
    inside, begin, end = F.col("inside"), F.octet_length("left") + len(BROKER_BEGINS), F.octet_length("right")
    size = F.octet_length(inside) - begin - end - len(ID_BEGINS)
    is_whole = (
        (F.octet_length(inside) < F.octet_length("behind"))  # there is a bracket at its end
        & ~F.col("left").contains("=")
        & ~F.col("middle").contains("=")
        & F.col("right").try_cast("int").isNotNull()
    )
    steps = (
        {"behind": behind},
        {"inside": F.substring_index("behind", "]", 1)},
        {"left": F.substring_index(inside, BROKER_BEGINS, 1), "right": F.substring_index(inside, ID_BEGINS, -1)},
        {"middle": F.when(size > 0, _bytes(inside, begin, size))},
        {"is_whole": F.when(F.col("behind").isNotNull(), F.coalesce(is_whole, F.lit(False)))},
        # Mostly the first queue is whole, and finding it so takes a tenth of what finding it by its expression does.
        {"sought": F.when(~F.col("is_whole"), found_in(message, QUEUE, 0))},
        {name: F.when(F.col("is_whole"), F.col(part)).otherwise(_part(name)) for name, part in _PARTS.items()},
    )
    return reduce(DataFrame.withColumns, steps, lines)


_PARTS = {"q_topic": "left", "q_broker": "middle", "q_id": "right"}


def _part(name: str) -> Column:
    """Cut a part out of a queue that is whole and ends with its bracket."""
    if name == "q_topic":
        return F.substr(F.substring_index("sought", ", ", 1), F.lit(len(QUEUE_BEGINS) + 1))
    if name == "q_broker":
        before = F.substring_index("sought", ID_BEGINS, 1)
        return F.substring_index(before, BROKER_BEGINS, -1)
    return F.rtrim(F.substring_index("sought", "=", -1), F.lit("]"))


def _bytes(text: Column, skipped: Column, size: Column) -> Column:
    """Cut so many bytes out, behind so many: counting characters is what makes ``substring`` of a text slow."""
    return F.substr(text.cast("binary"), skipped + 1, size).cast("string")


def _told() -> list[Column]:
    message, what = F.col("message"), F.col("what")
    is_result = what.isin("result", "broker result")
    return [
        _group(message, what).alias("group"),
        F.coalesce(
            F.when(what == "route changed", found_in(message, r"^the topic\[([^\]]+)\]")),
            F.when(is_result, found_in(message, r"[, ][tT]opic[=:] ?([^,\s\]]+)")),
            F.when(what == "offset back", found_in(message, r"key=([^@]+)@")),
            F.col("q_topic"),
        ).alias("topic"),
        F.coalesce(
            F.when(what.isin("isolated", "unreachable", "reachable"), F.substring_index(message, " ", 1)),
            F.when(
                what.isin("heartbeat", "heartbeat failed", "broker gone", "unregistered"),
                found_in(message, r"broker\[([^ \]]+)"),
            ),
            F.when(what == "broker started", found_in(message, r"The broker\[([^,\]]+), ")),
            F.col("q_broker"),
        ).alias("broker"),
        F.when(what == "offset back", F.regexp_extract(message, r"queueId=(\d+)", 1))
        .otherwise(F.col("q_id"))
        .try_cast("int")  # a number beyond it is none
        .alias("queue_id"),
        _client(message, what).alias("client_id"),
        _other(message, what).alias("other"),
        _first_number(message, what).alias("number"),
        F.when(is_result, _number(message, r"(?:mqAllSize=|Total Queue :#)(\d+)"))
        .when(what == "offset back", _number(message, r"storeOffset=(\d+)"))
        .alias("number2"),
        F.when(is_result, found_in(message, r"[sS]trategyName=([^,]+),")).alias("strategy"),
        _queues(message, what).alias("queues"),
        _broadcasting(message, what).alias("broadcasting"),
    ]


def _group(message: Column, what: Column) -> Column:
    return F.coalesce(
        F.when(_is_persisted(message), _word(message, 3)),
        F.when(
            message.startswith("doRebalance, ") | what.isin("pull expired", "expired and removed", "removed to repair"),
            found_in(message, REBALANCE_GROUP),
        ),
        F.when(what == "lock granted", found_in(message, r"lock OK, (\S+) MessageQueue")),
        F.when(
            what.isin("consumer started", "consumer starting", "consumer stopped", "producer started", "left"),
            found_in(message, r"\[([^\]]+)\]"),
        ),
        F.when(what == "unregistered", F.nullif(found_in(message, r"Consumer: ([^\]]+)\]"), F.lit("null"))),
        F.when(what == "closed", found_in(message, r"consumer group: (\S+)")),
        F.when(what == "offset back", found_in(message, r"key=[^@]+@([^,]+)")),
        F.when(message.startswith("notifyConsumerIdsChanged:"), found_in(message, r":([^\[\s]+)")),
        F.when(
            ~what.isin("unregistered", "uncommitted", "heartbeat data", "instance made")
            & (message.contains("roup") | message.contains("GROUP")),
            found_in(message, GROUP),
        ),
    )


def _is_persisted(message: Column) -> Column:
    """Most lines of a log are of this kind, ``[persistAll] Group: G ClientId: C … Q N``: read without expressions."""
    return message.startswith("[persist")


def _word(message: Column, number: int) -> Column:
    return F.substring_index(F.substring_index(message, " ", number), " ", -1)


def _client(message: Column, what: Column) -> Column:
    return F.coalesce(
        F.when(_is_persisted(message), persisting_client(message)),
        F.when(what.isin("instance started", "instance stopped"), factory_client(message)),
        F.when(what.isin("granted expired", "refused"), locking_client(message)),
        F.when(message.startswith("unlockBatch, Group: "), F.substring_index(message, "] ", -1)),
        F.when(what == "not in list", found_in(message, r"consumerId: (.+?) not in")),
        F.when(message.startswith("Allocation result"), found_in(message, r"Current Consumer ID: ([^\]]+)\]")),
        F.when((what != "uncommitted") & message.contains("lient"), named_client(message)),  # most have none
    )


def _other(message: Column, what: Column) -> Column:
    return (
        F.when(what.isin("granted expired", "refused"), locked_client(message))
        .when(what.isin("joined", "left", "closed", "producer joined"), found_in(message, r"R:/([^\]]+)\]"))
        .when(what == "expired", found_in(message, r"channel=([^,]+),"))
        .when(what == "notified", found_in(message, r"notification\[([^\]]+)\]"))
        .when(what == "isolated", found_in(message, r"for (\d+) ms"))
        .when(what.isin("pull refused", "pull failed"), found_in(message, r"(CODE: \d+)"))
    )


def _first_number(message: Column, what: Column) -> Column:
    line = F.substring_index(message, "\n", 1)  # what stands below it is of no log
    return (
        F.when(_is_persisted(message), F.substring_index(line, " ", -1).try_cast("bigint"))
        .when(what.isin("persisted all", "persisted"), _number(message, r"(\d+)(?:\[[^\]]*\])?$"))  # C++: [where:line]
        .when(what.isin("start offset", "pull ended"), _number(message, r"(?:nextOffset=|offset[:=])(\d+)"))
        .when(what == "first pull", _number(message, r"NewOffset: (\d+)"))
        .when(what.isin("result", "broker result"), _number(message, r"(?:cidAllSize=|Total Consumer :#)(\d+)"))
        .when(what == "version", _number(message, r", (\d+)$"))
        .when(what == "offset back", _number(message, r"requestOffset=(\d+)"))
        .when(what == "isolated", _number(message, r"for (\d+) ms"))
        .when(what.isin("resent", "send failed"), _number(message, r"RT: (\d+)ms"))
        .when(what == "uncommitted", F.col("parts"))
        # A route that was unknown before is no change of it.
        .when(what == "route changed", F.when(message.contains("old[null]"), 0).otherwise(1))
    )


def _queues(message: Column, what: Column) -> Column:
    """List the queues of a result as ``broker|id``, of a route as ``broker|queues|perm``; a heartbeat's groups."""
    now = F.expr("substring(message, locate(',new[', message))")
    pairs = _pairs(message, QUEUE, 2, 3)
    is_cut = F.coalesce(_number(message, r"rebalanceResultSize=(\d+)") != F.size(pairs), F.lit(False))
    return (
        F.when(what.isin("result", "broker result"), F.when(~is_cut, pairs))
        .when(
            what == "route changed",
            F.zip_with(
                _pairs(now, QUEUE_DATA, 1, 2),
                F.regexp_extract_all(now, F.lit(QUEUE_DATA), F.lit(3)),
                lambda one, perm: F.concat_ws("|", one, perm),
            ),
        )
        .when(
            what == "heartbeat data",
            F.regexp_extract_all(message, F.lit(r"ConsumerData \[groupName=([^,\]]+)"), F.lit(1)),
        )
    )


def _broadcasting(message: Column, what: Column) -> Column:
    """List the groups that a start, a broker's line or a heartbeat says to broadcast (``MessageModel``)."""
    starts = (what == "consumer starting") & message.contains("messageModel=BROADCASTING")
    joins = (what == "joined") & message.contains(" BROADCASTING channel: ")
    beats = (what == "heartbeat data") & message.contains("BROADCASTING")
    return (
        F.when(starts, F.array(found_in(message, r"\[([^\]]+)\]")))
        .when(joins, F.array(found_in(message, GROUP)))
        .when(beats, F.regexp_extract_all(message, F.lit(BROADCASTER), F.lit(1)))
    )


def _pairs(text: Column, pattern: str, one: int, other: int) -> Column:
    first = F.regexp_extract_all(text, F.lit(pattern), F.lit(one))
    second = F.regexp_extract_all(text, F.lit(pattern), F.lit(other))
    return F.zip_with(first, second, lambda left, right: F.concat_ws("|", left, right))


def _number(text: Column, pattern: str, group: int = 1) -> Column:
    return F.regexp_extract(text, pattern, group).try_cast("bigint")
