"""The tables of the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from rebalance_engine.pipeline.reports import Report, avoided, bursts, by_group, storms_of
from rebalance_engine.pipeline.summary import NOBODY_LOOKED, NONE_REPLAYED, unknown_in, without_owners
from rebalance_engine.pipeline.wording import (
    Row,
    above_fewest,
    at_least,
    counted,
    idle,
    lasting,
    left_out,
    moment,
    number,
    off,
    overlap,
    paused,
    recovered,
    rounds,
    share_left_out,
    silent,
    skew,
    twice,
    unowned,
    went_well,
)

MOST_ROWS = 50
LONG = 24  # characters, beyond which a column needs more room than others
WORD = 10  # characters of one word: a longer one, as a group's name, would be broken in the room of others
OPTION, WHOLE = re.compile(r"--[a-z]+"), r"<span class='option'>\g<0></span>"  # a line may break after its hyphens


def tables_of(report: Report) -> list[tuple[str, str, str]]:
    """Give name, heading and table of each; one without rows says why."""
    rows = by_group(report.costs)
    groups: list[tuple[object, ...]] = [
        (row["group"], at_least(row, "handoffs"), paused(row), unowned(row), off(row), overlap(row), twice(row),
         _some(row["unheard"]), _some(row["disputes"]), _some(row["clocks_apart"]))
        for row in rows
    ]  # fmt: skip
    moves: list[tuple[object, ...]] = [
        (row["group"], rounds(row), above_fewest(row), at_least(row, "flaps"), _returns(row),
         row["refused_pulls"], silent(row), skew(row), idle(row), _lost(row))
        for row in rows
    ]  # fmt: skip
    storms: list[tuple[object, ...]] = [
        (moment(r["at_ms"]), r["group"], r["rounds"], r["starter"], r["cause"], lasting(r["pause_ms"]))
        for r in storms_of(report)
    ]
    waves: list[tuple[object, ...]] = [
        (moment(r["at_ms"]), r["group"], _names(r["left"]), _names(r["joined"]), r["handoffs"], paused(r))
        for r in report.waves
    ]
    brokers: list[tuple[object, ...]] = [
        (
            r["day"],
            r["broker"],
            left_out(r),
            share_left_out(r),
            r["resent"],
            *(lasting(r[f"failed_{which}_ms"]) if r["resent"] else "" for which in ("slowest", "mean")),
            went_well(r),
        )
        for r in avoided(report.brokers)
    ]
    spikes: list[tuple[object, ...]] = [
        (moment(r["at_ms"]), r["group"], r["before_per_s"], r["peak_per_s"], r["factor"], recovered(r))
        for r in bursts(report.spikes)
    ]
    tested: list[tuple[object, ...]] = [
        (r["group"], r["strategy"], r["handoffs"], lasting(r["pause_ms"]), r["mean_skew"], r["idle"], r["says"] or "")
        for r in report.backtest
    ]
    doubles: list[tuple[object, ...]] = [
        (moment(r["at_ms"]), r["group"], r["client"], _names(r["processes"]), r["queues"], lasting(r["twice_ms"]))
        for r in report.doubles
    ]
    beats: list[tuple[object, ...]] = [(r["day"], r["host"], r["failed"], r["expired"]) for r in report.heartbeats]
    by_title: dict[str, Sequence[tuple[object, ...]]] = {"Groups": groups} | (
        {ALL_HAVE: without_owners(report)} if report.models else {}
    )
    by_title |= {MOVES: moves} if moves else {}
    by_title |= {USED_TWICE: doubles} if doubles else {}
    by_title |= {"Storms": storms, "Deploys": waves, "Bursts after rounds": spikes}
    by_title |= {"Brokers that producers backed away from": brokers, "Heartbeats lost": beats, TESTED: tested}
    return [
        (
            title.split()[0].lower(),
            title,
            _table(title, rows, _none(report, title)) + (_missing(report, title) if rows or title == TESTED else ""),
        )
        for title, rows in by_title.items()
    ]


def _none(report: Report, title: str) -> str:
    """Say why a table is empty: there was none, or nobody looked."""
    if title == TESTED:
        return NONE_REPLAYED if report.untested != report.clusters else sentence(never_run(report.folder))
    what = TOLD_BY[title]
    if report.silent_on(*what) == report.clusters:
        return f"Unknown: {NOBODY_LOOKED[what]}."
    if title == BURSTS and report.round_count and not report.spikes:
        return "Unknown: no round has whole minutes with offsets before and after it."
    silent = unknown_in(report, *what)
    if title == BURSTS and len(report.spikes) < report.round_count:
        looked_at = f"None was seen after {len(report.spikes)} of {counted(report.round_count, 'round')}"
        more = "; the others have no whole minutes with offsets before and after them"
        return f"{looked_at}{more}{'; ' if silent else ''}{escape(silent)}."
    return f"None was seen{'; ' if silent else ''}{escape(silent)}."


def _missing(report: Report, title: str) -> str:
    """Say below a table of which clusters it has no rows because nobody would have told them, or older ones."""
    if title == TESTED:
        return "".join(f"<p class='note'>{sentence(said[0].upper() + said[1:])}.</p>" for said in report.outdated)
    silent = unknown_in(report, *TOLD_BY[title]) if title in TOLD_BY else ""
    return f"<p class='note'>{escape(silent[0].upper() + silent[1:])}.</p>" if silent else ""


def sentence(text: str) -> str:
    """Escape a sentence, and keep a command's options whole."""
    return OPTION.sub(WHOLE, escape(text))


def never_run(folder: Path) -> str:
    """Say that there is no back-test yet, what it would tell, and how to run it."""
    how = f"python -m rebalance_engine.pipeline backtest --in {folder} --out {folder}"
    return f"No back-test was run yet. It tells which strategy would have moved fewer queues. To run it: {how}"


ALL_HAVE, BURSTS, TESTED = "Broadcasting and POP groups", "Bursts after rounds", "Back-test"
MOVES = "Moves and loads of groups"
USED_TWICE = "Client ids used twice"
NOTES = {  # of columns: what is said below a table that has them
    "rounds": "Rounds: about so many, where members are unknown, clocks differ, or no log tells for a time which queues"
    " a topic had.",
    "back and forth": "Back and forth: a queue that came from a member goes back to it within a minute.",
    "returns": "Return: a queue goes back to the member that had let it go.",
    "counted differently": "Counted differently: so often two members divided queues by different numbers of members at"
    " one time; brokers gave them different lists.",
    "hosts whose clocks differ": "Where clocks of its members' hosts differ, a group's counts and loads are in doubt.",
    "locks lost": "Locks lost: for so long members held queues whose locks they had lost.",
    "strategy": "As held is what happened. Every other row is what that strategy, also the one in use, would have done"
    " at the same changes of members and queues. Paused (estimate): the handoffs times the mean pause of those that"
    " happened. So it is not what paused (at least) is elsewhere on this page: the sum of the pauses that logs tell.",
}
TOLD_BY = {
    ALL_HAVE: ("holds",),
    "Groups": ("holds",),
    MOVES: ("holds",),
    USED_TWICE: ("holds",),
    "Storms": ("holds",),
    "Deploys": ("holds",),
    "Bursts after rounds": ("offsets",),
    "Brokers that producers backed away from": ("sends", "isolations"),
    "Heartbeats lost": ("heartbeats", "expiries"),
}


HEADS = {
    "Groups": "group,handoffs,paused (at least),unowned,off (no member),two owners,consumed twice,members unknown,"
    "counted differently,hosts whose clocks differ",
    MOVES: "group,rounds,moves above the fewest,back and forth,returns,refused pulls,not consumed while handed over,"
    "skew,members idle,locks lost",
    ALL_HAVE: "group,whose queues have no owners",
    USED_TWICE: "since,group,client id,processes,queues held by both,all together",
    "Storms": "when,group,rounds,begun by,cause,paused (at least)",
    "Deploys": "when,group,gone,come,handoffs,paused (at least)",
    "Bursts after rounds": "when,group,messages/s before,highest,times,over after",
    "Brokers that producers backed away from": "day,broker,isolated,share of the time,sends that failed,"
    "slowest of these,mean of these,slowest that went well",
    "Heartbeats lost": "day,host,failed,expired at a broker",
    TESTED: "group,strategy,handoffs,paused (estimate),skew,idle members,verdict",
}


def _some(count: object) -> int | str:
    """Give a count, where there is anything to count."""
    return int(number(count)) or ""


def _returns(row: Row) -> object:
    return at_least(row, "returns") if row["returns"] else ""


def _lost(row: Row) -> str:
    return lasting(row["lock_lost_ms"]) if row.get("lock_lost_ms") else ""


def _names(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else ""


def _table(title: str, rows: Sequence[Sequence[object]], none: str) -> str:
    if not rows:
        return f"<p>{none}</p>"
    heads = HEADS[title]
    columns = [
        (name, _kind(column), column)
        for name, column in zip(heads.split(","), zip(*rows, strict=True), strict=True)
        if any(cell != "" for cell in column)  # what is said of no row takes the others' room
    ]
    head = "".join(f"<th{kind}>{escape(name)}</th>" for name, kind, _ in columns)
    lines = zip(
        *([_cell(cell, name, kind) for cell in cells[:MOST_ROWS]] for name, kind, cells in columns), strict=True
    )
    body = "".join(f"<tr>{''.join(line)}</tr>" for line in lines)
    said = [f"{len(rows) - MOST_ROWS} more are in the tables."] if len(rows) > MOST_ROWS else []
    said += [NOTES[name] for name, *_ in columns if name in NOTES]
    more = f"<p class='note'>{' '.join(said)}</p>" if said else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div class='scroll' role='region' aria-label='{escape(title)}' tabindex='0'>{table}</div>{more}"


def _cell(value: object, name: str, kind: str) -> str:
    """Write a cell, which has its column's name: where there is no room for a table, each is a line by itself."""
    said = f"{value:.2f}" if isinstance(value, float) else str(value)
    told = "<span class='unknown'>unknown</span>" if value is None else escape(said)
    when = " class='when'" if said.endswith(" UTC") else ""
    return f"<td{kind or when} data-name='{escape(name)}'>{told}</td>"


def _kind(column: Sequence[object]) -> str:
    if all(isinstance(cell, int | float) or cell in (None, "") for cell in column):
        return " class='number'"
    is_long = any(len(text) > LONG or max(map(len, text.split()), default=0) > WORD for text in map(str, column))
    return " class='long'" if is_long else ""
