"""A group's state as browsers get it, from what a rebalance came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dashboard.common.fields import printable
from dashboard.groups.deciding import Decision
from dashboard.groups.kinds import POP, is_proxied
from dashboard.groups.models import Finding, Group, Member
from dashboard.groups.models.members import UNASKED
from dashboard.groups.queries import Look
from dashboard.groups.rules import are_through_proxies, mixed
from dashboard.groups.young import is_explained
from dashboard.push.messages import Cell, Fault, GroupState, Head, Queues, RoundCell, Row, Stray
from dashboard.push.runs import Runs, count, pack, unpack
from rebalance_engine.group import GroupView
from rebalance_engine.model import MessageModel
from rebalance_engine.ownership import Ownership

MOST_FAULTS = 200  # shown; ``fault_count`` counts all
MOST_EVIDENCE = 20
NOBODY: NDArray[np.int64] = np.empty(0, dtype=np.int64)


def show(
    look: Look, decision: Decision, *, group: Group, faults: Sequence[Finding], latest: RoundCell | None, now: int
) -> GroupState:
    """Put a group's state together, as it is ``now``."""
    opened_at, closed_at = (latest.opened_at, latest.closed_at) if latest else (None, None)
    view, twice = look.view, held_twice(look, decision)
    targets = runs_of(decision.target)
    held = runs_of(view.held) if view.held is not None else {}
    return GroupState(
        head=Head(
            cluster=group.cluster.name,
            group=group.name,
            model=group.model,
            strategy=strategy_of(look, decision),
            is_strategy_assumed=decision.rule.is_assumed,
            is_target_known=decision.outcome is not None,
            is_converged=decision.converged,
            orphans=as_of_the_last_change(count_orphans(look), decision),
            doubles=twice.known,
            fault_count=len(faults),
            round=latest,
            are_members_known=look.are_members_known,
            untold=tuple(map(printable, look.untold)),
            perhaps_twice=pack(twice.perhaps),
            disputed=pack(np.array(sorted(view.disputed), dtype=np.int64)),
            popping=count_popping(look.members),
        ),
        queues=number_queues(look),
        members=tuple(
            cell(
                member, targets.get(member.client_id, ()), None if member.is_silent else held.get(member.client_id, ())
            )
            for member in look.members
        ),
        strays=tuple(Stray(client, *queue) for client, queue in sorted(view.strays)),
        faults=tuple(
            fault(row, is_explained=is_explained(row, opened_at=opened_at, closed_at=closed_at, now=now))
            for row in faults[:MOST_FAULTS]
        ),
    )


def strategy_of(look: Look, decision: Decision) -> str:
    """Name by what a group's members divide: page and overview ask here alone; empty is unknown."""
    return "" if decision.rule.is_moot else decision.rule.name or said_by_all(look.members)


def said_by_all(members: Sequence[Member]) -> str:
    """Name what every member says it divides by, though its target cannot be known; nothing where one did not say."""
    told = {member.strategy for member in members}
    return "" if "" in told else mixed(told) if len(told) > 1 else next(iter(told), "")


def count_orphans(look: Look) -> int | None:
    """Count the queues that nobody holds; None while a member's answer is missing, or it is unknown who is there.

    Those of which NameServers disagree are not counted: with one that nobody holds, it is at least so many, and None
    where it may be none.
    """
    view = look.view
    if view.model is MessageModel.BROADCASTING:
        return 0 if _is_all_told(look) else None
    if not look.members:
        return _at_least(view) if look.is_empty else None
    if are_through_proxies(view) or view.popping:
        return 0  # there are no queues that members own, or none of which nobody takes the messages
    return _at_least(view) if view.everybody_answered else None


def _at_least(view: GroupView) -> int | None:
    certain = len(view.unowned)
    return certain if certain or not len(view.perhaps_unowned) else None


@dataclass(frozen=True, eq=False)
class Twice:
    """Queues that two are said to hold.

    Attributes:
        known: how many two do hold, or at least these, while an answer is missing; None where there may be any.
        perhaps: numbers of those that two said to hold, at times that need not overlap.
    """

    known: int | None
    perhaps: NDArray[np.int64]


def held_twice(look: Look, decision: Decision) -> Twice:
    """Find the queues that two hold: by answers of one time, none of them from before the last change."""
    view = look.view
    has_owners = look.members and not are_through_proxies(view)
    if view.model is MessageModel.BROADCASTING or not has_owners or view.held is None:
        return Twice(0 if _is_all_told(look) else None, NOBODY)
    twice = np.sort(view.held.owned_twice()).astype(np.int64)
    told_at = {member.client_id: member.held_seen_at or 0 for member in look.members}
    changed_at = decision.last_cause_at
    is_known = [
        number not in view.perhaps_twice
        and sum(told_at.get(client, 0) >= changed_at for client in view.held.owners_of(number)) > 1
        for number in twice.tolist()
    ]
    perhaps = twice[~np.array(is_known, dtype=bool)] if len(twice) else NOBODY
    is_whole = view.everybody_answered and not decision.is_held_old and not len(perhaps)
    return Twice(sum(is_known) or (0 if is_whole else None), perhaps)


def _is_all_told(look: Look) -> bool:
    everybody = look.view.everybody_answered or are_through_proxies(look.view)
    return look.is_empty or (bool(look.members) and everybody)


def as_of_the_last_change(count: int | None, decision: Decision) -> int | None:
    """Give a count that looks from before the last change showed: it proves that there were such queues, never none."""
    return None if decision.is_held_old and not count else count


def number_queues(look: Look) -> tuple[Queues, ...]:
    """List the queues broker by broker, in the order of their numbers."""
    table = look.view.queues
    if not len(table):
        return ()
    place = np.stack([table.topic, table.broker])
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(place) != 0).any(axis=0)]))
    ends = [*starts[1:].tolist(), len(table)]
    parts = []
    for start, end in zip(starts.tolist(), ends, strict=True):
        first = table[start]
        parts.append(Queues(first.topic, first.broker, pack(table.queue_id[start:end])))
    return tuple(parts)


def runs_of(ownership: Ownership) -> dict[str, Runs]:
    """Give the queue numbers of each client as runs."""
    queue, client = ownership.pairs()
    order = np.lexsort((queue, client))
    queue, client = queue[order], client[order]
    if not len(queue):
        return {}
    breaks = np.flatnonzero((np.diff(queue) != 1) | (np.diff(client) != 0))
    starts, ends = np.concatenate([[0], breaks + 1]), np.concatenate([breaks, [len(queue) - 1]])
    begins, stops, whose = queue[starts], queue[ends] + 1, client[starts]
    is_first = np.diff(whose, prepend=-1) != 0
    skips = begins - np.where(is_first, 0, np.concatenate([[0], stops[:-1]]))
    runs = np.stack([skips, stops - begins], axis=1).ravel().tolist()
    firsts = np.flatnonzero(is_first).tolist()
    names, owners = ownership.clients.names, whose[is_first].tolist()
    return {
        names[owner]: tuple(runs[2 * first : 2 * last])
        for owner, first, last in zip(owners, firsts, [*firsts[1:], len(whose)], strict=True)
    }


def cell(member: Member, target: Runs, held: Runs | None) -> Cell:
    """Give a member's cell."""
    return Cell(
        client=member.client_id,
        registrations=member.registrations,
        language=member.language,
        version=member.version,
        strategy=member.strategy,
        is_orderly=member.is_orderly,
        since=member.at,
        since_low=member.at_low,
        missing=member.missing,
        target=target,
        held=held,
    )


def count_popping(members: Sequence[Member]) -> int:
    """Count the members that say they take messages by POP."""
    return sum(member.consume_type == POP for member in members)


def count_perhaps_orphans(state: GroupState) -> int:
    """Count the queues of which NameServers disagree that nobody is known to hold."""
    if not state.head.disputed:
        return 0
    disputed = unpack(state.head.disputed)
    return len(np.setdiff1d(disputed, np.concatenate([NOBODY, *(unpack(cell.held or ()) for cell in state.members)])))


def count_unasked(cells: Sequence[Cell]) -> int:
    """Count the members of a state that was shown of whom nothing was known because nobody had asked them yet."""
    return sum(cell.held is None and cell.missing in UNASKED and not is_cell_proxied(cell) for cell in cells)


def count_partial(cells: Sequence[Cell]) -> int:
    """Count the members of a state that was shown that may hold more than they told."""
    return sum(cell.is_partial for cell in cells)


def count_proxied(cells: Sequence[Cell]) -> int:
    """Count the members of a state that was shown that seem to come through a proxy."""
    return sum(map(is_cell_proxied, cells))


def is_cell_proxied(cell: Cell) -> bool:
    """Ask whether a member that was shown seems to come through a proxy."""
    return is_proxied(cell.client, strategy=cell.strategy, is_silent=cell.held is None)


def fault(row: Finding, *, is_explained: bool = False) -> Fault:
    """Give a finding as it is shown."""
    proof = tuple(map(str, row.proof))
    return Fault(
        row.kind, row.subject, row.sentence, proof, row.suspected_at, row.confirmed_at, row.ends_at, is_explained
    )


def converged(
    is_held_as_wanted: bool | None, *, members: int | None, orphans: int | None, doubles: int | None
) -> bool | None:
    """Say whether a group has converged, wherever that is told; None is unknown, or there is nothing to hold.

    A round ends where every member has what it wants, and where nobody is left: nobody should hold anything, and
    nobody does. But that is no good end where queues certainly have no owner, or two: members that disagree on the
    strategy want just that, and where nobody is left queues may wait for somebody.
    """
    if orphans or doubles:
        return False
    return None if members == 0 else is_held_as_wanted


def row_shown(state: GroupState, *, group: Group, at: int) -> Row:
    """Give the row of the overview that a group had when it was shown as it was ``at``."""
    head, latest = state.head, state.head.round
    members = len(state.members) if head.are_members_known else None
    return Row(
        id=group.pk,
        group=printable(group.name),
        model=head.model,
        members=members,
        queues=sum(count(part.ids) for part in state.queues),
        silent=sum(cell.held is None for cell in state.members),
        unasked=count_unasked(state.members),
        proxied=count_proxied(state.members),
        untold=len(head.untold),
        orphans=head.orphans,
        doubles=head.doubles,
        is_converged=converged(head.is_converged, members=members, orphans=head.orphans, doubles=head.doubles),
        strategy=head.strategy,
        round=latest.number if latest else None,
        round_opened_at=latest.opened_at if latest else None,
        round_closed_at=latest.closed_at if latest else None,
        round_cause=latest.cause if latest else None,
        round_moves=latest.moves if latest else None,
        rebalanced_at=at,
        perhaps_twice=count(head.perhaps_twice),
        disputed=count(head.disputed),
        perhaps_orphans=count_perhaps_orphans(state),
        popping=head.popping,
        partial=count_partial(state.members),
    )


def row_of(group: Group, *, is_behind: bool | None = None) -> Row:
    """Give a group's row of the overview; ``is_behind`` is asked of the group where it is not said."""
    if is_behind is None:
        is_behind = group.inputs_version > group.done_version
    is_held_as_wanted = converged(
        group.is_converged, members=group.member_count, orphans=group.orphan_count, doubles=group.double_count
    )
    return Row(
        id=group.pk,
        group=printable(group.name),
        model=group.model,
        members=group.member_count,
        queues=group.queue_count,
        silent=group.silent_count,
        unasked=group.unasked_count or 0,
        proxied=group.proxied_count or 0,
        untold=group.untold_count or 0,
        orphans=group.orphan_count,
        doubles=group.double_count,
        is_converged=None if is_behind else is_held_as_wanted,
        strategy=group.strategy,
        round=group.round_number,
        round_opened_at=group.round_opened_at,
        round_closed_at=group.round_closed_at,
        round_cause=group.round_cause,
        round_moves=group.round_moves,
        rebalanced_at=group.rebalanced_at,
        is_behind=is_behind,
        perhaps_twice=group.perhaps_twice_count or 0,
        disputed=group.disputed_count or 0,
        perhaps_orphans=_perhaps_orphans(group),
        popping=group.popping_count or 0,
        partial=group.partial_count or 0,
    )


def _perhaps_orphans(group: Group) -> int:
    """Count them as stored; of a group that was stored before they were, any disputed queue may be one."""
    stored = group.perhaps_orphan_count
    return (group.disputed_count if stored is None else stored) or 0
