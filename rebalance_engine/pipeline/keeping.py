"""Frames that are computed once and read several times, and rows that are known again by a number."""

from __future__ import annotations

from functools import reduce

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses
from pyspark.sql.types import ArrayType, StructType


def computed_once(frame: DataFrame) -> DataFrame:
    """Compute the frame now and keep it on disk until nobody refers to it.

    In memory, which is Spark's own choice, the parts of a job that come later lack what these hold: with 30 million
    events a gigabyte of two, so that a join found no room.
    """
    return frame.localCheckpoint(storageLevel=StorageLevel.DISK_ONLY)


def hash_of(schema: StructType, *left_out: str) -> Column:
    """Hash a row: its values, which of them are missing, and how long its lists are.

    ``xxhash64`` leaves out what is missing, and has no ends of lists: (3, None) and (None, 3) would be one.
    """
    fields = [field for field in schema.fields if field.name not in left_out]
    bits = (F.when(F.col(field.name).isNull(), F.lit(1 << place)) for place, field in enumerate(fields))
    missing = reduce(lambda one, other: one + other, (F.coalesce(bit, F.lit(0)).cast("bigint") for bit in bits))
    sizes = [F.size(field.name) for field in fields if isinstance(field.dataType, ArrayType)]
    return F.xxhash64(*(F.col(field.name) for field in fields), *sizes, missing)
