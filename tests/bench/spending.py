"""What a process and everything that it started has used: processor time, and the most memory. From ``/proc``."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")
PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1_048_576
LOOK_EVERY_S = 0.5
ALIKE = 0.01  # of a process's memory


class Process(NamedTuple):
    """One process as it is seen: seconds of a processor, memory in MB, and the size of all that it has mapped."""

    parent: int
    cpu_s: float
    memory_mb: float
    mapped: int


@dataclass
class Spent:
    """Seconds by the clock, processor seconds, and the most memory at any look, in MB; of all processes together."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_mb: float = 0.0
    below: int = field(default_factory=os.getpid)
    _by_process: dict[int, float] = field(default_factory=dict)

    def look(self) -> None:
        """Take in what is used now; what has ended since counts with what it had used at the last look."""
        used = _descendants(self.below)
        self._by_process |= {pid: cpu for pid, (cpu, _) in used.items()}
        self.cpu_s = sum(self._by_process.values())
        self.peak_mb = max(self.peak_mb, sum(memory for _, memory in used.values()))


@contextmanager
def spending(below: int | None = None) -> Iterator[Spent]:
    """Measure what this process, or another, and all below it use while the block runs."""
    spent, begun, ended = Spent(below=below or os.getpid()), perf_counter(), threading.Event()
    before = {pid: cpu for pid, (cpu, _) in _descendants(spent.below).items()}

    def watch() -> None:
        while not ended.wait(LOOK_EVERY_S):
            spent.look()

    watching = threading.Thread(target=watch, name="spending")
    watching.start()
    try:
        yield spent
    finally:
        ended.set()
        watching.join()
        spent.look()
        spent.wall_s = perf_counter() - begun
        spent.cpu_s -= sum(before.values())


def _descendants(root: int) -> dict[int, tuple[float, float]]:
    """Give processor seconds and MB of a process and all below it."""
    there = {}
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (place / "stat").read_text().rpartition(")")[2].split()
            cpu_s = (int(words[11]) + int(words[12])) / TICKS
            there[int(place.name)] = Process(int(words[1]), cpu_s, int(words[21]) * PAGE_MB, int(words[20]))
    return used_by(root, there)


def used_by(root: int, there: Mapping[int, Process]) -> dict[int, tuple[float, float]]:
    """Choose a process and all below it.

    A process that is just being started shows its parent's memory until it runs its own program: Spark starts a
    ``chmod`` for each file that it writes, and a look that meets one would count a whole virtual machine twice.
    """
    children = defaultdict(list)
    for pid, process in there.items():
        children[process.parent].append(pid)
    found, waiting = {}, [root]
    while waiting:
        pid = waiting.pop()
        waiting += children[pid]
        if pid in there:
            mine, parent = there[pid], there.get(there[pid].parent)
            is_shown_twice = pid != root and parent is not None and _are_alike(mine, parent)
            found[pid] = (mine.cpu_s, 0.0 if is_shown_twice else mine.memory_mb)
    return found


def _are_alike(one: Process, other: Process) -> bool:
    return all(
        abs(mine - theirs) <= ALIKE * theirs
        for mine, theirs in ((one.memory_mb, other.memory_mb), (one.mapped, other.mapped))
    )
