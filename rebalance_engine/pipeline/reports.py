"""What finished runs found out, from the last table of their folder (``sections.py``): for the terminal and the page.

Plain Python, no Spark.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import nlargest
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped] # pyarrow has no types
import pyarrow.compute as pc  # type: ignore[import-untyped] # pyarrow has no types
import pyarrow.dataset as ds  # type: ignore[import-untyped] # pyarrow has no types

from rebalance_engine.pipeline.layouts import LAYOUTS
from rebalance_engine.pipeline.notes import Notes, OtherVersion, read_notes
from rebalance_engine.pipeline.wording import Row, moment, number

MOST_HANDOFFS = 5_000
REPORTS, LONGEST, TOTALS = "reports", "handoffs", "totals"  # the table, and two of its sections
WHOLE = (
    "costs", "storms", "waves", "brokers", "heartbeats", "spikes", "looked", "models", "doubles", "mixed", "holes",
    "clocks", "gaps", "unproved",
)  # fmt: skip  # its other sections
OF_HANDOFF = ("cluster", "group", "topic", "broker", "queue_id", "from_client", "to_client", "taken_ms", "pause_ms")
NO_DAY = "__HIVE_DEFAULT_PARTITION__"
BURST = 1.2  # times the rate before, from which on it is called one


class NoReport(Exception):
    """The folder holds no finished run, or a table that cannot be read."""


@dataclass(frozen=True, slots=True)
class Report:
    """The rows of every table that is told, as plain values; of handoffs, which may be millions, the longest.

    Of a cluster whose run has not finished there are none: ``unfinished`` says so in a sentence each; ``outdated`` says
    it of each whose back-test is older than the rest, and ``untested`` names those that have none. ``unverified``
    names, by layout, the hosts whose logs are of a kind of which nobody has seen real ones.

    Where the folder has several clusters, ``group``, ``broker`` and ``host`` are ``CLUSTER: NAME``: names of two
    clusters may be equal.
    """

    folder: Path
    clusters: list[str]
    costs: list[Row]
    round_count: int
    handoff_count: int
    handoffs: list[Row]
    storms: list[Row]
    waves: list[Row]
    brokers: list[Row]
    heartbeats: list[Row]
    spikes: list[Row]
    backtest: list[Row]
    looked: list[Row]
    models: list[Row]
    doubles: list[Row]
    mixed: list[Row]
    holes: list[Row]
    clocks: list[Row]
    gaps: list[Row]
    unproved: list[Row]
    unparsed: int
    troubles: dict[str, str]
    refused: list[str]
    unfinished: list[str]
    outdated: list[str]
    untested: list[str]
    unverified: dict[str, list[str]]

    def silent_on(self, *what: str) -> list[str]:
        """Name the clusters of which nothing was read that would have told all of this: there may be any number."""
        return [cluster for cluster in self.clusters if not self._would_tell(cluster, what)]

    def _would_tell(self, cluster: str, what: Iterable[str]) -> bool:
        mine = [row for row in self.looked if row["cluster"] == cluster]
        return all(total(mine, one) for one in what)


def read_report(folder: Path) -> Report:
    """Read the tables.

    Raises:
        NoReport: no run has finished in this folder.
    """
    notes, unfinished = _notes(folder)
    told = sorted(notes.clusters.keys() - unfinished.keys())
    if not (folder / REPORTS).exists() and (folder / "costs").exists():
        raise NoReport(f"{folder} was written by an earlier version; bring it up to date: {_again(folder)}")
    with _readable(folder / REPORTS):
        tables = _sections(folder, told)
        longest = _longest(folder, told)
    counts = tables.pop(TOTALS)
    tables["backtest"] = read_table(folder / "backtest", told)
    tested = {str(row["cluster"]) for row in tables["backtest"]} | {
        name for name in told if notes.clusters[name].tested
    }
    has_several = len(notes.clusters) > 1
    if has_several:
        tables = {name: _by_cluster(rows) for name, rows in tables.items()}
        longest = _by_cluster(longest)
    return Report(
        folder=folder,
        clusters=told,
        round_count=int(total(counts, "rounds") or 0),
        handoff_count=int(total(counts, "handoffs") or 0),
        handoffs=longest,
        unparsed=_count_unparsed(folder, notes, told),
        troubles={path: trouble for name in told for path, trouble in notes.clusters[name].troubles.items()},
        refused=[sentence for name in told for sentence in notes.clusters[name].refused],
        unfinished=list(unfinished.values()),
        outdated=_outdated(folder, notes, [name for name in told if name in tested]),
        untested=[name for name in told if name not in tested],
        unverified=_unverified(notes, told),
        **tables,
    )


def _again(folder: Path) -> str:
    return f"python -m rebalance_engine.pipeline logs --in LOGS --out {folder}"


def _notes(folder: Path) -> tuple[Notes, dict[str, str]]:
    """Read what the runs of all clusters noted, and say of which none has finished; of one, at least, it must have."""
    again = _again(folder)
    try:
        notes = read_notes(folder)
    except OtherVersion as error:
        raise NoReport(str(error)) from error
    if not notes.clusters:
        raise NoReport(f"{folder} holds no finished run; make one: {again}")
    unfinished = {
        cluster: f"the run of cluster {cluster} in {folder} has not finished: it is at work, or was stopped, and goes"
        f" on from there by {again} --cluster={cluster}"
        for cluster, one in sorted(notes.clusters.items())
        if not one.is_finished
    }
    if len(unfinished) == len(notes.clusters):
        raise NoReport("; ".join(unfinished.values()))
    return notes, unfinished


def _outdated(folder: Path, notes: Notes, clusters: Iterable[str]) -> list[str]:
    """Say of which clusters the back-test was run over less, or else, than what has been read by now."""
    has_several, told = len(notes.clusters) > 1, []
    for cluster in clusters:
        mine = notes.clusters[cluster]
        if mine.tested == notes.record_of(cluster):
            continue
        of = f" of cluster {cluster}" if has_several else ""
        when = f"is of {moment(mine.tested_ms)}, before" if mine.tested_ms else "may be of before"
        told.append(
            f"the back-test{of} {when} what was read since; run it again: python -m rebalance_engine.pipeline backtest"
            f" --in {folder} --out {folder}{f' --cluster={cluster}' if cluster != 'default' else ''}"
        )
    return told


def _unverified(notes: Notes, clusters: Iterable[str]) -> dict[str, list[str]]:
    """Name the hosts whose logs were read by a layout that no real log has proved."""
    files: list[Row] = [{"cluster": name, **file} for name in clusters for file in notes.clusters[name].files.values()]
    if len(notes.clusters) > 1:
        files = _by_cluster(files)
    found: dict[str, set[str]] = {}
    for file in files:
        layout = LAYOUTS.get(str(file.get("layout")))
        if layout is not None and not layout.is_verified:
            found.setdefault(layout.name, set()).add(str(file["host"]))
    return {name: sorted(hosts) for name, hosts in sorted(found.items())}


def _by_cluster(rows: Iterable[Row]) -> list[Row]:
    """Call groups, brokers and hosts by their clusters too."""
    named = ("group", "broker", "host", "broker_host", "log")
    return [
        {name: f"{row['cluster']}: {value}" if name in named and value is not None else value
         for name, value in row.items()}
        for row in rows
    ]  # fmt: skip


def read_backtest(folder: Path) -> list[Row]:
    """Read what the back-test of a folder's clusters came to, as :class:`Report` has it."""
    rows = read_table(folder / "backtest")
    clusters = {*read_notes(folder).clusters, *(row["cluster"] for row in rows)}
    return _by_cluster(rows) if len(clusters) > 1 else rows


def read_table(folder: Path, clusters: Iterable[str] | None = None) -> list[Row]:
    """Read one table of the output folder, of some clusters or of all; no rows where there is none.

    Raises:
        NoReport: a file of it is damaged.
    """
    with _readable(folder):
        table = _table(folder, clusters)
        rows: list[Row] = table.to_table().to_pylist() if table else []
    return rows


@contextmanager
def _readable(table: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        said = str(error).splitlines()[0][:300]
        raise NoReport(
            f"the table {table} cannot be read ({said}); remove the folder that the run wrote, and make it anew"
        ) from error


def _table(folder: Path, clusters: Iterable[str] | None) -> Any:  # noqa: ANN401 - pyarrow has no types
    places = ["**"] if clusters is None else [f"cluster={cluster}/**" for cluster in clusters]
    files = sorted(file for place in places for file in folder.glob(f"{place}/*.parquet"))
    if not files:
        return None
    # Names of clusters stay text, also where they are numbers.
    place = str(files[0].relative_to(folder))
    keys = pa.schema([(key, pa.string()) for key in ("batch", "cluster", "day") if f"{key}=" in place])
    partitioning = ds.partitioning(keys, flavor="hive") if len(keys) else None
    return ds.dataset(files, partitioning=partitioning, partition_base_dir=str(folder))


def _sections(folder: Path, clusters: Iterable[str]) -> dict[str, list[Row]]:
    """Read all rows of the sections that are told whole, and the counts of days."""
    found: dict[str, list[Row]] = {name: [] for name in (*WHOLE, TOTALS)}
    for section, row in _rows(folder, clusters, ds.field("section") != LONGEST):
        if section in found:
            found[section].append(row)
    return found


def _longest(folder: Path, clusters: Iterable[str]) -> list[Row]:
    """Choose the handoffs with the longest pauses of all days, by time; memory is that of a batch and of those."""
    rows = (row for _, row in _rows(folder, clusters, ds.field("section") == LONGEST))
    return sorted(nlargest(MOST_HANDOFFS, rows, key=_paused), key=lambda row: number(row["taken_ms"]))


def _paused(row: Row) -> float:
    return number(row["pause_ms"]) if row["pause_ms"] is not None else -1.0


def _rows(folder: Path, clusters: Iterable[str], which: Any) -> Iterator[tuple[str, Row]]:  # noqa: ANN401 - likewise
    table = _table(folder / REPORTS, clusters)
    for batch in table.to_batches(filter=which) if table else ():
        for row in batch.to_pylist():
            yield row["section"], {"cluster": row["cluster"], "day": row["day"], **json.loads(row["body"])}


def _count_unparsed(folder: Path, notes: Notes, clusters: Sequence[str]) -> int:
    """Count the lines of text that did not parse, each file's as it was read last."""
    dead: dict[str, list[str]] = {}
    for path, batch in notes.dead:
        dead.setdefault(f"batch={batch:06}", []).append(str(path))
    counted = 0
    for nth in range(1, notes.next_batch):  # a batch that was cut has no number yet
        batch = folder / "lines" / f"batch={nth:06}"
        files = [file for name in clusters for file in sorted(batch.glob(f"cluster={name}/day={NO_DAY}/*.parquet"))]
        with _readable(batch):
            if files:
                gone = pa.array(dead.get(batch.name, []), pa.string())
                lines = ds.dataset(files).to_table(columns=["parts"], filter=~ds.field("file").isin(gone))
                counted += pc.sum(lines["parts"]).as_py() or 0
    return counted


def total(rows: Iterable[Row], name: str) -> float | None:
    """Add up a column; None where no row has it."""
    values = [value for row in rows if isinstance(value := row.get(name), int | float)]
    return sum(values) if values else None


def by_group(costs: Sequence[Row]) -> list[Row]:
    """Sum up the days of every group, the longest pauses first."""
    groups: dict[str, list[Row]] = {}
    for row in costs:
        groups.setdefault(str(row["group"]), []).append(row)
    names = ("rounds", "handoffs", "returns", "pause_ms", "unowned_ms", "unowned_most_ms", "unowned_open_ms",
             "deserted_ms", "overlap_ms", "overlap_least_ms", "overlap_stopping_ms", "overlap_unmoved_ms",
             "refused_pulls", "duplicates_least", "duplicates_most", "duplicates_unbounded", "above_fewest",
             "above_fewest_unknown", "flaps", "idle_ms", "present_ms", "pause_locked_ms", "pause_restart_ms",
             "silence_unbounded", "lock_lost_ms", "disputes")  # fmt: skip
    summed: list[Row] = [
        {"group": group, **{name: total(rows, name) for name in names}} for group, rows in groups.items()
    ]
    for row in summed:
        row["overlap_staying_ms"] = _overlap_staying_ms(row)
        days = groups[str(row["group"])]
        row |= {
            name: max(number(day.get(name)) for day in days) for name in ("unheard", "clocks_apart", "routes_unknown")
        }
        bounds = [bound for day in days if (bound := day.get("silence_most_ms")) is not None]
        row["silence_most_ms"] = max(map(number, bounds), default=None)
        skews = [number(skew) for day in days if (skew := day.get("max_over_mean")) is not None]
        row |= {
            "skew_least": min(skews, default=None),
            "skew_most": max(skews, default=None),
            "skew_unknown": len(days) - len(skews),
        }
    return sorted(summed, key=lambda row: -number(row["pause_ms"]))


def _overlap_staying_ms(row: Row) -> float | None:
    """Give for how long queues had two owners that were both there to stay; None where it is unknown."""
    both = row["overlap_ms"]
    return max(0.0, both - number(row["overlap_stopping_ms"])) if isinstance(both, int | float) else None


def storms_of(report: Report) -> list[Row]:
    """Give the storms, those of the most rounds first."""
    return sorted(report.storms, key=lambda row: (-number(row["rounds"]), number(row["at_ms"])))


def avoided(brokers: Iterable[Row]) -> list[Row]:
    """Choose the brokers that producers left out for a time, or to which sends failed; the longest left out first."""
    chosen = [
        row
        for row in brokers
        if any(number(row[name]) for name in ("isolated_ms", "unreachable", "resent"))
        or (number(row["isolations"]) and row["isolated_ms"] is None)
    ]
    return sorted(chosen, key=lambda row: -number(row["isolated_ms"]))


def bursts(spikes: Iterable[Row]) -> list[Row]:
    """Choose the rounds after which messages were consumed faster than before, the strongest first."""
    return sorted((row for row in spikes if number(row["factor"]) > BURST), key=lambda row: -number(row["factor"]))
