"""What the benchmarks say: rows of figures, as a table for people and as JSON for programs."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[2] / "build" / "bench"


class AimKind(Enum):
    """What an aim compares."""

    AT_MOST = "at most"
    TIMES_FASTER = "times faster"
    WITHIN_TIMES = "times the peer's, at most"


@dataclass(frozen=True, slots=True)
class Aim:
    """What a figure should be."""

    kind: AimKind
    value: float

    def is_met(self, ours: float, theirs: float | None) -> bool:
        """Ask whether the figures are as good as they should be."""
        if self.kind is AimKind.AT_MOST:
            return ours <= self.value
        if theirs is None:
            raise ValueError(f"an aim of the kind {self.kind.value!r} needs a peer's figure, got none")
        if self.kind is AimKind.TIMES_FASTER:
            return theirs >= self.value * ours
        return ours <= self.value * theirs

    def text(self, unit: str) -> str:
        """Say the aim as the table does."""
        if self.kind is AimKind.AT_MOST:
            return f"<= {figure(self.value, unit)}"
        if self.kind is AimKind.TIMES_FASTER:
            return f">= {self.value:,g} x"
        return f"<= {self.value:g} x theirs"


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement.

    Attributes:
        what: what was done.
        size: queues/consumers.
        ours: the engine's figure, in ``unit``: seconds, bytes or moves.
        peer: who else did it, and
        theirs: its figure.
        note: what a reader must know to judge the row.
    """

    what: str
    size: str
    ours: float
    unit: str = "s"
    peer: str = ""
    theirs: float | None = None
    aim: Aim | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times better than the peer's the engine's figure is; None without a peer or a figure."""
        return None if self.theirs is None or not self.ours else self.theirs / self.ours

    @property
    def met(self) -> bool | None:
        """Whether the aim is met; None without one."""
        return None if self.aim is None else self.aim.is_met(self.ours, self.theirs)


def at_most(value: float) -> Aim:
    """Aim at a figure."""
    return Aim(AimKind.AT_MOST, value)


def times_faster(factor: float) -> Aim:
    """Aim at a fraction of the peer's figure."""
    return Aim(AimKind.TIMES_FASTER, factor)


def within_times(factor: float) -> Aim:
    """Aim at no more than a multiple of the peer's figure."""
    return Aim(AimKind.WITHIN_TIMES, factor)


HEADINGS = ("what", "queues/consumers", "ours", "peer", "theirs", "ratio", "aim", "met", "note")


def table(rows: Sequence[Row]) -> str:
    """Lay rows out as a Markdown table with aligned columns."""
    cells = [HEADINGS, *map(_cells, rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEADINGS))]
    lines = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in cells]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def _cells(row: Row) -> tuple[str, ...]:
    theirs = "" if row.theirs is None else figure(row.theirs, row.unit)
    ratio = "" if row.ratio is None else f"{row.ratio:,.4g}" if row.ratio < 1000 else f"{row.ratio:,.0f}"
    aim = row.aim.text(row.unit) if row.aim else ""
    met = {None: "", True: "yes", False: "NO"}[row.met]
    return row.what, row.size, figure(row.ours, row.unit), row.peer, theirs, ratio, aim, met, row.note


def figure(value: float, unit: str) -> str:
    """Write a figure with three digits that count."""
    if unit != "s":
        return f"{value:,.0f} {unit}" if value >= 100 or value == int(value) else f"{value:.1f} {unit}"
    for limit, factor, name in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if value < limit:
            return f"{value * factor:.3g} {name}"
    return f"{value:,.3g} s" if value < 1000 else f"{value:,.0f} s"


def short_size(queues: int, consumers: int) -> str:
    """Write a size as 100k/10k."""
    return f"{_short(queues)}/{_short(consumers)}"


def _short(count: int) -> str:
    for factor, letter in ((10**6, "M"), (10**3, "k")):
        if count >= factor and count % factor == 0:
            return f"{count // factor}{letter}"
    return str(count)


def write(name: str, rows: Sequence[Row], *, quick: bool) -> Path:
    """Write a benchmark's rows, and what they were measured on, to ``build/bench/NAME.json``."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.json"
    found = {"benchmark": name, "quick": quick, "machine": machine(), "rows": list(map(_as_data, rows))}
    path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    return path


def _as_data(row: Row) -> dict[str, object]:
    aim = row.aim and {"kind": row.aim.kind.value, "value": row.aim.value}
    return {**asdict(row), "aim": aim, "ratio": row.ratio, "met": row.met}


def machine() -> dict[str, object]:
    """Tell what matters of this machine, and nothing that names it."""
    return {
        "cores": os.cpu_count(),
        "processor": _processor(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "java": _java(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _java() -> str | None:
    try:
        said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError):
        return None
    return next((line for line in said.splitlines() if "version" in line), None)
