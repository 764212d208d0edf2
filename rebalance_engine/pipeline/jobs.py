"""The jobs, by name: what reads what, in which order. Each stage's result is Parquet before the next one begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import reduce
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses
from pyspark.sql.types import StructType

from rebalance_engine.pipeline import (
    backtest,
    blanks,
    brokers,
    bursts,
    clients,
    clocks,
    copies,
    doubles,
    events,
    gaps,
    holds,
    holes,
    hostclocks,
    lines,
    locks,
    measures,
    mixed,
    models,
    reports,
    schemas,
    sections,
    stories,
    summary,
    unproved,
    zones,
)
from rebalance_engine.pipeline.keeping import computed_once
from rebalance_engine.pipeline.layouts import LAYOUTS, Layout
from rebalance_engine.pipeline.planning import of_hosts
from rebalance_engine.pipeline.progress import Progress
from rebalance_engine.pipeline.schemas import EVENTS, LINES, SPANS
from rebalance_engine.pipeline.sources import SourceFile, gone_since
from rebalance_engine.pipeline.store import Store
from rebalance_engine.pipeline.wording import counted


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a run was asked for.

    Attributes:
        source: the folder to read, target: the folder to write.
        cluster: the name under which everything is filed.
        zones: the zones that were given, by host.
        troubles: what is wrong with files of the folder, by path; kept for whoever reads the report.
        at_ms: when it was asked for.
    """

    source: Path
    target: Path
    cluster: str = "default"
    zones: Mapping[str, str] = field(default_factory=dict)
    troubles: Mapping[str, str] = field(default_factory=dict)
    at_ms: int | None = None


@dataclass
class Told:
    """What a run found out on its way."""

    records: int = 0
    kept: int = 0
    unparsed: int = 0
    gone: dict[str, str] = field(default_factory=dict)  # troubles of files that went away meanwhile, by path
    refused: list[str] = field(default_factory=list)  # a sentence for each reason, with its hosts
    told_anew: list[str] = field(default_factory=list)  # groups whose rounds, handoffs and loads were computed
    changed: dict[str, list[str]] = field(default_factory=dict)  # by table, the partitions that differ from before


def run_logs(spark: SparkSession, asked: Asked, fresh: list[SourceFile], progress: Progress) -> Told:
    """Read new and changed logs, and bring every table to what all logs read so far say.

    Args:
        fresh: the files of ``asked.source`` that were not read yet, or differently.
    """
    store, told = Store(asked.target, spark, asked.cluster), Told()
    store.mine.is_finished = False
    store.save()
    if fresh:
        with progress.stage(f"lines of {counted(len(fresh), 'file')}"):
            _read_lines(store, asked, fresh, told)
    with progress.stage("time zones"):
        known, have_moved = _zones(store, asked, told)
    with progress.stage("events"):
        is_whole = have_moved or "events" not in store.notes.partitions or store.mine.read_by != events.readers()
        days = None if is_whole else _around({*store.mine.pending})  # those of a run that was stopped too
        if days is None or days:
            _publish_events(store, asked, known, days, told)
            store.mine.pending, store.mine.read_by = [], events.readers()
            store.save()
    with progress.stage("holds"):
        seen = computed_once(events.signs_of_life(store.lines(LINES), known))
        same = copies.copies_of(_events(store, asked), seen)
        life = copies.as_one(seen, same)
        _publish_holds(store, asked, _events(store, asked, same), life, told)
    with progress.stage("rounds, handoffs, loads"):
        _publish_stories(store, asked, _events(store, asked, same), life, told)
    with progress.stage("measures"):
        _publish_measures(store, asked, _events(store, asked, same), life, told)
    with progress.stage("reports"):
        tables = {name: store.read(name, schema) for name, schema in sections.WHOLE.items()}
        rounds, handoffs = (store.read(name, STORIES[name][1]) for name in ("rounds", "handoffs"))
        _publish(store, asked, told, "reports", sections.reports_of(tables, rounds, handoffs))
    store.remove_dead_lines()
    store.mine.troubles, store.mine.refused = {**asked.troubles, **told.gone}, told.refused
    store.mine.is_finished = True
    store.mine.finished += 1
    store.save()
    return told


def run_over_nothing(asked: Asked) -> Told:
    """Leave what a run comes to that finds nothing to read, and of whose cluster none was read before: no Spark."""
    blanks.leave_all_blank(asked.target, asked.cluster, TABLES, events.readers())
    return Told()


def _read_lines(store: Store, asked: Asked, fresh: list[SourceFile], told: Told) -> None:
    frames, seen = [], []
    there, found = _records(store, asked, fresh)
    for layout, records in found:
        seen.append(Observation(layout.name if layout else "no layout"))
        parsed = lines.parse_lines(records, layout).observe(seen[-1], F.count(F.lit(1)).alias("records"))
        frames.append(lines.lines_of(parsed, layout, asked.cluster))
    nothing = store.spark.createDataFrame([], LINES)

    def gone() -> dict[str, str]:
        told.gone = {file.path: str(file.trouble) for file in gone_since(fresh, asked.source)}
        return told.gone

    batch = store.add_lines(reduce(DataFrame.unionByName, frames, nothing), there, gone)
    told.records = sum(one.get["records"] for one in seen)
    written = store.batch(batch, LINES).where(~F.col("file").isin(*told.gone))
    lost = F.sum(F.when(F.col("wall_ms").isNull(), F.col("parts")))
    counted = written.agg(F.count("wall_ms").alias("kept"), lost.alias("unparsed")).collect()[0]
    told.kept, told.unparsed = counted["kept"], counted["unparsed"] or 0


def _records(
    store: Store, asked: Asked, files: list[SourceFile]
) -> tuple[list[SourceFile], list[tuple[Layout | None, DataFrame]]]:
    """Begin to read what is still there: logs of a live folder are rolled and deleted at any time."""
    while True:
        gone = {file.path for file in gone_since(files, asked.source)}
        there = [file for file in files if file.path not in gone]
        try:
            return there, lines.read_records(store.spark, there, asked.source, store.names)
        except AnalysisException:
            if not gone_since(there, asked.source):
                raise


def _zones(store: Store, asked: Asked, told: Told) -> tuple[DataFrame, bool]:
    """Find the zones of the hosts whose logs do not tell it, and refuse the others; tell whether any is new."""
    given = zones.given_zones(asked.zones)
    unzoned = {name for name, layout in LAYOUTS.items() if layout.zone_ms is None}
    rows = list(given)
    if any(file["layout"] in unzoned for file in store.mine.files.values()):
        all_lines = store.lines(LINES)
        rows += [tuple(row) for row in zones.infer_zones(all_lines).collect() if row["host"] not in asked.zones]
        rows = _with_open_hours(all_lines, rows)
    known = store.spark.createDataFrame(rows, zones.ZONES)
    if any(file["layout"] in unzoned for file in store.mine.files.values()):
        _refuse(store.lines(LINES), known, told)
    now = {f"{host} {layout}": _called(zone_ms, name) for host, layout, zone_ms, name, _ in rows}
    have_moved = now != store.mine.zones
    store.mine.zones = now
    return known, have_moved


def _called(zone_ms: int | None, name: str | None) -> str:
    return " ".join(str(part) for part in (name, zone_ms) if part is not None)


def _with_open_hours(
    all_lines: DataFrame, rows: list[tuple[str, str, int | None, str | None, int]]
) -> list[tuple[str, str, int | None, str | None, int]]:
    """Let brokers tell of lines of an hour that a named zone has twice, by themselves, which of the two they mean."""
    if all(name is None for *_, name, _ in rows):
        return rows
    known = all_lines.sparkSession.createDataFrame(rows, zones.ZONES)
    left_open = computed_once(clocks.open_lines(all_lines, known).select(*all_lines.columns))
    if left_open.isEmpty():
        return rows
    found = zones.infer_zones(left_open.unionByName(all_lines.where(F.col("layout") == "broker"))).collect()
    told = {(row["host"], row["layout"]): row["zone_ms"] for row in found}
    return [
        (host, layout, zone_ms if name is None else told.get((host, layout)), name, signs)
        for host, layout, zone_ms, name, signs in rows
    ]


def _refuse(all_lines: DataFrame, known: DataFrame, told: Told) -> None:
    refused = events.refused_hosts(all_lines, known).orderBy("host").collect()
    reasons: dict[tuple[str, str], str] = {}
    for why, find in ((NAMES_OTHERS, zones.strangers), (PUT_ON, zones.silences), (PUT_BACK, zones.put_back)):
        rows = find(all_lines).collect() if refused else []
        reasons |= {(row["host"], row["layout"]): why for row in rows}
    by_reason: dict[tuple[str, str], list[dict[str, object]]] = {}
    for row in refused:
        why = reasons.get((row["host"], row["layout"]), MEETS_NONE)
        by_reason.setdefault((row["layout"], why), []).append(row.asDict())
    told.refused += [of_hosts(rows, REFUSED, why=why) for (_, why), rows in by_reason.items()]
    if known.where(F.col("zone_name").isNotNull()).isEmpty():
        return
    by_host = clocks.open_lines(all_lines, known).groupBy("host", "layout").agg(F.count(F.lit(1)).alias("lines"))
    by_layout: dict[str, list[dict[str, object]]] = {}
    for row in by_host.orderBy("host").collect():
        by_layout.setdefault(row["layout"], []).append(row.asDict())
    told.refused += [of_hosts(rows, LEFT_OPEN) for rows in by_layout.values()]


REFUSED = (
    "refused: {lines} lines of {hosts} ({layout}): the zone of their clock is not in the log, and {why}; give it, as"
    " --zone {host}=Asia/Shanghai"
)
MEETS_NONE = "no broker's log tells of the same group and client at the same time, the same from beginning to end"
PUT_BACK = "within it the clock was put back, so that no one offset fits"
PUT_ON = (
    "within it is a silence as where a clock is put on, and no broker's log tells of the same group and client before"
    " and after it at one offset"
)
LEFT_OPEN = (
    "refused: {lines} lines of {hosts} ({layout}): they are of an hour that its zone has twice, and neither the log nor"
    " a broker's tells of which; give its offset, as --zone {host}=+01:00, if it is one from beginning to end"
)
NAMES_OTHERS = "of its groups the brokers' logs name other clients only, none of its own"


def _publish_events(store: Store, asked: Asked, known: DataFrame, days: set[str] | None, told: Told) -> None:
    found = events.events_of(store.lines(LINES, None if days is None else _around(days)), known)
    kept = found if days is None else found.where(F.col("day").isin(sorted(days)))
    changed = store.publish("events", kept, days=days, cluster=asked.cluster)
    told.changed["events"] = sorted(changed)


def _events(store: Store, asked: Asked, same: Sequence[tuple[str, str, str]] = ()) -> DataFrame:
    """Give the cluster's events, those of processes of which several logs tell as of one."""
    return copies.as_one(store.read("events", EVENTS).where(F.col("cluster") == asked.cluster), same)


def _publish_holds(store: Store, asked: Asked, all_events: DataFrame, life: DataFrame, told: Told) -> None:
    _publish(store, asked, told, "changes", clients.changes_of(all_events))
    spans = holds.spans_of(all_events, store.read("changes", EVENTS), life)
    _publish(store, asked, told, "spans", spans)
    _publish(store, asked, told, "holds", holds.holds_of(store.read("spans", SPANS)))


STORIES = {
    "rounds": ("round", schemas.ROUNDS),
    "bare_rounds": ("bare round", schemas.ROUNDS),
    "handoffs": ("handoff", schemas.HANDOFFS),
    "returns": ("return", schemas.HANDOFFS),
    "stretches": ("stretch", schemas.STRETCHES),
    "member_loads": ("member load", schemas.MEMBER_LOADS),
    "group_loads": ("group load", schemas.GROUP_LOADS),
}


# All that a run over logs leaves, with its columns.
TABLES: dict[str, StructType] = {
    "lines": LINES,
    "events": EVENTS,
    "changes": EVENTS,
    "spans": SPANS,
    "holds": schemas.HOLDS,
    "lock_waits": schemas.LOCK_WAITS,
    "inputs": schemas.INPUTS,
    "reports": schemas.REPORTS,
    **{name: schema for name, (_, schema) in STORIES.items()},
    **sections.WHOLE,
}


def _publish_stories(store: Store, asked: Asked, all_events: DataFrame, life: DataFrame, told: Told) -> None:
    """Tell the groups' stories anew whose spans or clues differ from when they were told last; the others stay."""
    spans, changes = store.read("spans", SPANS), store.read("changes", EVENTS)
    mine = models.with_owners(spans.where(F.col("cluster") == asked.cluster), all_events)
    _publish(store, asked, told, "clocks", hostclocks.clocks_of(all_events, changes))
    lacking = computed_once(holes.holes_of(spans, all_events, life))
    _publish(store, asked, told, "holes", holes.table_of(lacking))
    differing = store.read("clocks", schemas.CLOCKS)
    clues = computed_once(stories.clues_of(all_events, changes, mine, life, differing, lacking))
    inputs = computed_once(stories.inputs_of(mine, clues))
    known = store.read("inputs", schemas.INPUTS).where(F.col("cluster") == asked.cluster)
    before = _checksums(known) if all(map(store.is_whole, STORIES)) else {}
    now = _checksums(inputs)
    told.told_anew = sorted(group for group, checksum in now.items() if before.get(group) != checksum)
    if now == before:
        told.changed |= {table: [] for table in STORIES}
        return
    same = store.spark.createDataFrame([(group,) for group in now.keys() - {*told.told_anew}], "group string")
    if before:  # a run that is cut from here on leaves none that is half told
        _publish(store, asked, told, "inputs", inputs.join(same, on="group", how="left_semi").select(*inputs.columns))
        mine, clues = (frame.join(same, on="group", how="left_anti") for frame in (mine, clues))
    all_told = computed_once(stories.stories_of(mine, clues))
    for table, (kind, schema) in STORIES.items():
        fresh, kept = stories.of_kind(all_told, kind, schema), store.read(table, schema)
        whole = fresh.unionByName(kept.join(same, on="group", how="left_semi").select(*schema.names))
        _publish(store, asked, told, table, whole if before else fresh)
    _publish(store, asked, told, "inputs", inputs)


def _checksums(inputs: DataFrame) -> dict[str, str]:
    return {row["group"]: row["checksum"] for row in inputs.select("group", "checksum").collect()}


def _publish_measures(store: Store, asked: Asked, all_events: DataFrame, life: DataFrame, told: Told) -> None:
    tables = {name: store.read(name, schema) for name, (_, schema) in STORIES.items()}
    rounds, handoffs = tables["rounds"], tables["handoffs"]
    spans = store.read("spans", SPANS)
    _publish(store, asked, told, "lock_waits", locks.waits_of(all_events, spans))
    waits = store.read("lock_waits", schemas.LOCK_WAITS)
    moved = locks.with_waits(handoffs.unionByName(tables["returns"]), waits)
    costs = measures.costs_of(rounds, moved, tables["stretches"], tables["member_loads"], tables["group_loads"])
    _publish(store, asked, told, "costs", locks.with_losses(costs, waits))
    _publish(store, asked, told, "storms", measures.storms_of(rounds, moved, tables["bare_rounds"]))
    _publish(store, asked, told, "waves", measures.waves_of(rounds, moved))
    _publish(store, asked, told, "spikes", bursts.spikes_of(all_events, spans, rounds))
    _publish(store, asked, told, "heartbeats", measures.heartbeats_of(all_events))
    _publish(store, asked, told, "brokers", brokers.brokers_of(all_events))
    _publish(store, asked, told, "looked", measures.looked_of(all_events))
    _publish(store, asked, told, "models", models.models_of(all_events))
    _publish(store, asked, told, "doubles", doubles.doubles_of(tables["stretches"], spans))
    changes = store.read("changes", EVENTS)
    _publish(store, asked, told, "mixed", mixed.mixed_of(changes, spans))
    _publish(store, asked, told, "gaps", gaps.gaps_of(all_events, life))
    _publish(store, asked, told, "unproved", unproved.unproved_of(changes))


def _publish(store: Store, asked: Asked, told: Told, table: str, frame: DataFrame) -> None:
    of_cluster = frame.where(F.col("cluster") == asked.cluster)
    told.changed[table] = sorted(store.publish(table, of_cluster, cluster=asked.cluster))


def _around(days: set[str]) -> set[str]:
    """Add the days before and after: a line's own day may be another than the UTC day of what it tells."""
    return {str(date.fromisoformat(day) + timedelta(days=more)) for day in days for more in (-1, 0, 1)}


def run_backtest(spark: SparkSession, asked: Asked, _: list[SourceFile], progress: Progress) -> Told:
    """Replay what a finished run recorded under every strategy; ``asked.source`` is that run's folder."""
    record, store, told = Store(asked.source, spark), Store(asked.target, spark, asked.cluster), Told()
    with progress.stage(f"back-test of the run in {asked.source}"):
        rounds, handoffs = record.read("rounds", schemas.ROUNDS), record.read("handoffs", schemas.HANDOFFS)
        found = backtest.backtest_of(rounds, record.read("spans", SPANS), handoffs, record.read("events", EVENTS))
        _publish(store, asked, told, "backtest", found)
    store.mine.tested_ms, store.mine.tested = asked.at_ms, record.notes.record_of(asked.cluster)
    store.save()
    return told


@dataclass(frozen=True, slots=True)
class Job:
    """One job: what it says of itself, what it does, and how a finished folder is told in the terminal.

    ``reads_logs``: its input are text files, of which it reads those that are new.
    """

    says: str
    run: Callable[[SparkSession, Asked, list[SourceFile], Progress], Told]
    tell: Callable[[Path], str]
    reads_logs: bool = True


JOBS = {
    "logs": Job(
        "read RocketMQ's own logs, and tell what rebalancing cost",
        run_logs,
        lambda folder: summary.summary(reports.read_report(folder)),
    ),
    "backtest": Job(
        "replay a finished run's record under every strategy",
        run_backtest,
        lambda folder: summary.advice(reports.read_backtest(folder)),
        reads_logs=False,
    ),
}
