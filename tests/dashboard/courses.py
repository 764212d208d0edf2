"""Random true courses of a group that follows its protocol: members divide by AVG what they see, each when it comes to.

Members join, stop, fall silent, and are killed, which brokers notice later; brokers go and come back. What is true is
kept for each tick; looks see it as a watcher does.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from dashboard.clusters.models import Cluster, Watch
from dashboard.groups.ending import tell_ended
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.events import (
    EXACT,
    BrokerGone,
    BrokerQueues,
    BrokerSeen,
    Departure,
    Exactness,
    Fact,
    HeldSeen,
    RouteSeen,
)
from rebalance_engine.model import MessageQueue
from tests.dashboard.story import EAST, NAMESRV, T0, add_cluster, joined, left, listed, missed, seen, told, untold

TICK_MS = 500
ON_EACH = 2  # queues
BROKERS = ("east", "west")
PLACES = tuple((broker, number) for broker in BROKERS for number in range(ON_EACH))
CLIENTS = "ABCD"
ADDRESSES = {"east": "127.0.0.1:1", "west": "127.0.0.1:2"}
Place = tuple[str, int]


def shared(members: list[str], places: list[Place]) -> dict[str, set[Place]]:
    """Divide by AVG."""
    found, start = dict[str, set[Place]](), 0
    for place, client in enumerate(members):
        count = len(places) // len(members) + (place < len(places) % len(members))
        found[client] = set(places[start : start + count])
        start += count
    return found


@dataclass
class Course:
    """What is true, in ticks; ``owners`` and ``hands`` have one entry for each tick that is over.

    ``has`` is what live members have. Who was killed has in his ``dead`` hands what nobody else took, and is listed
    until he ``expires``. ``owners`` counts who is alive, ``hands`` all who may be taken to have a queue.
    """

    luck: Random
    has: dict[str, set[Place]] = field(default_factory=dict)
    dead: dict[str, set[Place]] = field(default_factory=dict)
    expires: dict[str, int] = field(default_factory=dict)
    mute: set[str] = field(default_factory=set)
    up: set[str] = field(default_factory=lambda: set(BROKERS))
    plans: dict[str, list[tuple[int, str]]] = field(default_factory=dict)  # when a member does what
    owners: list[dict[Place, int]] = field(default_factory=list)
    hands: list[dict[Place, int]] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    known_up: set[str] = field(default_factory=lambda: set(BROKERS))
    routed: set[str] = field(default_factory=lambda: set(BROKERS))
    looked: dict[str, int] = field(default_factory=dict)  # what was looked at last when
    changed: set[str] = field(default_factory=set)  # who took or let go, and was not looked at since
    calm: float = 0.12

    def __post_init__(self) -> None:
        """Two members share all queues."""
        self.has = shared(["A", "B"], list(PLACES))
        self.known = {"A", "B"}
        self.plans = {client: [] for client in CLIENTS}

    @property
    def ticks(self) -> int:
        return len(self.owners)

    @property
    def now(self) -> int:
        return TICK_MS * self.ticks - TICK_MS // 2

    @property
    def listing(self) -> set[str]:
        """Who is on the lists of brokers."""
        return set(self.has) | set(self.expires)

    def passes(self) -> None:
        """Let a tick pass."""
        for client in [client for client, at in self.expires.items() if at <= self.ticks]:
            del self.expires[client]
            self._notify(12)
        if self.luck.random() < self.calm:
            self._happens()
        for client in sorted(self.has):
            due = [plan for plan in self.plans[client] if plan[0] <= self.ticks]
            self.plans[client] = [plan for plan in self.plans[client] if plan[0] > self.ticks]
            for _, kind in due:
                self._does(client, kind)
            if self.ticks % 40 == ord(client) % 40:
                self._does(client, "divide")
        for mine in self.dead.values():
            mine.difference_update(*self.has.values())
        for counts, holders in ((self.owners, [self.has]), (self.hands, [self.has, self.dead])):
            counts.append(
                {p: sum(p in mine for each in holders for mine in each.values()) for p in PLACES if p[0] in self.up}
            )

    def _notify(self, most: int) -> None:
        for client in self.has:
            self.plans[client].append((self.ticks + self.luck.randrange(most), "divide"))

    def _target(self, client: str) -> set[Place]:
        places = [place for place in PLACES if place[0] in self.up]
        return shared(sorted(self.listing), places).get(client, set())

    def _does(self, client: str, kind: str) -> None:
        if client in self.changed:
            self.plans[client].append((self.ticks + 1, kind))
            return
        target, before = self._target(client), set(self.has[client])
        self.has[client] &= target
        if kind == "take":
            self.has[client] |= target
        elif target - self.has[client]:
            self.plans[client].append((self.ticks + self.luck.randrange(4), "take"))
        if self.has[client] != before and client not in self.mute:
            self.changed.add(client)

    def _happens(self) -> None:
        kind = self.luck.choice(["join", "stop", "kill", "kill", "broker", "broker", "mute", "mute"])
        client = self.luck.choice(CLIENTS)
        if client in self.changed:
            return
        if kind == "join" and client not in self.listing:
            self.has[client], self.plans[client] = set(), []
            self.dead.pop(client, None)
            self._notify(6)
        elif kind == "stop" and client in self.has and len(self.has) > 1:
            del self.has[client]
            self.mute.discard(client)
            self._notify(6)
        elif kind == "kill" and client in self.has and len(self.has) > 1:
            self.dead[client] = self.has.pop(client)
            self.mute.discard(client)
            self.expires[client] = self.ticks + self.luck.choice([1, 10, 40, 160])
            self._notify(1) if self.expires[client] == 1 else None
        elif kind == "broker":
            self._turns()
        elif kind == "mute" and client in self.has:
            self.mute ^= {client}

    def _turns(self) -> None:
        if not self.up == self.known_up == self.routed:
            return
        if "west" in self.up and len(self.up) == len(BROKERS):
            self.up.discard("west")
            for each in (*self.has.values(), *self.dead.values()):
                each.difference_update({place for place in PLACES if place[0] == "west"})
        else:
            self.up = set(BROKERS)
        self._notify(20)

    def lasted(self, place: Place, since: int, until: int, *, two: bool = False, surely: bool = False) -> int:
        """Say how long nobody had a queue that was there, or two, within a time (ms after ``T0``).

        ``surely``: nor who is dead had it; or two had it, one of whom is dead.
        """
        found = 0
        for tick, counts in enumerate(self.hands if surely else self.owners):
            if place in counts and (counts[place] > 1 if two else counts[place] == 0):
                found += max(0, min(TICK_MS * (tick + 1), until) - max(TICK_MS * tick, since))
        return found

    def looks(self) -> list[Fact]:
        """Look at it as a watcher does: at members and what they have always, at routes and brokers at times."""
        at, facts = self.now, list[Fact]()
        if self.luck.random() < 0.15:
            facts += self._brokers(at)
        if self.luck.random() < 0.3:
            facts += self._routes(at)
        listing, within = self.listing, Exactness.between(T0 + self.looked.get("list", 0), T0 + at)
        for client in sorted(self.known - listing):
            was_killed = client in self.dead
            facts.append(
                replace(
                    left(client, at, Departure.HEARTBEAT_EXPIRED if was_killed else Departure.UNKNOWN), exactness=within
                )
            )
        for client in sorted(listing - self.known):
            facts += [joined(client, at, low=self.looked.get("list", 0)), *seen(client, at)[1:]]
        for broker in BROKERS:
            if broker in self.up:
                facts.append(listed(at, *sorted(listing), broker=broker))
                self.looked[f"list {broker}"] = at
            else:
                facts.append(untold(at, broker=broker, low=self.looked.get(f"list {broker}", 0)))
        self.known, self.looked["list"] = set(listing), at
        for client in sorted(self.known):
            if client in self.has and client not in self.mute:
                facts.append(has(client, at, self.has[client]))
                self.changed.discard(client)
            else:
                facts.append(missed(client, at))
        self.looked["all"] = at
        return facts

    def _brokers(self, at: int) -> list[Fact]:
        within, facts = Exactness.between(T0 + self.looked.get("brokers", 0), T0 + at), list[Fact]()
        for broker in sorted(self.up ^ self.known_up):
            kind = BrokerSeen if broker in self.up else BrokerGone
            facts.append(
                kind(
                    at=T0 + at, source=NAMESRV, exactness=within, broker=broker, broker_id=0, address=ADDRESSES[broker]
                )
            )
        self.known_up, self.looked["brokers"] = set(self.up), at
        return facts

    def _routes(self, at: int) -> list[Fact]:
        facts = [routed(self.looked.get("routes", 0), at, self.up)] if self.up != self.routed else []
        self.routed, self.looked["routes"] = set(self.up), at
        return list(facts)


def has(client: str, at: int, places: set[Place]) -> HeldSeen:
    queues = tuple(MessageQueue("orders", broker, number) for broker, number in sorted(places))
    return HeldSeen(at=T0 + at, source=EAST, exactness=EXACT, group="g", client=client, queues=queues, dropped=())


def routed(low: int, at: int, brokers: set[str]) -> RouteSeen:
    parts = tuple(
        BrokerQueues(broker=name, read_queues=ON_EACH, write_queues=ON_EACH, permission=6, has_master=True)
        for name in sorted(brokers)
    )
    return RouteSeen(
        at=T0 + at, source=NAMESRV, exactness=Exactness.between(T0 + low, T0 + at), topic="orders", brokers=parts
    )


def begin(course: Course) -> Group:
    """Look at all that is there at first."""
    add_cluster()
    facts: list[Fact] = [
        BrokerSeen(at=T0, source=NAMESRV, exactness=EXACT, broker=broker, broker_id=0, address=ADDRESSES[broker])
        for broker in BROKERS
    ]
    facts += [replace(routed(0, 0, set(BROKERS)), exactness=EXACT), *seen("A"), *seen("B")]
    facts += [listed(0, "A", "B", broker=broker) for broker in BROKERS]
    told(*facts, *(has(client, 0, mine) for client, mine in sorted(course.has.items())))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 1)
    return group


def look(course: Course, group: Group) -> None:
    """Look at what is there now, and tell what comes of it."""
    now = T0 + course.now
    told(*course.looks(), at=course.now)
    Cluster.objects.update(watched_at=now)
    times = {"lists_at": now, "routes_at": T0 + course.looked.get("routes", 0)}
    Watch.objects.update_or_create(cluster=group.cluster, defaults={"at": now, **times})
    rebalance_once(group=group.pk, now=now)
    tell_ended(group=group.pk, now=now)
    group.refresh_from_db()
