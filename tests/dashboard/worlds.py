"""Random true histories of a group, and what a watcher and its members' reports tell of them.

Members fall silent and answer again, leave with a good-bye or without, are lost while they hold queues, and come back;
queues leave the route and are back. Looks see some of it, lists are not always told, and members that report
tell what they do exactly, at once or late. Of what a member that answers has between two looks they see all, but for
what it took and let go in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from random import Random

from dashboard.clusters.models import Cluster, Watch
from dashboard.groups.ending import tell_again, tell_ended
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.events import (
    EXACT,
    Departure,
    DropReason,
    Exactness,
    Fact,
    MemberLeft,
    QueueDropped,
    QueueTaken,
)
from tests.dashboard.story import (
    REPORT,
    T0,
    add_cluster,
    held,
    joined,
    left,
    listed,
    missed,
    queue,
    route,
    seen,
    told,
    untold,
)

TICK_MS = 500
QUEUES = 4
CLIENTS = "ABC"
GONE = -1  # a queue that is in no route


@dataclass
class World:
    """What is true, in ticks; ``owners`` and ``hands`` have one entry for each tick that is over.

    ``lost`` are who is no member any more, and what they have still of what looks or reports told. ``missing`` is the
    share of all answers that do not come, ``untold`` that of lists. Who of ``reporters`` does something puts it into
    its ``mail``.
    """

    luck: Random
    missing: float = 0.25
    untold: float = 0.0
    turning: float = 0.1  # the share of a route's changes in what happens
    reporters: frozenset[str] = frozenset()
    has: dict[str, set[int]] = field(default_factory=lambda: {"A": {0, 1}, "B": {2, 3}})
    lost: dict[str, set[int]] = field(default_factory=dict)
    routed: int = QUEUES
    owners: list[list[int]] = field(default_factory=list)  # how many members have each queue
    hands: list[list[int]] = field(default_factory=list)  # with those who are lost
    listed_owners: list[list[int]] = field(default_factory=list)  # with those of whom nobody has seen yet that they are
    changed: set[tuple[str, int]] = field(default_factory=set)  # since a member was looked at last
    silent: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=lambda: {"A", "B"})
    known_route: int = 0
    nobodys: set[int] = field(default_factory=set)  # queues that nobody has at first
    looked: int = 0
    listed: int = 0
    mail: dict[str, list[Fact]] = field(default_factory=dict)
    has_hidden: bool = False  # whether somebody may have had a queue of which nobody ever tells

    def __post_init__(self) -> None:
        """All that is there at first is looked at."""
        self.known_route = self.routed
        self.nobodys = set(range(QUEUES)).difference(*self.has.values())

    def passes(self) -> None:
        """Let a tick pass, in which anything may happen."""
        for _ in range(self.luck.choice([0, 0, 1, 1, 2])):
            self._happens()
        self.stays()

    def stays(self) -> None:
        """Let a tick pass, in which nothing happens."""
        for mine in self.lost.values():  # what is another one's is theirs no more
            mine.difference_update(*self.has.values())
        unseen = {client: mine for client, mine in self.lost.items() if client in self.known}
        for counts, holders in (
            (self.owners, [self.has]),
            (self.hands, [self.has, self.lost]),
            (self.listed_owners, [self.has, unseen]),
        ):
            of = [sum(number in mine for each in holders for mine in each.values()) for number in range(QUEUES)]
            counts.append([count if number < self.routed else GONE for number, count in enumerate(of)])

    def _happens(self) -> None:
        client, number, kind = self.luck.choice(CLIENTS), self.luck.randrange(QUEUES), self.luck.random()
        if client not in self.has:
            if client not in self.known and kind < 0.3:
                self._comes(client)
            elif number in self.lost.get(client, ()) and kind < 0.6:
                self._changes(client, number, self.lost[client])
        elif kind < 0.06:
            if client in self.known:
                self._leaves(client)
        elif kind < 0.06 + self.turning:
            if self.routed == self.known_route:
                self.routed = self.luck.choice([1, 2, 3, 4])
        elif client in self.silent or (client, number) not in self.changed:
            if number in self.has[client] or number < self.routed:
                self._changes(client, number, self.has[client])
            self.changed.add((client, number))

    def _comes(self, client: str) -> None:
        self.has[client] = self.lost.pop(client, set())
        self.changed -= {(client, each) for each in range(QUEUES)}
        self.silent.discard(client)

    def _leaves(self, client: str) -> None:
        """Let a member go: lost with what it has, with a good-bye, or dead."""
        mine, how = self.has.pop(client), self.luck.random()
        is_telling = client in self.reporters and how >= 0.4
        if client in self.silent or any((client, each) in self.changed for each in range(QUEUES)):
            self.has_hidden = True  # what it took unseen is told by no late report either
        if how < 0.4:
            self.lost[client] = {number for number in mine if (client, number) not in self.changed}
        elif is_telling:
            for number in sorted(mine):
                self._reports(client, QueueDropped, number, reason=DropReason.STOPPED)
            source, departure = replace(REPORT, client=client), Departure.UNREGISTERED
            bye = MemberLeft(
                at=T0 + self.tick, source=source, exactness=EXACT, group="g", client=client, departure=departure
            )
            self.mail.setdefault(client, []).append(bye)

    def _changes(self, client: str, number: int, mine: set[int]) -> None:
        is_taken = number not in mine
        if is_taken:
            mine.add(number)
            self._reports(client, QueueTaken, number)
        else:
            mine.discard(number)
            self._reports(client, QueueDropped, number, reason=DropReason.NOT_IN_TARGET)
        self.has_hidden |= client in self.silent

    def _reports(self, client: str, kind: type[QueueTaken | QueueDropped], number: int, **more: DropReason) -> None:
        if client in self.reporters:
            source = replace(REPORT, client=client)
            about = {"group": "g", "client": client, "queue": queue(number), **more}
            fact: Fact = kind(at=T0 + self.tick, source=source, exactness=EXACT, **about)  # type: ignore[arg-type]
            self.mail.setdefault(client, []).append(fact)

    def looks(self) -> list[Fact]:
        """Look at all of it now."""
        at, facts = self.now, list[Fact]()
        if self.routed != self.known_route:
            facts.append(replace(route(self.routed, at), exactness=Exactness.between(T0 + self.looked, T0 + at)))
        self.known_route = self.routed
        if self.luck.random() >= self.untold:
            within = Exactness.between(T0 + self.listed, T0 + at)
            gone = sorted(self.known - self.has.keys())
            facts += [replace(left(client, at, Departure.UNKNOWN), exactness=within) for client in gone]
            for client in sorted(self.has.keys() - self.known):
                facts += [joined(client, at, low=self.listed), *seen(client, at)[1:]]
            facts.append(listed(at, *sorted(self.has)))
            self.known, self.listed = set(self.has), at
        else:
            facts.append(untold(at, low=self.listed))
        for client in sorted(self.known):
            if client not in self.has or self.luck.random() < self.missing:
                facts.append(missed(client, at))
                self.silent.add(client)
            else:
                facts.append(held(client, at, sorted(self.has[client])))
                self.silent.discard(client)
                self.changed -= {(client, number) for number in range(QUEUES)}
        self.looked = at
        return facts

    def delivers(self, *, at_most: float = 0.5) -> list[Fact]:
        """Give what came by mail: of each of its senders all, or nothing yet."""
        senders = [client for client in sorted(self.mail) if self.luck.random() < at_most]
        return [fact for client in senders for fact in self.mail.pop(client)]

    @property
    def tick(self) -> int:
        """When what happens now happens, in ms."""
        return TICK_MS * len(self.owners)

    @property
    def now(self) -> int:
        """The instant after all that happened, in ms."""
        return self.tick - TICK_MS // 2

    def lasted(self, number: int, since: int, until: int, *, two: bool = False, surely: bool = False) -> int:
        """Say how long no member had a queue, or two, within a time (ms after ``T0``).

        ``surely``: nor who is lost had it; or two had it, of whom nobody had seen yet that they were lost. Who lets a
        queue go by its own word before looks see that it is lost had it until then as far as anybody can know.
        """
        listed = self.owners if two else self.listed_owners
        counted = (self.listed_owners if two else self.hands) if surely else listed
        times = (
            (TICK_MS * tick, TICK_MS * (tick + 1))
            for tick, counts in enumerate(counted)
            if (counts[number] > 1 if two else counts[number] == 0)
        )
        return sum(max(0, min(high, until) - max(low, since)) for low, high in times)

    def holds(self, steps: Iterable[tuple[int, int, int]], *, two: bool = False) -> bool:
        """Ask whether at least as many queues were in nobody's hands, or had two owners, at each instant of steps."""
        return all(
            sum(count > 1 if two else count == 0 for count in counts) >= queues
            for since, until, queues in steps
            for tick, counts in enumerate(self.listed_owners if two else self.hands)
            if since - T0 < TICK_MS * (tick + 1) and TICK_MS * tick < until - T0
        )


def any_world(luck: Random) -> World:
    """Give a world in which some of all that may happen does."""
    return World(
        luck,
        missing=luck.choice([0, 0, 0.15, 0.25]),
        untold=luck.choice([0, 0.2]),
        turning=luck.choice([0, 0.1, 0.25]),
        reporters=frozenset(luck.choice(["", "", "A", "BC", "ABC"])),
    )


def world_with_what_nobody_had(luck: Random) -> World:
    """Give a world in which nobody has a queue that is there, or comes later; it is taken at some time, or never."""
    routed = luck.choice([3, 4, 4])
    reporters = frozenset(luck.choice(["", "A", "BC", "ABC"]))
    return World(luck, 0, turning=0.25, reporters=reporters, has={"A": {0, 1}, "B": {2}}, routed=routed)


def begin(world: World) -> Group:
    """Look at all that is there at first."""
    add_cluster()
    has = [held(client, 0, sorted(mine)) for client, mine in sorted(world.has.items())]
    told(route(world.routed), *seen("A"), *seen("B"), listed(0, "A", "B"), *has)
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 1)
    world.stays()
    return group


def look(world: World, group: Group) -> bool:
    """Look at all that is there now, and tell what comes of it; say whether any report came."""
    first, facts, later = world.delivers(at_most=0.3), world.looks(), world.delivers(at_most=0.3)
    report(first, world, group)
    told(*facts, at=world.now)
    now = T0 + world.now
    Cluster.objects.update(watched_at=now)
    times = {"lists_at": T0 + world.listed, "routes_at": now}
    Watch.objects.update_or_create(cluster=group.cluster, defaults={"at": now, **times})
    report(later, world, group)
    rebalance_once(group=group.pk, now=now)
    tell_ended(group=group.pk, now=now)
    group.refresh_from_db()
    return bool(first or later)


def report(facts: Iterator[Fact] | list[Fact], world: World, group: Group) -> None:
    """Store what members reported, and let it be told anew."""
    own = list(facts)
    if own:
        told(*own, at=world.now)
        times = [fact.at for fact in own]
        tell_again(group=group.pk, since=min(times), until=max(times), now=T0 + world.now)
