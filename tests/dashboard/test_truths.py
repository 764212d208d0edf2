"""Random true histories: whatever is told of who had a queue holds, then and whenever it is told again.

Members fall silent and answer again, are lost and come back; queues leave the route and are back. Looks see some of it:
of what a member that answers has between two looks they see all, but for what it took and let go in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.clusters.absences import MOST_ABSENCES
from dashboard.clusters.models import Cluster, Queue, Watch
from dashboard.groups.bands import Step
from dashboard.groups.ending import tell_ended
from dashboard.groups.lanes import Lane, lanes_of
from dashboard.groups.lasting import lasting_handoffs
from dashboard.groups.lately import lately_of
from dashboard.groups.models import Group, Handoff, Holding, Round
from dashboard.groups.owned import shares_in
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.story import time_bar
from rebalance_engine.events import Departure, Exactness, Fact
from tests.dashboard.luck import examples
from tests.dashboard.story import T0, add_cluster, held, joined, left, missed, route, seen, told

TICK_MS = 500
QUEUES = 4
CLIENTS = "ABC"


@dataclass
class World:
    """What is true, in ticks; ``owners`` and ``size`` (of the route) have one entry for each tick that is over."""

    luck: Random
    has: dict[str, set[int]] = field(default_factory=lambda: {"A": {0, 1}, "B": {2, 3}})
    routed: int = QUEUES
    owners: list[list[int]] = field(default_factory=list)  # how many have each queue; -1: it is in no route
    changed: set[tuple[str, int]] = field(default_factory=set)  # since a member was looked at last
    silent: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=lambda: {"A", "B"})
    known_route: int = QUEUES
    looked: int = 0
    missing: float = 0.25  # of all answers

    def passes(self) -> None:
        """Let a tick pass, in which anything may happen."""
        for _ in range(self.luck.choice([0, 0, 1, 1, 2])):
            self._happens()
        self.stays()

    def stays(self) -> None:
        """Let a tick pass, in which nothing happens."""
        counts = [sum(queue in mine for mine in self.has.values()) for queue in range(QUEUES)]
        self.owners.append([count if queue < self.routed else -1 for queue, count in enumerate(counts)])

    def _happens(self) -> None:
        client, queue, kind = self.luck.choice(CLIENTS), self.luck.randrange(QUEUES), self.luck.random()
        if client not in self.has:
            if client not in self.known and kind < 0.3:
                self.has[client] = set()
                self.changed -= {(client, each) for each in range(QUEUES)}
                self.silent.discard(client)
        elif kind < 0.05:
            if client in self.known:
                del self.has[client]
        elif kind < 0.15:
            if self.routed == self.known_route:
                self.routed = self.luck.choice([2, 3, 4])
        elif client in self.silent or (client, queue) not in self.changed:
            if queue in self.has[client]:
                self.has[client].discard(queue)
            elif queue < self.routed:
                self.has[client].add(queue)
            self.changed.add((client, queue))

    def looks(self) -> list[Fact]:
        """Look at all of it now."""
        at = self.now
        low = max(self.looked, 0)
        facts: list[Fact] = []
        within = Exactness.between(T0 + low, T0 + at)
        if self.routed != self.known_route:
            facts.append(replace(route(self.routed, at), exactness=within))
        gone = sorted(self.known - self.has.keys())
        facts += [replace(left(client, at, Departure.UNKNOWN), exactness=within) for client in gone]
        for client in sorted(self.has.keys() - self.known):
            facts += [joined(client, at, low=low), *seen(client, at)[1:]]
        for client, mine in sorted(self.has.items()):
            if self.luck.random() < self.missing:
                facts.append(missed(client, at))
                self.silent.add(client)
            else:
                facts.append(held(client, at, sorted(mine)))
                self.silent.discard(client)
                self.changed -= {(client, queue) for queue in range(QUEUES)}
        self.known, self.known_route, self.looked = set(self.has), self.routed, at
        return facts

    @property
    def now(self) -> int:
        """The instant after all that happened, in ms."""
        return TICK_MS * len(self.owners) - TICK_MS // 2

    def lasted(self, queue: int, since: int, until: int, *, two: bool = False) -> int:
        """Say how long nobody had a queue, or two, within a time (ms after ``T0``)."""
        times = (
            (TICK_MS * tick, TICK_MS * (tick + 1))
            for tick, counts in enumerate(self.owners)
            if (counts[queue] > 1 if two else counts[queue] == 0)
        )
        return sum(max(0, min(high, until) - max(low, since)) for low, high in times)

    def holds(self, steps: Iterable[tuple[int, int, int]], *, two: bool = False) -> bool:
        """Ask whether at least as many queues had nobody, or two, at each instant of steps."""
        return all(
            sum(count > 1 if two else count == 0 for count in counts) >= queues
            for since, until, queues in steps
            for tick, counts in enumerate(self.owners)
            if since - T0 < TICK_MS * (tick + 1) and TICK_MS * tick < until - T0
        )


def plain(steps: Iterable[Step]) -> Iterator[tuple[int, int, int]]:
    return ((step.since, step.until, step.queues) for step in steps)


def check(world: World, group: Group) -> None:
    """Hold all that is told now against what is true."""
    now = T0 + world.now
    numbers = dict(Queue.objects.values_list("pk", "queue_id"))
    first = {pk: at - T0 for pk, at in Holding.objects.order_by("-at").values_list("queue__queue_id", "at")}
    bar = time_bar(group=group, since=T0, now=now)
    assert world.holds(bar["none"])  # type: ignore[arg-type]
    assert world.holds(bar["two"], two=True)  # type: ignore[arg-type]
    lately = lately_of(groups=[group.pk], now=now)[group.pk]
    assert lately.unowned is not None
    assert lately.overlap is not None
    assert world.holds(plain(lately.nobody))
    assert world.holds(plain(lately.two), two=True)
    assert lately.unowned.low <= sum(world.lasted(queue, 0, world.now) for queue in range(QUEUES))
    assert lately.overlap.low <= sum(world.lasted(queue, 0, world.now, two=True) for queue in range(QUEUES))
    if not lately.is_open:
        assert lately.unowned.high >= sum(world.lasted(queue, at, world.looked) for queue, at in first.items())
    for row in Round.objects.filter(group=group).order_by("number"):
        for pk, share in shares_in(row=row, now=now).items():
            assert share.unowned.low <= world.lasted(numbers[pk], 0, world.now)
            assert share.overlap.low <= world.lasted(numbers[pk], 0, world.now, two=True)
        for lane in lanes_of(row, now=now):
            check_lane(world, lane)
        found = lasting_handoffs(rounds=[row.pk], now=now)
        for handoff in Handoff.objects.filter(pk__in=found):
            drop = (handoff.dropped_low or handoff.dropped_at or 0) - T0
            assert found[handoff.pk].low <= world.lasted(handoff.queue_id, drop, world.now)


def check_lane(world: World, lane: Lane) -> None:
    now = T0 + world.now
    (least, most), (both, _) = lane.unowned, lane.overlap
    begin, end = lane.dropped[0] or 0, lane.taken[1] or now
    assert (least or 0) <= world.lasted(lane.queue_id, begin - T0, end - T0), lane
    assert (both or 0) <= world.lasted(lane.queue_id, 0, world.now, two=True), lane
    if most is not None and lane.dropped[1] is not None and lane.taken[0] is not None:
        assert most >= world.lasted(lane.queue_id, lane.dropped[1] - T0, lane.taken[0] - T0), lane


@pytest.mark.django_db
@settings(
    max_examples=examples(8),
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.integers(0, 2**32))
def test_every_bound_of_any_true_history_holds_then_and_later(seed: int) -> None:
    luck = Random(seed)
    Cluster.objects.all().delete()
    world, group = begin(luck)

    for _ in range(luck.choice([4, 8, 14])):
        for _ in range(luck.choice([1, 2, 4, 8])):
            world.passes()
        if luck.random() < 0.2:
            continue  # nobody looks
        look(world, group)
        world.passes()
        check(world, group)


def begin(luck: Random) -> tuple[World, Group]:
    """Look at all that is there at first."""
    add_cluster()
    told(route(QUEUES), *seen("A"), *seen("B"), held("A", 0, [0, 1]), held("B", 0, [2, 3]))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 1)
    return World(luck), group


def look(world: World, group: Group) -> None:
    """Look at all that is there now, and tell what comes of it."""
    told(*world.looks(), at=world.now)
    now = T0 + world.now
    Cluster.objects.update(watched_at=now)
    Watch.objects.update_or_create(cluster=group.cluster, defaults={"at": now, "lists_at": now, "routes_at": now})
    rebalance_once(group=group.pk, now=now)
    tell_ended(group=group.pk, now=now)
    group.refresh_from_db()


@pytest.mark.django_db
@pytest.mark.parametrize("times", [MOST_ABSENCES + 1, MOST_ABSENCES + 5])
def test_what_nobody_had_is_told_no_longer_than_it_was_after_more_absences_than_are_kept(times: int) -> None:
    world, group = begin(Random(0))
    world.missing = 0

    def pass_ticks(count: int) -> None:
        for _ in range(count):
            world.stays()
        look(world, group)

    pass_ticks(2)
    world.has["B"].discard(3)
    pass_ticks(2)
    for _ in range(times):
        world.routed = 3
        pass_ticks(8)
        world.routed = 4
        pass_ticks(2)
    world.has["B"].add(3)
    pass_ticks(2)
    world.stays()

    check(world, group)
