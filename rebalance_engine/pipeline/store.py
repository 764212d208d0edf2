"""The output folder: tables as Parquet, and the notes of what has been read and written.

Every table is partitioned by cluster and day, ``TABLE/cluster=…/day=…/``; only ``holds`` lies flat, one file a
partition, so that it has exactly its declared columns for whoever reads it. A result is written beside and moved into
its place when it is whole, and only where it differs from what lies there: a run that is cut leaves whole partitions,
a run that is repeated changes nothing, and late input changes the partitions that it belongs to.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses
from pyspark.sql.types import StructField, StructType

from rebalance_engine.pipeline.blanks import leave_blank, remove_blank
from rebalance_engine.pipeline.keeping import hash_of
from rebalance_engine.pipeline.notes import ClusterNotes, read_notes, text_of
from rebalance_engine.pipeline.sources import SourceFile

FLAT = ("holds",)
OPEN_FILES, DAYS_OF_A_TASK = "spark.sql.maxConcurrentOutputFileWriters", "32"
NO_DAY = "__HIVE_DEFAULT_PARTITION__"


class Busy(Exception):
    """Another run is at work in this folder."""


class Store:
    """One output folder, of which a run reads and writes what is of its cluster."""

    def __init__(self, folder: Path, spark: SparkSession, cluster: str = "default") -> None:
        self.folder = folder
        self.spark = spark
        self.cluster = cluster
        self.notes = read_notes(folder)

    @property
    def mine(self) -> ClusterNotes:
        """Give the cluster's notes."""
        return self.notes.of(self.cluster)

    @property
    def names(self) -> Path:
        """Give where links to files of the input may be made, until the run ends."""
        return self.folder / ".staged" / "names"

    def save(self) -> None:
        """Write the notes, whole or not at all."""
        self.notes.save(self.folder)

    # ---- lines: one batch a run, never changed afterwards ----

    def add_lines(
        self, frame: DataFrame, files: Iterable[SourceFile], gone: Callable[[], Iterable[str]] = tuple
    ) -> int:
        """Write a batch of lines, and note the files it was read from; give its number.

        Args:
            gone: names, when all is written, the paths that had another file by then, or none: whatever was read of
                them counts for nothing, and they are not noted.
        """
        batch = self.notes.next_batch
        place = self.folder / "lines" / f"batch={batch:06}"
        shutil.rmtree(place, ignore_errors=True)
        staged = self._staged("lines")
        writer = frame.write.partitionBy("cluster", "day")
        for column in ("message", "place"):  # nearly all differ: a dictionary of them is made and thrown away
            writer = writer.option(f"parquet.enable.dictionary#{column}", "false")
        with self._days_side_by_side():
            writer.parquet(str(staged))
        place.parent.mkdir(exist_ok=True)
        remove_blank(place.parent)
        staged.rename(place)
        batches: set[object] = {batch}
        went = {*gone()}
        files = list(files)
        if files:
            self.notes.living[str(batch)] = sorted({file.path for file in files})
        for path in sorted(went):
            self.notes.bury(path, batch)
        for file in files:
            if file.path in went:
                continue
            before = self.mine.files.get(file.path)
            if before is not None:
                batches.add(before["batch"])
            if before is not None and file.head.startswith(str(before["head"])):  # it grew; one that was rolled stays
                self.notes.bury(file.path, before["batch"])
                self.mine.texts.pop(text_of(file.host, before.get("content")), None)
            self.mine.files[file.path] = {**file.as_row(), "batch": batch}
            if file.is_readable and file.content:
                self.mine.texts[text_of(file.host, file.content)] = file.path
        self.mine.pending = sorted({*self.mine.pending, *self.days_of_batches(batches)})
        self.notes.next_batch = batch + 1
        self.save()
        return batch

    def remove_dead_lines(self) -> None:
        """Remove the batches of which no line counts any more, once what was told of them is told anew.

        The notes forget a batch only after its files are gone: a run that is stopped in between leaves no line that
        counts, and the next one goes on.
        """
        for batch in [batch for batch, paths in self.notes.living.items() if not paths]:
            place = self.folder / "lines" / f"batch={int(batch):06}"
            if place.exists():
                shutil.rmtree(place)
            self.notes.dead = [[path, of] for path, of in self.notes.dead if str(of) != batch]
            del self.notes.living[batch]
            self.save()

    def lines(self, schema: StructType, days: set[str] | None = None) -> DataFrame:
        """Give all lines of the cluster that were read last of their files, of some days or all."""
        table = self.folder / "lines"
        if not table.is_dir():
            return self.spark.createDataFrame([], schema)
        with_batch = StructType([*schema.fields, StructField("batch", schema["file"].dataType)])
        frame = self.spark.read.schema(with_batch).parquet(str(table)).where(F.col("cluster") == self.cluster)
        if days is not None:
            frame = frame.where(F.col("day").isin(sorted(days)))
        numbers = [f"{number:06}" for number in range(1, self.notes.next_batch)]
        frame = frame.where(F.col("batch").isin(numbers))  # a batch that was cut has no number yet
        if self.notes.dead:
            dead = [(str(path), f"{batch:06}") for path, batch in self.notes.dead]
            gone = self.spark.createDataFrame(dead, "file string, batch string")
            frame = frame.join(F.broadcast(gone), on=["file", "batch"], how="left_anti")
        return frame.drop("batch")

    def batch(self, number: int, schema: StructType) -> DataFrame:
        """Give the lines of one batch."""
        with_batch = StructType([*schema.fields, StructField("batch", schema["file"].dataType)])
        frame = self.spark.read.schema(with_batch).parquet(str(self.folder / "lines"))
        return frame.where(F.col("batch") == f"{number:06}").drop("batch")

    def days_of_batches(self, batches: Iterable[object]) -> set[str]:
        """Name the days that some batches have lines of."""
        found: set[str] = set()
        for batch in batches:
            place = self.folder / "lines" / f"batch={batch:06}"
            found |= {day.name.removeprefix("day=") for day in place.glob("cluster=*/day=*")}
        return found - {NO_DAY}

    # ---- all other tables ----

    def publish(self, table: str, frame: DataFrame, *, days: set[str] | None = None, cluster: str = "") -> set[str]:
        """Bring a table to what the frame says, where it says otherwise; give the partitions that changed.

        Args:
            days: the frame has these days only, all of the cluster; the other partitions are left alone.
            cluster: the frame has this cluster only.
        """
        staged = self._staged(table)
        ordered = frame if table in ("events", "changes") else frame.repartition("cluster", "day")
        with self._days_side_by_side():
            ordered.write.partitionBy("cluster", "day").parquet(str(staged))
        now = self._checksums(staged, frame.schema)
        known = self.notes.partitions.setdefault(table, {})
        in_scope = {
            key for key in known if key.startswith(f"{cluster}/") and (days is None or key.split("/", 1)[1] in days)
        }
        changed = {key for key, checksum in now.items() if known.get(key) != checksum or not self._exists(table, key)}
        gone = in_scope - now.keys()
        if changed:
            remove_blank(self.folder / table)
        for key in sorted(changed):
            self._replace(table, key, staged)
            known[key] = now[key]
        for key in gone:
            self._remove(table, key)
            del known[key]
        shutil.rmtree(staged, ignore_errors=True)
        if not known:  # whoever reads it finds its columns
            leave_blank(self.folder / table, _columns(table, frame.schema))
        self.save()
        return changed | gone

    def is_whole(self, table: str) -> bool:
        """Tell whether all partitions that were written are still there."""
        return all(self._exists(table, key) for key in self.notes.partitions.get(table, {}))

    def read(self, table: str, schema: StructType) -> DataFrame:
        """Give a table; without rows where nothing was written."""
        if not any((self.folder / table).glob("**/*.parquet")):
            return self.spark.createDataFrame([], schema)
        return self.spark.read.schema(schema).parquet(str(self.folder / table))

    def _staged(self, table: str) -> Path:
        place = self.folder / ".staged" / table
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    @contextmanager
    def _days_side_by_side(self) -> Iterator[None]:
        """Let a task write several days at once: else it sorts all its rows by day first."""
        self.spark.conf.set(OPEN_FILES, DAYS_OF_A_TASK)
        try:
            yield
        finally:
            self.spark.conf.unset(OPEN_FILES)

    def _checksums(self, staged: Path, schema: StructType) -> dict[str, str]:
        frame = self.spark.read.schema(schema).parquet(str(staged))
        # A sum does not care for the order of rows, which differs from run to run; nor a hash for columns' names.
        shape = f"{zlib.crc32(schema.simpleString().encode()):08x}"
        # In two halves, so that no sum is beyond 64 bits: adding decimals takes as long as making the hashes.
        hashed = frame.select("cluster", "day", hash_of(schema, "cluster", "day").alias("hash"))
        high, low = F.sum(F.shiftright("hash", 32)), F.sum(F.col("hash").bitwiseAND(F.lit(0xFFFFFFFF)))
        rows = hashed.groupBy("cluster", "day").agg(
            F.count(F.lit(1)).alias("rows"), high.alias("high"), low.alias("low")
        )
        return {
            f"{row['cluster']}/{row['day']}": f"{row['rows']} {(row['high'] << 32) + row['low']} {shape}"
            for row in rows.collect()
        }

    def _place(self, table: str, key: str) -> Path:
        cluster, day = key.split("/", 1)
        if table in FLAT:
            seen = f"cluster.{cluster}" if cluster.startswith("_") else cluster  # Spark and Arrow leave _NAME out
            return self.folder / table / f"{seen}.{day}.parquet"
        return self.folder / table / f"cluster={cluster}" / f"day={day}"

    def _exists(self, table: str, key: str) -> bool:
        return self._place(table, key).exists()

    def _replace(self, table: str, key: str, staged: Path) -> None:
        cluster, day = key.split("/", 1)
        fresh, place = staged / f"cluster={cluster}" / f"day={day}", self._place(table, key)
        place.parent.mkdir(parents=True, exist_ok=True)
        if table in FLAT:
            (part,) = fresh.glob("part-*.parquet")
            part.replace(place)
            return
        old = self._staged(f"{table}-old")
        if place.exists():
            place.rename(old)
        fresh.rename(place)
        shutil.rmtree(old, ignore_errors=True)

    def _remove(self, table: str, key: str) -> None:
        place = self._place(table, key)
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)


def _columns(table: str, schema: StructType) -> StructType:
    """Give the columns that a table's files tell where there are no partitions to tell cluster and day."""
    kept = [each for each in schema.fields if table not in FLAT or each.name not in ("cluster", "day")]
    return StructType(kept)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold a folder for one run at a time; the lock ends with the process, however it ends.

    A folder that was made for it, and into which nothing was written, is not left behind.

    Raises:
        Busy: another run holds it.
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(f"another run is at work in {folder}; one at a time") from None
        try:
            yield
        finally:  # while the lock is held: what another run has staged is not ours to remove
            _tidy(folder, is_new=is_new)
    finally:
        os.close(lock)


def _tidy(folder: Path, *, is_new: bool) -> None:
    shutil.rmtree(folder / ".staged", ignore_errors=True)
    if is_new and [path.name for path in folder.iterdir()] == [".lock"]:
        shutil.rmtree(folder, ignore_errors=True)
