"""Figures of a round that has ended, from what was told of its queues; and browsers that saw others before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import Max

from dashboard.groups.gone import publish_row
from dashboard.groups.handoffs import Story
from dashboard.groups.kinds import is_proxied
from dashboard.groups.leaving import lefts_of
from dashboard.groups.models import Group, Holding, Member, Round
from dashboard.groups.moves import first_taken
from dashboard.groups.pairing import Way
from dashboard.push.publish import group_state, publish_group
from rebalance_engine.events import Cause
from rebalance_engine.model import MessageModel
from rebalance_engine.rounds import SAME_CAUSE_MS


def settle(row: Round, stories: Sequence[Story], *, since: int, is_over: bool) -> None:
    """Let a round have closed when its last queue was taken or dropped, and count queues that changed owner, and time.

    Args:
        row: a round that has ended.
        stories: its handoffs.
        since: when it may have been under way at the earliest, UTC epoch ms.
        is_over: whether held equalled target at the end of its chain; what somebody holds may be unknown before.
    """
    row.move_count = count_moved(row, stories, is_all_told=is_over or not row.unknown_members)
    if row.superseded_by is None:
        row.closed_at = _settled_at(row)
    row.lasted_low = _lasted_low(row, stories, since)
    row.save(update_fields=["closed_at", "move_count", "lasted_low"])


def count_moved(row: Round, stories: Sequence[Story], *, is_all_told: bool) -> int | None:
    """Count the queues that changed owner by handoffs of a round; None: it is unknown.

    A queue of which nobody knew before whose it was counts as none that did; how many did is unknown then. One that
    came with the round, and was nobody's before, changed no owner: it has got its first. Nor did one change owner that
    left its route before anybody took it. Where all have left, some of whom never told what they had, it is unknown.
    """
    if row.is_left_by_all and _is_left_without_a_word(row):
        return None
    if row.group.model == MessageModel.BROADCASTING.value:  # every member has every queue
        return 0
    takes = [(each.queue, each.taken.at) for each in stories if each.taken and not each.dropped and each.is_known]
    new = first_taken(row.group, takes)
    moved = [each for each in stories if each.way is not Way.BESIDE and (each.dropped or each.queue not in new)]
    moved = _without_those_that_left(row, moved)
    known = {story.queue for story in moved if story.is_known}
    return len(known) if is_all_told and known.issuperset(story.queue for story in moved) else None


def _is_left_without_a_word(row: Round) -> bool:
    """Whether somebody left in a round of whom it was never known what he had, though he owned queues of his own."""
    left = Member.objects.filter(group=row.group_id, client_id__in=row.members_before or (), held_seen_at=None)
    since = (row.opened_low or row.opened_at) - SAME_CAUSE_MS
    mute = left.filter(left_at__gte=since, left_at__lte=row.closed_at).values_list("client_id", "strategy")
    return any(not is_proxied(client, strategy=strategy, is_silent=True) for client, strategy in mute)


def _without_those_that_left(row: Round, moved: Sequence[Story]) -> list[Story]:
    """Leave out what was let go and taken by nobody until it had left its route."""
    waiting = {each: (each.queue, each.dropped.at) for each in moved if each.dropped and not each.taken}
    lefts = lefts_of(row, waiting.values())
    return [each for each in moved if each not in waiting or lefts[waiting[each]].end is None]


def _lasted_low(row: Round, stories: Sequence[Story], since: int) -> int:
    """Say how long, in ms, a round took at least: from when it had begun to when it had not ended, both for certain.

    It had begun when its cause was seen, or the first of its queues was let go or taken; what was before it can have
    been under way, as by a member that is silent since, was not of its time. It had not ended before the
    last of them was taken, or what closed it was, or another cause came; one that was superseded not before the cause
    of that may have come.
    """
    assert row.closed_at is not None
    taken = [story.taken for story in stories if story.way is not Way.KEPT]
    moved = [each for each in (*taken, *(story.dropped for story in stories)) if each is not None]
    instants = [each for each in moved if each.low is not None]  # who was first seen with it may have had it long
    begun = min([row.opened_at, *(each.high for each in instants if each.high is not None and each.high >= since)])
    if row.superseded_by is not None:
        ends = [_opened_low(row.group_id, row.superseded_by)]
    else:
        causes = row.causes.filter(at__lte=row.closed_at).exclude(cause=Cause.HELD_CHANGED.value)
        ends = [each.low for each in instants if each.at <= row.closed_at]
        ends += [causes.aggregate(last=Max("at_low"))["last"], *_last_seen_low(row)]
    known = [min(each, row.closed_at) for each in ends if each is not None]
    return max(0, max(known, default=begun) - begun)


def _last_seen_low(row: Round) -> tuple[int | None, int | None]:
    """Say when what was seen to end it, a queue taken or let go, may have been at the earliest."""
    assert row.closed_at is not None
    spans = Holding.objects.filter(group=row.group_id)
    taken = spans.filter(at=row.closed_at).aggregate(low=Max("at_low"))["low"]
    return taken, spans.filter(until=row.closed_at).aggregate(low=Max("until_low"))["low"]


def _opened_low(group: int, number: int) -> int | None:
    return Round.objects.filter(group=group, number=number).values_list("opened_low", flat=True).first()


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
