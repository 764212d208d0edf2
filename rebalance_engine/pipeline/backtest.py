"""What another strategy would have cost: a group's recorded members and routes, replayed by the engine itself.

Every group is replayed by itself, in parallel, from Arrow batches: :func:`rebalance_engine.engine.rebalance` computes
each step, as it does for the live side. A pause is not replayed but taken as long as the group's recorded handoffs
paused on average: which queues move is the strategy's doing, how long a move takes is the client's. Handoffs whose
giver lived on, stopped, or was lost are averaged apart: the queues of who is lost stand still until that is seen, and
move under every strategy.

Strategies are compared with the one that every member named, replayed likewise. Where a member's is unknown, or one
that is not tried here (a user's own), or where members disagree, they are compared with what was held in truth. How
many queues there were is taken from the routes and results that were told; what nobody told is not replayed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

import pyarrow as pa  # type: ignore[import-untyped] # pyarrow has no types
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from rebalance_engine.allocation import STRATEGIES
from rebalance_engine.diff import Diff
from rebalance_engine.engine import rebalance
from rebalance_engine.group import GroupView
from rebalance_engine.ownership import Ownership
from rebalance_engine.pipeline.record import (
    Ended,
    Hold,
    Known,
    Recorded,
    State,
    in_use,
    known_of,
    paused_of,
    read_known,
    recorded_of,
    states_of,
)
from rebalance_engine.pipeline.schemas import BACKTEST, day_of, shaped
from rebalance_engine.pipeline.wording import lasting
from rebalance_engine.plan import Plan, target

# Strategies that need what only people know (rooms, lists of queues) cannot be tried on a record.
TRIED = tuple(name for name, kind in STRATEGIES.items() if not kind.needs and not name.endswith("CONFIG"))
NEEDS_A_PLAN = tuple(name for name in TRIED if "previous" in STRATEGIES[name].takes)
# A strategy is changed for something: for a tenth of the handoffs, and for ten seconds, where pauses are known.
LEAST_SHARE_SAVED, LEAST_PAUSE_SAVED_MS = 0.1, 10_000
SKEW_MAY_GROW = 0.05  # max over mean: one queue more on one of twenty
AS_HELD = "as held"
NO_ROUTE = "unknown: no line tells how many queues its topics had"
_REPLAYED = StructType([field for field in BACKTEST.fields if field.name != "day"])


@dataclass(frozen=True, slots=True)
class Replay:
    """What one strategy makes of a group's record.

    Attributes:
        steps: states of which the queues are known.
        mean_skew: the largest load over the mean load, weighted by time; None where nobody was there.
        idle: members without a queue, on average over time.
        pause_ms: handoffs times the recorded mean pause of their kind; None where one of theirs is not known.
    """

    strategy: str
    steps: int
    moves: int
    handoffs: int
    mean_skew: float | None
    idle: float
    pause_ms: float | None


def replay(states: Sequence[State], strategy: str, recorded: Recorded) -> Replay:
    """Replay a group's states, in order, the last of which only ends the one before."""
    plan = Plan(strategy=strategy)
    before: GroupView | None = None
    owned: Ownership | None = None
    moves = 0
    handoffs = Counter[Ended]()
    lasted = skewed = idle = 0.0
    for state, following in zip(states, [*states[1:], None], strict=True):
        if state.queues is None:
            before = owned = None
            continue
        after = state.view
        if before is None or owned is None:
            owned = target(after, plan)
        else:
            outcome = rebalance(before, after, plan, previous=owned)
            owned = outcome.target
            moves += outcome.move_count.total
            handoffs.update(_handoffs(outcome.moves, state.lost))
        before = after
        span = following.at_ms - state.at_ms if following else 0
        loads = owned.loads()[: len(state.members)]
        if len(loads) and loads.sum():
            lasted += span
            skewed += span * float(loads.max()) * len(loads) / float(loads.sum())
            idle += span * int((loads == 0).sum())
    return Replay(
        strategy=strategy,
        steps=sum(state.queues is not None for state in states),
        moves=moves,
        handoffs=handoffs.total(),
        mean_skew=skewed / lasted if lasted else None,
        idle=idle / lasted if lasted else 0.0,
        pause_ms=recorded.pause_of(handoffs),
    )


def _handoffs(moves: Diff, lost: frozenset[str]) -> Counter[Ended]:
    """Count handoffs by how who had the queue ended to have it."""
    givers = moves.source[(moves.source >= 0) & (moves.destination >= 0)]
    is_gone = moves.clients.rank[givers] < 0
    found = Counter({Ended.RELEASED: int((~is_gone).sum())})
    for giver, count in Counter(givers[is_gone].tolist()).items():
        found[Ended.LOST if moves.clients.names[giver] in lost else Ended.STOPPED] += count
    return found


def as_held(states: Sequence[State], holds: Sequence[Hold], recorded: Recorded) -> Replay:
    """Tell what was held in truth as a replay tells it, over the same states."""
    edges = sorted(
        edge for hold in holds for edge in ((hold.from_ms, hold.client, 1), (hold.until_ms, hold.client, -1))
    )
    loads: Counter[str] = Counter()
    lasted = skewed = idle = 0.0
    done = 0
    for state, following in pairwise(states):
        while done < len(edges) and edges[done][0] <= state.at_ms:
            loads[edges[done][1]] += edges[done][2]
            done += 1
        there = [loads[name] for name in state.members]
        if state.queues is not None and any(there):
            span = following.at_ms - state.at_ms
            lasted += span
            skewed += span * max(there) * len(there) / sum(there)
            idle += span * there.count(0)
    return Replay(
        strategy=AS_HELD,
        steps=sum(state.queues is not None for state in states),
        moves=recorded.moves,
        handoffs=recorded.handoffs,
        mean_skew=skewed / lasted if lasted else None,
        idle=idle / lasted if lasted else 0.0,
        pause_ms=recorded.pause_of({ended: paused.handoffs for ended, paused in recorded.paused.items()}),
    )


def recommend(replays: Iterable[Replay], now: str) -> tuple[str, str]:
    """Choose a strategy, and say why: the fewest handoffs among those about as even as the one in use.

    Those that members can run by themselves come first; a plan must save handoffs to be worth following. Where the one
    in use is not among the replays, they are compared with ``AS_HELD``.
    """
    by_name = {one.strategy: one for one in replays}
    current = by_name.get(now) or by_name[AS_HELD]
    is_known = current.strategy != AS_HELD
    limit = (current.mean_skew or 1.0) + SKEW_MAY_GROW
    fit = [
        one
        for one in by_name.values()
        if one.strategy != AS_HELD or not is_known
        if (one.mean_skew or 1.0) <= limit and one.idle <= current.idle + SKEW_MAY_GROW
    ]
    best = min(fit, key=lambda one: (one.handoffs, one.strategy in NEEDS_A_PLAN, one.strategy != current.strategy))
    keep = f"keep {now}" if is_known else f"keep what it has (strategy: {now})"
    if not current.handoffs:
        return current.strategy, f"{keep}: it moved nothing from one member to another"
    if best.handoffs >= current.handoffs:
        none = f"none that is as even moves less than its {current.handoffs} handoffs"
        return current.strategy, f"{keep}: {none}"
    if not _is_clearly_better(best, current):
        none = f"none is clearly better: {best.strategy} has {best.handoffs} handoffs instead of {current.handoffs}"
        return current.strategy, f"{keep}: {none}{_pauses_less(best, current)}"
    happened = "" if is_known else f" that happened (strategy: {now})"
    less = f"{best.handoffs} handoffs instead of {current.handoffs}{happened}"
    even = f", skew {best.mean_skew or 1.0:.2f} instead of {current.mean_skew or 1.0:.2f}"
    how = " (the group must follow a plan)" if best.strategy in NEEDS_A_PLAN else ""
    return best.strategy, f"{best.strategy}{how}: {less}{_pauses_less(best, current)}{even}, over {best.steps} states"


def _is_clearly_better(best: Replay, current: Replay) -> bool:
    saves_pauses = (
        best.pause_ms is None or current.pause_ms is None or current.pause_ms - best.pause_ms >= LEAST_PAUSE_SAVED_MS
    )
    return saves_pauses and current.handoffs - best.handoffs >= LEAST_SHARE_SAVED * current.handoffs


def _pauses_less(best: Replay, current: Replay) -> str:
    if best.pause_ms is None or current.pause_ms is None:
        return ""
    less = current.pause_ms - best.pause_ms
    return f", pauses {'shorter' if less >= 0 else 'longer'} by an estimated {lasting(abs(less))}"


# ---- frames ----


def backtest_of(rounds: DataFrame, spans: DataFrame, handoffs: DataFrame, events: DataFrame) -> DataFrame:
    """Replay every group under every strategy that can be tried; one row each, and one as held; the best is marked."""
    group = ["cluster", "group"]
    steps = rounds.select(*group, "opened_ms", "settled_ms", "members_after", "causes", "who", "moves").join(
        paused_of(handoffs), on=group, how="left"
    )
    known = known_of(rounds, spans, events)
    told = (
        steps.groupBy(*group).cogroup(known.toDF(*known.columns).groupBy(*group)).applyInArrow(_replay_group, _REPLAYED)
    )
    return shaped(told.withColumn("day", day_of(F.col("at_ms"))), BACKTEST)


def _replay_group(rounds: pa.Table, known: pa.Table) -> pa.Table:
    rows = list(replay_rows(rounds.to_pylist(), read_known(known.to_pylist())))
    return pa.Table.from_pylist(rows, schema=to_arrow_schema(_REPLAYED))


def replay_rows(rounds: list[dict[str, object]], known: Known) -> Iterator[dict[str, object]]:
    """Replay one group; no rows where it has no record of members with queues."""
    states = states_of(rounds, known)
    if not states:
        return
    recorded = recorded_of(rounds)
    held = as_held(states, known.holds, recorded)
    now = in_use(states, known)
    replays, best, says = [held], AS_HELD, NO_ROUTE
    if held.steps:
        replays += [replay(states, name, recorded) for name in TRIED]
        best, says = recommend(replays, now)
        if held.steps < len(states):
            says += f"; of {len(states) - held.steps} more no line tells how many queues there were"
    first = {name: rounds[0][name] for name in ("cluster", "group")} | {"at_ms": states[0].at_ms, "now": now}
    for one in replays:
        is_best = one.strategy == best
        yield {**asdict(one), **first, "is_best": is_best, "says": says if is_best else None}
