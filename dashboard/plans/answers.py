"""A dry run in plain values: the same for ``manage.py whatif``, for the page's JSON, and for its tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from dashboard.common.names import escape
from dashboard.plans.costs import WAYS, Costs, Expected
from dashboard.plans.earlier import Earlier
from dashboard.plans.trying import Option, Trial
from rebalance_engine.diff import Move, MoveCause
from rebalance_engine.findings import spell
from rebalance_engine.measures import Skew
from rebalance_engine.model import MessageQueue
from rebalance_engine.ownership import Ownership

VERSION = 2
_UNSAFE = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Load:
    """One client's queues now and then; None: it is no member, now or then."""

    client: str
    before: int | None
    after: int | None
    is_new: bool
    is_gone: bool


def describe(
    trial: Trial, *, cluster: str, at: int, expected: Costs, earlier: Earlier | None = None
) -> dict[str, object]:
    """Say what would be; None is unknown, or cannot be computed."""
    outcome = trial.chosen.outcome
    return {
        "v": VERSION,
        "group": trial.before.group,
        "cluster": cluster,
        "at": at,
        "writes": False,
        "question": trial.question.as_lists(),
        "from": "held" if trial.is_held else "target",
        "strategy": trial.chosen.strategy or None,
        "is_own_strategy": trial.chosen.is_own,
        "is_strategy_assumed": trial.chosen.is_assumed,
        "why_not": trial.chosen.why or None,
        "members": [
            {
                "client_id": load.client,
                "before": load.before,
                "after": load.after,
                "is_new": load.is_new,
                "is_gone": load.is_gone,
            }
            for load in loads(trial)
        ],
        "queues": _queues(trial),
        "without_owners": {
            "popping_members": len(trial.undivided.popping),
            "members_by_pop": list(trial.undivided.popping),
            "members_through_proxies": list(trial.undivided.proxied),
            "set_to_pop": None
            if trial.undivided.popped_by is None
            else {broker: sorted(topics) for broker, topics in sorted(trial.undivided.popped_by.items())},
        },
        "moves": None if outcome is None else [_move(move) for move in outcome.moves],
        "unowned": None if outcome is None else [spell(outcome.target.queues[n]) for n in _unowned(outcome.target)],
        "skew": _skew(trial.chosen.load),
        "skew_before": _skew(trial.base_skew),
        "expected_pause": {way.value: _expected(expected.get(way)) for way in WAYS},
        "expected_twice": None
        if earlier is None or earlier.twice is None
        else {"at_least_messages": earlier.twice, "of_handoffs": earlier.handoffs},
        "expected_lag": None
        if earlier is None or earlier.lag is None
        else {"more_messages": earlier.lag, "of_rounds": earlier.rounds},
        "strategies": [_option(option) for option in trial.options],
    }


def loads(trial: Trial) -> list[Load]:
    """Give every client of before and after, sorted, with its loads."""
    outcome = trial.chosen.outcome
    was = _loads_of(trial.base)
    will = {} if outcome is None else _loads_of(outcome.target)
    before, after = set(trial.before.clients.ids), set(trial.after.clients.ids)
    return [
        Load(
            client,
            was.get(client, 0) if client in before else None,
            will.get(client, 0) if client in after and outcome is not None else None,
            client not in before,
            client not in after,
        )
        for client in sorted(before | after)
    ]


def moves_csv(trial: Trial) -> str:
    """Write the moves as a table for spreadsheets; a name that one would compute is written as a text."""
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(["topic", "broker", "queue", "from", "to", "cause"])
    as_text = cache(_as_text)  # few names, in many moves
    for move in trial.chosen.outcome.moves if trial.chosen.outcome else ():
        names = [move.queue.topic, move.queue.broker, move.from_client or "", move.to_client or ""]
        topic, broker, source, destination = map(as_text, names)
        rows.writerow([topic, broker, move.queue.queue_id, source, destination, move.cause.value])
    return out.getvalue()


def costly(moves: Iterator[Move] | list[Move]) -> list[Move]:
    """Give the moves from somebody to somebody first, then what gets or loses its only owner."""
    return sorted(moves, key=lambda move: (move.from_client is None, move.to_client is None))


def is_handoff(move: Move) -> bool:
    """Whether a move costs a pause: from somebody to somebody."""
    return move.from_client is not None and move.to_client is not None and move.cause is not MoveCause.QUEUE_REMOVED


def is_owned(trial: Trial, queue: MessageQueue) -> bool:
    """Whether anybody would have a queue."""
    number = trial.after.queues.find(queue)
    return (
        number is not None and trial.chosen.outcome is not None and bool(trial.chosen.outcome.target.owners_of(number))
    )


def _as_text(name: str) -> str:
    name = escape(name)
    return f"'{name}" if name.startswith(_UNSAFE) else name


def _loads_of(ownership: Ownership) -> dict[str, int]:
    return dict(zip(ownership.clients.names, ownership.loads().tolist(), strict=True))


def _unowned(ownership: Ownership) -> list[int]:
    numbers: list[int] = ownership.unowned().tolist()
    return numbers


def _queues(trial: Trial) -> list[dict[str, object]]:
    """Give every queue of before and after with its owners; None: it is not there, or cannot be known."""
    outcome = trial.chosen.outcome
    was = dict(zip(trial.before.queues, trial.base.all_owners(), strict=True))
    will = dict[MessageQueue, tuple[str, ...]]()
    if outcome is not None:
        will = dict(zip(trial.after.queues, outcome.target.all_owners(), strict=True))
    everything = sorted({*was, *trial.after.queues})
    return [
        {
            "queue": spell(queue),
            "before": list(was[queue]) if queue in was else None,
            "after": list(will[queue]) if queue in will else None,
        }
        for queue in everything
    ]


def _move(move: Move) -> dict[str, object]:
    return {
        "queue": spell(move.queue),
        "from": move.from_client,
        "to": move.to_client,
        "cause": move.cause.value,
    }


def _expected(expected: Expected | None) -> dict[str, object] | None:
    if expected is None:
        return None
    return {
        "is": "pause" if expected.is_pause else "time without owner",
        "median_low_ms": expected.low,
        "median_high_ms": expected.high,
        "of_handoffs": expected.handoffs,
    }


def _skew(skew: Skew | None) -> dict[str, object] | None:
    if skew is None:
        return None
    return {
        "members": skew.members,
        "queues": skew.queues,
        "most": skew.most,
        "least": skew.least,
        "max_over_mean": skew.max_over_mean,
        "gini": skew.gini,
        "idle": list(skew.idle),
    }


def _option(option: Option) -> dict[str, object]:
    count = None if option.outcome is None else option.outcome.move_count
    return {
        "strategy": option.strategy or None,
        "is_own": option.is_own,
        "needs_a_plan": option.is_followed,
        "moves": None if count is None else count.total,
        "handoffs": None if count is None else count.handoffs,
        "fewest_handoffs": None if count is None else count.fewest,
        "unowned": None if option.outcome is None else len(option.outcome.target.unowned()),
        "skew": _skew(option.load),
        "loads": None if option.outcome is None else _loads_of(option.outcome.target),
        "same_as": option.same_as or None,
        "why_not": option.why or None,
    }
