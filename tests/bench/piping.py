"""One measurement of the pipeline in a process of its own: ``python -m tests.bench.piping PART …``; JSON at the end.

- ``text FOLDER OUT [MASTER]``: text to lines to events, into an output folder as the product keeps it.
- ``events COUNT OUT``: a recorded run, multiplied to so many events in groups of their own over 30 days, from its lines
  through every stage of the job ``logs``. What is told must be the run's own figures, times the copies.
- ``backtest GROUPS DAYS OUT``: a recorded run's rounds, as so many groups' over so many days, under every strategy.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from functools import reduce
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses
from pyspark.sql.types import StructType

from rebalance_engine.pipeline import backtest, events, lines, schemas, zones
from rebalance_engine.pipeline.jobs import Asked, run_logs
from rebalance_engine.pipeline.progress import Progress
from rebalance_engine.pipeline.schemas import EVENTS, LINES, SPANS
from rebalance_engine.pipeline.session import start
from rebalance_engine.pipeline.sources import find_files
from rebalance_engine.pipeline.store import Store
from tests.bench.spending import Spent, spending

RUN = Path(__file__).parents[1] / "rebalance_engine" / "pipeline" / "runs" / "scale_out-5.5.0" / "logs"
GROUP, CLIENT = "g_orders", "@c"  # the run's only group, and how its clients' ids go on behind the address
DAYS, DAY_MS = 30, 86_400_000
MEMORY = "2g"
CLUSTER = "bench"
TIMES = ("at_ms", "opened_ms", "settled_ms", "last_cause_ms", "from_ms", "until_ms", "first_seen_ms")
Told = dict[str, float | str]


def main() -> None:
    part, *words = sys.argv[1:]
    print(json.dumps(PARTS[part](*words)))


def _told(spent: Spent, **more: float | str) -> Told:
    return {"wall_s": spent.wall_s, "cpu_s": spent.cpu_s, "peak_mb": spent.peak_mb, **more}


def text(folder: str, out: str, master: str = "local[2]") -> Told:
    """Measure text to lines and events; a first run over one file warms the virtual machine up."""
    spark = start(master, memory=MEMORY)
    source = Path(folder)
    with tempfile.TemporaryDirectory(dir=out) as place:
        _text(spark, source / "host0", Path(place))
    # Executors of a cluster are below its workers, which whoever asked for this measurement has started.
    with spending(None if master.startswith("local") else os.getppid()) as spent:
        count = _text(spark, source, Path(out))
    spark.stop()
    return _told(spent, events=count)


def _text(spark: SparkSession, source: Path, out: Path) -> int:
    store, files = Store(out, spark, CLUSTER), find_files(source)
    records = lines.read_records(spark, files, source, out)
    kept = [lines.lines_of(lines.parse_lines(frame, layout), layout, CLUSTER) for layout, frame in records]
    store.add_lines(reduce(DataFrame.unionByName, kept), files)
    unknown = spark.createDataFrame([], zones.ZONES)
    store.publish("events", events.events_of(store.lines(LINES), unknown), cluster=CLUSTER)
    return store.read("events", EVENTS).count()


def from_events(count: str, out: str) -> Told:
    """Measure every stage behind the text, from lines on."""
    spark = start("local[2]", memory=MEMORY)
    base, once = _base(spark, Path(out) / "once")
    copies = max(int(count) // once["events"], 1)
    store, said = Store(Path(out) / "many", spark, CLUSTER), list[str]()
    store.add_lines(_multiplied_lines(spark, base, copies), [])
    asked = Asked(source=Path(out), target=store.folder, cluster=CLUSTER)
    with spending() as spent:
        run_logs(spark, asked, [], Progress(said.append))
    many = _counts(store)
    expected = {table: rows * copies for table, rows in once.items()}
    assert many == expected, f"{copies} copies of {once} are told as {many}"
    spark.stop()
    stages = "; ".join(line for line in said if not line.endswith("..."))
    return _told(spent, events=many["events"], copies=copies, stages=stages)


def _base(spark: SparkSession, out: Path) -> tuple[DataFrame, dict[str, int]]:
    run_logs(spark, Asked(source=RUN, target=out, cluster=CLUSTER), find_files(RUN), Progress(lambda _: None))
    store = Store(out, spark, CLUSTER)
    return store.lines(LINES).localCheckpoint(), _counts(store)


def _counts(store: Store) -> dict[str, int]:
    tables = {"events": EVENTS, "spans": SPANS, "handoffs": schemas.HANDOFFS}
    return {name: store.read(name, schema).count() for name, schema in tables.items()}


def _multiplied_lines(spark: SparkSession, base: DataFrame, copies: int) -> DataFrame:
    """Copy every line to groups, clients and hosts of their own; copies are spread over the days."""
    many = spark.range(0, copies, 1, 64).withColumnRenamed("id", "copy").crossJoin(F.broadcast(base))
    own = F.col("copy").cast("string")
    wall = F.col("wall_ms") + F.col("copy") % DAYS * DAY_MS
    text = _replaced(_replaced("message", GROUP, F.concat(F.lit(f"{GROUP}-"), own)), CLIENT, _own_client(own))
    return many.withColumns(
        {
            "wall_ms": wall,
            "day": F.date_format(F.timestamp_millis(wall), "yyyy-MM-dd"),
            "host": F.concat_ws("-", "host", own),
            "file": F.concat_ws("-", "file", own),
            "message": text,
        }
    ).select(*LINES.names)


def _own_client(own: Column) -> Column:
    return F.concat(F.lit("@"), own, F.lit("c"))


def _replaced(text: str | Column, old: str, new: Column) -> Column:
    return F.replace(F.col(text) if isinstance(text, str) else text, F.lit(old), new)


def from_record(groups: str, days: str, out: str) -> Told:
    """Measure the back-test of so many groups, each of which lives through the run every day anew."""
    spark = start("local[2]", memory=MEMORY)
    _base(spark, Path(out) / "once")
    store = Store(Path(out) / "once", spark, CLUSTER)

    def many(table: str, schema: StructType) -> DataFrame:
        days_of = spark.range(int(days)).withColumnRenamed("id", "of_day")
        copies = spark.range(0, int(groups), 1, 16).withColumnRenamed("id", "copy").crossJoin(days_of)
        rows = copies.crossJoin(F.broadcast(store.read(table, schema)))
        times = {name: F.col(name) + F.col("of_day") * DAY_MS for name in TIMES if name in schema.names}
        named = F.concat_ws("-", "group", F.col("copy").cast("string"))
        return rows.withColumns({**times, "group": named}).select(*schema.names)

    with spending() as spent:
        rounds, spans = many("rounds", schemas.ROUNDS), many("spans", SPANS)
        found = backtest.backtest_of(rounds, spans, many("handoffs", schemas.HANDOFFS), many("events", EVENTS))
        Store(Path(out), spark).publish("backtest", found, cluster=CLUSTER)
    rows = Store(Path(out), spark).read("backtest", schemas.BACKTEST)
    told = rows.agg(F.sum("steps").alias("steps"), F.countDistinct("group").alias("groups")).collect()[0]
    assert told["groups"] == int(groups), f"{groups} groups are told as {told['groups']}"
    spark.stop()
    return _told(spent, steps=told["steps"], groups=told["groups"])


PARTS: dict[str, Callable[..., Told]] = {"text": text, "events": from_events, "backtest": from_record}


if __name__ == "__main__":
    main()
