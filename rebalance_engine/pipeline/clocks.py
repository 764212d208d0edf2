"""Hours that a named zone has twice: which of the two a line means, whose clock was put back meanwhile.

A log is written in order. What stands behind the jump back is of the second hour, what stands before it of the first.
Where a file has no jump, what follows its lines of before without a longer silence is of the first, and what its lines
of after follow so is of the second. Else nothing in the file tells it, and the line stays open.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

FIRST_YEAR, LAST_YEAR = 2000, 2100  # of lines: these layouts' years are read as 20yy
NEAR_MS = 600_000  # a log that is silent for longer may have been silent for an hour more
JITTER_MS = 60_000  # lines of several threads stand a little out of order
DAY_MS = 86_400_000
HOURS = "host string, layout string, day string, begin_ms long, end_ms long"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@cache
def repeated_hours(zone: str) -> tuple[tuple[int, int], ...]:
    """Give every time that the wall clocks of a zone show twice: begin, and end, as if they were UTC, in ms.

    They were put back at the end, to the beginning.
    """
    return tuple(_repeated(ZoneInfo(zone)))


def _repeated(zone: ZoneInfo) -> Iterator[tuple[int, int]]:
    at, step = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC), timedelta(days=1)
    before = _ahead(zone, at)
    while at.year < LAST_YEAR:
        after = _ahead(zone, at + step)
        if after < before:
            changed = _changes(zone, at, at + step)
            yield (_ms(changed + after), _ms(changed + before))
        at, before = at + step, after


def _changes(zone: ZoneInfo, since: datetime, until: datetime) -> datetime:
    """Find the second at which a zone's distance from UTC changes between two times."""
    before = _ahead(zone, since)
    while until - since > timedelta(seconds=1):
        middle = since + timedelta(seconds=(until - since) // timedelta(seconds=2))
        since, until = (middle, until) if _ahead(zone, middle) == before else (since, middle)
    return until


def _ahead(zone: ZoneInfo, at: datetime) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta()


def _ms(at: datetime) -> int:
    return (at - EPOCH) // timedelta(milliseconds=1)


def with_second_hours(lines: DataFrame, zones: DataFrame) -> DataFrame:
    """Say of each line how much later it is than the first meaning of its wall clock: again_ms; None: not told.

    Args:
        lines: as ``LINES``, of which none that its host wrote near such an hour is left out.
        zones: as ``ZONES``.
    """
    # Asked first: mostly no zone is given by its name.
    named = zones.where(F.col("zone_name").isNotNull()).select("host", "layout", "zone_name").distinct().collect()
    rows = [
        (row["host"], row["layout"], day, begin_ms, end_ms)
        for row in named
        for begin_ms, end_ms in repeated_hours(row["zone_name"])
        for day in _days(begin_ms - NEAR_MS, end_ms + NEAR_MS)
    ]
    if not rows:
        return lines.withColumn("again_ms", F.lit(0).cast("long"))
    hours = lines.sparkSession.createDataFrame(rows, HOURS)
    around = F.col("wall_ms").between(F.col("begin_ms") - NEAR_MS, F.col("end_ms") + NEAR_MS)
    joined = lines.join(F.broadcast(hours), on=["host", "layout", "day"], how="left")
    joined = joined.withColumn("is_near", F.coalesce(around, F.lit(False)))
    columns = [*lines.columns, "again_ms"]
    far = joined.where(~F.col("is_near")).withColumn("again_ms", F.lit(0).cast("long"))
    return far.select(columns).unionByName(_settled(joined.where("is_near")).select(columns))


def _days(begin_ms: int, end_ms: int) -> set[str]:
    return {(EPOCH + timedelta(milliseconds=at)).strftime("%Y-%m-%d") for at in (begin_ms, end_ms)}


def _settled(near: DataFrame) -> DataFrame:
    of_hour = Window.partitionBy("host", "layout", "file", "begin_ms")
    wall, forth, back = F.col("wall_ms"), of_hour.orderBy("place"), of_hour.orderBy(F.desc("place"))
    is_in = (wall >= F.col("begin_ms")) & (wall < F.col("end_ms"))
    top = F.max("wall_ms").over(forth.rowsBetween(Window.unboundedPreceding, -1))

    def all_so_far(is_told: Column, window: object) -> Column:
        return F.min(is_told).over(window)  # type: ignore[arg-type] # no name is public for its type

    marked = near.withColumns(
        {
            "is_back": F.coalesce(is_in & (wall < top - JITTER_MS), F.lit(False)),
            "goes_on": F.coalesce(wall - F.lag("wall_ms").over(forth) <= NEAR_MS, F.lit(False)) | ~is_in,
            "leads_on": F.coalesce(F.lead("wall_ms").over(forth) - wall <= NEAR_MS, F.lit(False)) | ~is_in,
        }
    ).withColumns(
        {
            "was_back": F.max("is_back").over(forth.rowsBetween(Window.unboundedPreceding, 0)),
            "is_ever": F.max("is_back").over(of_hour),
            "from_before": all_so_far(F.col("goes_on"), forth.rowsBetween(Window.unboundedPreceding, 0)),
            "to_after": all_so_far(F.col("leads_on"), back.rowsBetween(Window.unboundedPreceding, 0)),
        }
    )
    is_second = (
        F.when(~is_in, F.lit(False))
        .when(F.col("is_ever"), F.col("was_back"))
        .when(F.col("from_before") != F.col("to_after"), F.col("to_after"))
    )
    return marked.withColumn("again_ms", F.when(is_second, F.col("end_ms") - F.col("begin_ms")).when(~is_second, 0))


def in_named_zone() -> Column:
    """Give the UTC time of a line whose zone has a name; None where nothing tells which of two it is.

    What brokers tell of such lines (``zone_ms`` beside the name) counts where it is one of the two.
    """
    wall, name = F.timestamp_millis("wall_ms"), F.col("zone_name")
    told = F.col("wall_ms") - F.col("zone_ms")
    is_meant = F.from_utc_timestamp(F.timestamp_millis(told), name) == wall
    return F.coalesce(F.unix_millis(F.to_utc_timestamp(wall, name)) + F.col("again_ms"), F.when(is_meant, told))


def open_lines(lines: DataFrame, zones: DataFrame) -> DataFrame:
    """Give the lines of hours that are there twice of which nothing tells which is meant."""
    told = zones.where(F.col("zone_name").isNotNull()).select("host", "layout", "zone_ms", "zone_name")
    mine = lines.where(F.col("wall_ms").isNotNull()).join(F.broadcast(told), on=["host", "layout"], how="inner")
    return with_second_hours(mine, zones).where(in_named_zone().isNull())
