"""What a person reads of a finished run: the same figures for the terminal and for the page. Plain Python, no Spark.

It reads the small tables of the output folder; a figure that is a bound says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped] # pyarrow has no types
import pyarrow.compute as pc  # type: ignore[import-untyped] # pyarrow has no types
import pyarrow.dataset as ds  # type: ignore[import-untyped] # pyarrow has no types

WORST = 10
MOST_HANDOFFS = 5_000
OF_HANDOFF = ("group", "topic", "broker", "queue_id", "from_client", "to_client", "taken_ms", "pause_ms")
BURST = 1.2  # times the rate before, from which on it is called one
Row = dict[str, object]


class NoReport(Exception):
    """The folder holds no finished run."""


@dataclass(frozen=True, slots=True)
class Report:
    """The rows of every table that is told, as plain values; of handoffs, which may be millions, the longest."""

    folder: Path
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

    def would_tell(self, *what: str) -> bool:
        """Ask whether anything was read that would have told all of this: nothing told is none only then."""
        return all(total(self.looked, one) for one in what)


def read_report(folder: Path) -> Report:
    """Read the tables.

    Raises:
        NoReport: no run has finished in this folder.
    """
    notes = _notes(folder)
    if notes is None or not (folder / "costs").is_dir():
        raise NoReport(
            f"{folder} holds no finished run; make one: python -m rebalance_engine.pipeline logs --out {folder}"
        )
    names = ("costs", "storms", "waves", "brokers", "heartbeats", "spikes", "backtest", "looked")
    tables = {name: read_table(folder / name) for name in names}
    rounds, handoffs = _table(folder / "rounds"), _table(folder / "handoffs")
    return Report(
        folder=folder,
        round_count=rounds.count_rows() if rounds else 0,
        handoff_count=handoffs.count_rows() if handoffs else 0,
        handoffs=_longest(handoffs) if handoffs else [],
        unparsed=_count_unparsed(folder),
        troubles=notes.get("troubles", {}),
        refused=notes.get("refused", []),
        **tables,
    )


def _notes(folder: Path) -> dict[str, Any] | None:
    """Read what a run noted; None where there are no notes, or they are damaged."""
    try:
        return dict(json.loads((folder / "_evenkeel.json").read_text()))
    except (OSError, TypeError, ValueError):
        return None


def read_table(folder: Path) -> list[Row]:
    """Read one table of the output folder; no rows where there is none."""
    table = _table(folder)
    rows: list[Row] = table.to_table().to_pylist() if table else []
    return rows


def _table(folder: Path) -> Any:  # noqa: ANN401 - pyarrow has no types
    files = sorted(folder.glob("**/*.parquet"))
    if not files:
        return None
    return ds.dataset(files, partitioning=ds.partitioning(flavor="hive"), partition_base_dir=str(folder))


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


def _count_unparsed(folder: Path) -> int:
    rows = [
        row
        for path in (folder / "lines").glob("**/day=__HIVE_DEFAULT_PARTITION__")
        for row in ds.dataset(sorted(path.glob("*.parquet"))).to_table(columns=["parts"]).to_pylist()
    ]
    return sum(row["parts"] or 0 for row in rows)


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
    """Say how many messages were consumed twice, as far as it is bounded."""
    least, most, unbounded = row["duplicates_least"], row["duplicates_most"], row["duplicates_unbounded"]
    if (least is None and most is None) or (not least and (unbounded or most is None)):
        return "unknown"  # at least none is all that is known
    if unbounded or most is None:
        return f"at least {_number(least):.0f}"
    return f"{_number(least):.0f} to {_number(most):.0f}"


def summary(report: Report) -> str:
    """Tell what matters most, for a terminal of 100 columns."""
    groups = by_group(report.costs)
    lines = [counted(report)]
    if not groups and not report.would_tell("holds"):
        lines = [NO_HOLDS]
    if report.unparsed:
        lines.append(f"{report.unparsed} lines of text did not parse; they are kept in lines/")
    lines += missing(report)
    if groups:
        lines += ["", "Groups by pause:"]
    lines += [line for row in groups[:WORST] for line in _group_lines(row)]
    storms = sorted(report.storms, key=lambda row: -_number(row["rounds"]))
    lines += ["", f"Storms: {len(storms) or none(report, 'holds')}"]
    lines += [_storm_line(row) for row in storms[:WORST]]
    slow = sorted(avoided(report.brokers), key=lambda row: -_number(row["isolated_ms"]))
    lines += ["", f"Brokers that producers backed away from: {len(slow) or none(report, 'sends', 'isolations')}"]
    lines += [_broker_line(row) for row in slow[:WORST]]
    if report.backtest:
        lines += ["", advice(report.backtest)]
    return "\n".join(lines)


def counted(report: Report) -> str:
    """Say how many groups, rounds and handoffs there were."""
    numbers = (len(by_group(report.costs)), report.round_count, report.handoff_count)
    words = zip(numbers, ("group", "round", "handoff"), strict=True)
    return ", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in words)


def missing(report: Report) -> list[str]:
    """Name files with which something is wrong, and the hosts that were refused: they have no share in the figures."""
    named = [f"  {path}: {trouble}" for path, trouble in sorted(report.troubles.items())]
    files = [f"{len(named)} files were read in part, or not:", *named[:WORST]] if named else []
    more = [f"  and {len(named) - WORST} more"] if len(named) > WORST else []
    return [*files, *more, *report.refused]


def none(report: Report, *what: str) -> str:
    """Say that there is none, or that nobody looked."""
    return "none" if report.would_tell(*what) else f"unknown: {NOBODY_LOOKED[what]}"


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
    """Choose the brokers that producers left out, or to which sends failed."""
    return [row for row in brokers if any(_number(row[name]) for name in ("isolations", "unreachable", "resent"))]


def bursts(spikes: Iterable[Row]) -> list[Row]:
    """Choose the rounds after which messages were consumed faster than before, the strongest first."""
    return sorted((row for row in spikes if _number(row["factor"]) > BURST), key=lambda row: -_number(row["factor"]))


def advice(backtest: Sequence[Row]) -> str:
    """Tell the recommended strategy of every group, and why."""
    best = [row for row in backtest if row["is_best"]]
    lines = [f"  {str(row['group'])[:40]:<40} {row['says']}" for row in best]
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
