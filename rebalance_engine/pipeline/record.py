"""What a finished run's record tells of a group, as the back-test needs it: members, queues, holds, strategies."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TypeVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.group import GroupView, Member
from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.rounds import COMES, GOES
from rebalance_engine.pipeline.routes import Route, read_route, routes_of

UNKNOWN = "unknown"
OF_MEMBERS, EXPIRED = frozenset((COMES | GOES).values()), GOES["expired"]
LOSSES, GOINGS = (GOES["closed"], EXPIRED), frozenset(GOES.values())
TOLD_AFTER_MS = 2_000  # a result line follows the takes that it tells of
T = TypeVar("T")


@dataclass(frozen=True)
class State:
    """A group's members and queues from a moment on; ``queues`` is None where nobody tells which there were.

    ``lost``: of those who were there before and are not now, those that ended without a word; the others stopped.
    """

    at_ms: int
    members: tuple[str, ...]
    queues: tuple[MessageQueue, ...] | None
    lost: frozenset[str] = frozenset()

    @cached_property
    def view(self) -> GroupView:
        """The group as the engine looks at it: made once for all strategies."""
        return GroupView.of("replayed", self.queues or (), [Member(client_id=name) for name in self.members])


class Ended(Enum):
    """How who gave a queue away ended to hold it: what a handoff costs depends on that more than on anything else."""

    RELEASED = "released"  # it lived on
    STOPPED = "stopped"
    LOST = "lost"  # nobody takes its queues until its connection or its heartbeats are missed


@dataclass(frozen=True, slots=True)
class Paused:
    """Handoffs, and for how long those paused in all, at least, of which the pause is known."""

    handoffs: int = 0
    known: int = 0
    pause_ms: float = 0.0

    @property
    def mean_ms(self) -> float | None:
        """How long one paused, of those whose pause is known."""
        return self.pause_ms / self.known if self.known else None


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a group's record says happened: moves, and handoffs by how their givers ended."""

    moves: int = 0
    paused: Mapping[Ended, Paused] = field(default_factory=dict)

    @property
    def handoffs(self) -> int:
        """Count the handoffs."""
        return sum(each.handoffs for each in self.paused.values())

    def pause_of(self, handoffs: Mapping[Ended, int]) -> float | None:
        """Say for how long so many handoffs pause as those did that were recorded; None where none of a kind was.

        No handoffs pause for no time.
        """
        means = {ended: self.paused.get(ended, Paused()).mean_ms for ended, count in handoffs.items() if count}
        known = [handoffs[ended] * mean for ended, mean in means.items() if mean is not None]
        return sum(known, start=0.0) if len(known) == len(means) else None


@dataclass(frozen=True, slots=True)
class Hold:
    """A client held a queue; ``is_lost``: until it ended without a word."""

    queue: MessageQueue
    client: str
    from_ms: int
    until_ms: int
    is_lost: bool = False


@dataclass
class Known:
    """What the input tells of a group besides its rounds.

    Attributes:
        routes: by topic and time, in order.
        sizes: how many queues a topic had, as results say, by topic and time, in order.
        strategies: of each client, what it named, None where nothing; clients of no log are not there.
    """

    holds: list[Hold] = field(default_factory=list)
    routes: dict[str, list[tuple[int, Route]]] = field(default_factory=dict)
    sizes: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    strategies: dict[str, set[str | None]] = field(default_factory=dict)

    def queues_at(self, at_ms: int) -> tuple[MessageQueue, ...] | None:
        """Name all queues of the group's topics; None where one topic's are unknown."""
        found: set[MessageQueue] = set()
        for topic, held in self._held.items():
            route = _last(self.routes.get(topic, ()), at_ms)
            known = {queue for queue, since, until in held if since <= at_ms < until}
            if route is not None:
                found |= {MessageQueue(topic, broker, n) for broker, count in route.items() for n in range(count)}
            elif _last(self.sizes.get(topic, ()), at_ms) == len(known):
                found |= known
            elif known:
                return None
        return tuple(sorted(found))

    def was_lost(self, client: str, at_ms: int) -> bool:
        """Say whether the last hold of a client that had ended by then ended without a word."""
        return _last(self._ends.get(client, ()), at_ms) or False

    @cached_property
    def _ends(self) -> dict[str, list[tuple[int, bool]]]:
        """Say when holds ended, and whether without a word, in order, by client."""
        ends: dict[str, list[tuple[int, bool]]] = {}
        for hold in sorted(self.holds, key=lambda hold: (hold.until_ms, hold.is_lost)):
            ends.setdefault(hold.client, []).append((hold.until_ms, hold.is_lost))
        return ends

    @cached_property
    def _held(self) -> dict[str, list[tuple[MessageQueue, int, int]]]:
        """Say from its first hold until its last ended that a queue was there, by topic."""
        there: dict[MessageQueue, tuple[int, int]] = {}
        for hold in self.holds:
            since, until = there.get(hold.queue, (hold.from_ms, hold.until_ms))
            there[hold.queue] = (min(since, hold.from_ms), max(until, hold.until_ms))
        by_topic: dict[str, list[tuple[MessageQueue, int, int]]] = {}
        for queue, (since, until) in there.items():
            by_topic.setdefault(queue.topic, []).append((queue, since, until))
        return by_topic


def _last(told: Sequence[tuple[int, T]], at_ms: int) -> T | None:
    place = bisect_right(told, at_ms + TOLD_AFTER_MS, key=lambda one: one[0])
    return told[place - 1][1] if place else None


def states_of(rounds: Iterable[dict[str, object]], known: Known) -> list[State]:
    """Say who was there, and which queues there were, after each round.

    Args:
        rounds: opened_ms, settled_ms, members_after, causes, who of each.
    """
    found = list[State]()
    ways: dict[str, str] = {}  # how each went last, as causes say: also of who held nothing
    for one in sorted(rounds, key=lambda one: _int(one["opened_ms"])):
        ways |= _ways(one)
        at = _int(one["settled_ms"] if one["settled_ms"] is not None else one["opened_ms"])
        members = one["members_after"]
        assert isinstance(members, list)
        queues = known.queues_at(at)
        if members and queues != ():
            gone = set(found[-1].members if found else ()).difference(members)
            lost = frozenset(name for name in gone if _is_lost(name, ways.get(name), known, at))
            found.append(State(at, tuple(members), queues, lost))
    return found


def _is_lost(name: str, way: str | None, known: Known, at_ms: int) -> bool:
    return way in LOSSES if way in GOINGS else known.was_lost(name, at_ms)


def _ways(one: Mapping[str, object]) -> dict[str, str]:
    """Say how each whom a round's causes name came or went; nothing where one names nobody, as it may be any."""
    told = [cause for cause in _texts(one.get("causes")) if cause in OF_MEMBERS]
    who = _texts(one.get("who"))
    for causes in (told, [cause for cause in told if cause != EXPIRED]):  # a line of who is given up may name nobody
        if len(causes) == len(who):
            return dict(zip(who, causes, strict=True))
    return {}


def _texts(value: object) -> list[str]:
    assert value is None or isinstance(value, list)
    return value or []


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value


def recorded_of(rounds: Sequence[Mapping[str, object]]) -> Recorded:
    """Sum up a group's rounds; each has the counts and sums of the group's handoffs beside, by how givers ended."""
    first = rounds[0]
    paused = {
        ended: Paused(*(_int(first.get(f"{ended.value}_{what}") or 0) for what in ("handoffs", "known", "ms")))
        for ended in Ended
    }
    return Recorded(moves=sum(_int(one["moves"] or 0) for one in rounds), paused=paused)


def in_use(states: Iterable[State], known: Known) -> str:
    """Name the strategy that all members named; several, or that one is unknown, where they do not.

    A member that never held anything decides nothing, if its log is there to say so.
    """
    holding = {hold.client for hold in known.holds}
    members = holding | {name for state in states for name in state.members if name not in known.strategies}
    named = {name or UNKNOWN for member in members for name in known.strategies.get(member, {None})}
    return ", ".join(sorted(named, key=lambda name: (name == UNKNOWN, name))) or UNKNOWN


# ---- frames ----


def paused_of(handoffs: DataFrame) -> DataFrame:
    """Give what :func:`recorded_of` reads of each group's handoffs: by how givers ended, counts and sums of pauses.

    That nobody was there, as all members were restarted at once, no strategy would have spared anybody: it is left out.
    """
    lost, stopped = (F.col("ended") == ended.value for ended in (Ended.LOST, Ended.STOPPED))
    kind = F.when(lost, Ended.LOST.value).when(stopped, Ended.STOPPED.value).otherwise(Ended.RELEASED.value)
    each = []
    for ended in Ended:
        pause = F.when(kind == ended.value, F.col("pause_ms") - F.coalesce("restart_ms", F.lit(0)))
        each += [
            F.count(F.when(kind == ended.value, 1)).alias(f"{ended.value}_handoffs"),
            F.count(pause).alias(f"{ended.value}_known"),
            F.sum(pause).alias(f"{ended.value}_ms"),
        ]
    return handoffs.groupBy("cluster", "group").agg(*each)


def known_of(rounds: DataFrame, spans: DataFrame, events: DataFrame) -> DataFrame:
    """Give, in rows of several kinds, what :class:`Known` is made of: holds, routes, results and members."""
    holds = spans.select(
        *("cluster", "group", F.lit("hold").alias("kind"), "topic", "broker", "queue_id"),
        *(F.col("client_id").alias("client"), F.coalesce("from_ms", "first_seen_ms").alias("at_ms"), "until_ms"),
        (F.col("ended") == "lost").alias("is_lost"),
    )
    routes = routes_of(events, spans).withColumn("kind", F.lit("route"))
    results = events.where((F.col("what") == "result") & F.col("group").isNotNull())
    sizes = results.where(F.col("number2").isNotNull()).select(
        *("cluster", "group", F.lit("size").alias("kind"), "topic", "at_ms", F.col("number2").alias("size"))
    )
    named = results.select("cluster", "group", F.col("client_id").alias("client"), "strategy").distinct()
    heard = events.where((F.col("layout") != "broker") & (F.col("what") != "persisted all"))
    heard = heard.select("cluster", F.col("client_id").alias("client")).where(F.col("client").isNotNull()).distinct()
    there = rounds.select("cluster", "group", F.explode("members_after").alias("client")).distinct()
    members = there.join(heard, on=["cluster", "client"], how="left_semi").join(
        named.where(F.col("strategy").isNotNull()), on=["cluster", "group", "client"], how="left"
    )
    found = holds
    for more in (routes, sizes.distinct(), members.withColumn("kind", F.lit("member"))):
        found = found.unionByName(more, allowMissingColumns=True)
    return found


def read_known(rows: Iterable[Mapping[str, object]]) -> Known:
    """Read the rows of one group that :func:`known_of` gives."""
    known = Known()
    for row in sorted(rows, key=lambda row: _int(row["at_ms"] or 0)):
        if row["kind"] == "hold":
            queue = MessageQueue(str(row["topic"]), str(row["broker"]), _int(row["queue_id"]))
            times = _int(row["at_ms"]), _int(row["until_ms"])
            known.holds.append(Hold(queue, str(row["client"]), *times, is_lost=row.get("is_lost") is True))
        elif row["kind"] == "route":
            route = (_int(row["at_ms"]), read_route(row["queues"]))
            known.routes.setdefault(str(row["topic"]), []).append(route)
        elif row["kind"] == "size":
            known.sizes.setdefault(str(row["topic"]), []).append((_int(row["at_ms"]), _int(row["size"])))
        else:
            strategy = row["strategy"]
            named = known.strategies.setdefault(str(row["client"]), set())
            named.add(strategy if isinstance(strategy, str) else None)
    return known
