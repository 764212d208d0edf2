"""What a person reads of a finished run: the same figures for the terminal and for the page. Plain Python, no Spark.

It reads the small tables of the output folder; a figure that is a bound says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped] # pyarrow has no types
import pyarrow.compute as pc  # type: ignore[import-untyped] # pyarrow has no types
import pyarrow.dataset as ds  # type: ignore[import-untyped] # pyarrow has no types

from rebalance_engine.harmless import harmless
from rebalance_engine.pipeline.notes import Notes, OtherVersion, read_notes

WORST = 10
MOST_HANDOFFS = 5_000
OF_HANDOFF = ("cluster", "group", "topic", "broker", "queue_id", "from_client", "to_client", "taken_ms", "pause_ms")
NO_DAY = "__HIVE_DEFAULT_PARTITION__"
BURST = 1.2  # times the rate before, from which on it is called one
Row = dict[str, object]


class NoReport(Exception):
    """The folder holds no finished run, or a table that cannot be read."""


@dataclass(frozen=True, slots=True)
class Report:
    """The rows of every table that is told, as plain values; of handoffs, which may be millions, the longest.

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
    unparsed: int
    troubles: dict[str, str]
    refused: list[str]

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
    notes = _notes(folder)
    names = ("costs", "storms", "waves", "brokers", "heartbeats", "spikes", "backtest", "looked")
    tables = {name: read_table(folder / name) for name in names}
    with _readable(folder / "handoffs"):
        rounds, handoffs = _table(folder / "rounds"), _table(folder / "handoffs")
        longest = _longest(handoffs) if handoffs else []
    has_several = len(notes.clusters) > 1
    if has_several:
        tables = {name: _by_cluster(rows) for name, rows in tables.items()}
        longest = _by_cluster(longest)
    return Report(
        folder=folder,
        clusters=sorted(notes.clusters),
        round_count=rounds.count_rows() if rounds else 0,
        handoff_count=handoffs.count_rows() if handoffs else 0,
        handoffs=longest,
        unparsed=_count_unparsed(folder, notes),
        troubles={path: trouble for one in notes.clusters.values() for path, trouble in one.troubles.items()},
        refused=[sentence for one in notes.clusters.values() for sentence in one.refused],
        **tables,
    )


def _notes(folder: Path) -> Notes:
    """Read what the runs of all clusters noted, which must have finished."""
    again = f"python -m rebalance_engine.pipeline logs --in LOGS --out {folder}"
    try:
        notes = read_notes(folder)
    except OtherVersion as error:
        raise NoReport(str(error)) from error
    if not notes.clusters:
        raise NoReport(f"{folder} holds no finished run; make one: {again}")
    for cluster, one in notes.clusters.items():
        if not one.is_finished:
            raise NoReport(
                f"the run of cluster {cluster} in {folder} has not finished: it is at work, or was stopped, and"
                f" goes on from there by {again} --cluster={cluster}"
            )
    return notes


def _by_cluster(rows: Iterable[Row]) -> list[Row]:
    """Call groups, brokers and hosts by their clusters too."""
    named = ("group", "broker", "host")
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


def read_table(folder: Path) -> list[Row]:
    """Read one table of the output folder; no rows where there is none.

    Raises:
        NoReport: a file of it is damaged.
    """
    with _readable(folder):
        table = _table(folder)
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


def _table(folder: Path) -> Any:  # noqa: ANN401 - pyarrow has no types
    files = sorted(folder.glob("**/*.parquet"))
    if not files:
        return None
    # Names of clusters stay text, also where they are numbers.
    place = str(files[0].relative_to(folder))
    keys = pa.schema([(key, pa.string()) for key in ("batch", "cluster", "day") if f"{key}=" in place])
    partitioning = ds.partitioning(keys, flavor="hive") if len(keys) else None
    return ds.dataset(files, partitioning=partitioning, partition_base_dir=str(folder))


def _longest(handoffs: Any) -> list[Row]:  # noqa: ANN401 - pyarrow has no types
    """Choose the handoffs with the longest pauses, by time; memory is that of a batch and of those chosen."""
    best = None
    for batch in handoffs.to_batches(columns=list(OF_HANDOFF)):
        both = (
            pa.Table.from_batches([batch]) if best is None else pa.concat_tables([best, pa.Table.from_batches([batch])])
        )
        best = both.take(pc.select_k_unstable(both, MOST_HANDOFFS, [("pause_ms", "descending")]))
    rows: list[Row] = best.to_pylist() if best is not None else []
    return sorted(rows, key=lambda row: _number(row["taken_ms"]))


def _count_unparsed(folder: Path, notes: Notes) -> int:
    """Count the lines of text that did not parse, each file's as it was read last."""
    dead: dict[str, list[str]] = {}
    for path, batch in notes.dead:
        dead.setdefault(f"batch={batch:06}", []).append(str(path))
    counted = 0
    for number in range(1, notes.next_batch):  # a batch that was cut has no number yet
        batch = folder / "lines" / f"batch={number:06}"
        files = sorted(batch.glob(f"cluster=*/day={NO_DAY}/*.parquet"))
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
    names = ("rounds", "handoffs", "pause_ms", "unowned_ms", "unowned_most_ms", "unowned_open_ms", "overlap_ms",
             "overlap_stopping_ms", "refused_pulls", "duplicates_least", "duplicates_most", "duplicates_unbounded",
             "above_fewest", "flaps", "idle_ms")  # fmt: skip
    summed: list[Row] = [
        {"group": group, **{name: total(rows, name) for name in names}} for group, rows in groups.items()
    ]
    for row in summed:
        row["overlap_staying_ms"] = _overlap_staying_ms(row)
        row["unheard"] = max(_number(day.get("unheard")) for day in groups[str(row["group"])])
    return sorted(summed, key=lambda row: -_number(row["pause_ms"]))


def _overlap_staying_ms(row: Row) -> float | None:
    """Give for how long queues had two owners that were both there to stay; None where it is unknown."""
    both = row["overlap_ms"]
    return max(0.0, both - _number(row["overlap_stopping_ms"])) if isinstance(both, int | float) else None


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def minutes(value: object) -> str:
    """Say a duration in ms as people say it; an unknown one as such."""
    if not isinstance(value, int | float):
        return "unknown"
    seconds = value / 1000
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def moment(value: object) -> str:
    """Say a time in UTC."""
    return datetime.fromtimestamp(_number(value) / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def unowned(row: Row) -> str:
    """Say for how long queues had no owner, as far as it is known, and what of it had not ended with the input."""
    least, most, still = (_number(row[f"unowned_{name}ms"]) for name in ("", "most_", "open_"))
    known = minutes(row["unowned_ms"])
    told = f"{known} to {minutes(most)}" if most > least else known
    return f"{told}, of it {minutes(still)} of queues that nobody has taken since" if still else told


def overlap(row: Row) -> str:
    """Say for how long queues had two owners, apart from what a member still held while it shut down."""
    stopping = _number(row["overlap_stopping_ms"])
    apart = f", and {minutes(stopping)} while one shut down" if stopping else ""
    return f"{minutes(row['overlap_staying_ms'])}{apart}"


def twice(row: Row) -> str:
    """Say how many messages were consumed twice, as far as it is bounded: of some handoffs, perhaps, it is not."""
    least, most, unbounded = row["duplicates_least"], row["duplicates_most"], _number(row["duplicates_unbounded"])
    surely = f"at least {_number(least):.0f}" if least else ""  # at least none is all that is known of any
    if most is None:
        return surely or "unknown"
    if not unbounded:
        return f"{_number(least):.0f} to {_number(most):.0f}"
    bounded = _number(row["handoffs"]) - unbounded
    of = f"{bounded:.0f} handoff{'' if bounded == 1 else 's'}"
    return f"{surely}{', ' if surely else ''}at most {_number(most):.0f} in {of}, unknown in the rest"


def summary(report: Report) -> str:
    """Tell what matters most, for a terminal of 100 columns, which obeys nothing of it."""
    groups = by_group(report.costs)
    lines = found(report)
    if report.unparsed:
        lines.append(f"{report.unparsed} lines of text did not parse; they are kept in lines/")
    lines += missing(report)
    if groups:
        lines += ["", "Groups by pause:"]
    lines += [line for row in groups[:WORST] for line in _group_lines(row)]
    storms = sorted(report.storms, key=lambda row: -_number(row["rounds"]))
    lines += ["", f"Storms: {how_many(report, storms, 'holds')}"]
    lines += [_storm_line(row) for row in storms[:WORST]]
    slow = sorted(avoided(report.brokers), key=lambda row: -_number(row["isolated_ms"]))
    lines += ["", f"Brokers that producers backed away from: {how_many(report, slow, 'sends', 'isolations')}"]
    lines += [_broker_line(row) for row in slow[:WORST]]
    told = [harmless(line) for line in lines]
    if report.backtest:
        told += ["", advice(report.backtest)]
    return "\n".join(told)


def found(report: Report) -> list[str]:
    """Say in sentences how many groups, rounds and handoffs there were, and of which clusters nobody tells it."""
    silent = report.silent_on("holds")
    if silent == report.clusters and not report.costs:
        return [NO_HOLDS]
    more = [f"In cluster {', '.join(silent)}: {NO_HOLDS}"] if silent and len(report.clusters) > 1 else []
    return [f"{_counted(report)}.", *more]


def _counted(report: Report) -> str:
    numbers = (len(by_group(report.costs)), report.round_count, report.handoff_count)
    words = zip(numbers, ("group", "round", "handoff"), strict=True)
    return ", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in words)


def missing(report: Report) -> list[str]:
    """Name files with which something is wrong, and the hosts that were refused: they have no share in the figures."""
    named = [f"  {path}: {trouble}" for path, trouble in sorted(report.troubles.items())]
    files = [f"{len(named)} files were read in part, or not:", *named[:WORST]] if named else []
    more = [f"  and {len(named) - WORST} more"] if len(named) > WORST else []
    return [*files, *more, *report.refused]


def how_many(report: Report, rows: Sequence[Row], *what: str) -> str:
    """Say how many there were: none only where somebody would have told them, of each cluster."""
    silent = unknown_in(report, *what)
    if not rows and report.silent_on(*what) == report.clusters:
        return f"unknown: {NOBODY_LOOKED[what]}"
    return f"{len(rows) or 'none'}{'; ' if silent else ''}{silent}"


def unknown_in(report: Report, *what: str) -> str:
    """Say of which of several clusters nobody would have told it, and why; nothing where there is none such."""
    silent = report.silent_on(*what) if len(report.clusters) > 1 else []
    return f"unknown in cluster {', '.join(silent)}: {NOBODY_LOOKED[what]}" if silent else ""


NO_HOLDS = (
    "What members held is unknown, and so are rounds and handoffs: no log of a consumer was read, nor its history."
)
NOBODY_LOOKED = {
    ("holds",): "no log of a consumer was read",
    ("sends",): "no log of a producer was read",
    ("sends", "isolations"): "no log was read of a producer that tells it (Java 5.1 and later)",
    ("offsets",): "no offsets were read",
    ("heartbeats", "expiries"): "of clients' logs and brokers' logs not both were read",
}


def avoided(brokers: Iterable[Row]) -> list[Row]:
    """Choose the brokers that producers left out for a time, or to which sends failed."""
    return [
        row
        for row in brokers
        if any(_number(row[name]) for name in ("isolated_ms", "unreachable", "resent"))
        or (_number(row["isolations"]) and row["isolated_ms"] is None)
    ]


def bursts(spikes: Iterable[Row]) -> list[Row]:
    """Choose the rounds after which messages were consumed faster than before, the strongest first."""
    return sorted((row for row in spikes if _number(row["factor"]) > BURST), key=lambda row: -_number(row["factor"]))


def advice(backtest: Sequence[Row]) -> str:
    """Tell the recommended strategy of every group, and why."""
    best = [row for row in backtest if row["is_best"]]
    lines = [harmless(f"  {str(row['group'])[:40]:<40} {row['says']}") for row in best]
    return "\n".join(["By the back-test:" if best else "No group has a record that could be replayed.", *lines])


def _group_lines(row: Row) -> list[str]:
    group, pause = str(row["group"])[:40], minutes(row["pause_ms"])
    moved = f"{_number(row['handoffs']):.0f} handoffs, twice: {twice(row)}"
    lines = [f"  {group:<40} paused {pause} at least, overlap {overlap(row)}, {moved}"]
    if row["unowned_ms"] or row["unowned_most_ms"]:
        lines.append(f"  {'':<40} unowned {unowned(row)}")
    if row["unheard"]:
        lines.append(f"  {'':<40} {unheard(row)}")
    return lines


def unheard(row: Row) -> str:
    """Say of how many members nobody tells what they held; empty where there are none."""
    count = _number(row["unheard"])
    return f"members named by brokers only, of whom nobody tells what they held: {count:.0f}" if count else ""


def _storm_line(row: Row) -> str:
    by = f"begun by {row['starter'] or 'unknown'} ({row['cause']})"
    return f"  {moment(row['at_ms'])}  {row['group']}: {row['rounds']} rounds, {by}"


def _broker_line(row: Row) -> str:
    share = row["isolated_share"]
    told = f"{share:.2%} of the time" if isinstance(share, float) else "a share that is unknown"
    isolated = f"isolated {minutes(row['isolated_ms'])}, {told}"
    failed = f"{row['resent']} sends failed or were tried again"
    slowest = f", the slowest of these after {minutes(row['failed_slowest_ms'])}" if row["resent"] else ""
    return f"  {row['day']}  {row['broker']}: {isolated}; {failed}{slowest}"
