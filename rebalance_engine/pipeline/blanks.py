"""Tables without rows: a file that tells their columns, and a whole output of a run that found nothing. No Spark.

Such a file lies where a table's partitions lie else, and goes before the first of them comes: Spark reads no folder
that has files beside its partitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped] # pyarrow has no types
import pyarrow.parquet as pq  # type: ignore[import-untyped] # pyarrow has no types
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from rebalance_engine.pipeline.notes import read_notes

BLANK = "none.parquet"


def leave_blank(table: Path, schema: StructType) -> None:
    """Write a table's columns, and no row; nothing where that was done."""
    if (table / BLANK).exists():
        return
    table.mkdir(parents=True, exist_ok=True)
    beside = table / f".{BLANK}"
    pq.write_table(pa.Table.from_pylist([], schema=to_arrow_schema(schema)), beside, compression="zstd")
    beside.replace(table / BLANK)


def remove_blank(table: Path) -> None:
    """Make room for a table's first rows."""
    (table / BLANK).unlink(missing_ok=True)


def leave_all_blank(folder: Path, cluster: str, tables: Mapping[str, StructType], read_by: str) -> None:
    """Write what a run over nothing comes to: tables that other clusters have rows of stay as they are.

    Args:
        tables: the columns of each, by name.
        read_by: the checksum of what reads lines, for the notes.
    """
    notes = read_notes(folder)
    mine = notes.of(cluster)
    for name, schema in tables.items():
        if not any((folder / name).glob("**/[!.]*.parquet")):
            leave_blank(folder / name, schema)
    mine.troubles, mine.refused, mine.read_by = {}, [], read_by
    mine.is_finished = True
    mine.finished += 1
    notes.partitions = {name: {} for name in tables if name != "lines"} | notes.partitions
    notes.save(folder)
