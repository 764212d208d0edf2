"""Text files to lines: continuation lines joined, time stamps read, the kind of each line told. Native functions only.

A record ends where the next one begins as every line of its layout does. Spark's reader is told so by its ``lineSep``,
so that a stack trace stays with its line without any sorting; the two digits of the year that are part of it are gone
from all records but a file's first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from pathlib import Path
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.layouts import HISTORY, LAYOUTS, Layout
from rebalance_engine.pipeline.schemas import LINES, shaped
from rebalance_engine.pipeline.sources import SourceFile
from rebalance_engine.pipeline.templates import TEMPLATES, Template

MOST_KEPT = 1000  # characters of a line that did not parse; a binary file has lines of any length
MOST_OF_A_TRACE = 4000
GLOB = str.maketrans({sign: f"\\{sign}" for sign in "\\{}[]*?"})
STAMPS = {"java5": 21, "java4": 21, "broker": 17, "cpp": 24}  # characters after the first two digits of the year


def read_records(
    spark: SparkSession, files: Sequence[SourceFile], folder: Path
) -> list[tuple[Layout | None, DataFrame]]:
    """Read text as records of (file, host, place, value), one frame for each layout."""
    frames = []
    for layout in (*LAYOUTS.values(), None):
        mine = [file for file in files if file.layout == layout and file.is_readable]
        if mine:
            separator = f"\n{layout.begins}" if layout else "\n"
            frames.append((layout, _records(spark, mine, folder, separator)))
    return frames


def _records(spark: SparkSession, files: Sequence[SourceFile], folder: Path, separator: str) -> DataFrame:
    root = folder.resolve()
    paths = [f"file://{str(root / file.path).translate(GLOB)}" for file in files]
    text = spark.read.text(paths, lineSep=separator)
    by_path = {str(root / file.path): file for file in files}
    # The reader names files as Java escapes them. Unescaping some names here spares doing it for every line.
    escaped = [name.removeprefix("file://").removeprefix("file:") for name in text.inputFiles()]
    rows = [(f"file:{name}", by_path[unquote(name)].path, by_path[unquote(name)].host) for name in escaped]
    named = spark.createDataFrame(rows, "path string, file string, host string")
    records = text.select(
        F.col("_metadata.file_path").alias("path"), F.col("_metadata.file_block_start").alias("block"), F.col("value")
    )
    return records.join(F.broadcast(named), on="path", how="inner").select("file", "host", "block", "value")


def _place() -> Column:
    """Number the records: blocks of a file lie in its order, records of a block in that of its one task.

    A task reads fewer than 2^33 records, and a block is at least 2^25 bytes long, so numbers of a file never meet.
    This column has another use: no filter is pushed below a column that is not deterministic, and so what the filter
    looks at is computed once.
    """
    record = F.monotonically_increasing_id().bitwiseAND(F.lit((1 << 33) - 1))
    return (F.col("block") * F.lit(1 << 8) + record).alias("place")


def parse_lines(records: DataFrame, layout: Layout | None) -> DataFrame:
    """Tell of each record its wall clock, its message and its kind; all None where it does not begin rightly."""
    if layout is None:
        nothing = (F.lit(None).cast(kind).alias(name) for name, kind in _NOTHING.items())
        return records.select("file", "host", "value", _place(), *nothing)
    begin = len(layout.begins)
    is_first = (F.substring("value", begin + 3, 1) == "-") & (F.substring("value", begin + 6, 1) == "-")
    bare = F.when(is_first, F.expr(f"substring(value, {begin + 1})")).otherwise(F.col("value"))
    if layout is HISTORY:
        bare = F.when(F.col("value").startswith(layout.begins), F.expr(f"substring(value, {begin + 1})")).otherwise(
            F.col("value")
        )
    cut = records.withColumn("value", F.rtrim(bare, F.lit("\r\n")))
    return _HEADS[layout.name](cut)


_NOTHING = {"wall_ms": "bigint", "what": "string", "process": "string", "thread": "string", "message": "string"}


def lines_of(parsed: DataFrame, layout: Layout | None, cluster: str) -> DataFrame:
    """Keep the lines that tell something about rebalancing, and those that did not parse."""
    is_parsed = F.col("wall_ms").isNotNull()
    is_trace = F.col("what").isin(*TRACES)
    text = (
        F.when(~is_parsed, F.substring("value", 1, MOST_KEPT))
        .when(is_trace, F.substring("message", 1, MOST_OF_A_TRACE))
        .otherwise(F.col("message"))
    )
    parts = F.when(~is_parsed, _count("value", "\n") + 1).when(
        F.col("what") == "uncommitted", _count("message", "MessageExt [")
    )
    return shaped(
        parsed.where(~is_parsed | F.col("what").isNotNull()).select(
            F.lit(cluster).alias("cluster"),
            F.date_format(F.timestamp_millis("wall_ms"), "yyyy-MM-dd").alias("day"),
            "file",
            "host",
            F.lit(layout.name if layout else None).alias("layout"),
            "place",
            "wall_ms",
            "what",
            "process",
            "thread",
            text.alias("message"),
            parts.alias("parts"),
        ),
        LINES,
    )


TRACES = ("pull refused", "pull failed", "resent", "send failed", "uncommitted")


def _count(column: str, part: str) -> Column:
    text = F.col(column)
    return ((F.length(text) - F.length(F.replace(text, F.lit(part), F.lit("")))) / len(part)).cast("bigint")


# ---- how the lines of each layout begin ----


def _java5(records: DataFrame) -> DataFrame:
    end = F.locate("] - ", F.col("value"))
    head = r"\[(\d+)\] \[(.*)\] \["
    message = F.when(end > 0, F.expr("substring(value, locate('] - ', value) + 4)"))
    beginning = F.substring("value", 1, 300)
    process, thread = F.regexp_extract(beginning, head, 1), F.regexp_extract(beginning, head, 2)
    return _told(records, _wall(21, "."), message, "java5").withColumns({"process": process, "thread": thread})


def _java4(records: DataFrame) -> DataFrame:
    return _told(records, _wall(21, ","), _after_dash(), "java4")


def _broker(records: DataFrame) -> DataFrame:
    thread = F.regexp_extract(F.substring("value", 19, 200), r"^[A-Z]+ (.*?) - ", 1)
    return _told(records, _wall(17, None), _after_dash(), "broker").withColumn("thread", thread)


def _cpp(records: DataFrame) -> DataFrame:
    message = F.when(F.locate("):", F.col("value")) > 0, F.expr("substring(value, locate('):', value) + 2)"))
    return _told(records, _wall(21, "."), message, "cpp")


def _go(records: DataFrame) -> DataFrame:
    wall = _millis(F.concat(F.lit("20"), F.substring_index("value", '"', 1)))
    start = F.when(F.locate('msg="', F.col("value")) > 0, F.lit(5)).otherwise(F.lit(4))
    message = F.when(
        F.locate("msg=", F.col("value")) > 0,
        F.col("value").substr(F.locate("msg=", F.col("value")) + start, F.length("value")),
    )
    return _told(records, wall, message, "go")


def _history(records: DataFrame) -> DataFrame:
    whole = F.concat(F.lit(HISTORY.begins), F.col("value"))
    at = F.get_json_object(whole, "$.at").try_cast("bigint")
    what = F.concat(F.lit("fact "), F.get_json_object(whole, "$.event"))
    facts = records.select("file", "host", "value", "block", at.alias("wall_ms"), whole.alias("message"))
    nobody = F.lit(None).cast("string")
    return facts.select("*", what.alias("what"), nobody.alias("process"), nobody.alias("thread"), _place())


_HEADS = {"java5": _java5, "java4": _java4, "broker": _broker, "cpp": _cpp, "go": _go, "history": _history}


def _wall(length: int, fraction: str | None) -> Column:
    """Read ``yy-MM-dd HH:mm:ss`` with or without milliseconds; None where it is none."""
    if fraction is None:
        return F.when(
            F.substring("value", 18, 1) == " ", _millis(F.concat(F.lit("20"), F.substring("value", 1, length)))
        )
    dotted = F.concat(F.lit("20"), F.substring("value", 1, 17), F.lit("."), F.substring("value", 19, length - 18))
    return F.when(F.substring("value", 18, 1) == fraction, _millis(dotted))


def _millis(stamp: Column) -> Column:
    return F.unix_millis(stamp.try_cast("timestamp"))


def _after_dash() -> Column:
    return F.when(F.locate(" - ", F.col("value")) > 0, F.expr("substring(value, locate(' - ', value) + 3)"))


def _told(records: DataFrame, wall: Column, message: Column, layout: str) -> DataFrame:
    clock = records.select("file", "host", "value", "block", wall.alias("wall_ms"), message.alias("message"))
    valid = F.when(F.col("message").isNotNull(), F.col("wall_ms")).alias("wall_ms")
    nobody = F.lit(None).cast("string")
    what = _what(F.col("message"), TEMPLATES[layout]).alias("what")
    return clock.select(
        "file", "host", "value", valid, "message", what, nobody.alias("process"), nobody.alias("thread"), _place()
    )


def _what(message: Column, templates: Iterable[Template]) -> Column:
    """Take the first template that fits, as one chain of cheap comparisons of bytes."""
    first, *others = templates
    what = F.when(_fits(message, first), F.lit(first.what))
    for template in others:
        what = what.when(_fits(message, template), F.lit(template.what))
    return what


def _fits(message: Column, template: Template) -> Column:
    tests = []
    if template.begins:
        tests.append(message.startswith(template.begins))
    if template.has:
        tests.append(message.contains(template.has))
    if template.ends:
        tests.append(F.substring_index(message, "\n", 1).endswith(template.ends))
    return reduce(lambda one, other: one & other, tests)
