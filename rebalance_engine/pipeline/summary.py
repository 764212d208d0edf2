"""What matters most of a finished run, in lines for a terminal; its sentences are on the page too. Plain Python."""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_engine.harmless import harmless
from rebalance_engine.pipeline.reports import Report, avoided, by_group, storms_of
from rebalance_engine.pipeline.sources import COPY, EMPTY
from rebalance_engine.pipeline.templates import BROADCASTING, POP
from rebalance_engine.pipeline.wording import (
    Row,
    ahead,
    broken,
    clocks_apart,
    counted,
    disputes,
    fitted,
    handed_over,
    idle,
    in_all,
    lasting,
    left_out,
    missed,
    moment,
    number,
    off,
    overlap,
    paused,
    rounds_in_doubt,
    routes_unknown,
    share_left_out,
    silent,
    skew,
    twice,
    unheard,
    unowned,
    went_well,
    width_of,
)

WORST = 10
MOST_NAMED = 5  # groups of a host, in its line
NAME = 40  # columns for a group's, at most
COLUMNS = 100


def summary(report: Report) -> str:
    """Tell what matters most, for a terminal of 100 columns, which obeys nothing of it."""
    groups = by_group(report.costs)
    lines = found(report)
    if report.unparsed:
        lines.append(f"{counted(report.unparsed, 'line')} of text did not parse, kept in lines/")
    lines += missing(report)
    if groups:
        lines += ["", "Groups by pause:"]
    column = max((width_of(_short(row["group"])) for row in groups[:WORST]), default=0)
    lines += [line for row in groups[:WORST] for line in _group_lines(row, column)]
    lines += _more(groups)
    if report.models:
        lines += ["", "Groups whose queues have no owners:"]
    lines += [f"  {_name(group)} {said}" for group, said in without_owners(report)]
    if report.doubles:
        lines += ["", "Client ids that two processes used at once:"]
    lines += [f"  {said}" for said in used_twice(report)[:WORST]] + _more(report.doubles)
    storms = storms_of(report)
    lines += ["", f"Storms: {how_many(report, storms, 'holds')}"]
    lines += [_storm_line(row) for row in storms[:WORST]] + _more(storms)
    slow = avoided(report.brokers)
    lines += ["", f"Brokers that producers backed away from: {how_many(report, slow, 'sends', 'isolations')}"]
    lines += [_broker_line(row) for row in slow[:WORST]] + _more(slow)
    told = [one for line in lines for one in _broken(harmless(line))]
    if report.backtest or report.outdated:
        older = [line for said in report.outdated for line in _broken(harmless(f"{said[0].upper()}{said[1:]}"))]
        told += ["", advice(report.backtest), *older]
    return "\n".join(told)


def _more(rows: Sequence[object]) -> list[str]:
    """Say how many there are of which nothing is said."""
    return [f"  and {len(rows) - WORST} more"] if len(rows) > WORST else []


def _broken(line: str) -> list[str]:
    return broken(line, width=COLUMNS, indent=len(line) - len(line.lstrip()) + 4)


def found(report: Report) -> list[str]:
    """Say in sentences how many groups, rounds and handoffs there were, and of which clusters nobody tells it."""
    unheard_in = report.silent_on("holds")
    if unheard_in == report.clusters and not report.costs:
        return [NO_HOLDS]
    more = [f"In cluster {', '.join(unheard_in)}: {NO_HOLDS}"] if unheard_in and len(report.clusters) > 1 else []
    return [f"{_counted(report)}.", *more]


def _counted(report: Report) -> str:
    in_doubt: Row = {"clocks_apart": len(report.clocks) if report.costs else 0}  # some may never have been: no bound
    lost: Row = max(
        (rounds_in_doubt(row) for row in (*report.costs, in_doubt)), key=lambda row: number(row["clocks_apart"])
    )
    rounds, handoffs = in_all(report.round_count, "round", lost), in_all(report.handoff_count, "handoff", in_doubt)
    if not in_doubt["clocks_apart"] and any(row.get("unheard") for row in report.costs):
        handoffs = f"at least {handoffs}" if report.handoff_count else "perhaps no handoffs"
    told = ", ".join((counted(len(by_group(report.costs)), "group"), rounds, handoffs))
    more = counted(len({row["group"] for row in report.models}), "group") if report.models else ""
    return f"{told}{f'; {more} whose queues have no owners' if more else ''}"


def without_owners(report: Report) -> list[tuple[str, str]]:
    """Name the groups of whose queues no owner is told, and say why."""
    told = {(str(row["group"]), str(row["model"])) for row in report.models}
    return [(group, NO_OWNERS[model]) for group, model in sorted(told)]


NO_OWNERS = {
    BROADCASTING: "broadcasting: every member holds every queue, so none is handed over or missed",
    POP: "POP: brokers hand messages out of its queues to whoever asks, so no member owns one",
}


def missing(report: Report) -> list[str]:
    """Name what has no share in the figures: clusters whose run goes on, files with a trouble, refused hosts."""
    told = sorted(report.troubles.items(), key=lambda one: (one[1] == EMPTY, one))
    wrong = [(path, trouble) for path, trouble in told if not trouble.startswith(COPY)]
    copies = [(path, f"a copy of {trouble.removeprefix(COPY)}") for path, trouble in told if trouble.startswith(COPY)]
    files = _files(f"{counted(len(wrong), 'file')} {'was' if len(wrong) == 1 else 'were'} read in part, or not:", wrong)
    are = "is a copy of another, and was" if len(copies) == 1 else "are copies of others, and were"
    doubled = _files(f"{counted(len(copies), 'file')} {are} left out on purpose:", copies)
    left_out = [f"left out: {sentence}" for sentence in report.unfinished]
    apart = [
        *never_proved(report),
        *differing_clocks(report),
        *lacking(report),
        *holes_of_clients(report),
        *not_told_apart(report),
    ]
    return [*left_out, *files, *report.refused, *apart, *doubled]


def _files(sentence: str, told: Sequence[tuple[str, str]]) -> list[str]:
    named = [f"  {path}: {what}" for path, what in told[:WORST]]
    return [sentence, *named, *_more(told)] if told else []


def never_proved(report: Report) -> list[str]:
    """Name the hosts whose logs are of a kind of which no real ones were there to try how they are read."""
    groups: dict[object, set[str]] = {}
    for row in report.unproved:
        groups.setdefault(row["host"], set()).add(_short(row["group"]))
    told = [
        f"  {_short(host)} ({layout}){_few(sorted(groups.get(host, ())))}"
        for layout, hosts in report.unverified.items()
        for host in hosts
    ]
    return [NEVER_PROVED, *told[:WORST], *_more(told)] if told else []


def _few(groups: Sequence[str]) -> str:
    """Name the groups that a host has members of, as far as there is room for them."""
    rest = f" and {len(groups) - MOST_NAMED} more" if len(groups) > MOST_NAMED else ""
    return f": {', '.join(groups[:MOST_NAMED])}{rest}" if groups else ""


NEVER_PROVED = (
    "logs were read by a layout that is not verified on real logs: it was made from the source code of the client that"
    " writes them. Figures of these hosts, and of groups with members there, may be incomplete or wrong:"
)


def not_told_apart(report: Report) -> list[str]:
    """Name the folders of whose lines nobody knows which of several clients wrote them, and what that leaves open."""
    found = {
        f"  {', '.join(_short(row[name]) for name in ('host', 'folder') if row[name])}:"
        f" {counted(number(row['clients']), 'client')} of {_short(row['group'])}"
        for row in report.mixed
    }
    told = sorted(found)
    return [NOT_APART, *told[:WORST], *_more(told)] if told else []


NOT_APART = (
    "clients that write into one folder could not be told apart: whose a pull, a listener or a lock was is"
    " unknown, so that what came twice, silence and refused pulls are given as bounds that hold for any of them:"
)


def differing_clocks(report: Report) -> list[str]:
    """Name the hosts whose clocks differ from brokers', and by how much, as they were when it was seen first."""
    first: dict[tuple[object, object], Row] = {}
    for row in sorted(report.clocks, key=lambda row: number(row["at_ms"])):
        first.setdefault((row["host"], row["broker_host"]), row)
    told = [f"  {_short(host)}: {ahead(row)} of {_short(other)}" for (host, other), row in first.items()]
    return [CLOCKS_APART, *told[:WORST], *_more(told)] if told else []


CLOCKS_APART = (
    "clocks of hosts differ. Times are shown as each host wrote them, and bounds of what lies between two hosts are"
    " wider by the difference. For groups with members there, rounds, handoffs, loads, idle time and what was held"
    " during a shutdown are in doubt: some may be missing, and some may never have happened:"
)


def lacking(report: Report) -> list[str]:
    """Name the logs that lack a part, as far as it is known, the longest first."""
    those = sorted(report.gaps, key=lambda row: number(row["at_ms"]) - number(row["until_ms"]))
    told = [f"  {_short(row['log'])}: {missed(row)}" for row in those]
    return [LACKING, *told[:WORST], *_more(told)] if told else []


LACKING = (
    "logs have gaps, or cover only part of the time. What happened in a gap is missing from the figures: that nothing"
    " is shown for it does not mean that nothing happened:"
)


def holes_of_clients(report: Report) -> list[str]:
    """Count and name the holes in clients' logs, the longest first, and say what that makes of the figures."""
    if not report.holes:
        return []
    longest = sorted(report.holes, key=lambda row: number(row["at_ms"]) - number(row["until_ms"]))
    told = [
        f"  {_short(row['host'])}: {_short(row['client'])} of {_short(row['group'])},"
        f" {lasting(number(row['until_ms']) - number(row['at_ms']))} from {moment(row['at_ms'])} on"
        for row in longest[:WORST]
    ]
    return [f"{counted(len(longest), 'hole')} in clients' logs: {IN_HOLES}", *told, *_more(longest)]


IN_HOLES = "what members took and let go while their logs lack lines is bounded, not exact"


def used_twice(report: Report) -> list[str]:
    """Name the client ids under which two processes were members at once, the longest first; and which processes."""
    return [
        f"{_short(row['client'])} of {_short(row['group'])}, by {_processes(row['processes'])}:"
        f" {counted(number(row['queues']), 'queue')} held by both, {lasting(row['twice_ms'])} all together,"
        f" from {moment(row['at_ms'])} on"
        for row in sorted(report.doubles, key=lambda row: -number(row["twice_ms"]))
    ]


def _processes(value: object) -> str:
    names = [_short(name) for name in value] if isinstance(value, list) else []
    return " and ".join(names) or "processes that are unknown"


def how_many(report: Report, rows: Sequence[Row], *what: str) -> str:
    """Say how many there were: none only where somebody would have told them, of each cluster."""
    silent = unknown_in(report, *what)
    if not rows and report.silent_on(*what) == report.clusters:
        return f"unknown: {NOBODY_LOOKED[what]}"
    return f"{len(rows) or 'none'}{'; ' if silent else ''}{silent}"


def unknown_in(report: Report, *what: str) -> str:
    """Say of which of several clusters nobody would have told it, and why; nothing where there is none such."""
    silent = report.silent_on(*what) if len(report.clusters) > 1 else []
    return f"unknown in cluster {', '.join(silent)}: {NOBODY_LOOKED[what]}" if silent else ""


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


def advice(backtest: Sequence[Row]) -> str:
    """Tell the recommended strategy of every group, and why."""
    best = [row for row in backtest if row["is_best"]]
    told = [harmless(f"  {_name(row['group'])} {row['says']}") for row in best]
    lines = [part for line in told for part in broken(line, width=COLUMNS, indent=NAME + 3)]
    return "\n".join([REPLAYED if best else NONE_REPLAYED, *lines])


NONE_REPLAYED = "The back-test could replay no group: of none do the logs tell which members and which queues it had."
REPLAYED = "By the back-test (every strategy replayed over the record, also the one in use):"


def _group_lines(row: Row, column: int) -> list[str]:
    moved = f"{handed_over(row)}, consumed twice: {twice(row)}"
    pause = "for a time that is unknown" if row["pause_ms"] is None else f"at least {paused(row)}"
    told = [f"paused {pause}, overlap {overlap(row)}, {moved}"]
    if row["handoffs"]:
        told.append(f"a queue that was handed over was not consumed for {silent(row)}")
    said = skew(row)
    told.append(f"skew {said}" if said == "unknown" else f"skew {said} {SKEW}")
    if row["idle_ms"]:
        told.append(f"members idle {idle(row)}")
    if row.get("lock_lost_ms"):
        told.append(f"members held queues whose locks they had lost for {lasting(row['lock_lost_ms'])}")
    if row["unowned_ms"] or row["unowned_most_ms"] or off(row):
        alone = f"; and {off(row)} while the group was off (no member was there), all its queues together"
        told.append(f"unowned {unowned(row)}{alone if off(row) else ''}")
    if row["unheard"]:
        told.append(unheard(row))
    told += [said for said in (routes_unknown(row), disputes(row), clocks_apart(row)) if said]
    facts = [part for said in told for part in broken(said, width=COLUMNS - column - 3, indent=2)]
    names = [fitted(_short(row["group"]), column), *[" " * column] * len(facts)]
    return [f"  {name} {said}" for name, said in zip(names, facts, strict=False)]


SKEW = "(the largest load over the mean one, weighted by time)"


def _name(group: object) -> str:
    """Give a group's name, cut or filled up to the width of its column."""
    return fitted(_short(group), NAME)


def _short(name: object) -> str:
    """Cut a long name to the width of a group's; a mark stands for the rest."""
    text = harmless(str(name)) if name is not None else ""
    cut = fitted(text, NAME).rstrip()
    return text if cut == text.rstrip() else f"{fitted(text, NAME - 1).rstrip()}…"


def _storm_line(row: Row) -> str:
    by = f"begun by {_short(row['starter']) or 'unknown'} ({row['cause']})"
    return f"  {moment(row['at_ms'])}  {_short(row['group'])}: {counted(number(row['rounds']), 'round')}, {by}"


def _broker_line(row: Row) -> str:
    share = share_left_out(row)
    told = "a share that is unknown" if share == "unknown" else f"{share} of the time"
    isolated = f"isolated {left_out(row)}, {told}"
    failed = f"{counted(number(row['resent']), 'send')} failed or {'was' if row['resent'] == 1 else 'were'} tried again"
    slowest = f", the slowest of these after {lasting(row['failed_slowest_ms'])}" if row["resent"] else ""
    well = f"; the slowest that went well took {went_well(row)}" if row.get("slow_sends") else ""
    return f"  {row['day']}  {_short(row['broker'])}: {isolated}; {failed}{slowest}{well}"
