"""What another strategy would have cost: a group's recorded members and routes, replayed by the engine itself.

Every group is replayed by itself, in parallel, from Arrow batches: :func:`rebalance_engine.engine.rebalance` computes
each step, as it does for the live side. A pause is not replayed but taken as long as the group's recorded handoffs
paused on average: which queues move is the strategy's doing, how long a move takes is the client's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

import pyarrow as pa  # type: ignore[import-untyped] # pyarrow has no types
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from rebalance_engine.allocation import STRATEGIES
from rebalance_engine.engine import rebalance
from rebalance_engine.group import GroupView, Member
from rebalance_engine.model import MessageQueue
from rebalance_engine.ownership import Ownership
from rebalance_engine.pipeline.schemas import BACKTEST, day_of, shaped
from rebalance_engine.plan import Plan, target

# Strategies that need what only people know (rooms, lists of queues) cannot be tried on a record.
TRIED = tuple(name for name, kind in STRATEGIES.items() if not kind.needs and not name.endswith("CONFIG"))
NEEDS_A_PLAN = tuple(name for name in TRIED if "previous" in STRATEGIES[name].takes)
SKEW_MAY_GROW = 0.05  # max over mean: one queue more on one of twenty
DEFAULT = "AVG"
_REPLAYED = StructType([field for field in BACKTEST.fields if field.name != "day"])


@dataclass(frozen=True)
class State:
    """A group's members and queues from a moment on."""

    at_ms: int
    members: tuple[str, ...]
    queues: tuple[MessageQueue, ...]

    @cached_property
    def view(self) -> GroupView:
        """The group as the engine looks at it: made once for all strategies."""
        return GroupView.of("replayed", self.queues, [Member(client_id=name) for name in self.members])


@dataclass(frozen=True, slots=True)
class Replay:
    """What one strategy makes of a group's record.

    Attributes:
        mean_skew: the largest load over the mean load, weighted by time; None where nobody was there.
        idle: members without a queue, on average over time.
        pause_ms: handoffs times the recorded mean pause; None where no handoff was recorded.
    """

    strategy: str
    steps: int
    moves: int
    handoffs: int
    mean_skew: float | None
    idle: float
    pause_ms: float | None


def replay(states: Sequence[State], strategy: str, mean_pause_ms: float | None) -> Replay:
    """Replay a group's states, in order, the last of which only ends the one before."""
    plan = Plan(strategy=strategy)
    before: GroupView | None = None
    owned: Ownership | None = None
    moves = handoffs = 0
    lasted = skewed = idle = 0.0
    for state, following in zip(states, [*states[1:], None], strict=True):
        after = state.view
        if before is None or owned is None:
            owned = target(after, plan)
        else:
            outcome = rebalance(before, after, plan, previous=owned)
            owned = outcome.target
            moves += outcome.move_count.total
            handoffs += outcome.move_count.handoffs
        before = after
        span = following.at_ms - state.at_ms if following else 0
        loads = owned.loads()[: len(state.members)]
        if len(loads) and loads.sum():
            lasted += span
            skewed += span * float(loads.max()) * len(loads) / float(loads.sum())
            idle += span * int((loads == 0).sum())
    return Replay(
        strategy=strategy,
        steps=len(states),
        moves=moves,
        handoffs=handoffs,
        mean_skew=skewed / lasted if lasted else None,
        idle=idle / lasted if lasted else 0.0,
        pause_ms=None if mean_pause_ms is None else handoffs * mean_pause_ms,
    )


def recommend(replays: Iterable[Replay], now: str) -> tuple[str, str]:
    """Choose a strategy, and say why: the fewest handoffs among those about as even as the one in use.

    Those that members can run by themselves come first; a plan must save handoffs to be worth following.
    """
    by_name = {one.strategy: one for one in replays}
    current = by_name.get(now) or by_name[DEFAULT]
    limit = (current.mean_skew or 1.0) + SKEW_MAY_GROW
    fit = [
        one for one in by_name.values() if (one.mean_skew or 1.0) <= limit and one.idle <= current.idle + SKEW_MAY_GROW
    ]
    best = min(fit, key=lambda one: (one.handoffs, one.strategy in NEEDS_A_PLAN, one.strategy != current.strategy))
    if not current.handoffs:
        return current.strategy, f"keep {current.strategy}: it moved nothing from one member to another"
    if best.handoffs >= current.handoffs:
        none = f"none that is as even moves less than its {current.handoffs} handoffs"
        return current.strategy, f"keep {current.strategy}: {none}"
    less = f"{best.handoffs} handoffs instead of {current.handoffs}"
    pauses = ""
    if best.pause_ms is not None and current.pause_ms is not None:
        pauses = f", {(current.pause_ms - best.pause_ms) / 1000:.1f} s of pauses less"
    even = f", skew {best.mean_skew or 1.0:.2f} instead of {current.mean_skew or 1.0:.2f}"
    how = " (the group must follow a plan)" if best.strategy in NEEDS_A_PLAN else ""
    return best.strategy, f"{best.strategy}{how}: {less}{pauses}{even}, over {best.steps} states"


def states_of(rounds: Iterable[dict[str, object]], routes: Iterable[dict[str, object]]) -> list[State]:
    """Put recorded rounds and routes together: who was there, and which queues there were, after each.

    Args:
        rounds: opened_ms, settled_ms, members_after of each.
        routes: topic, broker, queue_id, from_ms and until_ms of each queue that was known.
    """
    known = [
        (
            _int(one["from_ms"]),
            _int(one["until_ms"]),
            MessageQueue(str(one["topic"]), str(one["broker"]), _int(one["queue_id"])),
        )
        for one in routes
    ]
    found = []
    for one in sorted(rounds, key=lambda one: _int(one["opened_ms"])):
        at = _int(one["settled_ms"] if one["settled_ms"] is not None else one["opened_ms"])
        members = one["members_after"]
        assert isinstance(members, list)
        queues = tuple(sorted({queue for begin, end, queue in known if begin <= at < end}))
        if members and queues:
            found.append(State(at, tuple(members), queues))
    return found


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value


# ---- frames ----


def backtest_of(rounds: DataFrame, spans: DataFrame, handoffs: DataFrame, events: DataFrame) -> DataFrame:
    """Replay every group under every strategy that can be tried; one row each, the recommended one marked."""
    group = ["cluster", "group"]
    paused = handoffs.groupBy(*group).agg(F.avg("pause_ms").alias("mean_pause_ms"))
    used = (
        events.where((F.col("what") == "result") & F.col("strategy").isNotNull())
        .groupBy(*group)
        .agg(F.mode("strategy").alias("now"))
    )
    steps = (
        rounds.select(*group, "opened_ms", "settled_ms", "members_after")
        .join(paused, on=group, how="left")
        .join(used, on=group, how="left")
    )
    known = routes_of(spans)
    told = (
        steps.groupBy(*group).cogroup(known.toDF(*known.columns).groupBy(*group)).applyInArrow(_replay_group, _REPLAYED)
    )
    return shaped(told.withColumn("day", day_of(F.col("at_ms"))), BACKTEST)


def routes_of(spans: DataFrame) -> DataFrame:
    """Give the queues that a group has known, each from its first hold until its last ended.

    A broker's queues that come back are there without a break: a group that loses a broker for a minute moves them
    under every strategy alike.
    """
    begin = F.coalesce("from_ms", "first_seen_ms")
    return spans.groupBy("cluster", "group", "topic", "broker", "queue_id").agg(
        F.min(begin).alias("from_ms"), F.max("until_ms").alias("until_ms")
    )


def _replay_group(rounds: pa.Table, routes: pa.Table) -> pa.Table:
    rows = list(replay_rows(rounds.to_pylist(), routes.to_pylist()))
    return pa.Table.from_pylist(rows, schema=to_arrow_schema(_REPLAYED))


def replay_rows(rounds: list[dict[str, object]], routes: list[dict[str, object]]) -> Iterator[dict[str, object]]:
    """Replay one group; no rows where it has no record of members with queues."""
    states = states_of(rounds, routes)
    if not states:
        return
    first = rounds[0]
    mean = first["mean_pause_ms"]
    replays = [replay(states, name, mean if isinstance(mean, float) else None) for name in TRIED]
    now = str(first["now"] or DEFAULT)
    best, says = recommend(replays, now)
    for one in replays:
        told = {**asdict(one), "cluster": first["cluster"], "group": first["group"], "at_ms": states[0].at_ms}
        yield {**told, "now": now, "is_best": one.strategy == best, "says": says if one.strategy == best else None}
