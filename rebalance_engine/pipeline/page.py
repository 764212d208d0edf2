"""A finished run as one HTML page that needs nothing besides: styles, charts and their JavaScript are in it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go  # type: ignore[import-untyped] # plotly has no types
from plotly.offline import get_plotlyjs  # type: ignore[import-untyped] # plotly has no types

from rebalance_engine.pipeline.reports import (
    NO_HOLDS,
    NOBODY_LOOKED,
    Report,
    Row,
    avoided,
    by_group,
    minutes,
    missing,
    moment,
    overlap,
    twice,
    unheard,
    unowned,
)

MOST_ROWS = 50
NOTE = "Pauses are lower bounds unless a first pull was logged. Times are UTC. What no line tells is called unknown."
COSTS = (("paused", "pause_ms"), ("unowned", "unowned_ms"), ("two owners", "overlap_staying_ms"))
STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1c2530;background:#fff}
h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2.2rem}table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #d8dee6;vertical-align:top}
th{font-weight:600}p.note{color:#546172}
"""


def page(report: Report) -> str:
    """Write the page; every text of a log is escaped."""
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>What rebalancing cost</title><style>{STYLE}</style><script>{get_plotlyjs()}</script></head><body>",
        "<h1>What rebalancing cost</h1>",
        f"<p>{_counted(report)}</p>",
        f"<p class='note'>{NOTE}</p>",
        _unparsed(report),
        *(f"<p>{escape(line)}</p>" for line in missing(report)),
        *_charts(report),
        *_tables(report),
        "</body></html>",
    ]
    return "\n".join(parts)


def _counted(report: Report) -> str:
    groups = by_group(report.costs)
    if not groups and not report.would_tell("holds"):
        return NO_HOLDS
    return f"{len(groups)} groups, {len(report.rounds)} rounds, {len(report.handoffs)} handoffs."


def _unparsed(report: Report) -> str:
    return f"<p>{report.unparsed} lines of text did not parse; they are kept.</p>" if report.unparsed else ""


def _charts(report: Report) -> list[str]:
    groups = by_group(report.costs)[:20]
    names = [str(row["group"]) for row in groups]
    costs = go.Figure(
        [go.Bar(name=label, x=names, y=[_seconds(row[column]) for row in groups]) for label, column in COSTS]
    )
    costs.update_layout(barmode="group", yaxis_title="seconds, all queues together")
    handoffs = go.Figure(
        [
            go.Scatter(
                name=group,
                mode="markers",
                x=[moment(row["taken_ms"]).removesuffix(" UTC") for row in rows],
                y=[_seconds(row["pause_ms"]) for row in rows],
                text=[f"{row['topic']} {row['broker']} {row['queue_id']}" for row in rows],
            )
            for group, rows in _grouped(report.handoffs, names)
        ]
    )
    handoffs.update_layout(yaxis_title="pause of one handoff, seconds")
    skew = go.Figure(
        [
            go.Scatter(name=group, x=[str(row["day"]) for row in rows], y=[row["max_over_mean"] for row in rows])
            for group, rows in _grouped(sorted(report.costs, key=lambda row: str(row["day"])), names)
        ]
    )
    skew.update_layout(yaxis_title="largest load over mean load")
    charts = (("Costs by group", costs), ("Handoffs", handoffs), ("Skew by day", skew))
    return [f"<h2>{title}</h2>{_drawn(figure, f'chart-{n}')}" for n, (title, figure) in enumerate(charts)]


def _drawn(figure: go.Figure, name: str) -> str:
    figure.update_layout(height=380, margin={"l": 60, "r": 20, "t": 20, "b": 60}, showlegend=True)
    drawn: str = figure.to_html(full_html=False, include_plotlyjs=False, div_id=name)
    return drawn


def _seconds(value: object) -> float | None:
    return value / 1000 if isinstance(value, int | float) else None


def _grouped(rows: Sequence[Row], names: Sequence[str]) -> list[tuple[str, list[Row]]]:
    return [(name, [row for row in rows if row["group"] == name]) for name in names]


def _tables(report: Report) -> list[str]:
    groups: list[tuple[object, ...]] = [
        (row["group"], row["rounds"], row["handoffs"], minutes(row["pause_ms"]), unowned(row), overlap(row),
         twice(row), row["above_fewest"], row["flaps"], row["refused_pulls"], unheard(row))
        for row in by_group(report.costs)
    ]  # fmt: skip
    storms: list[tuple[object, ...]] = [
        (moment(r["at_ms"]), r["group"], r["rounds"], r["starter"], r["cause"], minutes(r["pause_ms"]))
        for r in report.storms
    ]
    waves: list[tuple[object, ...]] = [
        (moment(r["at_ms"]), r["group"], _names(r["left"]), _names(r["joined"]), r["handoffs"], minutes(r["pause_ms"]))
        for r in report.waves
    ]
    brokers: list[tuple[object, ...]] = [
        (
            r["day"],
            r["broker"],
            minutes(r["isolated_ms"]),
            r["isolated_share"],
            r["resent"],
            minutes(r["failed_slowest_ms"]),
            minutes(r["failed_mean_ms"]),
            minutes(r["went_well_slowest_ms"]),
        )
        for r in avoided(report.brokers)
    ]
    spikes: list[tuple[object, ...]] = [
        (moment(r["at_ms"]), r["group"], r["before_per_s"], r["peak_per_s"], r["factor"], minutes(r["recovered_ms"]))
        for r in report.spikes
    ]
    tested: list[tuple[object, ...]] = [
        (r["group"], r["strategy"], r["handoffs"], minutes(r["pause_ms"]), r["mean_skew"], r["idle"], r["says"])
        for r in report.backtest
    ]
    beats: list[tuple[object, ...]] = [(r["day"], r["host"], r["failed"], r["expired"]) for r in report.heartbeats]
    by_title = {"Groups": groups, "Storms": storms, "Deploys": waves, "Bursts after rounds": spikes}
    by_title |= {"Brokers that producers backed away from": brokers, "Heartbeats lost": beats, "Back-test": tested}
    return [_table(title, HEADS[title], rows, _none(report, title)) for title, rows in by_title.items()]


def _none(report: Report, title: str) -> str:
    """Say why a table is empty: there was none, or nobody looked."""
    if title == "Back-test":
        return "It was not run, or no group has a record that could be replayed."
    what = TOLD_BY[title]
    return "None was seen." if report.would_tell(*what) else f"Unknown: {NOBODY_LOOKED[what]}."


TOLD_BY = {
    "Groups": ("holds",),
    "Storms": ("holds",),
    "Deploys": ("holds",),
    "Bursts after rounds": ("offsets",),
    "Brokers that producers backed away from": ("sends", "isolations"),
    "Heartbeats lost": ("heartbeats", "expiries"),
}


HEADS = {
    "Groups": "group,rounds,handoffs,paused (at least),unowned,two owners,consumed twice,moves above the fewest,"
    "back and forth,refused pulls,members unknown",
    "Storms": "when,group,rounds,begun by,cause,paused",
    "Deploys": "when,group,gone,come,handoffs,paused",
    "Bursts after rounds": "when,group,messages/s before,highest,times,over after",
    "Brokers that producers backed away from": "day,broker,isolated,share of the time,sends that failed,"
    "slowest of these,mean of these,slowest that went well",
    "Heartbeats lost": "day,host,failed,expired at a broker",
    "Back-test": "group,strategy,handoffs,paused,skew,idle members,verdict",
}


def _names(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else ""


def _table(title: str, heads: str, rows: Sequence[Sequence[object]], none: str) -> str:
    if not rows:
        return f"<h2>{title}</h2><p>{none}</p>"
    head = "".join(f"<th>{escape(name)}</th>" for name in heads.split(","))
    body = "".join(f"<tr>{''.join(f'<td>{escape(_said(cell))}</td>' for cell in row)}</tr>" for row in rows[:MOST_ROWS])
    more = f"<p class='note'>{len(rows) - MOST_ROWS} more are in the tables.</p>" if len(rows) > MOST_ROWS else ""
    return f"<h2>{title}</h2><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _said(value: object) -> str:
    if value is None:
        return "unknown"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
