"""What a report says, and whether its token may say it. Decides from values; knows no request and no database.

Unacceptable          the report is not taken
+-- Malformed   422   it is no report, or a fact is none
+-- Foreign     403   it is about another group, cluster or client than it may speak of
+-- TooLarge    413
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dashboard.common.fields import MOST_OFFSET
from rebalance_engine import eventlog
from rebalance_engine.events import (
    EXACT,
    BrokerBackedOff,
    BrokerBackoffEnded,
    BrokerLatency,
    BrokerReachable,
    BrokerUnreachable,
    CommandFact,
    CommandFinished,
    CommandOrdered,
    CommandReceipt,
    Departure,
    Fact,
    LockExpired,
    LockGranted,
    LockRefused,
    LockReleased,
    MemberLeft,
    MemberStrategySeen,
    Origin,
    PlanFollowed,
    PullRefused,
    QueueDropped,
    QueuePulled,
    QueueTaken,
)
from rebalance_engine.network.canary import CLIENT as CANARY

VERSION = 1
MOST_BYTES = 1024 * 1024
MOST_FACTS = 1_000  # up to here storing them at once is quickest
LONGEST_ID = 100
AHEAD_MS = 60_000  # a clock that is further ahead than this would say of the future what it holds
BEHIND_MS = 7 * 86_400_000  # ids of reports are kept so long
OFFSETS = ("start_offset", "committed_offset", "offset")

OF_CONSUMERS: tuple[type[Fact], ...] = (
    *(QueueTaken, QueueDropped, QueuePulled, PullRefused),
    *(LockGranted, LockRefused, LockReleased, LockExpired, MemberStrategySeen, PlanFollowed, MemberLeft),
)
OF_PRODUCERS: tuple[type[Fact], ...] = (
    *(BrokerLatency, BrokerBackedOff, BrokerBackoffEnded, BrokerUnreachable, BrokerReachable),
)
OF_COMMANDS: tuple[type[Fact], ...] = (CommandOrdered, CommandReceipt, CommandFinished)
ALLOWED = OF_CONSUMERS + OF_PRODUCERS + OF_COMMANDS
KEYS = ("v", "report", "group", "facts")


class Unacceptable(Exception):
    """The report is not taken; the message says what was seen and what was needed."""

    status = 422


class Malformed(Unacceptable):
    """It is no report, or one of its facts is no fact that a report may state."""


class Foreign(Unacceptable):
    """It speaks of what its token says nothing of."""

    status = 403


class TooLarge(Unacceptable):
    """It has too many bytes or facts."""

    status = 413


@dataclass(frozen=True, slots=True)
class Said:
    """What a report says: facts of one client (``reporter``), or of one command (then it is empty)."""

    report: str
    group: str
    facts: tuple[Fact, ...]
    reporter: str


def read(body: bytes) -> Said:
    """Read a report.

    Raises:
        Malformed, TooLarge: it is none, or has too much.
    """
    if len(body) > MOST_BYTES:
        raise TooLarge(f"the report has more than {MOST_BYTES:,} bytes; needed are at most so many")
    try:
        record = eventlog.parse(body)
    except eventlog.EventLogError as error:
        raise Malformed(f"the body is no report: {error}") from error
    if tuple(sorted(record)) != tuple(sorted(KEYS)):
        raise Malformed(f"the report has {', '.join(sorted(record)) or 'nothing'}; needed are {', '.join(KEYS)}")
    report, group, facts = record["report"], record["group"], record["facts"]
    if type(record["v"]) is not int or record["v"] != VERSION:
        raise Malformed(f"the report's version is {str(record['v'])[:40]!r}; this reads version {VERSION}")
    if not isinstance(report, str) or not 0 < len(report) <= LONGEST_ID or not report.isprintable():
        raise Malformed(f"'report' is its id; needed is a text of 1 to {LONGEST_ID} characters that can be seen")
    if not isinstance(group, str) or not group:
        raise Malformed("'group' is the group's name; needed is a text")
    if not isinstance(facts, list) or not facts:
        raise Malformed("'facts' is no list of at least one fact, which is needed")
    if len(facts) > MOST_FACTS:
        raise TooLarge(f"the report has {len(facts):,} facts; needed are at most {MOST_FACTS:,}")
    read = tuple(_fact(number, fact) for number, fact in enumerate(facts))
    return Said(report, group, read, read[0].source.client or "")


def _fact(number: int, record: object) -> Fact:
    if not isinstance(record, dict):
        raise Malformed(f"facts[{number}] is no object; needed is a line of the event log")
    try:
        return eventlog.read_record(record)
    except eventlog.EventLogError as error:
        raise Malformed(f"facts[{number}]: {error}") from error


def admit(said: Said, *, cluster: str, group: str, now: int) -> Said:
    """Hold a report to what its token may say; give it with the cluster's name in it.

    Args:
        cluster, group: the token's.
        now: the control room's time, UTC epoch ms.

    Raises:
        Foreign, Malformed: it may not say that.
    """
    if said.reporter == CANARY:
        raise Foreign(f"{CANARY!r} is Evenkeel's own canary; needed is the id of the client that reports")
    if said.group != group:
        raise Foreign(f"the report is about group {said.group!r}; this token is of group {group!r}")
    for number, fact in enumerate(said.facts):
        place = f"facts[{number}] ({type(fact).__name__})"
        _check_kind(place, fact)
        _check_time(place, fact, now)
        _check_offsets(place, fact)
        if getattr(fact, "group", None) not in {None, group}:
            raise Foreign(f"{place} is about group {getattr(fact, 'group', None)!r}; this token is of group {group!r}")
        if isinstance(fact, CommandFact):
            continue
        if fact.source.cluster not in {None, cluster}:
            raise Foreign(f"{place} is about cluster {fact.source.cluster!r}; this token is of cluster {cluster!r}")
        client = getattr(fact, "client", None)
        if not said.reporter or fact.source.client != said.reporter or client != said.reporter:
            seen = f"{place} is about client {client!r}, told by {fact.source.client!r}"
            raise Foreign(f"{seen}; a client reports of itself alone, and a report is of one client")
    if any(isinstance(fact, CommandFact) for fact in said.facts):
        _check_command(said)
    sources = {id(fact.source): replace(fact.source, cluster=cluster) for fact in said.facts}
    return replace(said, facts=tuple(replace(fact, source=sources[id(fact.source)]) for fact in said.facts))


def _check_kind(place: str, fact: Fact) -> None:
    if not isinstance(fact, ALLOWED):
        known = ", ".join(kind.__name__ for kind in ALLOWED)
        raise Malformed(f"{place} is nothing that a report states; needed is one of {known}")
    needed = Origin.OPERATOR if isinstance(fact, CommandFact) else Origin.AGENT_REPORT
    if fact.source.origin is not needed:
        raise Malformed(f"{place} has the origin {fact.source.origin.value!r}; needed is {needed.value!r}")
    if isinstance(fact, MemberLeft):
        _check_good_bye(place, fact)


def _check_good_bye(place: str, fact: MemberLeft) -> None:
    """Insist on who unregistered itself, and knows when: of any other end nobody can report himself."""
    if fact.departure is not Departure.UNREGISTERED:
        needed = f"a client reports of itself {Departure.UNREGISTERED.value!r} alone"
        raise Malformed(f"{place} has the departure {fact.departure.value!r}; {needed}")
    if fact.exactness != EXACT:
        raise Malformed(f"{place} has bounds; needed is when it unregistered, exactly")


def _check_time(place: str, fact: Fact, now: int) -> None:
    tally = fact.tally if isinstance(fact, BrokerLatency) else None
    latest = max(fact.at, fact.source.observed_at or 0, tally.until if tally is not None else 0)
    earliest = min(fact.at, tally.since if tally is not None else fact.at)
    if latest > now + AHEAD_MS:
        ahead = f"is {(latest - now) / 1000:,.0f} s ahead of this control room's clock"
        raise Malformed(f"{place} {ahead}; needed are clocks that differ by less than {AHEAD_MS // 1000} s")
    if earliest < now - BEHIND_MS:
        raise Malformed(f"{place} is {(now - earliest) / 86_400_000:,.1f} days old; needed is at most a week")


def _check_offsets(place: str, fact: Fact) -> None:
    for name in OFFSETS:
        offset = getattr(fact, name, None) or 0
        if offset > MOST_OFFSET:
            raise Malformed(f"{place} has the {name} {offset}; needed is at most {MOST_OFFSET}: no queue is so long")


def _check_command(said: Said) -> None:
    """Insist on one command that is over: nobody else is to carry it out."""
    commands = {fact.command for fact in said.facts if isinstance(fact, CommandFact)}
    ordered, finished = (_all_of(said.facts, kind) for kind in (CommandOrdered, CommandFinished))
    if len(commands) != 1 or (ordered, finished) != (1, 1) or not isinstance(said.facts[0], CommandOrdered):
        seen = f"{len(commands)} commands, {ordered} CommandOrdered, {finished} CommandFinished"
        raise Malformed(f"the report has {seen}; needed is one command: ordered first, finished once")
    if said.facts[0].group != said.group:
        raise Foreign(f"the command is about {said.facts[0].group!r}; this token is of group {said.group!r}")


def _all_of(facts: Sequence[Fact], kind: type[Fact]) -> int:
    return sum(isinstance(fact, kind) for fact in facts)
