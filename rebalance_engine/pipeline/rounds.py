"""The rounds of one group: what opened each, how long it took to settle, what it moved. Plain Python.

A round opens at the first change of members or routes, or of what is held without one; a further cause more than 3 s
after the last opens the next (``design.md``, words). What changes from then on until the next opens is its own, and no
other's. Routes that moved nothing are no round, nor is what leaves a group of nobody as it was.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from rebalance_engine.diff import diff
from rebalance_engine.measures import count_moves
from rebalance_engine.model import MessageQueue
from rebalance_engine.ownership import Ownership
from rebalance_engine.pipeline.sweep import Hold, Owners
from rebalance_engine.tables import ClientTable, QueueTable

SUPERSEDED_AFTER_MS = 3_000
SETTLES_WITHIN_MS = 160_000  # a broker gives up who is silent after 120 s, looks every 10 s; others ask every 20 s
COMES = {"joined": "member joined", "consumer started": "member joined"}
GOES = {
    "left": "member left",
    "unregistered": "member left",
    "consumer stopped": "member left",
    "closed": "connection closed",
    "lost": "connection closed",
    "expired": "heartbeat expired",
}
ROUTES = {"route changed": "route changed"}
BROKERS = {"broker gone": "broker gone", "broker back": "broker back"}
STOPS = ("unregistered", "consumer stopped")  # by its own log: its first good-bye to a broker, and its shutdown's end
BY_BROKERS = ("joined", "left", "closed", "expired")
CAUSES = COMES | GOES | ROUTES | BROKERS
Held = dict[str, list[tuple[int, int]]]
LOG_ENDS = "broker's log ends"  # no cause: what that broker lists from then on nobody tells
SECOND_MS = 1_000  # what a broker's time stamps tell
STARTS_WITHIN_MS = 60_000  # from a client's first line to its first heartbeat
SAID_WITHIN_MS = 10_000  # what all brokers and the client say of one coming or going; brokers have seconds only


@dataclass(frozen=True, slots=True)
class Cause:
    """Something that made a group divide its queues anew.

    Attributes:
        by: the process whose line says so.
        broker: of a line of a broker's, that broker; of a changed route, those of which it tells more or fewer queues.
        topic: of a changed route.
    """

    at_ms: int
    what: str
    client: str | None
    by: str = ""
    broker: str | None = None
    topic: str | None = None

    @property
    def begun_by(self) -> str | None:
        """Name who came or went, or changed: a member, or a broker."""
        return self.broker if self.what in ROUTES | BROKERS else self.client


@dataclass
class Round:
    """One round of a group.

    Attributes:
        settled_ms: of its last change of what is held; None where it changed nothing.
        superseded: the next opened within 3 s of the last change.
        moves, handoffs, above_fewest: as :func:`rebalance_engine.measures.count_moves` has them, over the topics'
            queues, retry queues included.
        unowned: queues that nobody held when it settled.
        begun_by: the first member or broker that a cause names; None where none does.
    """

    number: int
    opened_ms: int
    last_cause_ms: int
    causes: list[str] = field(default_factory=list)
    who: list[str] = field(default_factory=list)
    settled_ms: int | None = None
    superseded: bool = False
    members_before: list[str] = field(default_factory=list)
    members_after: list[str] = field(default_factory=list)
    moves: int = 0
    handoffs: int = 0
    above_fewest: int = 0
    unowned: int = 0
    begun_by: str | None = None

    @property
    def cause(self) -> str:
        """One word for why it opened."""
        kinds = set(self.causes)
        return kinds.pop() if len(kinds) == 1 else "many at once" if kinds else "held changed"


def rounds_of(holds: Mapping[MessageQueue, Sequence[Hold]], causes: Iterable[Cause]) -> list[Round]:
    """Tell a group's rounds, in order, numbered from 1."""
    distinct = _distinct(causes, _held(holds))
    changed = sorted(
        {
            at
            for those in holds.values()
            for hold in those
            for at in (hold.from_ms, hold.until_ms)
            if at == hold.from_ms or hold.ended != "open"
        }
    )
    opened = _open(distinct, changed)
    for this, following in pairwise(opened):
        quiet = this.settled_ms or this.last_cause_ms
        this.superseded = following.opened_ms - quiet < SUPERSEDED_AFTER_MS
    told = [one for one in opened if one.settled_ms is not None or set(one.causes) - set(ROUTES.values())]
    _measure(told, holds, distinct)
    told = [one for one in told if one.members_before or one.members_after or one.settled_ms is not None]
    for number, one in enumerate(told, 1):
        one.number = number
    return told


def presence_of(
    holds: Mapping[MessageQueue, Sequence[Hold]], causes: Iterable[Cause], end_ms: int = 0
) -> dict[str, list[tuple[int, int]]]:
    """Tell from each coming of a member to its going; one that is not seen to go is there until the last that is known.

    Of members of which no line tells a coming or a going there is nothing.

    Args:
        end_ms: until when one that is not seen to go is there, at least.
    """
    every = [hold for those in holds.values() for hold in those]
    told = [
        (one.at_ms, one.client, one.what in COMES)
        for one in _distinct(causes, _held(holds))
        if one.client is not None and one.what in COMES | GOES
    ]
    ends = [(hold.until_ms, hold.client, False) for hold in every if hold.ended in ("stopped", "lost")]
    named = {client for _, client, _ in told}
    begun: dict[str, int] = {}
    for hold in every:
        if hold.client in named:
            begun[hold.client] = min(hold.from_ms, begun.get(hold.client, hold.from_ms))
    until_ms = max([end_ms, *(at for at, *_ in told), *(hold.until_ms for hold in every)])
    came: dict[str, int] = {}
    spans: dict[str, list[tuple[int, int]]] = {}
    first = [(at, client, True) for client, at in begun.items()]
    for at, client, is_coming in sorted([*first, *told, *ends], key=lambda mark: mark[0]):
        if is_coming:
            came.setdefault(client, at)
        elif client in came:
            spans.setdefault(client, []).append((came.pop(client), at))
    for client, at in came.items():
        spans.setdefault(client, []).append((at, until_ms))
    return spans


def _held(holds: Mapping[MessageQueue, Sequence[Hold]]) -> Held:
    """Tell from when until when each client held something all the time, in order."""
    spans = sorted((hold.from_ms, hold.until_ms, hold.client) for those in holds.values() for hold in those)
    held: Held = {}
    for begin, end, client in spans:
        own = held.setdefault(client, [])
        if own and begin <= own[-1][1]:
            own[-1] = (own[-1][0], max(end, own[-1][1]))
        else:
            own.append((begin, end))
    return held


def _has_held(held: Held, client: str, since_ms: int, until_ms: int) -> bool:
    own = held.get(client, [])
    at = bisect_right(own, since_ms, key=lambda span: span[0])
    return at > 0 and own[at - 1][1] > until_ms


def _distinct(causes: Iterable[Cause], held: Held) -> list[Cause]:
    """Take what several brokers and the client itself say of one coming or going as one.

    A connection that ends at one broker only, or comes back to one only, tells of the broker, not of the member; also
    where a broker's log does not say that the member had come to it, or went: what it holds, or lost, tells then.
    Whoever says of a member the same again, and the contrary in between, tells of another time: a member may come and
    go, and be back within seconds, though none of its queues moves meanwhile.
    """
    last: dict[tuple[str, str | None], int] = {}
    said: dict[tuple[str, str | None], set[str]] = {}  # who has told the last time of it
    latest: dict[tuple[str, str | None], str] = {}  # which way each says that a client went last
    found: list[Cause] = []
    for cause in _about_brokers(_registered(sorted(causes, key=lambda cause: cause.at_ms)), held):
        way = "comes" if cause.what in COMES else "goes" if cause.what in GOES else cause.what
        who = cause.by if cause.what in BROKERS else cause.client
        seen = last.get((way, who))
        if cause.what in STOPS and seen is not None and seen > last.get(("comes", who), seen - 1):
            continue  # it said good-bye before, and its shutdown took its time
        if cause.what == "expired" and _told_by_silence(found, cause, last):
            continue
        last[(way, who)] = cause.at_ms
        is_another = cause.by in said.get((way, who), ()) and latest.get((cause.by, who)) != way
        latest[(cause.by, who)] = way
        if seen is None or cause.at_ms - seen > SAID_WITHIN_MS or is_another:
            said[(way, who)] = set()
            found.append(cause)
        said[(way, who)].add(cause.by)
    return found


def _told_by_silence(found: list[Cause], expired: Cause, last: Mapping[tuple[str, str | None], int]) -> bool:
    """Let who fell silent have gone by its heartbeats, not twice: then, and again when a broker gives it up."""
    silent = []
    for at in range(len(found) - 1, -1, -1):  # they are in order
        one = found[at]
        if expired.at_ms - one.at_ms > SETTLES_WITHIN_MS:
            break
        if (
            one.what in ("lost", "expired")
            and one.client is not None
            and expired.client in (None, one.client)
            and last.get(("comes", one.client), one.at_ms) <= one.at_ms
        ):
            silent.append(at)
    for at in silent:
        found[at] = replace(found[at], what="expired")
    return bool(silent)


def _registered(causes: Sequence[Cause]) -> list[Cause]:
    """Let a member come when a broker first lists it, not when its process begins to start, which may be long before.

    A broker tells the second only: it was not before the client began to start.
    """
    joined = _by_client(causes, ("joined",))
    began: dict[Cause, int] = {}
    found = []
    for cause in causes:
        listed: Sequence[Cause] = ()
        if cause.what == "consumer started":
            since, until = cause.at_ms - SECOND_MS + 1, cause.at_ms + STARTS_WITHIN_MS
            listed = _between(joined.get(cause.client, ()), since, until)
        began |= dict.fromkeys(listed, cause.at_ms)
        if not listed:
            found.append(cause)
    told = [replace(cause, at_ms=max(cause.at_ms, began.get(cause, cause.at_ms))) for cause in found]
    return sorted(told, key=lambda cause: cause.at_ms)


def _by_client(causes: Iterable[Cause], kinds: Container[str]) -> dict[str | None, list[Cause]]:
    found: dict[str | None, list[Cause]] = {}
    for cause in causes:
        if cause.what in kinds:
            found.setdefault(cause.client, []).append(cause)
    return found


def _between(causes: Sequence[Cause], since_ms: int, until_ms: int) -> Sequence[Cause]:
    """Give those of a time, its end too, of causes in order."""
    begin = bisect_left(causes, since_ms, key=lambda cause: cause.at_ms)
    return causes[begin : bisect_right(causes, until_ms, begin, key=lambda cause: cause.at_ms)]


def _about_brokers(causes: Sequence[Cause], held: Held) -> Iterable[Cause]:
    ended, own_ends = (_by_client(causes, kinds) for kinds in (("closed", "left"), ("lost", *STOPS)))
    there: dict[str, set[str]] = {}
    since: dict[str, int] = {}
    for cause in causes:
        if cause.what == LOG_ENDS:
            for brokers in there.values():
                brokers.discard(cause.by)
            continue
        if cause.client is None or cause.what not in ("joined", "closed"):
            if cause.what == "left":  # this broker does not list it any more: whoever comes next comes anew
                there.get(str(cause.client), set()).discard(cause.by)
            elif cause.what in GOES:
                there.pop(str(cause.client), None)
            yield cause
            continue
        brokers = there.setdefault(cause.client, set())
        if cause.what == "joined":
            is_back = bool(brokers) and cause.at_ms - since[cause.client] > SAID_WITHIN_MS
            is_back |= _has_held(held, cause.client, cause.at_ms - SAID_WITHIN_MS, cause.at_ms)
            if not brokers:
                since[cause.client] = cause.at_ms
            brokers.add(cause.by)
            yield replace(cause, what="broker back", client=None) if is_back else cause
        else:
            brokers.discard(cause.by)
            around = cause.at_ms - SAID_WITHIN_MS, cause.at_ms + SAID_WITHIN_MS
            gone = {other.by for other in _between(ended[cause.client], *around)}
            if _between(own_ends.get(cause.client, ()), *around):
                is_over = True
            else:
                is_over = brokers <= gone and not _has_held(held, cause.client, cause.at_ms, around[1])
            yield cause if is_over else replace(cause, what="broker gone", client=None)


def _open(causes: Sequence[Cause], changed: Sequence[int]) -> list[Round]:
    """Put causes less than 3 s apart into one round, and give changes that none explains a round of their own."""
    marks = [(cause.at_ms, cause) for cause in causes] + [(at, None) for at in changed]
    rounds: list[Round] = []
    for at, cause in sorted(marks, key=lambda mark: (mark[0], mark[1] is None)):
        last = rounds[-1] if rounds else None
        if cause is None:
            if last is None or at - max(last.last_cause_ms, last.settled_ms or 0) > SETTLES_WITHIN_MS:
                rounds.append(Round(len(rounds) + 1, at, at, settled_ms=at))
            else:
                last.settled_ms = at
            continue
        if last is None or at - last.last_cause_ms > SUPERSEDED_AFTER_MS:
            last = Round(len(rounds) + 1, at, at)
            rounds.append(last)
        last.last_cause_ms = at
        last.causes.append(CAUSES[cause.what])
        last.begun_by = last.begun_by or cause.begun_by
        if cause.client:
            last.who.append(cause.client)
    return rounds


def _measure(rounds: Sequence[Round], holds: Mapping[MessageQueue, Sequence[Hold]], causes: Sequence[Cause]) -> None:
    """Count what each round moved: from what was held when the one before it ended."""
    table, owners, there = QueueTable.of(holds), Owners(holds), _Members(causes)
    members: list[str] = []
    old = _ownership(table, members, owners)
    for this in rounds:
        end = max(this.last_cause_ms, this.settled_ms or 0)
        owners.reach(end)
        this.members_before, members = members, there.at(end, owners.clients)
        this.members_after = members
        new = _ownership(table, members, owners)
        this.unowned = len(new.unowned())
        counted = count_moves(diff(old, new), old, new)
        this.moves, this.handoffs, this.above_fewest = counted.total, counted.handoffs, counted.above_fewest
        old = new


class _Members:
    """Who holds something, and who came and has not gone, at moments that are asked for in order."""

    def __init__(self, causes: Sequence[Cause]) -> None:
        known = (cause for cause in causes if cause.client and cause.what in COMES | GOES)
        self._coming = iter([(cause.at_ms, str(cause.client), cause.what in COMES) for cause in known])
        self._next = next(self._coming, None)
        self._there: set[str] = set()
        self._gone: set[str] = set()

    def at(self, at_ms: int, holding: Iterable[str]) -> list[str]:
        while self._next is not None and self._next[0] <= at_ms:
            _, client, is_coming = self._next
            (self._there if is_coming else self._gone).add(client)
            (self._gone if is_coming else self._there).discard(client)
            self._next = next(self._coming, None)
        return sorted(self._there.union(holding) - self._gone)


def _ownership(table: QueueTable, members: list[str], owners: Owners) -> Ownership:
    clients = ClientTable.of({*members, *owners.clients})
    held: dict[str, list[MessageQueue]] = {}
    for queue, those in owners.of_queues:
        for name in those:
            held.setdefault(name, []).append(queue)
    return Ownership.from_lists(table, clients, held)
