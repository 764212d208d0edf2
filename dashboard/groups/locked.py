"""Who is refused the lock of a queue, who has it instead, and since when that one does not want it any more."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from dashboard.groups.models import Group, Holding, LockGrant, LockRefusal, Member
from rebalance_engine.findings import Refusal
from rebalance_engine.model import MessageQueue

TAKES_MS = 5_000  # from its lock to the queue: the offset is asked for in between, of a broker that may be slow
Names = tuple[str, MessageQueue]  # a member and a queue


@dataclass(frozen=True, slots=True)
class _Holder:
    """Who has a lock: since when it is known to be no member, or not to have the queue; None: not known to be so."""

    client_id: str
    left_at: int | None = None
    let_go_at: int | None = None


def refusals_of(*, group: Group, here: Collection[str]) -> tuple[Refusal, ...]:
    """Read which members are refused a lock, and what is known of who has it.

    A refusal tells it where a broker's log told the refusal; else whoever was granted the lock last has it, by its own
    word or the log's, unless the lock must have run out before the refusal.

    Args:
        here: client ids of the group's members.
    """
    rows = sorted((row for row in LockRefusal.objects.filter(group=group) if row.client_id in here), key=_place)
    grants = _grants(group, rows)
    return tuple(_refusal(row, _holder_of(row, grants)) for row in rows)


def _refusal(row: LockRefusal, holder: _Holder | None) -> Refusal:
    refusal = Refusal(row.client_id, _queue(row), row.at, row.count, row.holder or None)
    if holder is None:
        return refusal
    known = Refusal(row.client_id, _queue(row), row.at, row.count, holder.client_id, holder.left_at, holder.let_go_at)
    return refusal if known.ends_at is not None and known.ends_at < row.at else known


def _holder_of(row: LockRefusal, grants: dict[MessageQueue, LockGrant]) -> _Holder | None:
    """Say who has what this row was refused; None is unknown."""
    grant = grants.get(_queue(row))
    name = row.holder or (grant.client_id if grant is not None and grant.client_id != row.client_id else "")
    if not name:
        return None
    member = Member.objects.filter(group=row.group_id, client_id=name).order_by("-at").first()
    if member is None:
        return _Holder(name)
    if member.left_at is not None:
        return _Holder(name, left_at=member.left_at)
    if grant is None or grant.client_id != name:
        return _Holder(name)
    return _Holder(name, let_go_at=_let_go_at(member, grant))


def _let_go_at(member: Member, grant: LockGrant) -> int | None:
    """Say since when a member that has a lock has not had the queue; None: it has it, or may be about to take it."""
    spans = Holding.objects.filter(
        member=member,
        queue__topic__name=grant.topic,
        queue__broker=grant.broker,
        queue__queue_id=grant.queue_id,
    )
    ends = list(spans.values_list("until", flat=True))
    if None in ends:
        return None
    since = max([grant.at, *(until for until in ends if until is not None)])
    return since if (member.held_seen_at or 0) > since + TAKES_MS else None


def _grants(group: Group, rows: Iterable[LockRefusal]) -> dict[MessageQueue, LockGrant]:
    wanted = {_queue(row) for row in rows}
    if not wanted:
        return {}
    found = LockGrant.objects.filter(
        group=group, topic__in={queue.topic for queue in wanted}, broker__in={queue.broker for queue in wanted}
    )
    return {_queue(row): row for row in found if _queue(row) in wanted}


def _queue(row: LockRefusal | LockGrant) -> MessageQueue:
    return MessageQueue(row.topic, row.broker, row.queue_id)


def _place(row: LockRefusal) -> tuple[str, str, int, str]:
    return row.topic, row.broker, row.queue_id, row.client_id
