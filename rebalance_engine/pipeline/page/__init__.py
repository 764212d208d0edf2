"""A finished run as one HTML page that needs nothing besides: styles, charts and their JavaScript are in it."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files

from plotly.offline import get_plotlyjs  # type: ignore[import-untyped] # plotly has no types

from rebalance_engine.pipeline.page.charts import MOST_GROUPS, Figure, figures_of, goes_on, is_between
from rebalance_engine.pipeline.page.tables import sentence, tables_of
from rebalance_engine.pipeline.reports import Report, by_group, total
from rebalance_engine.pipeline.summary import found, missing
from rebalance_engine.pipeline.wording import Row, between, counted, has_unbounded, lasting, number, overlap

NOTE = (
    "Pauses are lower bounds unless a first pull was logged. Skew is the largest load over the mean one, weighted by"
    " time: 1.00 is even. Times are UTC. What no line tells is called unknown."
)
LINES = "A bar is what is known at least; the line beyond it ends at what it may be at most."
CUT = "A line with a ▶ at its end goes on beyond the chart; where it ends stands in the table Groups."


def page(report: Report) -> str:
    """Write the page; every text of a log is escaped."""
    figures = figures_of(report)
    tables = tables_of(report)
    titles = {name: title for name, (title, _) in figures.items()} | {name: title for name, title, _ in tables}
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>What rebalancing cost</title><style>{_file('page.css')}</style></head><body><main>",
        "<h1>What rebalancing cost</h1>",
        *_head(report),
        "<nav>" + " ".join(f"<a href='#{name}-'>{title}</a>" for name, title in titles.items()) + "</nav>",
        *(f"<h2 id='{name}-'>{title}</h2><div id='{name}'></div>{_left_out(report, name, figure)}"
          for name, (title, figure) in figures.items()),
        *(f"<h2 id='{name}-'>{title}</h2>{table}" for name, title, table in tables),
        "</main>",
        _drawn({name: figure for name, (_, figure) in figures.items()}) if figures else "",
        "</body></html>",
    ]  # fmt: skip
    return "\n".join(parts)


def _head(report: Report) -> list[str]:
    groups = by_group(report.costs)
    said, *silent = (escape(line) for line in found(report))
    days = sorted({str(row["day"]) for row in report.costs})
    of = f" {days[0]}." if len(days) == 1 else f" {days[0]} to {days[-1]}, {len(days)} days with any." if days else ""
    head = [f"<p>{said}{of}</p>", *(f"<p>{line}</p>" for line in silent)]
    return [*head, _facts(report) if groups else "", f"<p class='note'>{NOTE}</p>", _wrong(report)]


def _wrong(report: Report) -> str:
    """List what has no share in the figures; what stands below a sentence in a terminal is below it here too."""
    lines = [f"{counted(report.unparsed, 'line')} of text did not parse, kept in lines/"] if report.unparsed else []
    lines += missing(report)
    items = "".join(
        f"<li{' class=below' if line.startswith(' ') else ''}>{sentence(line.strip())}</li>" for line in lines
    )
    return f"<ul class='wrong'>{items}</ul>" if items else ""


def _facts(report: Report) -> str:
    groups = by_group(report.costs)
    names = ("pause_ms", "unowned_ms", "unowned_most_ms", "unowned_open_ms")
    paused, least, most, still = (total(groups, name) for name in names)
    both = {name: total(groups, name) for name in ("overlap_staying_ms", "overlap_least_ms", "unheard")}
    locked = total(groups, "pause_locked_ms")
    restarted = total(groups, "pause_restart_ms")
    waiting = f"; {lasting(restarted)} of it while groups had no member" if restarted else ""
    waiting += f"; {lasting(locked)} of it waiting for locks" if locked else ""
    deserted = total(groups, "deserted_ms")
    left = f"; and {lasting(deserted)} while groups were off, without any member" if deserted else ""
    told = [
        ("paused", lasting(paused), f"{'' if paused is None else 'at least, '}all queues together{waiting}"),
        (
            "unowned",
            between(least, most),
            (f"{lasting(still)} of it not taken since" if still else "until somebody took it") + left,
        ),
        ("two owners", overlap({**both, "overlap_stopping_ms": 0}), "both there to stay"),
        ("consumed twice", *_twice(groups)),
        ("worst group", escape(str(groups[0]["group"])), _worst(groups[0])),
    ]
    facts = (f"<div><dt>{name}</dt><dd>{value}<small>{more}</small></dd></div>" for name, value, more in told)
    return f"<dl class='facts'>{''.join(facts)}</dl>"


def _worst(group: Row) -> str:
    return f"paused {'' if group['pause_ms'] is None else 'at least '}{lasting(group['pause_ms'])}"


def _twice(groups: list[Row]) -> tuple[str, str]:
    """Say how many messages were consumed twice: at least, or else at most, of the handoffs that are bounded."""
    least, most = total(groups, "duplicates_least"), total(groups, "duplicates_most")
    if least:
        return f"{least:.0f}", "messages, at least"
    names = ("handoffs", "returns", "duplicates_unbounded")
    handoffs, back, unbounded = (number(total(groups, name)) for name in names)
    has_open, known = any(map(has_unbounded, groups)), handoffs + back - unbounded
    if most is None or (has_open and known <= 0):
        return "unknown", "messages"
    of = f"{known:.0f} of {counted(handoffs + back, 'handoff')}{' and returns' if back else ''}"
    return f"{most:.0f}", f"messages, at most{f', in {of}; else unknown' if has_open else ''}"


def _left_out(report: Report, name: str, figure: Figure) -> str:
    """Say what a chart does not draw, it has a bound; and what its lines mean."""
    groups = len(by_group(report.costs))
    said = [f"The {MOST_GROUPS} groups that paused longest, of {groups}."] if groups > MOST_GROUPS else []
    said += [LINES] if is_between(figure) else []
    said += [CUT] if goes_on(figure) else []
    if name == "handoffs" and len(report.handoffs) < report.handoff_count:
        said.append(f"The {len(report.handoffs)} longest of {report.handoff_count} handoffs.")
    if name == "handoffs" and any(row["pause_ms"] is None for row in report.handoffs):
        said.append("Handoffs whose pause is unknown are not drawn.")
    return f"<p class='note'>{' '.join(said)}</p>" if said else ""


def _drawn(figures: dict[str, object]) -> str:
    told = json.dumps(figures).replace("<", "\\u003c")  # no text of a log can end the script
    scripts = f"<script>{get_plotlyjs()}</script><script type='module'>{_file('page.js')}</script>"
    return f"<script type='application/json' id='figures'>{told}</script>{scripts}"


def _file(name: str) -> str:
    return (files(__package__) / name).read_text()
