"""What every process of ``manage.py up`` uses, over a cluster in which nothing happens and with the demo.

From ``/proc``; nobody looks on. Memory is the proportional set size: pages that processes share are divided among them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter, sleep

from tests.bench.report import Row

SETTLES_S, MEASURED_S = 45, 90
QUICK_S = 10
STARTS_S = 600
TICKS = os.sysconf("SC_CLK_TCK")
ROOT = Path(__file__).parents[2]
ROLES = (  # the first that fits a command line
    ("redis-server", "Redis"),
    ("dashboard.demo", "demo: brokers, groups, clients"),
    (" beat", "beat"),
    ("--queues=jobs", "worker of jobs, with its child"),
    ("dashboard.config.celery", "worker, with its child"),
    ("watch_cluster", "watcher"),
    ("manage.py web", "web"),
    ("", "supervisor, reaper"),
)


def run(*, quick: bool) -> Iterator[Row]:
    """Measure at rest, then with the demo."""
    for what, has_demo in (("at rest", False), ("with the demo", True)):
        with tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as home, ExitStack() as ends:
            place = () if has_demo else ("--namesrv", ends.enter_context(_idle_cluster(home)))
            process = ends.enter_context(_up(Path(home) / "home", place))
            sleep(QUICK_S if quick else SETTLES_S)
            yield from _spent(process.pid, what, QUICK_S if quick else MEASURED_S)


def _spent(supervisor: int, size: str, seconds: float) -> Iterator[Row]:
    before, began = _used(supervisor), perf_counter()
    sleep(seconds)
    after, took = _used(supervisor), perf_counter() - began
    note = f"load {os.getloadavg()[0]:.1f}"
    for _mark, role in ROLES:
        if role in after:
            used = (after[role][0] - before.get(role, (0.0, 0.0))[0]) / took
            yield Row(role, size, 100 * used, unit="% of a core", note=f"{after[role][1]:.0f} MiB, {note}")
    total = sum(used for used, _ in after.values()) - sum(used for used, _ in before.values())
    memory = sum(mebibytes for _, mebibytes in after.values())
    yield Row("all together", size, 100 * total / took, unit="% of a core", note=f"{memory:.0f} MiB, {note}")


def _used(supervisor: int) -> dict[str, tuple[float, float]]:
    """Give processor seconds and MiB by role, of a process and all below it."""
    parents, times, words = dict[int, int](), dict[int, float](), dict[int, str]()
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                parts = (folder / "stat").read_text().rpartition(")")[2].split()
                words[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
            parents[int(folder.name)] = int(parts[1])
            times[int(folder.name)] = (int(parts[11]) + int(parts[12])) / TICKS
    used: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for pid in sorted(_below(supervisor, parents)):
        role = next(role for mark, role in ROLES if mark in words[pid])
        seconds, mebibytes = used[role]
        used[role] = (seconds + times[pid], mebibytes + _memory(pid))
    return dict(used)


def _below(root: int, parents: dict[int, int]) -> set[int]:
    found, size = {root}, 0
    while len(found) > size:
        size = len(found)
        found |= {pid for pid, parent in parents.items() if parent in found}
    return found


def _memory(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0  # it has ended
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1_024


@contextmanager
def _idle_cluster(home: str) -> Iterator[str]:
    command = [
        sys.executable,
        "-m",
        "rebalance_engine",
        "embedded",
        "--port",
        "0",
        "--brokers",
        "3",
        "--dir",
        f"{home}/store",
    ]
    with subprocess.Popen([*command, "--topic", "orders:8"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield next(told["namesrv"] for told in map(json.loads, process.stdout) if told["saw"] == "ready")
        finally:
            process.terminate()


@contextmanager
def _up(home: Path, place: tuple[str, ...]) -> Iterator[subprocess.Popen[str]]:
    """Start the control room on an empty home, and wait for its first page."""
    environment = {name: value for name, value in os.environ.items() if name not in {"REDIS_URL", "DATABASE_URL"}}
    environment |= {"EVENKEEL_HOME": str(home), "DJANGO_SETTINGS_MODULE": "dashboard.config.settings"}
    command = [sys.executable, str(ROOT / "manage.py"), "up", "--port", "0", *place]
    with (home.parent / "up.log").open("w+") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT, text=True)
        try:
            until = perf_counter() + STARTS_S
            while "open http://" not in Path(log.name).read_text():
                if process.poll() is not None or perf_counter() > until:
                    raise RuntimeError(
                        f"manage.py up opened no page within {STARTS_S} s: {Path(log.name).read_text()[-2_000:]}"
                    )
                sleep(0.2)
            yield process
        finally:
            process.terminate()
            process.wait(60)
