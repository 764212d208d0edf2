"""Who is refused the lock of a queue, who has it instead, and since when that one does not want it any more."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from django.db.models import Q

from dashboard.groups.models import Group, Holding, LockGrant, LockRefusal, Member
from rebalance_engine.findings import Refusal
from rebalance_engine.model import MessageQueue

TAKES_MS = 5_000  # from its lock to the queue: the offset is asked for in between, of a broker that may be slow
Spans = Mapping[tuple[int, MessageQueue], list[int | None]]  # by member and queue, until when it had it


def refusals_of(*, group: Group, here: Collection[str]) -> tuple[Refusal, ...]:
    """Read which members are refused a lock, and what is known of who has it.

    A refusal tells it where a broker's log told the refusal; else whoever was granted the lock last has it, by its own
    word or the log's, unless the lock must have run out before the refusal.

    Args:
        here: client ids of the group's members.
    """
    rows = sorted((row for row in LockRefusal.objects.filter(group=group) if row.client_id in here), key=_place)
    grants = _grants(group, rows)
    holders = [_holder_of(row, grants) for row in rows]
    members = _members(group, {*holders} - {None})
    spans = _spans(members.values(), grants)
    return tuple(
        _refusal(row, grants.get(_queue(row)), members.get(holder, holder), spans)
        for row, holder in zip(rows, holders, strict=True)
    )


def _holder_of(row: LockRefusal, grants: Mapping[MessageQueue, LockGrant]) -> str | None:
    """Say who has what this row was refused; None is unknown."""
    grant = grants.get(_queue(row))
    return row.holder or (grant.client_id if grant is not None and grant.client_id != row.client_id else None)


def _refusal(row: LockRefusal, grant: LockGrant | None, holder: Member | str | None, spans: Spans) -> Refusal:
    """Give what is known; ``holder`` has the lock: a member, the name of somebody unknown; None: nobody knows who."""
    refusal = Refusal(row.client_id, _queue(row), row.at, row.count, row.holder or None)
    if not isinstance(holder, Member):
        return replace(refusal, holder=holder)
    known = replace(refusal, holder=holder.client_id, holder_left_at=holder.left_at)
    if holder.left_at is None and grant is not None and grant.client_id == holder.client_id:
        known = replace(known, let_go_at=_let_go_at(holder, grant, spans))
    return refusal if known.ends_at is not None and known.ends_at < row.at else known


def _let_go_at(member: Member, grant: LockGrant, spans: Spans) -> int | None:
    """Say since when a member that has a lock has not had the queue; None: it has it, or may be about to take it."""
    ends = spans.get((member.pk, _queue(grant)), [])
    if None in ends:
        return None
    since = max([grant.at, *(until for until in ends if until is not None)])
    return since if (member.held_seen_at or 0) > since + TAKES_MS else None


def _members(group: Group, names: Collection[str | None]) -> dict[str | None, Member]:
    """Read members by their names, the latest of each."""
    rows = Member.objects.filter(group=group, client_id__in=names).order_by("at") if names else ()
    return {row.client_id: row for row in rows}


def _spans(members: Iterable[Member], grants: Mapping[MessageQueue, LockGrant]) -> Spans:
    """Read until when members have had the queues of these locks since they were granted; None: they have them."""
    here = [member.pk for member in members if member.left_at is None]
    if not here or not grants:
        return {}
    lately = Q(until=None) | Q(until__gt=min(grant.at for grant in grants.values()))
    topics, brokers = {queue.topic for queue in grants}, {queue.broker for queue in grants}
    rows = Holding.objects.filter(lately, member__in=here, queue__topic__name__in=topics, queue__broker__in=brokers)
    found: dict[tuple[int, MessageQueue], list[int | None]] = {}
    columns = ("member_id", "queue__topic__name", "queue__broker", "queue__queue_id", "until")
    for member, topic, broker, number, until in rows.values_list(*columns):
        found.setdefault((member, MessageQueue(topic, broker, number)), []).append(until)
    return found


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
