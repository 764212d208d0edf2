"""How figures of a finished run are said: durations, bounds, what is unknown. The same in the terminal and on the page.

A figure that is a bound says so. Plain Python.
"""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime

UNITS = ((172_800, 86_400, "d"), (7_200, 3_600, "h"), (120, 60, "min"), (0, 1, "s"))  # s from which on, s of one
Row = dict[str, object]
UNBOUND = ("duplicates_unbounded", "overlap_unmoved_ms", "unheard", "clocks_apart")


def lasting(value: object) -> str:
    """Say a duration in ms as people say it; an unknown one as such."""
    if not isinstance(value, int | float):
        return "unknown"
    if not value:
        return "0 s"
    if 0 < value < 1_000:
        return f"{value:.0f} ms"
    seconds = value / 1000
    return next(f"{seconds / of_one:.1f} {unit}" for least, of_one, unit in UNITS if seconds >= least or not least)


def counted(count: float, word: str) -> str:
    """Say how many there are of what a word names.

    >>> counted(1, "line"), counted(2, "line")
    ('1 line', '2 lines')
    """
    return f"{count:.0f} {word}{'' if count == 1 else 's'}"


def percent(share: object) -> str:
    """Say a share of 1; an unknown one as such.

    >>> percent(0.0556)
    '5.56 %'
    """
    return f"{100 * share:.2f} %" if isinstance(share, int | float) else "unknown"


def fitted(text: str, width: int) -> str:
    """Cut a text, or fill it up with blanks, to a width in columns: a terminal gives two to characters of East Asia."""
    kept, taken = "", 0
    for character in text:
        takes = _columns(character)
        if taken + takes > width:
            break
        kept, taken = kept + character, taken + takes
    return kept + " " * (width - taken)


def width_of(text: str) -> int:
    """Count the columns that a terminal gives to a text."""
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    return 0 if unicodedata.combining(character) else 1 + (unicodedata.east_asian_width(character) in "WF")


def broken(text: str, *, width: int, indent: int) -> list[str]:
    """Break a line at blanks into some of so many columns, the others indented; a longer word is never broken."""
    first, *words = text.split(" ")
    lines = [first]
    for word in words:
        if not word or width_of(lines[-1]) + 1 + width_of(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(" " * indent + word)
    return lines


def moment(value: object) -> str:
    """Say a time in UTC."""
    return datetime.fromtimestamp(number(value) / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def unowned(row: Row) -> str:
    """Say for how long queues had no owner, as far as it is known, and what of it had not ended with the input."""
    told, still = between(row["unowned_ms"], row["unowned_most_ms"]), number(row["unowned_open_ms"])
    return f"{told}, of it {lasting(still)} of queues that nobody has taken since" if still else told


def between(least: object, most: object) -> str:
    """Say a duration of which two bounds are known; one where they read alike."""
    known, longest = lasting(least), lasting(most)
    return f"{known} to {longest}" if number(most) > number(least) and longest != known else known


def off(row: Row) -> str:
    """Say for how long a group's queues had no owner because it had no member; empty where it had one all the time."""
    return lasting(row["deserted_ms"]) if number(row.get("deserted_ms")) else ""


def recovered(row: Row) -> str:
    """Say how long a burst lasted; at least, where no minute was looked at that was as before again."""
    return f"{'at least ' if row.get('is_over') is False else ''}{lasting(row['recovered_ms'])}"


def left_out(row: Row) -> str:
    """Say for how long producers left a broker out; of clients that log no line of it, at most."""
    most = row.get("isolated_most_ms")
    if row["isolated_ms"] is None:
        return f"at most {lasting(most)}" if most is not None else "unknown"
    more = isinstance(most, int | float) and most > number(row["isolated_ms"])
    return f"{lasting(row['isolated_ms'])}{f' to {lasting(most)}' if more else ''}"


def share_left_out(row: Row) -> str:
    """Say for what share of the time that their logs cover they did."""
    if row["isolated_share"] is None and row.get("isolated_share_most") is not None:
        return f"at most {percent(row['isolated_share_most'])}"
    return percent(row["isolated_share"])


def went_well(row: Row) -> str:
    """Say how long the slowest send took that went well: as it was reported, else within which bounds it lies."""
    if row["went_well_slowest_ms"] is not None or row.get("slow_least_ms") is None:
        return lasting(row["went_well_slowest_ms"])
    most = row.get("slow_most_ms")
    return f"{number(row['slow_least_ms']):.0f} ms {f'to {number(most):.0f} ms' if most is not None else 'or more'}"


def paused(row: Row) -> str:
    """Say for how long nobody pulled, at least: how much of it nobody was there, or the new owner waited for a lock."""
    parts = (("restart", "while no member was there"), ("locked", "waiting for locks"))
    told = [f"{lasting(lasted)} {words}" for name, words in parts if (lasted := number(row.get(f"pause_{name}_ms")))]
    return f"{lasting(row['pause_ms'])}{', of it ' if told else ''}{' and '.join(told)}"


def silent(row: Row) -> str:
    """Say for how long a queue was not consumed, at most, while it was handed over; no line may bound it of some.

    Where members were there of whom nobody tells what they held, there may have been others.
    """
    most, unbounded = row.get("silence_most_ms"), number(row.get("silence_unbounded"))
    if most is None:
        return "a time that is unknown" if number(row["handoffs"]) else ""
    those = in_all(number(row["handoffs"]) - unbounded, "handoff", row)
    has_rest = unbounded or row.get("unheard") or row.get("clocks_apart")
    return f"at most {lasting(most)}{f' in {those}, unknown in the rest' if has_rest else ''}"


def idle(row: Row) -> str:
    """Say for how long members had no queue, all together, and what share that was of their time."""
    there = number(row.get("present_ms"))
    share = (
        f" ({percent(number(row['idle_ms']) / there)} of their time)" if there and row["idle_ms"] is not None else ""
    )
    return f"{about(row)}{lasting(row['idle_ms'])}{share}"


def skew(row: Row) -> str:
    """Say how much more than the mean the member with most queues had, weighted by time: of one day, or by day."""
    if row.get("skew_least") is None:
        return "unknown"
    least, most = (f"{number(row[f'skew_{name}']):.2f}" for name in ("least", "most"))
    unknown = number(row.get("skew_unknown"))
    told = f"{about(row)}{least if least == most else f'{least} to {most} by day'}"
    return f"{told}, unknown of {counted(unknown, 'day')}" if unknown else told


def overlap(row: Row) -> str:
    """Say for how long queues had two owners, apart from what a member still held while it shut down: two bounds.

    Of members of whom nobody tells what they held nobody tells it either.
    """
    stopping, most = number(row["overlap_stopping_ms"]), row["overlap_staying_ms"]
    least = most if row.get("overlap_least_ms") is None else row["overlap_least_ms"]
    apart = f", and {about(row)}{lasting(stopping)} while one shut down" if stopping else ""
    if row.get("unheard"):
        return f"{f'at least {lasting(least)}' if least else lasting(None)}{apart}"
    return f"{between(least, most)}{apart}"


def twice(row: Row) -> str:
    """Say how many messages were consumed twice, as far as it is bounded: of some handoffs, perhaps, it is not."""
    least, most = row["duplicates_least"], row["duplicates_most"]
    surely = f"at least {number(least):.0f}" if least else ""  # at least none is all that is known of any
    if not has_unbounded(row) and most is not None:
        return f"{number(least):.0f}{f' to {number(most):.0f}' if most != number(least) else ''}"
    if most is None or not (of := bounded(row)):
        return surely or "unknown"
    return f"{surely}{', ' if surely else ''}at most {number(most):.0f} in {of}, unknown in the rest"


def has_unbounded(row: Row) -> bool:
    """Say whether something may have come twice that no line bounds.

    That is of a handoff, or of a return; while two had a queue that was not handed over; where members were there of
    whom nobody tells what they held; or where clocks differ, so that handoffs may be missing.
    """
    return any(number(row.get(name)) for name in UNBOUND)


def bounded(row: Row) -> str:
    """Count the handoffs and returns of which a line bounds what came twice; empty where there are none."""
    handoffs, back = number(row["handoffs"]), number(row.get("returns"))
    count = handoffs + back - number(row["duplicates_unbounded"])
    if count <= 0:
        return ""
    if back:
        return f"{count:.0f} of {about(row)}{handoffs + back:.0f} handoffs and returns"
    return in_all(count, "handoff", row)


def handed_over(row: Row) -> str:
    """Count a group's handoffs, and the queues that went back to the member that had let them go.

    At least, where members were there of whom nobody tells: what went to them and on is no handoff that is told.
    """
    back, handed = number(row.get("returns")), in_all(number(row["handoffs"]), "handoff", row)
    if not row.get("unheard") or row.get("clocks_apart"):
        return f"{handed}, {in_all(back, 'return', row)} to the same member" if back else handed
    returns = f", at least {counted(back, 'return')} to the same member" if back else ""
    return f"{f'at least {handed}' if row['handoffs'] else 'handoffs unknown'}{returns}"


def about(row: Row) -> str:
    """Say that a group's figure is no bound: clocks of its members' hosts differ. Else it is, or exact."""
    return "about " if row.get("clocks_apart") else ""


def in_all(count: float, word: str, row: Row) -> str:
    """Count what is told of a group: where clocks differ some may be missing, and some may never have been.

    >>> in_all(2, "round", {"clocks_apart": 1}), in_all(0, "round", {"clocks_apart": 1}), in_all(0, "round", {})
    ('about 2 rounds', 'perhaps no rounds', '0 rounds')
    """
    return f"perhaps no {word}s" if about(row) and not count else f"{about(row)}{counted(count, word)}"


def in_doubt(row: Row, name: str) -> object:
    """Count what happened to a group: about, where clocks differ."""
    return (f"about {number(row[name]):.0f}" if row[name] else "perhaps none") if about(row) else row[name]


def rounds_in_doubt(row: Row) -> Row:
    """Say, as of clocks, whether rounds are counted as about: where lines of what opens them may be lost, too.

    One that is lost leaves out a round, or parts one in two.
    """
    return {"clocks_apart": max(number(row.get(name)) for name in ("clocks_apart", "unheard", "routes_unknown"))}


def rounds(row: Row) -> object:
    """Count a group's rounds."""
    return in_doubt({"rounds": row["rounds"], **rounds_in_doubt(row)}, "rounds")


def at_least(row: Row, name: str) -> object:
    """Count what happened to a group's queues: at least, where members were there of whom nobody tells.

    About, where clocks differ.
    """
    if about(row) or not row.get("unheard"):
        return in_doubt(row, name)
    return f"at least {number(row[name]):.0f}" if row[name] else None


def above_fewest(row: Row) -> object:
    """Count the moves above the fewest: at least, where it is unknown of some rounds; None where it is of all."""
    if (about(row) and row["above_fewest"]) or not row.get("above_fewest_unknown"):
        return in_doubt(row, "above_fewest")
    return f"at least {number(row['above_fewest']):.0f}" if row["above_fewest"] else None


def unheard(row: Row) -> str:
    """Say of how many members nobody tells what they held; empty where there are none."""
    count = number(row["unheard"])
    return f"members of whom no log tells what they held: {count:.0f}" if count else ""


def routes_unknown(row: Row) -> str:
    """Say of how many topics nobody tells for a time which queues they had; empty where there are none."""
    count = number(row.get("routes_unknown"))
    return f"topics of which, for a time, no log tells which queues they had: {count:.0f}" if count else ""


def ahead(row: Row) -> str:
    """Say between which bounds a host's clock is ahead of another's, or behind it."""
    least, most = sorted((abs(number(row["least_ms"])), abs(number(row["most_ms"]))))
    way = "ahead" if number(row["least_ms"]) + number(row["most_ms"]) > 0 else "behind"
    return f"{between(least, most)} {way}"


def missed(row: Row) -> str:
    """Say what a log lacks, and what its broker did then, as far as it tells."""
    did = DID.get((str(row["what"]), str(row.get("why"))), "")
    return f"{_lacked(row)}{did.format(broker=row.get('broker') or 'the broker')}"


DID = {
    ("hole", "stopped"): ": {broker} was stopped, and started again at the end of it",
    ("hole", "died"): ": {broker} started anew at the end of it, and no line tells that it had stopped. It died, or was"
    " stopped in lines that are missing",
    ("begins late", "started"): ": {broker} was started then",
    ("ends early", "stopped"): ": {broker} was stopped then",
}


def _lacked(row: Row) -> str:
    lasts, begin, end = number(row["until_ms"]) - number(row["at_ms"]), moment(row["at_ms"]), moment(row["until_ms"])
    if row["what"] == "begins late":
        return f"begins at {end}, {lasting(lasts)} after the first of all logs"
    if row["what"] == "ends early":
        return f"ends at {begin}, {lasting(lasts)} before the last of all logs"
    return f"nothing from {begin} to {end} ({lasting(lasts)})"


def clocks_apart(row: Row) -> str:
    """Say why a group's figures are no bounds; empty where its members' clocks agree."""
    count = number(row.get("clocks_apart"))
    why = "so that its counts and loads are in doubt"
    return f"hosts of its members whose clocks differ: {count:.0f}, {why}" if count else ""


def disputes(row: Row) -> str:
    """Say how often members counted each other differently at one time; empty where they never did."""
    count = number(row.get("disputes"))
    return f"members counted each other differently: {counted(count, 'time')}" if count else ""


def number(value: object) -> float:
    """Give a number; 0 where there is none: what is unknown has been said by then."""
    return float(value) if isinstance(value, int | float) else 0.0
