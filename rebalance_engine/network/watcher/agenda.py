"""What a watcher asks when: pure decisions, by ranks and periods that keep within a broker's budget.

Of groups that somebody looks at the member lists are asked every second, and what members hold as often as half of
the budget allows, all these groups together. The other half belongs to groups that changed lately; what they leave of
it to the rest, round robin. ``network.admin`` holds the budget itself; here is decided how it is used.

Times are ms; rates are for each broker.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from itertools import islice
from random import Random
from typing import Protocol

from rebalance_engine.effects import Address

# Of 20 requests a second that a broker bears, 5 of them 307, viewed groups get half: 6 lists (38), 1 look at details
# (203), half a one at offsets and dead letters (208, 202), 2.5 questions to members (307). Of the other half those
# that changed get 4, the rest 5.25 and what those that changed leave, the broker itself 0.75.
LISTS_PER_S = {0: 6.0, 1: 2.0, 2: 3.75}
DETAILS_PER_S = 1.0
PROGRESS_PER_S = {0: 0.35, 2: 0.25}  # of groups that changed as of the rest
DEAD_PER_S = {0: 0.15, 2: 0.25}  # likewise
HELD_PER_S = {0: 2.5, 1: 1.0, 2: 1.0}
ROUTES_PER_S = 4.0  # of 10 that a NameServer bears

LISTS_MS = {0: 1_000, 1: 2_000, 2: 10_000}  # by rank, and never more often than this
HELD_MS = {0: 1_000, 1: 2_000, 2: 30_000}
VIEWED_ROUTES_MS, ROUTES_MS = 5_000, 30_000
BROKERS_MS, RUNTIME_MS = 10_000, 60_000
PRODUCERS_MS, EXPIRING_MS = 60_000, 1_000  # EXPIRING_MS where a heartbeat is about to expire: the rest gives it
PROGRESS_MS = {0: 10_000, 2: 60_000}
DEAD_MS = {0: 20_000, 2: 60_000}  # a message is given up after hours, as retries are spaced by default
GROUPS_MS, GROUPS_PER_S = 10_000, 40  # a list of more groups is asked for less often: it grows with them
DETAILS_MS = 10_000
CHANGED_FOR_MS = 30_000
JITTER = 0.1
SHORTEST_SWEEP_MS = 60_000

MOST_AT_ONCE = {True: 4, False: 3}  # under way at one broker: of viewed groups, of the others
MOST_HELD_AT_ONCE = {True: 2, False: 1}  # places of their own: a client that hangs takes none of a member list
MOST_TRIED = 40  # of a bucket whose questions are asked here or there, at one time


class Kind(Enum):
    """What is asked."""

    BROKERS = "brokers of a NameServer"  # 106
    ROUTE = "route of a topic by a NameServer"  # 105
    GROUPS = "groups of a broker"  # 201
    RUNTIME = "figures of a broker"  # 28
    LIST = "member ids of a group at a broker"  # 38
    MEMBERS = "members of a group at a broker"  # 203
    HELD = "what a member holds"  # 307
    PROGRESS = "offsets of a group at a broker"  # 208
    DEAD = "dead letters of a group at a broker"  # 202
    PRODUCERS = "producers of a broker"  # 328


class Rank(IntEnum):
    """Who comes first."""

    VIEWED = 0
    CHANGED = 1
    REST = 2


@dataclass(frozen=True, slots=True)
class Question:
    """One thing to ask, again and again. ``place`` is a broker's name or a NameServer's address; of HELD, none."""

    kind: Kind
    place: str = ""
    group: str = ""
    name: str = ""  # client id or topic


@dataclass(frozen=True, slots=True)
class Pace:
    """How often, and who comes first."""

    rank: Rank
    every_ms: float


Bucket = tuple[Rank, str, str]  # questions of one rank, place and kind: of one period


class Seen(Protocol):
    """What is known of the cluster; a ``Memory``."""

    @property
    def masters(self) -> Mapping[str, Address]:
        """Masters by name."""

    @property
    def groups(self) -> Collection[str]:
        """All groups."""

    def hosts(self, group: str) -> Collection[str]:
        """Brokers that may know members of a group."""

    def members(self, group: str) -> Collection[str]:
        """Client ids."""

    def is_online(self, group: str) -> bool:
        """Whether somebody is, or may be."""

    def topics_of(self, group: str) -> Collection[str]:
        """What it consumes."""

    def changed_at(self, group: str) -> int | None:
        """When something about it last changed."""


def questions(
    seen: Seen, name_servers: Iterable[Address], viewed: Collection[str], at: int, expiring: Collection[str] = ()
) -> dict[Question, Pace]:
    """List everything that is to be asked, and how often; at ``expiring`` brokers a heartbeat is about to expire."""
    names, groups = tuple(name_servers), sorted(seen.groups)
    ranks = {group: _rank(seen, group, viewed, at) for group in groups}
    paces = _paces(seen, ranks, 1000 / EXPIRING_MS if expiring else 0.0)
    asked = dict(_of_servers(seen, names, len(groups), expiring))
    asked.update(_of_offsets(seen, groups, ranks))
    routes: dict[str, Rank] = {}
    for group in groups:
        rank = ranks[group]
        asked.update(_of_group(seen, group, *paces[rank]))
        for topic in seen.topics_of(group):
            routes[topic] = min(rank, routes.get(topic, Rank.REST))
    asked.update(_of_routes(routes, names))
    return asked


def _rank(seen: Seen, group: str, viewed: Collection[str], at: int) -> Rank:
    if group in viewed:
        return Rank.VIEWED
    changed_at = seen.changed_at(group)
    return Rank.CHANGED if changed_at is not None and at - changed_at < CHANGED_FOR_MS else Rank.REST


def _paces(seen: Seen, ranks: Mapping[str, Rank], given_per_s: float) -> dict[Rank, tuple[Pace, Pace, Pace]]:
    """Say how often groups of each rank are asked for lists, details, and what members hold.

    Args:
        given_per_s: what the lists of the rest leave to something else.
    """
    sizes, members = Counter(ranks.values()), Counter[Rank]()
    for group, rank in ranks.items():
        members[rank] += len(seen.members(group))
    brokers = max(1, len(seen.masters))
    lists_per_s, held_per_s, details = dict(LISTS_PER_S), dict(HELD_PER_S), dict[Rank, float]()
    lists_per_s[Rank.REST] -= given_per_s
    lists, held = dict[Rank, float](), dict[Rank, float]()
    for rank in Rank:  # what those that changed leave is given before the rest comes
        lists[rank] = max(LISTS_MS[rank], 1000 * sizes[rank] / lists_per_s[rank])
        details[rank] = max(DETAILS_MS, 1000 * sizes[rank] / DETAILS_PER_S)
        held[rank] = max(HELD_MS[rank], 1000 * members[rank] / (held_per_s[rank] * brokers))
        if rank is Rank.CHANGED:
            used = 1000 * sizes[rank] * (1 / lists[rank] + 1 / details[rank])
            lists_per_s[Rank.REST] += lists_per_s[rank] + DETAILS_PER_S - used
            held_per_s[Rank.REST] += held_per_s[rank] - 1000 * members[rank] / (held[rank] * brokers)
    return {rank: (Pace(rank, lists[rank]), Pace(rank, details[rank]), Pace(rank, held[rank])) for rank in Rank}


def _of_servers(
    seen: Seen, names: Iterable[Address], groups: int, expiring: Collection[str]
) -> Iterator[tuple[Question, Pace]]:
    for name in names:
        yield Question(Kind.BROKERS, name), Pace(Rank.CHANGED, BROKERS_MS)
    for broker in seen.masters:
        yield Question(Kind.GROUPS, broker), Pace(Rank.CHANGED, max(GROUPS_MS, 1000 * groups / GROUPS_PER_S))
        yield Question(Kind.RUNTIME, broker), Pace(Rank.REST, RUNTIME_MS)
        is_near = broker in expiring
        yield (
            Question(Kind.PRODUCERS, broker),
            Pace(*((Rank.CHANGED, EXPIRING_MS) if is_near else (Rank.REST, PRODUCERS_MS))),
        )


def _of_group(seen: Seen, group: str, lists: Pace, details: Pace, held: Pace) -> Iterator[tuple[Question, Pace]]:
    """Say what is asked of a group: of the rest details only, which have the list in them.

    Every broker is asked, also where nobody is: whoever comes may be known to one of them alone.
    """
    is_rest = lists.rank is Rank.REST
    for broker in seen.hosts(group):
        if not is_rest:
            yield Question(Kind.LIST, broker, group), lists
        yield Question(Kind.MEMBERS, broker, group), lists if is_rest else details
    for client in seen.members(group):
        yield Question(Kind.HELD, "", group, client), held


def _of_offsets(seen: Seen, groups: Collection[str], ranks: Mapping[str, Rank]) -> Iterator[tuple[Question, Pace]]:
    """Ask how far groups are, and what they gave up: those that changed no oftener than the rest.

    Where nobody is a member nothing is consumed, so that nothing is given up either; but messages go on coming.
    """
    online = [group for group in groups if seen.is_online(group)]
    kinds = (
        (Kind.PROGRESS, groups, PROGRESS_MS, PROGRESS_PER_S),
        (Kind.DEAD, online, DEAD_MS, DEAD_PER_S),
    )
    for kind, of, shortest, per_s in kinds:
        viewed = sum(ranks[group] is Rank.VIEWED for group in of)
        sizes = {Rank.VIEWED: viewed, Rank.REST: len(of) - viewed}
        paces = {rank: Pace(rank, max(shortest[rank], 1000 * size / per_s[rank])) for rank, size in sizes.items()}
        for group in of:
            rank = Rank.VIEWED if ranks[group] is Rank.VIEWED else Rank.REST
            for broker in seen.hosts(group):
                yield Question(kind, broker, group), paces[rank]


def _of_routes(routes: Mapping[str, Rank], names: Iterable[Address]) -> Iterator[tuple[Question, Pace]]:
    spread = 1000 * len(routes) / ROUTES_PER_S
    for topic, rank in routes.items():
        every = max(ROUTES_MS if rank is Rank.REST else VIEWED_ROUTES_MS, spread)
        for name in names:
            yield Question(Kind.ROUTE, name, "", topic), Pace(rank, every)


@dataclass(slots=True)
class Agenda:
    """When each question is due. ``luck`` spreads what begins together."""

    luck: Random
    paces: dict[Question, Pace] = field(default_factory=dict)
    _due: dict[Question, float] = field(default_factory=dict)
    _heap: list[tuple[float, int, Question]] = field(default_factory=list)
    _ready: dict[Bucket, dict[Question, None]] = field(default_factory=dict)
    _bucket: dict[Question, Bucket] = field(default_factory=dict)
    _under_way: dict[Question, tuple[str, Rank]] = field(default_factory=dict)
    _count: int = 0

    def set(self, asked: Mapping[Question, Pace], at: int) -> None:
        """Take in what is to be asked from now on; what is new, or has come to a higher rank, is due at once."""
        for question in self.paces.keys() - asked.keys():
            self._due.pop(question, None)
            self._unready(question)
        for question, pace in asked.items():
            before = self.paces.get(question)
            if before is None:
                self._at(question, at)
            elif pace.every_ms < before.every_ms and at + pace.every_ms < self._due.get(question, 0):
                self._at(question, at + pace.every_ms)
            elif pace.rank is not before.rank and question in self._bucket:
                self._at(question, self._due[question])
        self.paces = dict(asked)

    def hasten(self, question: Question, at: int) -> None:
        """Let a question be due now."""
        if question in self._due:
            self._at(question, at)

    def is_under_way(self, question: Question) -> bool:
        """Whether it was asked, and has no answer yet."""
        return question in self._under_way

    def hasten_routes(self, name_server: Address, at: int) -> None:
        """Let a NameServer be asked for all routes, in turns and within its rate: first of groups that are viewed."""
        routes = [each for each in self.paces if each.kind is Kind.ROUTE and each.place == name_server]
        for number, question in enumerate(sorted(routes, key=lambda each: self.paces[each].rank)):
            due = at + 1000 * number / ROUTES_PER_S
            if due < self._due.get(question, 0):
                self._at(question, due)

    def due(self, at: int, place_of: Callable[[Question], str]) -> Iterator[tuple[Question, str]]:
        """Give what is to be asked now, and where; whoever takes it says ``done`` afterwards.

        Args:
            place_of: where a question is asked that names no place; empty is nowhere now.
        """
        while self._heap and self._heap[0][0] <= at:
            due, _, question = heapq.heappop(self._heap)
            if self._due.get(question) == due and question not in self._under_way:
                bucket = (self.paces[question].rank, question.place, question.kind.value)
                self._ready.setdefault(bucket, {})[question] = None
                self._bucket[question] = bucket
        busy: Counter[tuple[str, bool, bool]] = Counter()
        for question, (place, rank) in self._under_way.items():
            _occupy(busy, question, place, rank)
        for bucket in sorted((bucket for bucket, ready in self._ready.items() if ready), key=self._turn_of):
            for question in tuple(islice(self._ready[bucket], MOST_TRIED)):
                place, rank = question.place or place_of(question), bucket[0]
                if place and _fits(busy, question, place, rank):
                    self._unready(question)
                    self._under_way[question] = (place, rank)
                    _occupy(busy, question, place, rank)
                    yield question, place
                elif question.place:
                    break  # no other of this bucket fits either

    def done(self, question: Question, at: int) -> None:
        """Say that a question was asked, answered or not; it is due again after its period."""
        self._under_way.pop(question, None)
        pace = self.paces.get(question)
        if pace is not None:
            self._at(question, at + pace.every_ms * self.luck.uniform(1 - JITTER, 1 + JITTER))

    @property
    def waiting(self) -> Collection[Question]:
        """What is due, and has no turn yet."""
        return self._bucket.keys()

    @property
    def next_due(self) -> float | None:
        """When the next question becomes due."""
        return self._heap[0][0] if self._heap else None

    def sweep_ms(self) -> int:
        """Say within what time everything is asked once: twice the longest period, a minute at least."""
        longest = max((pace.every_ms for pace in self.paces.values()), default=0)
        return max(SHORTEST_SWEEP_MS, round(2 * longest))

    def _turn_of(self, bucket: Bucket) -> tuple[bool, float, Bucket]:
        """Order what is ready: viewed groups first, all others by when they should have been asked once more.

        Who changed has the shorter period, so that its turn comes first; at a broker too slow for everything the rest
        has its turn once it is overdue, instead of none.
        """
        first = next(iter(self._ready[bucket]))
        return bucket[0] is not Rank.VIEWED, self._due[first] + self.paces[first].every_ms, bucket

    def _unready(self, question: Question) -> None:
        bucket = self._bucket.pop(question, None)
        if bucket is not None:
            del self._ready[bucket][question]

    def _at(self, question: Question, due: float) -> None:
        self._unready(question)
        self._due[question] = due
        self._count += 1
        heapq.heappush(self._heap, (due, self._count, question))


def _occupy(busy: Counter[tuple[str, bool, bool]], question: Question, place: str, rank: Rank) -> None:
    is_viewed = rank is Rank.VIEWED
    busy[place, is_viewed, False] += 1
    busy[place, is_viewed, True] += question.kind is Kind.HELD


def _fits(busy: Counter[tuple[str, bool, bool]], question: Question, place: str, rank: Rank) -> bool:
    is_viewed = rank is Rank.VIEWED
    if busy[place, is_viewed, False] >= MOST_AT_ONCE[is_viewed]:
        return False
    return question.kind is not Kind.HELD or busy[place, is_viewed, True] < MOST_HELD_AT_ONCE[is_viewed]
