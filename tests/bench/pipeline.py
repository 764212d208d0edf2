"""The pipeline: text of real logs, repeated, to lines; in wall clock and in processor time of the virtual machine."""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from time import perf_counter

from pyspark.sql import DataFrame

from rebalance_engine.pipeline import lines
from rebalance_engine.pipeline.session import SparkOff, start
from rebalance_engine.pipeline.sources import find_files
from tests.bench.report import Row, at_most
from tests.peers.maven import Unavailable

RUN = Path(__file__).parents[1] / "rebalance_engine" / "pipeline" / "runs" / "scale_out-5.5.0" / "logs"
FILES = 4
MEGABYTES, QUICK_MEGABYTES = 400, 20
AIM_MB_PER_S = 50


def run(*, quick: bool) -> Iterator[Row]:
    """Measure how long text takes to become lines, on two cores."""
    megabytes = QUICK_MEGABYTES if quick else MEGABYTES
    try:
        spark = start("local[2]", memory="2g")
    except SparkOff as reason:
        raise Unavailable(str(reason)) from reason
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        size = _write(folder / "in", megabytes * 1_000_000)
        records = lines.read_records(spark, find_files(folder / "in"), folder / "in")
        kept = [lines.lines_of(lines.parse_lines(frame, layout), layout, "bench") for layout, frame in records]
        whole = reduce(DataFrame.unionByName, kept)
        whole.write.mode("overwrite").format("noop").save()  # warms the virtual machine up
        begun, spent = perf_counter(), _java_seconds()
        whole.write.mode("overwrite").parquet(str(folder / "lines"))
        took, busy = perf_counter() - begun, _java_seconds() - spent
        read = spark.read.parquet(str(folder / "lines")).count()
    spark.stop()
    text = f"{size / 1e6:.0f} MB"
    aim = None if quick else at_most(size / 1e6 / AIM_MB_PER_S)
    yield Row("logs to lines", text, took, aim=aim, note=f"{size / 1e6 / took:.1f} MB/s, {read:,} lines kept")
    yield Row("logs to lines, processor time", text, busy, note=f"{size / 1e6 / max(busy, 1):.1f} MB/s and core")


def _write(folder: Path, size: int) -> int:
    texts = [gzip.decompress(path.read_bytes()) for path in sorted(RUN.glob("c*/rocketmq_client.log.gz"))]
    written = 0
    for number in range(FILES):
        path = folder / f"host{number}" / "rocketmq_client.log"
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            while file.tell() < size // FILES:
                file.writelines(texts)
            written += file.tell()
    return written


def _java_seconds() -> float:
    """Ask for the processor time of the virtual machine, which is this process's child until it ends."""
    table = subprocess.run(
        ["ps", "-o", "cputimes=,comm=", "--ppid", str(os.getpid())],
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    found = [float(line.split()[0]) for line in table.stdout.splitlines() if line.split()[-1] == "java"]
    return sum(found) + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
