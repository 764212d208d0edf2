"""Text files to lines: continuation lines joined, time stamps read, the kind of each line told. Native functions only.

A record ends where the next one begins as every line of its layout does. Spark's reader is told so by its ``lineSep``,
so that a stack trace stays with its line without any sorting; the two digits of the year that are part of it are gone
from all records but a file's first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import reduce
from pathlib import Path
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.ends import MOST
from rebalance_engine.pipeline.layouts import HISTORY, LAYOUTS, Layout
from rebalance_engine.pipeline.padding import is_padded, write_without_padding
from rebalance_engine.pipeline.schemas import LINES, shaped
from rebalance_engine.pipeline.sources import SourceFile
from rebalance_engine.pipeline.templates import ADDS, QUEUE, REMOVES, TEMPLATES, Template

MOST_KEPT = 1000  # characters of a line that did not parse; a binary file has lines of any length
MOST_OF_A_TRACE = 4000
# What Hadoop unpacks, or fails to, by the ending of a name: a text that is called so is one all the same.
UNPACKED_BY_NAME = (".bz2", ".deflate", ".lz4", ".snappy", ".zst")
GLOB = str.maketrans({sign: f"\\{sign}" for sign in "\\{}[]*?"})


def read_records(
    spark: SparkSession, files: Sequence[SourceFile], folder: Path, aside: Path
) -> list[tuple[Layout | None, DataFrame]]:
    """Read text as records of (file, host, place, value), one frame for each layout.

    Args:
        aside: where links are made to files whose names begin with ``_``, which Spark would leave out silently, or end
            as if they were packed, or whose paths Hadoop cannot take.

    Raises:
        AnalysisException: a file is there no more.
    """
    frames = []
    for layout in (*LAYOUTS.values(), None):
        mine = [file for file in files if file.layout == layout and file.is_readable]
        if mine:
            separator = f"\n{layout.begins}" if layout else "\n"
            records = _records(spark, mine, folder, separator, aside)
            frames.append((layout, _without_cut_ends(records, mine, len(layout.begins) if layout else 0)))
    return frames


def _without_cut_ends(records: DataFrame, files: Sequence[SourceFile], begin: int) -> DataFrame:
    """Let no last line that is cut begin as a line does, so that it counts as one that does not parse."""
    rows = [(file.path, file.cut.encode("latin-1")) for file in files if file.cut]
    if not rows:
        return records
    cut = records.sparkSession.createDataFrame(rows, "file string, cut binary")
    size, text = F.octet_length("cut"), F.col("value").cast("binary")
    # The first record of a file has its beginning; of a long line only the end is known.
    is_cut = F.endswith(text, F.col("cut")) & ((F.octet_length("value") <= size + begin) | (size == MOST))
    value = F.when(is_cut, F.concat(F.lit("cut: "), F.col("value"))).otherwise(F.col("value"))
    joined = records.join(F.broadcast(cut), on="file", how="left")
    return joined.select("file", "host", "block", value.alias("value"))


def _records(spark: SparkSession, files: Sequence[SourceFile], folder: Path, separator: str, aside: Path) -> DataFrame:
    root = folder.resolve()
    by_path = {str(_seen_by_spark(root / file.path, file, aside)): file for file in files}
    reader = spark.read.option("ignoreMissingFiles", "true")  # whoever reads looks again at what there still is
    text = reader.text([f"file://{path.translate(GLOB)}" for path in by_path], lineSep=separator)
    # The reader names files as Java escapes them.
    escaped = [name.removeprefix("file://").removeprefix("file:") for name in text.inputFiles()]
    records = text.select(
        F.col("_metadata.file_path").alias("path"), F.col("_metadata.file_block_start").alias("block"), F.col("value")
    )
    if all(name == f"{root}/{by_path[unquote(name)].path}" and "/" in by_path[name].path for name in escaped):
        file = _tail(F.col("path"), len(f"file:{root}/".encode()))  # half of what looking it up costs
        return records.select(file.alias("file"), F.substring_index(file, "/", 1).alias("host"), "block", "value")
    rows = [(f"file:{name}", by_path[unquote(name)].path, by_path[unquote(name)].host) for name in escaped]
    named = spark.createDataFrame(rows, "path string, file string, host string")
    return records.join(F.broadcast(named), on="path", how="inner").select("file", "host", "block", "value")


def _seen_by_spark(path: Path, file: SourceFile, aside: Path) -> Path:
    """Give the path by which Spark reads a file's text: its own, a link's, or that of a copy without its padding."""
    layout = file.layout
    has_padding = layout is not None and (is_padded(path) if file.has_padding is None else file.has_padding)
    is_text = path.suffix not in UNPACKED_BY_NAME and not has_padding
    # Where a path has a pattern's sign, Hadoop takes it apart, and a part with a colon in it for an address.
    is_taken = not (":" in str(path) and any(chr(sign) in str(path) for sign in GLOB))
    if is_text and is_taken and not path.name.startswith("_"):
        return path
    name = "named.gz" if is_text and path.suffix == ".gz" else "named.log"
    link = aside.resolve() / hashlib.sha256(str(path).encode()).hexdigest()[:16] / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    if layout is not None and has_padding:
        write_without_padding(path, link, layout)
    else:
        link.symlink_to(path)
    return link


def _tail(text: Column, skipped: int | Column) -> Column:
    """Cut so many bytes off: counting characters is what makes ``substring`` of a text slow."""
    start = F.lit(skipped + 1) if isinstance(skipped, int) else skipped + 1
    size = F.octet_length(text)
    return F.substr(text.cast("binary"), start, size).cast("string")


def _after(text: Column, mark: str) -> Column:
    """Give what stands behind a mark's first place; None where it has none."""
    before = F.octet_length(F.substring_index(text, mark, 1))
    return F.when(before < F.octet_length(text), _tail(text, before + len(mark)))


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
    value, begin = F.col("value"), len(layout.begins)
    is_first = value.startswith(layout.begins)
    if layout is not HISTORY:  # 2026-11-21: the year's first two digits may also be a record's year
        is_first &= (F.substring("value", begin + 3, 1) == "-") & (F.substring("value", begin + 6, 1) == "-")
    bare = F.when(is_first, _tail(value, begin)).otherwise(value)
    ends = value.endswith("\n") | value.endswith("\r")  # cheaper than to trim every line
    return _HEADS[layout.name](records.withColumn("value", F.when(ends, F.rtrim(bare, F.lit("\r\n"))).otherwise(bare)))


_NOTHING = {"wall_ms": "bigint", "what": "string", "process": "string", "thread": "string", "message": "string"}


def lines_of(parsed: DataFrame, layout: Layout | None, cluster: str) -> DataFrame:
    """Keep the lines that tell something about rebalancing, and those that did not parse.

    A line of a take or a release that breaks off within its queue, as the last one of a log that is cut, did not.
    """
    if layout is not None and layout is not HISTORY:
        is_cut = F.coalesce(F.col("what").isin(*ADDS, *REMOVES) & ~F.col("message").rlike(QUEUE), F.lit(False))
        parsed = parsed.withColumns({name: F.when(~is_cut, F.col(name)) for name in ("wall_ms", "what")})
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
            _day(layout).alias("day"),
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


def _day(layout: Layout | None) -> Column:
    if layout is None or layout.zone_ms == 0:  # its text is no day of wall_ms
        return F.date_format(F.timestamp_millis("wall_ms"), "yyyy-MM-dd")
    return F.when(F.col("wall_ms").isNotNull(), F.concat(F.lit("20"), F.substring("value", 1, 8)))


TRACES = ("pull refused", "pull failed", "resent", "send failed", "uncommitted", "alive")


def _count(column: str, part: str) -> Column:
    text = F.col(column)
    return ((F.length(text) - F.length(F.replace(text, F.lit(part), F.lit("")))) / len(part)).cast("bigint")


# ---- how the lines of each layout begin ----


def _java5(records: DataFrame) -> DataFrame:
    # yy-MM-dd HH:mm:ss.SSS LEVEL [PID] [THREAD] [LOGGER#METHOD:LINE] - MESSAGE
    # Each mark is looked for behind the one before it, as Spark compares the whole of a mark at every byte.
    head = F.substring_index(_tail(F.col("value"), 22), "] [", 2)
    logger = records.withColumn("head", head).withColumn("rest", _tail(F.col("value"), F.octet_length("head") + 22))
    process = F.substring_index(F.substring_index("head", "]", 1), "[", -1)
    thread = F.substring_index("head", "] [", -1)
    return _told(logger, _wall(21, "."), _after(F.col("rest"), "] - "), "java5", process=process, thread=thread)


def _java4(records: DataFrame) -> DataFrame:
    return _told(records, _wall(21, ","), _after(F.col("value"), " - "), "java4")


def _broker(records: DataFrame) -> DataFrame:
    # yy-MM-dd HH:mm:ss LEVEL THREAD - MESSAGE
    head = F.substring_index("value", " - ", 1)
    thread = F.substr(head, F.octet_length(F.substring_index(head, " ", 3)) + F.lit(2), F.length(head))
    return _told(records, _wall(17, None), _after(F.col("value"), " - "), "broker", thread=thread)


def _cpp(records: DataFrame) -> DataFrame:
    return _told(records, _wall(21, "."), _after(F.col("value"), "):"), "cpp")


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
    client = F.get_json_object(whole, "$.client")  # it stands for the process, which its facts do not name
    # Its folders are days, not hosts.
    facts = records.select("file", F.lit(HISTORY.name).alias("host"), "value", "block", whole.alias("message"),
        at.alias("wall_ms"), what.alias("what"), client.alias("process"))  # fmt: skip
    return facts.select("*", F.lit(None).cast("string").alias("thread"), _place())


_HEADS = {"java5": _java5, "java4": _java4, "broker": _broker, "cpp": _cpp, "go": _go, "history": _history}


def _wall(length: int, fraction: str | None) -> Column:
    """Read ``yy-MM-dd HH:mm:ss`` with or without milliseconds; None where it is none."""
    if fraction is None:
        return F.when(
            F.substring("value", 18, 1) == " ", _millis(F.concat(F.lit("20"), F.substring("value", 1, length)))
        )
    stamp = F.concat(F.lit("20"), F.substring("value", 1, length))
    if fraction != ".":
        stamp = F.concat(F.lit("20"), F.substring("value", 1, 17), F.lit("."), F.substring("value", 19, length - 18))
    return F.when(F.substring("value", 18, 1) == fraction, _millis(stamp))


def _millis(stamp: Column) -> Column:
    return F.unix_millis(stamp.try_cast("timestamp"))


def _told(
    records: DataFrame,
    wall: Column,
    message: Column,
    layout: str,
    *,
    process: Column | None = None,
    thread: Column | None = None,
) -> DataFrame:
    clock = records.withColumns({"wall_ms": wall, "message": message})
    is_told = F.col("message").isNotNull()
    what = _what(F.col("message"), TEMPLATES[layout]).alias("what")
    nobody = F.lit(None).cast("string")
    return clock.select(
        "file",
        "host",
        "value",
        F.when(is_told, F.col("wall_ms")).alias("wall_ms"),
        "message",
        what,
        (nobody if process is None else F.when(is_told, process)).alias("process"),
        (nobody if thread is None else F.when(is_told, thread)).alias("thread"),
        _place(),
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
        tests += [message.contains(template.ends), F.substring_index(message, "\n", 1).endswith(template.ends)]
    return reduce(lambda one, other: one & other, tests)
