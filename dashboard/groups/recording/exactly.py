"""What is told again, closer: a report says when a member really came or went, which looks gave bounds of, or nothing.

The member's row, the cause that was kept of it and the round that this cause opened get the closer time together.
"""

from __future__ import annotations

from dataclasses import replace

from dashboard.common.fields import observed_at, source_columns
from dashboard.groups.models import Member
from dashboard.groups.recording import killed
from dashboard.groups.recording.book import GroupBook
from rebalance_engine.events import EXACT, Cause, Departure, Exactness, MemberJoined, MemberLeft, Origin, Source

UNKNOWN_SINCE = "and was in no broker's list before; when it came is unknown"
UNKNOWN_HOW = "whether cleanly or lost is unknown"
BEHIND_MS = 500  # a member's clock may be so much behind the watcher's
AFTER_MS = 5_000  # it says that it left when its last broker has answered, or did not; or its clock is ahead
Columns = dict[str, int | str | bytes | None]
COME = (Cause.MEMBER_JOINED.value,)
GONE = (Cause.MEMBER_LEFT.value, Cause.HEARTBEAT_EXPIRED.value)


def cause_of(fact: MemberLeft) -> Cause:
    """Name the cause that a departure is."""
    return Cause.HEARTBEAT_EXPIRED if fact.departure is Departure.HEARTBEAT_EXPIRED else Cause.MEMBER_LEFT


def words_of_leaving(fact: MemberLeft) -> str:
    """Say how somebody left, and where that is known by time alone, by which."""
    is_derived = fact.source.origin is Origin.DERIVED
    if fact.departure is Departure.UNKNOWN:
        said = f"{fact.client} left: {UNKNOWN_HOW}"
        return f"{said}; {fact.source.detail}" if is_derived and fact.source.detail else said
    if fact.source.origin is Origin.OPERATOR:
        return f"{fact.client} was killed by {fact.source.detail}"
    if fact.departure is Departure.UNREGISTERED and fact.source.origin is Origin.AGENT_REPORT:
        return f"{fact.client} left cleanly, as it reported"
    by_time = f", as time tells: {fact.source.detail}" if is_derived else ""
    return f"{fact.client} left: {fact.departure.value}{by_time}"


def joined(book: GroupBook, row: Member, fact: MemberJoined) -> bool:
    """Take in when somebody who is there came, if that says more than is known: both sets of bounds hold."""
    columns = source_columns(fact)
    low, high = _both(row, columns)
    if (low is not None and low > high) or (low, high) == (row.at_low, row.at_high):
        return False
    closer: Columns = {**columns, "at": high, "at_low": low, "at_high": high}
    found = book.cause_of(row, COME, row.at)
    if found is not None:
        book.sharpen(found, Cause.MEMBER_JOINED, f"{fact.client} joined", closer)
    book.touch(fact.group)
    return book.members.update(row, **{**closer, "observed_at": max(row.observed_at, observed_at(fact))})


def said_good_bye(book: GroupBook, row: Member, fact: MemberLeft) -> bool:
    """Keep that somebody who is listed yet, as far as is known, says that he left: looks tell when that is so."""
    if fact.departure is not Departure.UNREGISTERED or fact.at < max(row.at - BEHIND_MS, row.good_bye_at or 0):
        return False
    return book.members.update(row, good_bye_at=fact.at)


def fitted(book: GroupBook, row: Member, fact: MemberLeft) -> MemberLeft:
    """Give a departure as it is known by what looks and the member itself say of it, whichever came first.

    A good-bye that is out of the bounds of the looks by no more than clocks and answers explain is of this departure,
    and is told as of the nearest bound. Any other is of an earlier life.
    """
    if row.left_at is None:
        if fact.departure is not Departure.UNKNOWN:
            return fact
        if row.good_bye_at is None:
            return killed.as_ordered(book, row, fact)
        low, source = source_columns(fact)["at_low"], Source(origin=Origin.AGENT_REPORT, client=fact.client)
        at = _near(row, row.good_bye_at, low if isinstance(low, int) else None, fact.at)
        departure = Departure.UNREGISTERED
        return fact if at is None else replace(fact, at=at, source=source, exactness=EXACT, departure=departure)
    if fact.source.origin not in {Origin.AGENT_REPORT, Origin.OPERATOR} or row.departure != Departure.UNKNOWN.value:
        return fact
    found = book.cause_of(row, GONE, row.left_at)
    if fact.source.origin is Origin.OPERATOR:
        low = None if found is None else found.at_low
        seen = Exactness.at_most(row.left_at) if low is None else Exactness.between(low, row.left_at)
        looked = replace(fact, at=row.left_at, exactness=seen, departure=Departure.UNKNOWN)
        return killed.as_ordered(book, row, looked)
    at = _near(row, fact.at, None if found is None else found.at_low, row.left_at)
    return fact if at is None else replace(fact, at=at)


def _near(row: Member, at: int, low: int | None, high: int) -> int | None:
    """Give the time of a good-bye within what looks say of a departure; None: it is of another one."""
    low = min(high, max(each for each in (row.at, row.held_seen_at, low) if each is not None))
    return max(low, min(at, high)) if low - BEHIND_MS <= at <= high + AFTER_MS else None


def left(book: GroupBook, row: Member, fact: MemberLeft) -> bool:
    """Take in how, and when exactly, somebody left of whom looks told that he is gone, not how."""
    was_unknown = row.departure == Departure.UNKNOWN.value and fact.departure is not Departure.UNKNOWN
    if not was_unknown or row.left_at is None or not row.at <= fact.at <= row.left_at:
        return False
    found = book.cause_of(row, GONE, row.left_at)
    if found is not None:
        if fact.at < (found.at_low or 0):
            return False  # of an earlier life
        book.sharpen(found, cause_of(fact), words_of_leaving(fact), source_columns(fact))
    book.touch(fact.group)
    return book.members.update(row, left_at=fact.at, departure=fact.departure.value)


def _both(row: Member, columns: Columns) -> tuple[int | None, int]:
    """Give the bounds that hold by what is known and by what is told: the earliest (None: unknown), and the latest."""
    at, told_low, told_high = (columns[name] for name in ("at", "at_low", "at_high"))
    assert isinstance(at, int)
    lows = [each for each in (row.at_low, told_low) if isinstance(each, int)]
    highs = [row.at_high if row.at_high is not None else row.at, told_high if isinstance(told_high, int) else at]
    return max(lows, default=None), min(highs)
