"""The pipeline beside DuckDB, as its input grows, and on workers of its own; every part in a fresh process.

It may be left alone for hours: each part has a time in which it must end, and one that does not is said and left out,
with the larger ones of its kind. The text is that of a recorded run's clients, repeated.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import duckdb

from rebalance_engine.pipeline.java import java_trouble
from tests.bench.piping import RUN
from tests.bench.report import Row, at_most
from tests.peers.maven import Unavailable
from tests.rebalance_engine.pipeline.test_apart import SPARK_CLASS, program, says

ROOT = Path(__file__).parents[2]
CORES = 2
FILE_MB = 64  # at which a 5.x client rolls its log
TEXT_MB, QUICK_TEXT_MB = (200, 2_000), (20,)
EVENTS, QUICK_EVENTS = (1_000_000, 10_000_000, 30_000_000), (20_000,)
BACKTEST, QUICK_BACKTEST = (1_000, 30), (20, 3)
WORKERS_MB, QUICK_WORKERS_MB = 400, 20
AIM_MB_PER_S = 50
WITHIN_S = int(os.environ.get("EVENKEEL_BENCH_WITHIN_S", "7200"))  # for each part
Told = dict[str, float]


class TooSlow(Exception):
    """A part did not end in its time."""


def run(*, quick: bool) -> Iterator[Row]:
    """Measure all parts; ``EVENKEEL_BENCH_WITHIN_S`` limits each."""
    if trouble := java_trouble(os.environ):
        raise Unavailable(trouble)
    parts = (
        ("text", (_beside_duckdb(size, quick=quick) for size in (QUICK_TEXT_MB if quick else TEXT_MB))),
        ("events", map(_growth, QUICK_EVENTS if quick else EVENTS)),
        ("back-test", iter([_backtest(*(QUICK_BACKTEST if quick else BACKTEST))])),
        ("workers", iter([_workers(QUICK_WORKERS_MB if quick else WORKERS_MB)])),
    )
    for name, those in parts:
        try:
            for rows in those:
                yield from rows
        except TooSlow as late:
            print(f"{name}: {late}", flush=True)


def _measure(module: str, *words: str | Path) -> Told:
    command = [sys.executable, "-m", f"tests.bench.{module}", *map(str, words)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=WITHIN_S, check=False)
    except subprocess.TimeoutExpired:
        raise TooSlow(f"{' '.join(map(str, words))} did not end within {WITHIN_S} s") from None
    if ended.returncode:
        raise RuntimeError(f"{' '.join(command[2:])} ended with {ended.returncode}: {ended.stderr[-1_500:]}")
    told: Told = json.loads(ended.stdout.splitlines()[-1])
    return told


def _said(told: Told, *more: str) -> str:
    load = os.getloadavg()[0]
    return ", ".join(
        [*more, f"{told['cpu_s']:.1f} s of processor", f"peak {told['peak_mb']:.0f} MB", f"load {load:.0f}"]
    )


def _beside_duckdb(megabytes: int, *, quick: bool) -> Iterator[Row]:
    """Text to lines and events, ours and in DuckDB, which must tell the same."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        size = write_text(folder / "in", megabytes * 1_000_000) / 1e6
        (folder / "ours").mkdir()
        ours = _measure("piping", "text", folder / "in", folder / "ours")
        theirs = _measure("duck", folder / "in", folder / "duck", str(CORES))
        _insist_on_the_same(folder)
    aim = None if quick else at_most(size / AIM_MB_PER_S)
    what, text = "text to lines and events", f"{size:,.0f} MB"
    count = ours["events"]
    rate = f"{size / ours['wall_s']:.1f} MB/s, {size / ours['cpu_s']:.1f} MB/s and core"
    yield Row(what, text, ours["wall_s"], "s", "DuckDB", theirs["wall_s"], aim, _said(ours, rate))
    rates = f"{count:,.0f} events; ours {count / ours['cpu_s']:,.0f} a second and core"
    note = f"{rates}, DuckDB {count / theirs['cpu_s']:,.0f}, with a peak of {theirs['peak_mb']:.0f} MB"
    yield Row(f"{what}, processor", text, ours["cpu_s"], "s", "DuckDB", theirs["cpu_s"], note=note)


COMPARED = (
    "at_ms",
    "what",
    "host",
    '"group"',
    "topic",
    "broker",
    "queue_id::BIGINT",
    "client_id",
    "number::BIGINT",
    "strategy",
)


def _insist_on_the_same(folder: Path) -> None:
    told = []
    for place in (folder / "ours" / "events" / "*" / "*" / "*.parquet", folder / "duck" / "events.parquet"):
        sums = ", ".join(f"sum(hash({name})::HUGEINT), count({name})" for name in COMPARED)
        whole = f"sum(hash({', '.join(COMPARED)})::HUGEINT)"
        asked = f"SELECT what, count(*), {sums}, {whole} FROM '{place}' GROUP BY what ORDER BY what"  # noqa: S608
        told.append(duckdb.connect(config={"threads": 1}).execute(asked).fetchall())
    ours, theirs = told
    differ = [(one[0], one[1], other[0], other[1]) for one, other in zip(ours, theirs, strict=False) if one != other]
    assert ours == theirs, f"not the same: {differ[:5]}, {len(ours)} and {len(theirs)} kinds"


def _growth(events: int) -> Iterator[Row]:
    """Every stage behind the text, in the same memory whatever the size."""
    with tempfile.TemporaryDirectory() as place:
        told = _measure("piping", "events", str(events), place)
    count = told["events"]
    rate = f"{count / told['wall_s']:,.0f} events a second, {count / told['cpu_s']:,.0f} a second and core"
    yield Row("events to reports", f"{count:,.0f} events", told["wall_s"], note=_said(told, rate, str(told["stages"])))


def _backtest(groups: int, days: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as place:
        told = _measure("piping", "backtest", str(groups), str(days), place)
    rate = f"{told['steps']:,.0f} steps, {told['steps'] / told['cpu_s']:,.0f} a second and core"
    yield Row("back-test", f"{groups:,} groups x {days} days", told["wall_s"], note=_said(told, rate))


def _workers(megabytes: int) -> Iterator[Row]:
    """Text to lines and events on a standalone cluster of one worker and of two, of a core each."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        size = write_text(folder / "in", megabytes * 1_000_000) / 1e6
        one, two = (_on_workers(folder, count) for count in (1, 2))
    rates = f"{size / two['wall_s']:.1f} MB/s on two workers, {size / one['wall_s']:.1f} on one"
    note = _said(two, rates, f"one worker {one['cpu_s']:.1f} s of processor")
    yield Row(
        "text to events on two workers", f"{size:,.0f} MB", two["wall_s"], "s", "one worker", one["wall_s"], note=note
    )


def _on_workers(folder: Path, count: int) -> Told:
    local = ("--host", "127.0.0.1", "--webui-port", "0")
    start = str(SPARK_CLASS)
    with ExitStack() as stack:
        master = stack.enter_context(program(start, "org.apache.spark.deploy.master.Master", *local, "--port", "0"))
        (url,) = says(master, r"Starting Spark master at (spark://\S+)")
        for number in range(count):
            limits = ("--cores", "1", "--memory", "1500m", "--work-dir", str(folder / f"work-{count}-{number}"))
            stack.enter_context(program(start, "org.apache.spark.deploy.worker.Worker", *local, *limits, url))
        says(master, "Registering worker", times=count)
        out = folder / f"on-{count}"
        out.mkdir()
        return _measure("piping", "text", folder / "in", out, url)


def write_text(folder: Path, size: int) -> int:
    """Write clients' logs to files of hosts of their own, again and again, so many bytes; give how many it became."""
    logs: Sequence[Path] = sorted(RUN.glob("c*/rocketmq_client.log.gz"))
    texts = [gzip.decompress(path.read_bytes()) for path in logs]
    each = min(FILE_MB * 1_000_000, size // (2 * CORES))
    written = 0
    for number in range(max(size // each, 1)):
        path = folder / f"host{number}" / "rocketmq_client.log"
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            while file.tell() < each:
                file.writelines(texts)
            written += file.tell()
    return written
