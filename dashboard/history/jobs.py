"""The pipeline over the history files, a cluster at a time, as a program of its own; what came of it is written down.

``REPORTS/CLUSTER/`` gets the tables, ``REPORTS/last.json`` what became of the last run. The program ends with 3 where
Spark is off, and says why (``rebalance_engine.pipeline.__main__``).
"""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

LAST = "last.json"
STOPS_WITHIN_S = 30
SOMETHING_MISSED = 1  # the status of a run that read what it could, and says what it could not
MOST_SAID = 2_000  # characters of what a run said at its end
PROGRAM = (sys.executable, "-m", "rebalance_engine.pipeline")


class Busy(Exception):
    """Another run is at work."""


class NoHistory(Exception):
    """There is no history of a cluster."""


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
    program: Sequence[str] = PROGRAM,
) -> dict[str, dict[str, object]]:
    """Bring every cluster's report and back-test up to date; give, and keep, each run's status and what it said.

    A run goes on where the one before ended; one that takes too long, or is interrupted, is stopped, and what it had
    finished is whole. The cluster that was finished least recently comes first, so that none is left out every night.

    Args:
        within_s: for all clusters together.
        memory_mb: of Spark's driver.
        only: this cluster alone; what is kept of the others stays.

    Raises:
        Busy: another run is at work.
        NoHistory: there is none of the cluster.
    """
    ends = time.monotonic() + within_s
    told: dict[str, dict[str, object]] = {}
    clusters = clusters_in(history)
    if only is not None and only not in clusters:
        raise NoHistory(f"{history} has no history of {only!r}; it has of {', '.join(clusters) or 'no cluster'}")
    with _alone(reports):
        kept = _kept(reports)
        before = {cluster: one for cluster, one in kept.items() if cluster in clusters}
        finished = {cluster: int(str(one.get("finished_at") or 0)) for cluster, one in before.items()}
        in_turn = sorted(clusters, key=lambda cluster: finished.get(cluster, 0))
        for cluster in in_turn if only is None else [only]:
            memory = (f"--memory={memory_mb}m",)
            status, said = _run_both(program, history, reports / cluster, (f"--cluster={cluster}", *memory), ends)
            now = time.time_ns() // 1_000_000
            finished_at = now if status in (0, SOMETHING_MISSED) else finished.get(cluster)
            told[cluster] = {"status": status, "said": said, "at": now, "finished_at": finished_at}
            beside = reports / f".{LAST}"
            beside.write_text(json.dumps(before | told, indent=1))
            beside.replace(reports / LAST)
    return told


def _kept(reports: Path) -> dict[str, dict[str, object]]:
    try:
        kept: dict[str, dict[str, object]] = json.loads((reports / LAST).read_text())
    except FileNotFoundError:
        return {}
    return kept


def _run_both(program: Sequence[str], history: Path, report: Path, more: Sequence[str], ends: float) -> tuple[int, str]:
    """Read the history, and replay what it tells under every strategy, where it has been read to its end."""
    common = ("--out", str(report), *more)
    status, said = _run([*program, "logs", "--in", str(history), *common], ends - time.monotonic())
    if status not in (0, SOMETHING_MISSED):
        return status, said
    tested, also = _run([*program, "backtest", "--in", str(report), *common], ends - time.monotonic())
    return status or tested, f"{said}{also}"


def _run(arguments: Sequence[str], within_s: float) -> tuple[int, str]:
    """Run a program to its end, in our process group, so that who stops us stops it."""
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        _, said = process.communicate(timeout=max(within_s, 0))
    except subprocess.TimeoutExpired:
        said = f"{_stop(process)}stopped: no time was left for it"
    except BaseException:
        _stop(process)
        raise
    return process.returncode, said[-MOST_SAID:]


def _stop(process: subprocess.Popen[str]) -> str:
    process.terminate()
    try:
        return process.communicate(timeout=STOPS_WITHIN_S)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate(timeout=STOPS_WITHIN_S)[1]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(f"another run is at work in {folder}; one at a time") from None
        yield
