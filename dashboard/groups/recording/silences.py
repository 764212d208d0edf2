"""When it was unknown what a member holds, or all of it, or whom a broker lists: kept when it ends, as told of then."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.common.fields import observed_at
from dashboard.groups.models import Member, MemberList
from rebalance_engine.events import Fact

MOST_SILENCES = 32  # of a member, or a broker's list, that are kept
Times = list[list[int]]


def kept(times: Sequence[Sequence[int]] | None, since: int, until: int) -> Times | None:
    """Give what is kept of silences with one more that is over, in order; the oldest of too many are one.

    That one covers what lay between them too: of so long ago less is certain. One that began when the last one did is
    the same one, and lasted longer.
    """
    found = [list(each) for each in times or ()]
    if found and found[-1][0] == since:
        found[-1][1] = max(found[-1][1], until)
    elif since < until:
        found.append([since, until])
    while len(found) > MOST_SILENCES:
        (begin, one), (_, other) = found[:2]
        found[:2] = [[begin, max(one, other)]]
    return found or None


def of_answer(row: Member, at: int) -> dict[str, object]:
    """Give the columns of a member that change when it tells again what it holds, having missed an answer before.

    Or having told nothing while nobody watched, which is kept until its watcher came.
    """
    return {} if row.missing is None and not _is_unasked(row) else _with(row, told_at(row), at)


def _is_unasked(row: Member) -> bool:
    """Whether it has told nothing yet since a watcher came after a break (``unwatched.note_break``)."""
    told = row.held_seen_at
    return told is not None and any(until > told for _, until in (row.silences or ())[-1:])


def of_life(row: Member) -> dict[str, object]:
    """Give the columns of one that left and comes back: what it had between its last word and its leaving is unknown.

    Also of one that said good-bye: it may have taken a queue before, and let it go again.
    """
    if row.left_at is None or row.is_proxied:
        return {}
    return {**_with(row, told_at(row), row.left_at), **_doubled(row, row.left_at)}


def of_connections(row: Member, most: int, since: int, fact: Fact) -> dict[str, object]:
    """Give the columns of a member that a broker lists over ``most`` connections now, and has not ``since`` then."""
    columns: dict[str, object] = {"registrations": most}
    if most > 1 and row.doubled_at is None:
        columns["doubled_at"] = max(since, row.at)
    elif most == 1 and row.doubled_at is not None:
        columns |= {**_doubled(row, observed_at(fact)), "doubled_at": None}
    return columns


def of_list(row: MemberList, fact: Fact) -> dict[str, object]:
    """Give the columns of a broker's list that change when it tells again."""
    if row.missing_at is None:
        return {}
    until = observed_at(fact)
    since = row.missing_at if row.missing_low is None else row.missing_low
    return {"silences": kept(row.silences, since, until), "silent_until": until, "missing_low": None}


def told_at(row: Member) -> int:
    """Say when a member told last what it holds; before it came it held nothing."""
    if row.held_seen_at is not None:
        return row.held_seen_at
    return row.at if row.at_low is None else row.at_low


def _with(row: Member, since: int, until: int) -> dict[str, object]:
    if since >= until:
        return {}
    return {"silences": kept(row.silences, since, until), "silent_until": max(until, row.silent_until or 0)}


def _doubled(row: Member, until: int) -> dict[str, object]:
    if row.doubled_at is None or row.doubled_at >= until:
        return {}
    return {"doubled": kept(row.doubled, row.doubled_at, until), "silent_until": max(until, row.silent_until or 0)}
