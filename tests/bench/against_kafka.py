"""One member joins: fewest moves from what was, against Kafka's server-side UniformAssignor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, vstack

from rebalance_engine.allocation.sticky import owners as sticky
from rebalance_engine.allocation.sticky import owners_across_topics
from rebalance_engine.ownership import Ownership
from rebalance_engine.tables import ClientTable, Int32s
from tests.bench.groups import QUICK_SIZES, SIZES, Shape
from tests.bench.report import Row, at_most, short_size, times_faster
from tests.bench.timing import measure
from tests.peers.kafka import RELEASE, Assigned, Kafka

PEER = f"Kafka {RELEASE}"
ROUNDS = 101
ALLOWED_S = 5.0
ALIKE_TOPICS = 10
UNEQUAL_TOPICS = 20
UNEQUAL_AIMS = {(100_000, 10_000): 1.0}
AIMS = {(1_000, 100): 1.0, (100_000, 10_000): 10.0}


@dataclass(frozen=True)
class Case:
    """A group, and what each member subscribes to: topic numbers. The last client is the newcomer."""

    shape: Shape
    subscriptions: Sequence[Sequence[int]]

    @property
    def clients(self) -> list[str]:
        newcomer = "10.170.1.1@1#1"  # sorts into the middle
        return [*self.shape.clients[:-1], newcomer]

    @property
    def partitions(self) -> list[int]:
        return [self.shape.queues // self.shape.topics] * self.shape.topics

    @property
    def is_alike(self) -> bool:
        return all(len(topics) == self.shape.topics for topics in self.subscriptions)

    def subscribers(self) -> list[Int32s]:
        """Turn each client's topics into each topic's clients."""
        topics: list[list[int]] = [[] for _ in range(self.shape.topics)]
        for client, subscribed in enumerate(self.subscriptions):
            for topic in subscribed:
                topics[topic].append(client)
        return [np.array(clients, dtype=np.int32) for clients in topics]


def alike(queues: int, consumers: int, topics: int) -> Case:
    """Make a group whose members subscribe to everything."""
    return Case(Shape(queues, consumers, topics), [range(topics)] * consumers)


def unequal(queues: int, consumers: int) -> Case:
    """Make a group whose members subscribe to one to seven of the topics, starting anywhere."""
    wanted = [[(client + step) % UNEQUAL_TOPICS for step in range(1 + client % 7)] for client in range(consumers)]
    return Case(Shape(queues, consumers, UNEQUAL_TOPICS), wanted)


def run(*, quick: bool) -> Iterator[Row]:
    """Compare at all sizes but the largest."""
    for size in QUICK_SIZES if quick else SIZES[:3]:
        faster = AIMS.get(size)
        yield from _join("STICKY join, one topic", alike(*size, 1), faster)
        yield from _join("STICKY_ACROSS_TOPICS join, 10 topics", alike(*size, ALIKE_TOPICS), faster)
        yield from _join("the same, unequal subscriptions", unequal(*size), UNEQUAL_AIMS.get(size))


def _join(what: str, case: Case, faster: float | None) -> Iterator[Row]:
    queues, before = case.shape.queue_table(), ClientTable.of(case.clients[:-1])
    subscribers = None if case.is_alike else case.subscribers()

    def target(clients: ClientTable, previous: Ownership | None) -> Int32s:
        if case.shape.topics == 1:
            return sticky(queues, clients, previous=previous)
        return owners_across_topics(queues, clients, previous=previous, subscribers=subscribers)

    newcomer = case.clients[-1]
    previous = Ownership(queues, before, target(before.joined(newcomer).left(newcomer), None))
    after = target(before.joined(newcomer), previous)
    _insist_on_fair(case, after)
    ours = measure(lambda: before.joined(newcomer), lambda clients: target(clients, previous)).median_s
    kafka = _ask_kafka(case, previous.owner)
    theirs, size = median(kafka.rounds_ns) / 1e9, short_size(case.shape.queues, case.shape.consumers)
    note = f"loads {_loads(after, case)}, Kafka's {_loads(kafka.owner, case)}"
    yield Row(what, size, ours, peer=PEER, theirs=theirs, aim=times_faster(faster) if faster else None, note=note)
    yield _moves(what, case, previous.owner, after, kafka.owner)


def _ask_kafka(case: Case, before: Int32s) -> Assigned:
    subscriptions = dict(zip(case.clients, case.subscriptions, strict=True))
    with Kafka(RELEASE) as kafka:  # a fresh one each: what it compiles fits what it is asked
        return kafka.assign(case.partitions, subscriptions, before, rounds=ROUNDS, allowed_s=ALLOWED_S)


def _moves(what: str, case: Case, before: Int32s, after: Int32s, kafka: Int32s) -> Row:
    ours, theirs = (int(np.count_nonzero(before != now)) for now in (after, kafka))
    bound = flow_bound(case, before, after)
    note = "" if bound is None else f"fewest that any assignment with loads within one needs: {bound:,.0f}"
    aim = None if bound is None else at_most(bound if case.is_alike else bound * 1.05)
    size = short_size(case.shape.queues, case.shape.consumers)
    return Row(f"{what}: moves", size, ours, unit="moves", peer=PEER, theirs=theirs, aim=aim, note=note)


def _insist_on_fair(case: Case, owner: Int32s) -> None:
    """Each queue has an owner that subscribes to its topic; where all subscribe alike, loads are within one."""
    per_topic = case.shape.queues // case.shape.topics
    subscribes = np.zeros((case.shape.topics, case.shape.consumers), dtype=bool)
    for topic, clients in enumerate(case.subscribers()):
        subscribes[topic, clients] = True
    assert subscribes[np.arange(len(owner)) // per_topic, owner].all(), "a queue went to nobody, or to a stranger"
    loads = np.bincount(owner, minlength=case.shape.consumers)
    assert not subscribes.all() or np.ptp(loads) <= 1, f"loads from {loads.min()} to {loads.max()}"


def _loads(owner: Int32s, case: Case) -> str:
    loads = np.bincount(owner, minlength=case.shape.consumers)
    return f"{loads.min()}-{loads.max()}"


def flow_bound(case: Case, before: Int32s, after: Int32s) -> float | None:
    """Find the fewest moves of any assignment with loads within one, as a linear program.

    x[e] queues of subscription e's topic go to its member; at most what it has of them stays, and as much as
    possible shall. The constraints are a network's, so that the optimum is whole. None where loads cannot be
    within one: there this program would be another one.
    """
    consumers, per_topic = case.shape.consumers, case.shape.queues // case.shape.topics
    loads = np.bincount(after, minlength=consumers)
    if np.ptp(loads) > 1:
        return None
    pairs = [(topic, client) for topic, clients in enumerate(case.subscribers()) for client in clients.tolist()]
    topic, client = np.array(pairs).T
    kept = np.bincount(
        np.arange(len(before)) // per_topic * consumers + before, minlength=case.shape.topics * consumers
    )
    stays = kept[topic * consumers + client]
    edges, ones = len(pairs), np.ones(2 * len(pairs))
    both = np.arange(2 * edges)  # first what stays, then what is moved in
    supply = coo_array((ones, (np.tile(topic, 2), both)), shape=(case.shape.topics, 2 * edges))
    load = coo_array((ones, (np.tile(client, 2), both)), shape=(consumers, 2 * edges))
    base, extra = divmod(case.shape.queues, consumers)
    found = linprog(
        np.concatenate([np.zeros(edges), np.ones(edges)]),
        A_eq=supply,
        b_eq=np.full(case.shape.topics, per_topic),
        A_ub=vstack([load, -load]),
        b_ub=np.concatenate([np.full(consumers, base + (extra > 0)), np.full(consumers, -base)]),
        bounds=np.column_stack([np.zeros(2 * edges), np.concatenate([stays, np.full(edges, per_topic)])]),
    )
    assert found.success, found.message
    return float(round(found.fun))
