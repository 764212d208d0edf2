"""A group's state at an instant of which no steps are kept: what a round kept before it, and what spans tell since.

Who joined and left since then stands in the causes of rounds, who held what in the spans. What is not kept so long is
unknown: whether a member answered, and what was the target while the group was changing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from django.db.models import Q
from django.db.models.functions import Coalesce
from numpy.typing import NDArray

from dashboard.groups.bands import FOREVER
from dashboard.groups.models import Finding, Group, Holding, Round, RoundCause
from dashboard.groups.models.rounds import RoundState
from dashboard.groups.queries import queues_of
from dashboard.groups.showing import MOST_EVIDENCE, MOST_FAULTS, fault
from dashboard.push.messages import Cell, Fault, GroupSnapshot, GroupState, Head, RoundCell
from dashboard.push.runs import Numbers, Runs, pack, unpack
from rebalance_engine.events import Cause
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.rounds import MEMBERS_CHANGE
from rebalance_engine.tables import ClientTable

CHANGES = frozenset(cause.value for cause in Cause) - {Cause.MANUAL.value, Cause.HELD_CHANGED.value}
MOST_SPANS = 200_000
NO_NUMBERS: Numbers = np.empty(0, dtype=np.int64)
SPAN = ("member__client_id", "queue__topic__name", "queue__broker", "queue__queue_id", "at", "last")


def put_together(*, group: Group, base: GroupSnapshot, at: int) -> GroupState:
    """Give the state at an instant from one that was shown before it."""
    old = base.state
    causes = list(RoundCause.objects.filter(group=group, at__gt=base.at, at__lte=at).order_by("at", "pk"))
    cells = _members(old.members, causes)
    held, certain, told = _held(group, old, at, base.at)
    is_changing = any(cause.cause in CHANGES for cause in causes)
    members = tuple(
        replace(
            cell,
            held=held.get(cell.client, ()) if cell.held is not None or cell.client in told else None,
            target=() if is_changing else cell.target,
        )
        for cell in cells
    )
    state = replace(old, members=members, faults=_faults(group, at), strays=())
    return replace(state, head=_head(state, group, at, certain=certain, is_changing=is_changing))


def _members(cells: tuple[Cell, ...], causes: Iterable[RoundCause]) -> list[Cell]:
    here = {cell.client: cell for cell in cells}
    for cause in causes:
        if cause.client_id is None or cause.cause not in {each.value for each in MEMBERS_CHANGE}:
            continue
        if cause.cause == Cause.MEMBER_JOINED.value:
            here[cause.client_id] = Cell(
                client=cause.client_id,
                registrations=1,
                language="",
                version="",
                strategy="",
                is_orderly=None,
                since=cause.at,
                since_low=cause.at_low,
                missing=None,
                target=(),
                held=None,
            )
        else:
            here.pop(cause.client_id, None)
    return [here[client] for client in ClientTable.of(here).distinct]


def _held(group: Group, state: GroupState, at: int, since: int) -> tuple[dict[str, Runs], Numbers, set[str]]:
    """Give what each member held, of which queues for certain, and who told of it after the state it begins with.

    The queues that are held for certain stand there once for each member: whose word of it is from then, or later.
    """
    rows = Holding.objects.filter(Q(until=None) | Q(until__gt=at), group=group, at__lte=at)
    last = Coalesce("until_low", "until", "member__held_seen_at", "at")  # it had the queue until then at least
    spans = list(rows.annotate(last=last).values_list(*SPAN)[:MOST_SPANS])
    numbers = queues_of(state).numbers_of([MessageQueue(*span[1:4]) for span in spans])
    mine: dict[str, list[int]] = {}
    for span, number in zip(spans, numbers.tolist(), strict=True):
        if number >= 0:
            mine.setdefault(span[0], []).append(number)
    was_told = np.array([span[5] >= at for span in spans], dtype=bool)
    certain = numbers[was_told & (numbers >= 0)].astype(np.int64) if spans else NO_NUMBERS
    told = {span[0] for span in spans if span[4] > since}
    return {client: pack(np.unique(np.array(own, dtype=np.int64))) for client, own in mine.items()}, certain, told


def _faults(group: Group, at: int) -> tuple[Fault, ...]:
    rows = Finding.objects.filter(Q(cleared_at=None) | Q(cleared_at__gt=at), group=group, suspected_at__lte=at)
    return tuple(_as_of(fault(row), at) for row in rows.order_by("suspected_at", "pk")[:MOST_FAULTS])


def _as_of(found: Fault, at: int) -> Fault:
    return replace(found, confirmed_at=None) if (found.confirmed_at or 0) > at else found


def _head(state: GroupState, group: Group, at: int, *, certain: Numbers, is_changing: bool) -> Head:
    head, owners, is_whole = state.head, np.zeros(len(queues_of(state)), dtype=np.int64), not state.head.untold
    for cell in state.members:
        owners[unpack(cell.held or ())] += 1
        is_whole = is_whole and cell.held is not None
    twice = np.bincount(certain, minlength=len(owners)) > 1
    perhaps = np.flatnonzero((owners > 1) & ~twice)
    doubles = int(((owners > 1) & twice).sum())
    shares = head.model != MessageModel.BROADCASTING.value
    is_converged = all(cell.held == cell.target for cell in state.members)
    disputed = _disputed_at(group, at, state)
    is_known = head.is_target_known and not is_changing and not len(disputed)
    return replace(
        head,
        is_target_known=is_known,
        is_converged=is_converged if is_known and is_whole and shares else None,
        orphans=(_orphans(owners, disputed) if shares and not head.popping else 0) if is_whole else None,
        disputed=pack(disputed),
        doubles=(doubles if doubles or (is_whole and not len(perhaps)) else None) if shares else 0,
        perhaps_twice=pack(perhaps) if shares else (),
        fault_count=len(state.faults),
        round=_round(group, at),
    )


def _disputed_at(group: Group, at: int, state: GroupState) -> Numbers:
    """Give the queues on which NameServers disagreed then: those of the state; where it is of before, perhaps any."""
    times = [*(group.disputes or ())] + ([[group.disputed_since, FOREVER]] if group.disputed_since is not None else [])
    if state.head.disputed or not any(low <= at < high for low, high, *_ in times):
        return unpack(state.head.disputed)
    return np.arange(len(queues_of(state)), dtype=np.int64)


def _orphans(owners: NDArray[np.int64], disputed: Numbers) -> int | None:
    is_nobodys = owners == 0
    every = int(is_nobodys.sum())
    is_nobodys[disputed] = False
    certain = int(is_nobodys.sum())
    return certain if certain or not every else None


def _round(group: Group, at: int) -> RoundCell | None:
    row = Round.objects.filter(group=group, opened_at__lte=at).order_by("-number").defer("before", "after").first()
    if row is None:
        return None
    is_open = row.closed_at is None or row.closed_at > at
    is_late = row.not_converged_at is not None and row.not_converged_at <= at
    causes = row.causes.filter(at__lte=at).order_by("at", "pk").values_list("evidence", flat=True)
    open_state = RoundState.NOT_CONVERGED if is_late else RoundState.OPEN
    return RoundCell(
        number=row.number,
        state=open_state.value if is_open else row.state,
        cause=row.cause,
        opened_at=row.opened_at,
        closed_at=None if is_open else row.closed_at,
        wave=row.wave,
        moves=row.move_count,
        unsettled=None if is_open else 0,
        evidence=tuple(causes[:MOST_EVIDENCE]),
        unknown_members=(),
        opened_low=row.opened_low,
    )
