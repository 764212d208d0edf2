"""Groups of Java and Python members that live through the same changes at the same time.

One play is a cluster's whole life: members A and B start; C joins; B leaves in order; A is killed. Two producers send
all the while. Every group consumes the same topic, so that one play shows all groups; the processes host one member of
many groups each. What the play writes down is what the processes themselves saw.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from rebalance_engine.allocation import allocate
from rebalance_engine.model import MessageQueue
from tests.cluster.contract import Cluster, queues_of
from tests.cluster.lines import Client, Got
from tests.cluster.members import Option, java_consumers, java_producer, python_consumers, python_producer
from tests.cluster.processes import LOOK_EVERY_S, TooLate, wait_until

TOPIC = "orders"
QUEUES = 4  # on each broker
PYTHON = "python"
PER_SECOND = 10  # of each producer
ROUND_S = 20  # every client rebalances at least so often
TWO_ROUNDS_S = 2 * ROUND_S
LOCK_EXPIRES_S = 30  # an orderly member that is killed keeps its locks so long; one that lives renews each 20 s
ALL_SENT_IN_S = 60
CHANGES = ("start", "join", "leave", "kill")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One cell: who consumes, and how.

    Attributes:
        name: of the group.
        kinds: what A, B and C are: a Java release, or ``python``.
    """

    name: str
    kinds: tuple[str, str, str]
    strategy: str = "AVG"
    orderly: bool = False

    def client(self, member: str) -> str:
        return f"{member}-{self.name}"


@dataclass(slots=True)
class Tenure:
    """The time in which one client had one queue, by what it told itself.

    Attributes:
        goes_on: it had it still when it told the last thing, at ``end_ms``.
    """

    queue: str
    client: str
    begin_ms: int
    end_ms: int
    goes_on: bool = False


@dataclass(slots=True)
class Played:
    """What was seen of one group.

    Attributes:
        settled_after_s: by change, how long it took until everyone alive had its share; None: too long.
        held: by change, who had what then (or when the time was over).
        wanted: by change, who should have had what.
        stayed: by change, whether that was still so when the next change came.
    """

    group: Group
    settled_after_s: dict[str, float | None] = field(default_factory=dict)
    held: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict)
    wanted: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict)
    stayed: dict[str, bool] = field(default_factory=dict)
    got: list[Got] = field(default_factory=list)
    tenures: list[Tenure] = field(default_factory=list)


@dataclass(slots=True)
class Play:
    """What was seen of all groups of one cluster, and what was sent."""

    groups: dict[str, Played] = field(default_factory=dict)
    sent: dict[str, str] = field(default_factory=dict)  # queue and offset by body


class Stage:
    """The processes of a play."""

    def __init__(self, cluster: Cluster, groups: Sequence[Group], folder: Path) -> None:
        self.cluster = cluster
        self.groups = groups
        self.folder = folder
        self.topic = cluster.create_topic(TOPIC, QUEUES)
        self.queues = queues_of(cluster, self.topic, QUEUES)
        self.hosts: dict[tuple[str, str], Client] = {}  # by member and kind
        self.alive: set[str] = set()
        self.play = Play({group.name: Played(group) for group in groups})

    def run(self) -> Play:
        """Play it all."""
        producers = self._producers()
        try:
            self._change("start", "AB")
            self._change("join", "C")
            self._change("leave", leave="B")
            self._change("kill", kill="A")
            for producer in producers:
                producer.stop()
            for producer in producers:
                for sent in producer.seen("sent"):
                    self.play.sent[str(sent["body"])] = f"{sent['queue']} {sent['offset']}"
            self._await_messages()
        finally:
            for program in (*producers, *self.hosts.values()):
                program.kill()
        self._write_down()
        return self.play

    def _producers(self) -> list[Client]:
        options: dict[str, Option] = {
            "namesrv": self.cluster.namesrv,
            "topic": self.topic,
            "count": 1_000_000,
            "rate": PER_SECOND,
        }
        java = java_producer(self.cluster.java, {**options, "name": "sends-java", "prefix": "java"}, self.folder)
        producers = [java]
        if any(PYTHON in group.kinds for group in self.groups):
            producers.append(python_producer({**options, "name": "sends-python", "prefix": "python"}, self.folder))
        for producer in producers:
            producer.wait("sent")
        return producers

    def _change(self, change: str, start: str = "", *, leave: str = "", kill: str = "") -> None:
        for group in self.groups if self.alive else ():
            played = self.play.groups[group.name]
            last = list(played.held)[-1]
            played.stayed[last] = self._held(group) == played.wanted[last]
        for member in start:
            self._start(member)
        for (member, _), host in self.hosts.items():
            if member == leave:
                host.stop()
            elif member == kill:
                host.kill()
        self.alive = (self.alive | set(start)) - {leave, kill}
        self._settle(change)

    def _start(self, member: str) -> None:
        kinds = sorted({group.kinds["ABC".index(member)] for group in self.groups})
        for kind in kinds:
            members = [
                self._options(group, member) for group in self.groups if group.kinds["ABC".index(member)] == kind
            ]
            if kind == PYTHON:
                self.hosts[member, kind] = python_consumers(members, self.folder)
            else:
                self.hosts[member, kind] = java_consumers(kind, members, self.folder)
        for kind in kinds:
            self.hosts[member, kind].wait("started", count=len(self.hosts[member, kind].names))

    def _options(self, group: Group, member: str) -> dict[str, Option]:
        return {
            "namesrv": self.cluster.namesrv,
            "group": group.name,
            "topics": self.topic,
            "name": group.client(member),
            "strategy": group.strategy,
            "orderly": group.orderly,
        }

    def _settle(self, change: str) -> None:
        begun = time.monotonic()
        open_groups = {group.name: group for group in self.groups}
        while open_groups and time.monotonic() < begun + TWO_ROUNDS_S + LOCK_EXPIRES_S:
            for group in list(open_groups.values()):
                played, held, wanted = self.play.groups[group.name], self._held(group), self._wanted(group)
                played.held[change], played.wanted[change] = held, wanted
                after_s = time.monotonic() - begun
                if held == wanted:
                    played.settled_after_s[change] = after_s
                    del open_groups[group.name]
                elif after_s > allowed_s(group, change):
                    played.settled_after_s[change] = None
                    del open_groups[group.name]
            time.sleep(LOOK_EVERY_S)

    def _held(self, group: Group) -> dict[str, frozenset[str]]:
        return {member: self._host(group, member).held(group.client(member)) for member in sorted(self.alive)}

    def _wanted(self, group: Group) -> dict[str, frozenset[str]]:
        ids = {self._host(group, member).client_id(group.client(member)): member for member in self.alive}
        parts = [queue.split("/") for queue in self.queues]
        queues = [MessageQueue(topic, broker, int(number)) for topic, broker, number in parts]
        shares = allocate(group.strategy, queues, ids)
        return {
            ids[client]: frozenset(f"{q.topic}/{q.broker}/{q.queue_id}" for q in share)
            for client, share in sorted(shares.items())
        }

    def _host(self, group: Group, member: str) -> Client:
        return self.hosts[member, group.kinds["ABC".index(member)]]

    def _await_messages(self) -> None:
        """Wait until every group has got all that was sent, or no more comes; tests say which lacks what."""
        wanted = set(self.play.sent)
        with suppress(TooLate):
            wait_until(
                lambda: all(wanted <= {got.body for got in self._got(group)} for group in self.groups),
                within_s=ALL_SENT_IN_S,
                what=f"all {len(wanted)} messages in all groups",
            )

    def _got(self, group: Group) -> Iterator[Got]:
        for member in "ABC":
            yield from self._host(group, member).got(group.client(member))

    def _write_down(self) -> None:
        for group in self.groups:
            played = self.play.groups[group.name]
            played.got = sorted(self._got(group), key=lambda got: got.ms)
            for member in "ABC":
                played.tenures += tenures(self._host(group, member), group.client(member))


def allowed_s(group: Group, change: str) -> float:
    """Say how long a group may take: two rounds, and where a lock must expire, that long besides."""
    return TWO_ROUNDS_S + (LOCK_EXPIRES_S if group.orderly and change == "kill" else 0)


def tenures(client: Client, name: str) -> Iterator[Tenure]:
    """Give when a client had which queue; one that never ended reaches to the last thing the process told."""
    told = [seen for seen in client.seen(name=name) if seen["saw"] in ("held", "stopped")]
    since: dict[str, int] = {}
    for seen in told:
        ms, now = int(str(seen["ms"])), frozenset(map(str, seen.get("queues", ())))  # type: ignore[call-overload]
        for queue in since.keys() - now:
            yield Tenure(queue, name, since.pop(queue), ms)
        for queue in now - since.keys():
            since[queue] = ms
    end = max((int(str(seen["ms"])) for seen in client.seen()), default=0)
    for queue, begin in since.items():
        yield Tenure(queue, name, begin, end, goes_on=True)


def again(got: Sequence[Got]) -> Mapping[str, int]:
    """Count, by queue, the messages that came once more."""
    times = Counter((one.queue, one.offset) for one in got)
    return Counter(queue for (queue, _), count in times.items() for _ in range(count - 1))
