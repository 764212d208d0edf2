"""What a producer would choose now, and why, by its fault table as it reported it. Pure: the engine's own selection.

The number that picks the next queue is the producer's own, and it does not report it. So its next choices are worked
out from any number on: as many as there are queues, which take each queue's turn once.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rebalance_engine.model import MessageQueue
from rebalance_engine.producer import CPP, GO, Profile, Settings, Skip, java
from rebalance_engine.producer.index import Index
from rebalance_engine.producer.latency import FaultTable
from rebalance_engine.producer.publish_info import PublishInfo
from rebalance_engine.producer.selection import Search, Why, select

DEFAULT_VERSION = "5.3.3"  # whose behaviour Python producers have, where they do not ask for another one
STEPLESS = {"GO": GO, "CPP": CPP}  # clients that leave no broker alone by its latency, by language as brokers tell it
MOST_QUEUES = 512
THREAD = "any"


@dataclass(frozen=True, slots=True)
class Fault:
    """What a producer reported of one broker: until when it leaves it alone, and whether it reaches it."""

    available_from: int
    is_reachable: bool


@dataclass(frozen=True, slots=True)
class Pick:
    """The next sends to one topic: how many of ``looked`` go to each broker, why, and which brokers are passed over."""

    topic: str
    shares: Mapping[str, int]
    looked: int
    why: tuple[Why, ...]
    skipped: Mapping[str, Skip]


@dataclass(frozen=True, slots=True)
class Steps:
    """How long a broker is left alone, by the latency of an attempt, slowest last; and what a failure counts as.

    ``language`` is what the client is written in, as far as it is known; Go and C++ clients have no rows.
    """

    profile: Profile
    rows: tuple[tuple[int, int], ...]
    isolation_ms: int
    is_assumed: bool
    language: str = ""

    @property
    def slow_ms(self) -> int | None:
        """The least latency after which a broker is left alone; None: none is, after any."""
        return next((low for low, length in self.rows if length), None)

    def stage_of(self, backoff_ms: int) -> int | None:
        """Give the step (from 1) that leaves a broker alone for so long; None: it is none of these."""
        return next((at for at, (_low, length) in enumerate(self.rows, 1) if length == backoff_ms and length), None)

    def stage_of_latency(self, latency_ms: int) -> int:
        """Give the step that a latency falls into; 0: below the first."""
        return sum(latency_ms >= low for low, _length in self.rows)


def steps_of(version: str, language: str = "") -> Steps:
    """Give the steps of a client of a version like ``V5_3_3``; of one that is not known those of the default.

    A Python client of Evenkeel's names the Java client whose steps it has as its version.
    """
    if language in STEPLESS:
        return Steps(STEPLESS[language], (), 0, False, language)
    name = version.removeprefix("V").replace("_", ".")
    try:
        profile, is_assumed = java(name), False
    except ValueError:
        profile, is_assumed = java(DEFAULT_VERSION), True
    rows = tuple(zip(profile.latency_max_ms, profile.not_available_ms, strict=True))
    return Steps(profile, rows, profile.isolation_ms, is_assumed, language)


def pick(
    topic: str,
    queues: Sequence[MessageQueue],
    faults: Mapping[str, Fault],
    profile: Profile,
    *,
    at: int,
    avoids_faults: bool = True,
) -> Pick:
    """Work out the next sends to a topic, one for each of its queues."""
    luck = random.Random(0)  # noqa: S311 - any number to begin with: each queue has its turn once
    info = PublishInfo(topic, Index(profile.index, luck))
    info.queues = list(queues[:MOST_QUEUES])
    table = _table(faults, profile, luck)
    chosen: Counter[str] = Counter()
    why: dict[Why, None] = {}
    skipped: dict[str, Skip] = {}
    for _turn in range(len(info.queues)):
        choice = select(Search(info, table, profile, THREAD, at), avoids_faults=avoids_faults)
        why[choice.why] = None
        skipped |= {step.queue.broker: step.skipped for step in choice.steps if step.skipped is not None}
        if choice.queue is not None:
            chosen[choice.queue.broker] += 1
    return Pick(topic, dict(chosen), len(info.queues), tuple(why), skipped)


def queues_of(topic: str, routes: Iterable[tuple[str, int]]) -> list[MessageQueue]:
    """List the queues that a producer may send to, broker by broker."""
    return [MessageQueue(topic, broker, number) for broker, size in sorted(routes) for number in range(size)]


def _table(faults: Mapping[str, Fault], profile: Profile, luck: random.Random) -> FaultTable:
    table = FaultTable(profile, Settings(group="", client="", avoids_faults=True), luck)
    for broker, fault in faults.items():
        table.update(broker, 0, 0, is_isolated=False, is_reachable=fault.is_reachable)
        item = table.item(broker)
        assert item is not None
        item.available_from = fault.available_from
    return table
