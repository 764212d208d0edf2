"""The pipeline over the history files, a cluster at a time, and over RocketMQ's own logs; what came of it is kept.

Each run is a program of its own. ``REPORTS/CLUSTER/`` gets the tables and the page, ``REPORTS/rocketmq.logs/`` those of
the logs, ``REPORTS/last.json`` what became of the last run. The program ends with 3 where
Spark is off, and says why (``rebalance_engine.pipeline.__main__``).
"""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from rebalance_engine.pipeline.notes import OtherVersion, read_notes

LAST = "last.json"
LOCK = ".lock"
TRIES, BETWEEN_TRIES_S = 10, 0.05  # to get past those who only ask whether a run is at work
STOPS_WITHIN_S = 30
SOMETHING_MISSED = 1  # the status of a run that read what it could; of one that could not go on too, and that has not
MOST_SAID = 2_000  # characters of what a run said at its end
MOST_OF_SUMMARY = 20_000  # characters
PROGRAM = (sys.executable, "-m", "rebalance_engine.pipeline")
PAGE_PROGRAM = (sys.executable, "-m", "rebalance_engine", "report")
LOGS = "rocketmq.logs"  # no cluster's file is called so: their names have no point


@dataclass(frozen=True, slots=True)
class Programs:
    """What is run: the pipeline, and what makes a page and a summary of a finished run."""

    pipeline: Sequence[str] = PROGRAM
    page: Sequence[str] = PAGE_PROGRAM


@dataclass(frozen=True, slots=True)
class Logs:
    """A folder of RocketMQ's own logs, a folder for each host; and the zones of hosts whose logs do not tell it."""

    folder: Path
    zones: Mapping[str, str] = field(default_factory=dict)


class Busy(Exception):
    """Another run is at work."""


class NoHistory(Exception):
    """There is no history of a cluster, or no logs are to be read."""


def clusters_in(history: Path) -> list[str]:
    """Name the clusters that have history, as their files are called: ``DAY/CLUSTER.jsonl``."""
    return sorted({path.stem for path in history.glob("*/*.jsonl")})


def run_jobs(
    *,
    history: Path,
    reports: Path,
    within_s: float,
    memory_mb: int = 1024,
    only: str | None = None,
    logs: Logs | None = None,
    programs: Programs = Programs(),
) -> dict[str, dict[str, object]]:
    """Bring every cluster's report and back-test up to date; give, and keep, each run's status and what it said.

    A run goes on where the one before ended; one that takes too long, or is interrupted, is stopped, and what it had
    finished is whole. ``finished_at``, in ms, is of the last run that came to its end: ``at``, where this one did. The
    cluster that was finished least recently comes first, so that none is left out every night.

    Args:
        within_s: for all clusters together.
        memory_mb: of Spark's driver.
        only: this cluster alone, or ``LOGS``; what is kept of the others stays.
        logs: RocketMQ's own, which are read beside the history.

    Raises:
        Busy: another run is at work.
        NoHistory: there is none of the cluster.
    """
    ends = time.monotonic() + within_s
    told: dict[str, dict[str, object]] = {}
    clusters = clusters_in(history)
    names = [*clusters, *([LOGS] if logs else [])]
    if only == LOGS and not logs:
        raise NoHistory("no folder of RocketMQ's logs is named: EVENKEEL_LOGS does")
    if only is not None and only not in names:
        raise NoHistory(f"{history} has no history of {only!r}; it has of {', '.join(clusters) or 'no cluster'}")
    with _alone(reports):
        kept = last_runs(reports)
        before = {cluster: one for cluster, one in kept.items() if cluster in names}
        finished = {cluster: int(str(one.get("finished_at") or 0)) for cluster, one in before.items()}
        in_turn = sorted(names, key=lambda name: finished.get(name, 0))
        for name in in_turn if only is None else [only]:
            source, more = (history, [f"--cluster={name}"]) if name != LOGS or logs is None else _of_logs(logs)
            more.append(f"--memory={memory_mb}m")
            status, said, is_finished = _run_both(programs.pipeline, source, reports / name, more, ends)
            now = time.time_ns() // 1_000_000
            finished_at = now if is_finished else finished.get(name)
            told[name] = {"status": status, "said": said, "at": now, "finished_at": finished_at}
            told[name]["summary"] = _page(programs.page, reports / name, ends) if is_finished else None
            beside = reports / f".{LAST}"
            beside.write_text(json.dumps(before | told, indent=1))
            beside.replace(reports / LAST)
    return told


def _of_logs(logs: Logs) -> tuple[Path, list[str]]:
    return logs.folder, [f"--zone={host}={zone}" for host, zone in logs.zones.items()]


def last_runs(reports: Path) -> dict[str, dict[str, object]]:
    """Give what is kept of the last run of each cluster and of the logs; nothing where none has been."""
    try:
        kept: dict[str, dict[str, object]] = json.loads((reports / LAST).read_text())
    except FileNotFoundError:
        return {}
    return kept


def _run_both(
    program: Sequence[str], history: Path, report: Path, more: Sequence[str], ends: float
) -> tuple[int, str, bool]:
    """Read the history, and replay what it tells under every strategy, where it has been read to its end.

    Give the status, what was said, and whether both came to their end.
    """
    common, before = ("--out", str(report), *more), _finished(report)
    status, said = _run([*program, "logs", "--in", str(history), *common], ends - time.monotonic())
    if status != 0 and (status != SOMETHING_MISSED or _finished(report) == before):
        return status, said, False
    tested, also = _run([*program, "backtest", "--in", str(report), *common], ends - time.monotonic())
    return tested or status, f"{said}{also}", tested == 0


def _finished(report: Path) -> int:
    """Count the runs into a folder that came to their end; none where its notes cannot be read."""
    try:
        return sum(cluster.finished for cluster in read_notes(report).clusters.values())
    except (OtherVersion, OSError):
        return 0


def _page(program: Sequence[str], report: Path, ends: float) -> str | None:
    """Make the page of a finished run, and give its summary; None where that cannot be, as where nothing was read."""
    status, told = _run([*program, str(report)], ends - time.monotonic(), takes="stdout", most=None)
    return told.rpartition("\n\npage: ")[0][:MOST_OF_SUMMARY] if status == 0 else None


def _run(
    arguments: Sequence[str], within_s: float, *, takes: str = "stderr", most: int | None = MOST_SAID
) -> tuple[int, str]:
    """Run a program to its end, in our process group, so that who stops us stops it; give what it wrote last."""
    out, error = (subprocess.PIPE if takes == name else subprocess.DEVNULL for name in ("stdout", "stderr"))
    process = subprocess.Popen(arguments, text=True, stdout=out, stderr=error)
    try:
        said = "".join(filter(None, process.communicate(timeout=max(within_s, 0))))
    except subprocess.TimeoutExpired:
        said = f"{_stop(process)}stopped: no time was left for it"
    except BaseException:
        _stop(process)
        raise
    return process.returncode, said if most is None else said[-most:]


def _stop(process: subprocess.Popen[str]) -> str:
    process.terminate()
    try:
        said = process.communicate(timeout=STOPS_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        said = process.communicate(timeout=STOPS_WITHIN_S)
    return "".join(filter(None, said))


def is_at_work(reports: Path) -> bool:
    """Ask whether a run is at work in a folder of reports; who asks holds its lock for an instant."""
    try:
        with (reports / LOCK).open() as file:
            return not _has(file, fcntl.LOCK_SH)
    except FileNotFoundError:
        return False


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as file:
        for _ in range(TRIES):
            if _has(file, fcntl.LOCK_EX):
                break
            time.sleep(BETWEEN_TRIES_S)
        else:
            raise Busy(f"another run is at work in {folder}; one at a time")
        yield


def _has(file: TextIO, how: int) -> bool:
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
