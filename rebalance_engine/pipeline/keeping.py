"""Frames that are computed once and read several times."""

from __future__ import annotations

from pyspark import StorageLevel
from pyspark.sql import DataFrame


def computed_once(frame: DataFrame) -> DataFrame:
    """Compute the frame now and keep it on disk until nobody refers to it.

    In memory, which is Spark's own choice, the parts of a job that come later lack what these hold: with 30 million
    events a gigabyte of two, so that a join found no room.
    """
    return frame.localCheckpoint(storageLevel=StorageLevel.DISK_ONLY)
