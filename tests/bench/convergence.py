"""How soon a group on the real broker is in order again, after a member came and after one was killed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

from tests.bench.report import Row
from tests.cluster.contract import Setup, queues_of
from tests.cluster.lines import Client
from tests.cluster.members import Option, java_consumers, python_consumers
from tests.cluster.processes import wait_until
from tests.cluster.rocketmq import RELEASES, RealCluster, running
from tests.matrix.groups import tenures

TOPIC, QUEUES = "spread", 8  # on each of two brokers
JAVA, PYTHON = "Java", "Python"
GROUPS = {"Java only": (JAVA, JAVA, JAVA), "mixed": (JAVA, PYTHON, PYTHON), "Python only": (PYTHON, PYTHON, PYTHON)}
ROUNDS, QUICK_ROUNDS = 7, 2
GIVEN_S = 90


@dataclass(slots=True)
class Times:
    """Seconds to every queue being held once, a round each."""

    joins: list[float] = field(default_factory=list)
    kills: list[float] = field(default_factory=list)


def run(*, quick: bool) -> Iterator[Row]:
    """Measure the groups one after the other, on one cluster."""
    with running(Setup(release=RELEASES[0])) as cluster:
        cluster.create_topic(TOPIC, QUEUES)
        times = {name: _measure(cluster, name, QUICK_ROUNDS if quick else ROUNDS) for name in GROUPS}
    java = times["Java only"]
    for name in ("mixed", "Python only"):
        yield _row(f"{name}: every queue held once after a join", times[name].joins, java.joins)
        yield _row(f"{name}: every queue held once after a kill", times[name].kills, java.kills)


def _row(what: str, ours: list[float], theirs: list[float]) -> Row:
    note = f"{min(ours):.2f} to {max(ours):.2f} s, Java {min(theirs):.2f} to {max(theirs):.2f} s"
    return Row(what, f"{2 * QUEUES}/3", median(ours), "s", "Java only", median(theirs), note=note)


def _measure(cluster: RealCluster, name: str, rounds: int) -> Times:
    times = Times()
    group = _Group(cluster, name.replace(" ", "-"))
    kinds = GROUPS[name]
    try:
        for number, kind in enumerate(kinds[:2]):
            group.start(kind, f"stays-{number}")
        group.settle()
        for number in range(rounds):
            third = group.start(kinds[2], f"comes-{number}")
            group.settle()
            times.joins.append(group.in_order_after_s(int(str(third.seen("started")[0]["ms"]))))
            killed_ms = time.time_ns() // 1_000_000
            group.kill(third)
            group.settle()
            times.kills.append(group.in_order_after_s(killed_ms))
    finally:
        for client in group.alive:
            client.kill()
    return times


class _Group:
    """The members that are alive."""

    def __init__(self, cluster: RealCluster, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self.queues = queues_of(cluster, TOPIC, QUEUES)
        self.alive: list[Client] = []

    def start(self, kind: str, member: str) -> Client:
        options: dict[str, Option] = {"namesrv": self.cluster.namesrv, "group": self.name, "topics": TOPIC}
        options["name"], folder = f"{self.name}-{member}", self.cluster.folder / self.name
        if kind == JAVA:
            client = java_consumers(self.cluster.java, [options], folder)
        else:
            client = python_consumers([options], folder)
        self.alive.append(client)
        client.wait("started")
        return client

    def kill(self, client: Client) -> None:
        client.kill()
        self.alive.remove(client)

    def settle(self) -> None:
        wait_until(self._is_settled, within_s=GIVEN_S, what=f"every queue of {self.name} being held once")

    def _is_settled(self) -> bool:
        shares = [client.held() for client in self.alive]
        return all(shares) and sum(map(len, shares)) == len(self.queues) == len(frozenset().union(*shares))

    def in_order_after_s(self, change_ms: int) -> float:
        """Give the time from a change until every queue had one owner among those alive, and kept it."""
        told = [one for client in self.alive for one in tenures(client, client.names[0]) if one.queue in self.queues]
        now = [one for one in told if one.goes_on]
        assert {one.queue for one in now} == self.queues and len(now) == len(self.queues)
        changes = [one.begin_ms for one in now] + [one.end_ms for one in told if not one.goes_on]
        return max(0, max(changes) - change_ms) / 1_000
