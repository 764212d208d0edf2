"""The charts of the page: what Plotly draws, as plain values; colours are roles of the page's style (``--none``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from math import log10
from typing import Any

from rebalance_engine.pipeline.reports import Report, by_group
from rebalance_engine.pipeline.wording import Row, between, lasting, overlap

MOST_GROUPS = 20
SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "star", "hexagon")
INKS = ("--paused", "--none", "--two", "--ink")
Figure = dict[str, Any]
FOOT_MS = 10  # of a logarithmic axis, which has no 0: what is less, or nothing, stands there
MAGNITUDES = (
    (FOOT_MS, "10 ms or less"), (100, "100 ms"), (1_000, "1 s"), (10_000, "10 s"), (60_000, "1 min"),
    (600_000, "10 min"), (3_600_000, "1 h"), (36_000_000, "10 h"), (360_000_000, "100 h"), (3_600_000_000, "1,000 h"),
)  # fmt: skip
GOES_ON = 4  # times the longest bar: a line that ends beyond is cut there, so that bars of all others can be seen
UNITS = ((7_200_000, 3_600_000, "hours"), (120_000, 60_000, "minutes"), (0, 1_000, "seconds"))


def figures_of(report: Report) -> dict[str, tuple[str, Figure]]:
    """Give heading and figure by name; those that would be empty are left out."""
    groups = by_group(report.costs)[:MOST_GROUPS]
    names = [str(row["group"]) for row in groups]
    found = {
        "costs": ("Costs by group", _costs(groups)),
        "handoffs": ("Pauses of handoffs", _handoffs(report.handoffs, names)),
        "skew": ("Skew by day", _skew(report.costs, names)),
    }
    return {name: (title, figure) for name, (title, figure) in found.items() if figure["traces"]}


def goes_on(figure: Figure) -> bool:
    """Say whether a line is cut at the end of the axis."""
    return any(trace.get("marker", {}).get("symbol") == "triangle-right" for trace in figure["traces"])


def is_between(figure: Figure) -> bool:
    """Say whether a bar has a line beyond it, from the lower bound to the upper one."""
    return any(any(trace.get("error_x", {}).get("array", ())) for trace in figure["traces"])


def _costs(groups: Sequence[Row]) -> Figure:
    told = [
        ("paused", "--paused", "", [_paused(row) for row in groups]),
        ("unowned until taken", "--none", "/", [_unowned(row) for row in groups]),
        ("two owners", "--two", "x", [_two_owners(row) for row in groups]),
    ]
    end_ms, is_cut = _end([bar for *_, bars in told for bar in bars])
    per_ms, unit = _unit(end_ms)
    names = [escape(str(row["group"])) for row in groups]
    traces = [_bars(label, ink, pattern, names, bars, per_ms, end_ms) for label, ink, pattern, bars in told]
    marks = [_marks(label, names, bars, per_ms, end_ms) for label, _, _, bars in told] if is_cut else []
    room: Figure = {"range": [0, end_ms / per_ms * 1.03]} if is_cut else {"rangemode": "tozero"}
    across = {"title": {"text": f"{unit}, all queues together"}, **room}
    up = {"type": "category", "autorange": "reversed", "automargin": True}
    layout = _layout(130 + 56 * len(groups), across, up) | {"barmode": "group", "bargap": 0.3}
    layout["scattermode"] = "group"  # a mark stands on the line of its bar
    return {"traces": [*traces, *(mark for mark in marks if mark["x"])] if end_ms else [], "layout": layout}


def _end(bars: Sequence[_Bar]) -> tuple[float, bool]:
    """Give the ms to which the axis reaches, and whether a line goes on beyond it: an open bound may be of days."""
    least = max((bar.least or 0 for bar in bars), default=0)
    most = max((bar.most or 0 for bar in bars), default=0)
    is_cut = 0 < GOES_ON * least < most
    return (GOES_ON * least, True) if is_cut else (max(least, most), False)


def _marks(label: str, names: list[str], bars: Sequence[_Bar], per_ms: int, end_ms: float) -> Figure:
    """Mark the lines that are cut at the end of the axis, although they go on."""
    cut = [(name, bar) for name, bar in zip(names, bars, strict=True) if (bar.most or 0) > end_ms]
    return {
        "type": "scatter",
        "mode": "markers",
        "orientation": "h",
        "offsetgroup": label,
        "alignmentgroup": "costs",
        "showlegend": False,
        "cliponaxis": False,
        "y": [name for name, _ in cut],
        "x": [end_ms / per_ms for _ in cut],
        "marker": {"symbol": "triangle-right", "size": 11, "color": "--ink"},
        "customdata": [bar.said for _, bar in cut],
        "hovertemplate": f"%{{y}}: {label} %{{customdata}}, beyond this chart<extra></extra>",
    }


def _bars(
    label: str, ink: str, pattern: str, names: list[str], bars: Sequence[_Bar], per_ms: int, end_ms: float
) -> Figure:
    """Draw what is known at least as a bar, and a line from its end to what it is at most, or to the axis's end."""
    beyond = [max(0.0, min(bar.most or 0, end_ms) - (bar.least or 0)) / per_ms for bar in bars]
    bounds = ["at least"] * any(bar.is_least for bar in bars) + ["line: at most"] * any(beyond)
    return {
        "type": "bar",
        "orientation": "h",
        "offsetgroup": label,
        "alignmentgroup": "costs",
        "name": f"{label} ({'; '.join(bounds)})" if bounds else label,
        "y": names,
        "x": [_in(bar.least, per_ms) for bar in bars],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": beyond,
            "arrayminus": [0] * len(bars),
            "visible": any(beyond),
            "color": "--ink",
            "thickness": 1.5,
            "width": 4,
        },
        "marker": {
            "color": ink,
            "pattern": {"shape": pattern, "fillmode": "overlay", "fgcolor": "--paper", "solidity": 0.2},
        },
        "customdata": [bar.said for bar in bars],
        "hovertemplate": f"%{{y}}: {label} %{{customdata}}<extra></extra>",
    }


@dataclass(frozen=True, slots=True)
class _Bar:
    """A duration between two bounds in ms: ``least`` is None where it is unknown, ``most`` where nothing bounds it."""

    least: float | None
    most: float | None
    said: str

    @property
    def is_least(self) -> bool:
        return self.least is not None and self.most is None


def _paused(row: Row) -> _Bar:
    least = _in(row["pause_ms"], 1)
    return _Bar(least, None, lasting(least) if least is None else f"at least {lasting(least)}")


def _unowned(row: Row) -> _Bar:
    """Give for how long queues had no owner until somebody took them, without what had not ended with the input."""
    least, still = _in(row["unowned_ms"], 1), _number(row["unowned_open_ms"])
    if least is None:
        return _Bar(None, None, lasting(None))
    least, most = max(0.0, least - still), max(least, _number(row["unowned_most_ms"])) - still
    return _Bar(least, max(least, most), between(least, most))


def _two_owners(row: Row) -> _Bar:
    """Give for how long queues had two owners that were both there to stay."""
    most = _in(row["overlap_staying_ms"], 1)
    least = most if row["overlap_least_ms"] is None else _number(row["overlap_least_ms"])
    said = overlap({**row, "overlap_stopping_ms": 0})
    return _Bar(least or None, None, said) if row["unheard"] else _Bar(least, most, said)


def _handoffs(handoffs: Sequence[Row], names: Sequence[str]) -> Figure:
    known = [row for row in handoffs if isinstance(row["pause_ms"], int | float)]
    longest = max((_number(row["pause_ms"]) for row in known), default=0)
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": escape(group),
            "x": [_instant(row["taken_ms"]) for row in rows],
            "y": [max(FOOT_MS, _number(row["pause_ms"])) for row in rows],
            "text": [_named(row) for row in rows],
            "customdata": [lasting(row["pause_ms"]) for row in rows],
            "hovertemplate": "%{text}<br>%{x} UTC: %{customdata}<extra></extra>",
            "marker": {"color": INKS[n % len(INKS)], "symbol": SYMBOLS[n % len(SYMBOLS)], "size": 8},
        }
        for n, (group, rows) in enumerate(_grouped(known, names))
    ]
    across, up = (
        {"type": "date", "automargin": True},
        {
            "title": {"text": "pause (logarithmic)", "standoff": 8},  # else labels run into it
            "type": "log",
            "range": [log10(FOOT_MS * 0.7), log10(_mark_above(longest) * 1.2)],
            "tickvals": [at_ms for at_ms, _ in MAGNITUDES],
            "ticktext": [said for _, said in MAGNITUDES],
            "automargin": True,
        },
    )
    return {"traces": traces, "layout": _layout(380, across, up)}


def _mark_above(longest_ms: float) -> float:
    return next((at_ms for at_ms, _ in MAGNITUDES if at_ms >= max(longest_ms, 1_000)), longest_ms)


def _skew(costs: Sequence[Row], names: Sequence[str]) -> Figure:
    days = sorted({str(row["day"]) for row in costs})
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": escape(group),
            "x": [str(row["day"]) for row in rows],
            "y": [row["max_over_mean"] for row in rows],
            "line": {"color": INKS[n % len(INKS)]},
            "marker": {"symbol": SYMBOLS[n % len(SYMBOLS)], "size": 8},
            "hovertemplate": "%{x}: %{y:.2f}<extra></extra>",
        }
        for n, (group, rows) in enumerate(_grouped(sorted(costs, key=lambda row: str(row["day"])), names))
    ]
    across, up = (
        {"type": "category", "categoryorder": "array", "categoryarray": days, "automargin": True},
        {"title": {"text": "largest load over mean load", "standoff": 8}, "rangemode": "tozero", "automargin": True},
    )
    return {"traces": traces if len(days) > 1 else [], "layout": _layout(380, across, up)}


def _layout(height: int, xaxis: Figure, yaxis: Figure) -> Figure:
    lines = {"gridcolor": "--line", "zerolinecolor": "--line", "linecolor": "--line"}
    return {
        "height": height,
        "margin": {"l": 50, "r": 10, "t": 30, "b": 40},
        "paper_bgcolor": "--paper",
        "plot_bgcolor": "--paper",
        "font": {"family": "--sans", "color": "--ink", "size": 12},
        "hoverlabel": {"bgcolor": "--sunk", "bordercolor": "--line", "font": {"color": "--ink"}},
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "xaxis": {**lines, **xaxis},
        "yaxis": {**lines, **yaxis},
    }


def _grouped(rows: Sequence[Row], names: Sequence[str]) -> list[tuple[str, list[Row]]]:
    groups: dict[str, list[Row]] = {name: [] for name in names}
    for row in rows:
        if str(row["group"]) in groups:
            groups[str(row["group"])].append(row)
    return [(name, found) for name, found in groups.items() if found]


def _named(row: Row) -> str:
    said = f"{row['topic']} {row['broker']} {row['queue_id']}, from {row['from_client']} to {row['to_client']}"
    return escape(said)  # Plotly reads texts as HTML


def _instant(value: object) -> str:
    return datetime.fromtimestamp(_number(value) / 1000, UTC).isoformat(timespec="milliseconds").partition("+")[0]


def _unit(longest_ms: float) -> tuple[int, str]:
    return next((per_ms, unit) for least, per_ms, unit in UNITS if longest_ms >= least)


def _in(value: object, per_ms: int) -> float | None:
    return value / per_ms if isinstance(value, int | float) else None


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
