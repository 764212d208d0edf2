"""The whole group in one pass, against every member asking RocketMQ's own strategy object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from rebalance_engine.allocation import strategy
from rebalance_engine.tables import Int32s
from tests.bench.groups import QUICK_SIZES, SIZES, Shape
from tests.bench.report import Row, short_size, times_faster, within_times
from tests.bench.timing import measure, repeat
from tests.peers import rocketmq
from tests.peers.rocketmq import RELEASES, RocketMQ, Times

PEER = f"RocketMQ {RELEASES[0]}"
JAVA_OPTIONS = ("-Xmx4g",)
ROUNDS = 7
ALLOWED_S = 5.0
AIMED_AT = (100_000, 10_000)
WRITTEN = (1_000_000, 10_000)
UP_TO = 10_000  # queues, for the strategies that read names with Python functions
ROOMS = ["east", "west"]


@dataclass(frozen=True, slots=True)
class Contest:
    """One strategy, for both sides."""

    name: str
    params: dict[str, Any]
    wire: bytes
    most_queues: int = 10**9
    faster: float | None = None


def contests(shape: Shape) -> list[Contest]:
    """List what is compared."""
    room_of_client = {name: ROOMS[number % 2] for number, name in enumerate(shape.clients)}
    room_of_broker = {broker: ROOMS[int(broker[-1]) % 2] for _, broker, _ in shape.routes}
    rooms = {"broker_room": lambda queue: room_of_broker[queue.broker], "client_room": room_of_client.__getitem__}
    average = rocketmq.plain("AVG")
    return [
        Contest("AVG", {}, average, faster=5000),
        Contest("AVG_BY_CIRCLE", {}, rocketmq.plain("AVG_BY_CIRCLE"), faster=5000),
        Contest("CONSISTENT_HASH", {}, rocketmq.consistent_hash(10)),
        Contest("MACHINE_ROOM", {"consumer_idcs": {"east"}}, rocketmq.machine_room(["east"]), most_queues=UP_TO),
        Contest("MACHINE_ROOM_NEARBY-AVG", rooms, rocketmq.nearby(room_of_broker, room_of_client, average), UP_TO),
    ]


def run(*, quick: bool) -> Iterator[Row]:
    """Compare at all sizes."""
    for size in QUICK_SIZES if quick else SIZES:
        shape = Shape(*size)
        for contest in contests(shape):
            if shape.queues <= contest.most_queues:
                yield from _compare(shape, contest, quick=quick)
        yield _array_write(shape)


def _compare(shape: Shape, contest: Contest, *, quick: bool) -> Iterator[Row]:
    rounds, allowed_s = (3, 1.0) if quick else (ROUNDS, ALLOWED_S)
    with RocketMQ(RELEASES[0], *JAVA_OPTIONS) as java:  # a fresh one each: what it compiles fits what it is asked
        times = java.time(contest.wire, shape.routes, shape.clients, rounds=rounds, allowed_s=allowed_s)
    queues, owners = shape.queue_table(), strategy(contest.name, **contest.params).owners
    assert owners is not None
    _insist_on_equal(owners(queues, shape.client_table()), times, contest.name)
    ours = measure(shape.client_table, lambda clients: owners(queues, clients)).median_s
    yield from _rows(shape, contest, ours, times)


def _insist_on_equal(ours: Int32s, java: Times, name: str) -> None:
    expected = np.where(np.isin(ours, java.sample), ours, -1)
    if not np.array_equal(expected, java.owner):
        raise AssertionError(f"{name}: Java allocates {np.count_nonzero(expected != java.owner)} queues otherwise")


def _rows(shape: Shape, contest: Contest, ours: float, times: Times) -> Iterator[Row]:
    size = short_size(shape.queues, shape.consumers)
    scale = times.members / len(times.sample)
    theirs, sorting = median(times.rounds_ns) / 1e9 * scale, median(times.sorts_ns) / 1e9 * times.members
    note = "" if scale == 1 else f"Java: sample of {len(times.sample)} clients"
    aims = (shape.queues, shape.consumers) == AIMED_AT
    aim = times_faster(contest.faster) if contest.faster and aims else None
    yield Row(contest.name, size, ours, peer=PEER, theirs=theirs, aim=aim, note=note)
    if contest.name == "AVG":
        note = "Java with each member's own two sorts, from a sample of them"
        yield Row(contest.name, size, ours, peer=PEER, theirs=theirs + sorting, note=note)
    if contest.faster and (shape.queues, shape.consumers) == WRITTEN:
        yield _against_write(contest.name, shape, ours)


def _array_write(shape: Shape) -> Row:
    seconds = repeat(lambda: np.full(shape.queues, 7, dtype=np.int32)).median_s
    return Row("array write", short_size(shape.queues, shape.consumers), seconds, note="the physical bound: np.full")


def _against_write(name: str, shape: Shape, ours: float) -> Row:
    written = _array_write(shape)
    return Row(name, written.size, ours, peer="array write", theirs=written.ours, aim=within_times(5))
