"""What the two maps of a dry run show: the same columns and rows, now and then, as the browser's map takes states."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dashboard.groups.showing import runs_of
from dashboard.plans.trying import Trial
from dashboard.push.runs import pack
from rebalance_engine.diff import Alignment
from rebalance_engine.group import GroupView
from rebalance_engine.ownership import Ownership
from rebalance_engine.tables import QueueTable

Picture = dict[str, object]


def picture_of(trial: Trial) -> Picture:
    """Give every queue and client of before and after: who has it now, who would have it."""
    after = trial.chosen.outcome.target if trial.chosen.outcome is not None else None
    silent = trial.before.silent if trial.is_held else ()
    clients = (trial.before.clients.ids, trial.after.clients.ids)
    drawn = picture(trial.before, trial.base, trial.after, after, silent=silent, clients=clients)
    return drawn | {"is_held": trial.is_held}


def picture(
    before: GroupView,
    base: Ownership,
    after: GroupView,
    target: Ownership | None,
    *,
    silent: Iterable[str] = (),
    clients: tuple[Iterable[str], Iterable[str]],
) -> Picture:
    """Give one picture: a state for the map, and what in it comes or goes.

    Args:
        clients: who is a member before, and after; owners who are neither have rows too.
    """
    table = before.queues
    if not table.same_queues(after.queues):
        table = QueueTable.of([*before.queues, *after.queues])
    held = _carried(base, table)
    wanted = Ownership.nobody(table, base.clients) if target is None else _carried(target, table)
    has, gets = runs_of(held), runs_of(wanted)
    was, will = set(clients[0]), set(clients[1])
    return {
        "head": {"model": before.model.value, "is_target_known": target is not None},
        "queues": _parts(table),
        "members": [
            {"client": name, "held": has.get(name, ()), "target": gets.get(name, ())}
            for name in sorted(was | will | has.keys() | gets.keys())
        ],
        "strays": [],
        "is_held": True,
        "silent": sorted(silent),
        "joins": sorted(will - was),
        "leaves": sorted(was - will),
        "comes": pack(Alignment.of(before.queues, table).added),
        "goes": pack(Alignment.of(after.queues, table).added),
    }


def _carried(ownership: Ownership, table: QueueTable) -> Ownership:
    if ownership.queues.same_queues(table):
        return ownership
    return Alignment.of(ownership.queues, table).carry(ownership)


def _parts(table: QueueTable) -> list[dict[str, object]]:
    """List the queues broker by broker, in the order of their numbers."""
    if not len(table):
        return []
    place = np.stack([table.topic, table.broker])
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(place) != 0).any(axis=0)])).tolist()
    parts: list[dict[str, object]] = []
    for start, end in zip(starts, [*starts[1:], len(table)], strict=True):
        first = table[start]
        ids = pack(table.queue_id[start:end])
        parts.append({"topic": first.topic, "broker": first.broker, "ids": ids})
    return parts
