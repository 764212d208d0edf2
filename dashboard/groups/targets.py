"""Who should have which queue, as rows: those that changed are written, found by comparing columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.db import connection

from dashboard.common import bulk
from dashboard.groups.deciding import Decision, Past
from dashboard.groups.models import Group, RoundCause, Target
from dashboard.groups.queries import Look, queues_of, target_of
from rebalance_engine.model import MessageModel

Int64s = np.ndarray[tuple[int], np.dtype[np.int64]]
NOBODY = -1
COLUMNS = ("group", "queue", "member", "fence")
UPSERT = "(group_id, queue_id) DO UPDATE SET member_id = EXCLUDED.member_id, fence = EXCLUDED.fence"
GIVE = "UPDATE groups_target SET member_id = %s, fence = %s WHERE group_id = %s AND queue_id BETWEEN %s AND %s"


@dataclass(frozen=True, eq=False)
class Read:
    """Everything that one rebalance is computed from, and the version of the inputs that it is at least."""

    group: Group
    fence: int
    version: int
    look: Look
    past: Past
    causes: tuple[RoundCause, ...]
    fingerprint: str


def store_target(*, read: Read, decision: Decision) -> None:
    """Write the targets that changed. A broadcasting group has none: every member has every queue.

    Where the state that was shown has the same queues, its target is what the rows say: both were written together,
    under the fence that is still held. Otherwise the rows are read. A queue that members who differ give to two of
    them has one row, the first's; the state that is shown has both.
    """
    look = read.look
    wanted = _wanted(look, decision)
    shown = _shown(read) if wanted is not None else None
    if wanted is not None and shown is not None:
        _give(read, look.queue_pks, wanted, np.flatnonzero(wanted != shown))
        return
    pks = look.queue_pks.tolist() if wanted is not None else []
    owners = dict(zip(pks, wanted.tolist() if wanted is not None else [], strict=True))
    rows = Target.objects.filter(group=read.group)
    stored = {queue: member or NOBODY for queue, member in rows.values_list("queue_id", "member_id")}
    changed = [pk for pk, owner in owners.items() if stored.get(pk) != owner]
    values = [(read.group.pk, pk, None if owners[pk] == NOBODY else owners[pk], read.fence) for pk in changed]
    bulk.insert(Target, COLUMNS, values, on_conflict=UPSERT)
    if stored.keys() - owners.keys():
        rows.filter(queue__in=stored.keys() - owners.keys()).delete()


def _wanted(look: Look, decision: Decision) -> Int64s | None:
    """Give the row of the member that should have each queue; None where there is no target."""
    if decision.outcome is None or look.view.model is not MessageModel.CLUSTERING:
        return None
    pk_of = {member.client_id: member.pk for member in look.members}
    names = decision.target.clients.names
    pks = np.array([*(pk_of.get(name, NOBODY) for name in names), NOBODY], dtype=np.int64)
    return pks[decision.target.owner]


def _shown(read: Read) -> Int64s | None:
    """Give the same of the state that was shown; None where its queues are others, or it has no target."""
    state = read.past.state
    if state is None or not state.head.is_target_known or state.head.model == MessageModel.BROADCASTING.value:
        return None
    if not queues_of(state).same_queues(read.look.view.queues):
        return None
    pk_of = {member.client_id: member.pk for member in read.look.members}
    target = target_of(state)
    left = -2  # its rows still name who left: they differ from whatever is wanted
    pks = np.array([*(pk_of.get(name, left) for name in target.clients.names), NOBODY], dtype=np.int64)
    return pks[target.owner]


def _give(read: Read, queues: Int64s, wanted: Int64s, changed: np.ndarray[tuple[int], np.dtype[np.intp]]) -> None:
    """Write these numbers' owners: neighbours that go to one member by one statement."""
    if not len(changed):
        return
    pks, owners = queues[changed], wanted[changed]
    breaks = np.flatnonzero((np.diff(pks) != 1) | (np.diff(owners) != 0))
    starts, ends = np.concatenate([[0], breaks + 1]), np.concatenate([breaks, [len(pks) - 1]])
    rows = [
        (None if owner == NOBODY else owner, read.fence, read.group.pk, first, last)
        for owner, first, last in zip(owners[starts].tolist(), pks[starts].tolist(), pks[ends].tolist(), strict=True)
    ]
    with connection.cursor() as cursor:
        cursor.executemany(GIVE, rows)
