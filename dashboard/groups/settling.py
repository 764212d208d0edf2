"""Figures of a round that has ended, from what was told of its queues; and browsers that saw others before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import Max

from dashboard.groups.gone import publish_row
from dashboard.groups.handoffs import Story, Way
from dashboard.groups.models import Group, Holding, Round
from dashboard.push.publish import group_state, publish_group


def settle(row: Round, stories: Sequence[Story], *, is_over: bool) -> None:
    """Let a round have closed when its last queue was taken or dropped, and count the queues that changed owner.

    A queue of which nobody knew before whose it was counts as none that did; how many did is unknown then.

    Args:
        row: a round that has ended.
        stories: its handoffs.
        is_over: whether held equalled target at the end of its chain; what somebody holds may be unknown before.
    """
    moved = [story for story in stories if story.way is not Way.BESIDE]
    known = {story.queue for story in moved if story.is_known}
    is_told = known.issuperset(story.queue for story in moved) and (is_over or not row.unknown_members)
    row.move_count = len(known) if is_told else None
    if row.superseded_by is None:
        row.closed_at = _settled_at(row)
    row.save(update_fields=["closed_at", "move_count"])


def _settled_at(row: Round) -> int:
    assert row.closed_at is not None
    if row.settled_at is not None and row.settled_at > row.closed_at:
        return row.closed_at  # by a clock that is ahead, it has not moved yet
    spans = Holding.objects.filter(group=row.group_id)
    taken = spans.filter(at__lte=row.closed_at).aggregate(last=Max("at"))["last"]
    dropped = spans.filter(until__lte=row.closed_at).aggregate(last=Max("until"))["last"]
    return min(row.closed_at, max(taken or 0, dropped or 0, row.last_cause_at))


def show_latest(*, group: int, now: int) -> None:
    """Let browsers have the latest round as it is told now, where they saw it otherwise; last in a transaction."""
    latest = Round.objects.filter(group=group).order_by("-number").defer("before", "after").first()
    state = group_state(group=group)
    cell = state.head.round if state is not None else None
    if latest is None or state is None or cell is None or cell.number != latest.number:
        return
    told = replace(
        cell,
        cause=latest.cause,
        opened_at=latest.opened_at,
        opened_low=latest.opened_low,
        closed_at=latest.closed_at,
        moves=latest.move_count,
    )
    if told == cell:
        return
    publish_group(group=group, state=replace(state, head=replace(state.head, round=told)), at=now)
    row = Group.objects.get(pk=group)
    row.round_cause, row.round_moves = latest.cause, latest.move_count
    row.round_opened_at, row.round_closed_at = latest.opened_at, latest.closed_at
    row.save(update_fields=["round_cause", "round_moves", "round_opened_at", "round_closed_at"])
    publish_row(group=row, at=now)
