"""Handoffs of one round, queue by queue: from whom to whom, and what is known and possible of the time in between."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Q

from dashboard.groups.before import knew_all_before
from dashboard.groups.doubts import NO_DOUBTS, Doubts, all_doubts_of, doubted, surely
from dashboard.groups.elsewhere import Place, told_elsewhere
from dashboard.groups.ending import stories_of
from dashboard.groups.handoffs import Hold, Story, pause_of
from dashboard.groups.lane import Lane, Within
from dashboard.groups.leaving import STAYED, End, Left, lefts_of, perhaps_away
from dashboard.groups.models import BACK_LOW, Handoff, Holding, Round
from dashboard.groups.owned import MOST_SPANS, began_at, places_of, shares_in, shares_until
from dashboard.groups.pairing import Instant
from dashboard.groups.proofs import sure_until_of
from dashboard.groups.shares import Share
from dashboard.groups.silences import silences_of, told_until_of
from rebalance_engine.model import MessageQueue


def lanes_of(round_row: Round, *, now: int, shares: Mapping[int, Share] | None = None) -> list[Lane]:
    """Give the handoffs of a round, worst first; ``shares`` as ``owned.shares_in`` gives them, where they are read."""
    if round_row.told_at is None:  # open, or its handoffs are told in a moment
        told_until, stories = told_until_of(round_row.group_id), stories_of(round_row)
        drops = {story: (story.queue, story.dropped.at) for story in stories if story.dropped and not story.taken}
        lefts = lefts_of(round_row, drops.values())
        doubts = _doubts_since(round_row, [story.dropped.at for story in stories if story.dropped])
        known = _Known(now, _sure(round_row, now), told_until, doubts)
        lanes = [_lane(story, known, lefts[drops[story]] if story in drops else STAYED) for story in stories]
        lanes = _with_those_who_had(round_row, lanes)
    else:
        lanes = _told_lanes(round_row, _stored(round_row), now)
    lanes = _with_what_was_known(round_row, _with_those_who_keep(round_row, lanes, now))
    lanes = _with_gaps_before(round_row, _with_what_is_older(round_row, lanes), shares, now)
    return sorted(lanes, key=lambda lane: lane.weight, reverse=True)


def _stored(round_row: Round) -> list[Handoff]:
    return doubted(Handoff.objects.filter(round=round_row)[:MOST_SPANS], group=round_row.group_id)


def _told_lane(row: Handoff) -> Lane:
    return Lane(
        row.topic,
        row.broker,
        row.queue_id,
        row.from_client,
        row.to_client,
        row.dropped_at,
        row.taken_at,
        row.first_pull_at,
        (row.unowned_low, row.unowned_high),
        (row.overlap_low, row.overlap_high),
        is_waiting=False,
        pause=(row.pause_low, row.pause_high),
        is_first_seen=not row.from_client and row.taken_low is None,
        dropped=(row.dropped_low, row.dropped_high),
        taken=(row.taken_low, row.taken_high),
    )


def _told_lanes(round_row: Round, handoffs: list[Handoff], now: int) -> list[Lane]:
    """Say also until when queues had no owner that nobody had taken when their round ended, or that nobody has yet."""
    if all(each.taken_at is not None or each.dropped_at is None for each in handoffs):
        return [_told_lane(each) for each in handoffs]
    since = min(each.dropped_at for each in handoffs if each.dropped_at is not None)
    rows = Holding.objects.filter(Q(until=None) | Q(until__gte=since), group=round_row.group_id).order_by("at")
    held: dict[MessageQueue, list[Hold]] = {}
    for row in rows.annotate(back_low=BACK_LOW).select_related("queue__topic", "member")[:MOST_SPANS]:
        held.setdefault(row.queue.message_queue, []).append(_hold(row, row.back_low))
    closed = round_row.closed_at or now
    lefts = lefts_of(round_row, [_drop_of(each) for each in handoffs if each.taken_at is None])
    known = _Known(now, _sure(round_row, now), told_until_of(round_row.group_id), _doubts_since(round_row, [since]))
    lanes = [
        _until(each, held.get(_queue_of(each), []), lefts.get(_drop_of(each), STAYED), known, closed)
        for each in handoffs
    ]
    return [_doubted(lane, known.told_until) for lane in lanes]


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known ``now`` of who has queues that nobody is known to have taken.

    ``sure``: when the oldest look was on which that rests. ``told_until``: when the first of those told last who do not
    answer. ``doubts``: when not everybody told.
    """

    now: int
    sure: int
    told_until: int | None
    doubts: Doubts


def _doubts_since(row: Round, drops: Sequence[int]) -> Doubts:
    """Say when not everybody answered since the first of some drops, who has left since or is there still."""
    if not drops:
        return NO_DOUBTS
    return all_doubts_of(groups=[row.group_id], since=min(drops)).get(row.group_id, NO_DOUBTS)


def _sure(row: Round, now: int) -> int:
    return min(now, sure_until_of(groups=[row.group_id]).get(row.group_id, now))


def _queue_of(row: Handoff) -> MessageQueue:
    return MessageQueue(row.topic, row.broker, row.queue_id)


def _drop_of(row: Handoff) -> tuple[MessageQueue, int]:
    return _queue_of(row), row.dropped_at or 0


def _hold(row: Holding, back_low: int | None) -> Hold:
    return Hold(row.member.client_id, row.at, row.at_low, row.until, row.until_high, back_low)


def _until(row: Handoff, held: Sequence[Hold], left: Left, known: _Known, closed: int) -> Lane:
    lane, dropped = _told_lane(row), row.dropped_at
    if row.taken_at is not None or dropped is None:
        return lane
    later = [hold for hold in held if hold.until is None or hold.until > dropped]
    kept = next((hold for hold in later if hold.at <= dropped), None)
    if kept is not None:  # another one had it all the time: nobody missed it
        return replace(lane, to_client=kept.client, taken_at=dropped, unowned=(0, 0))
    came = next((hold for hold in later if hold.at >= closed), None)
    let_go = Instant(dropped, row.dropped_low, row.dropped_high)
    others = [hold for hold in held if (hold.client, hold.until) != (row.from_client, dropped)]
    known = replace(known, doubts=[*known.doubts, *(time for hold in others for time in hold.may_have_had(let_go))])
    if left.end is not None and left.end.at <= (known.now if came is None else came.at):
        return _ended(lane, left, left.end, let_go, known)
    low, high = (known.sure, known.now) if came is None else (came.at_low, came.at)
    return replace(lane, unowned=left.lasted(let_go, low, high, known.doubts), is_waiting=came is None)


def _ended(lane: Lane, left: Left, end: End, dropped: Instant, known: _Known) -> Lane:
    """Let a queue that left the route be waited for no longer: nobody had it until then."""
    least = None if end.low is None else min(end.low, known.sure)
    unowned = left.lasted(dropped, least, end.at, known.doubts)
    return replace(lane, unowned=unowned, is_waiting=False, is_gone=True, gone_at=end.gone_at, is_back=end.is_back)


def _doubted(lane: Lane, told_until: int | None) -> Lane:
    """Say of a queue that nobody is known to have that it is unknown whose it is, while somebody does not answer."""
    if not (lane.is_waiting or lane.is_gone) or told_until is None:
        return lane
    return replace(lane, is_waiting=False, is_unknown=not lane.is_gone)


def _with_those_who_had(round_row: Round, lanes: list[Lane]) -> list[Lane]:
    """Name who has a queue that another one let go, where he took it before the round began."""
    if not any(lane.is_waiting or lane.is_unknown or lane.is_gone for lane in lanes):
        return lanes
    rows = Holding.objects.filter(group=round_row.group_id, until=None).values_list(
        "queue__topic__name", "queue__broker", "queue__queue_id", "member__client_id", "at"
    )
    has = {(topic, broker, number): (client, at) for topic, broker, number, client, at in rows[:MOST_SPANS]}
    return [_had(lane, has.get(lane.place)) for lane in lanes]


def _had(lane: Lane, has: tuple[str, int] | None) -> Lane:
    if has is None or lane.dropped_at is None or not (lane.is_waiting or lane.is_unknown or lane.is_gone):
        return lane
    client, at = has
    gap, taken = (0, max(0, at - lane.dropped_at)), replace(lane, to_client=client, taken_at=at)
    return replace(taken, unowned=gap, is_waiting=False, is_unknown=False, is_gone=False, gone_at=None)


def _with_those_who_keep(round_row: Round, lanes: list[Lane], now: int) -> list[Lane]:
    """Name the old owner of queues that were taken by another one, but not let go in the round: they had two owners."""
    taken = [lane.taken_at for lane in lanes if not lane.from_client and lane.taken_at is not None]
    if not taken:
        return lanes
    lasted = Q(until=None) | Q(until__gt=min(taken))
    rows = Holding.objects.filter(lasted, group=round_row.group_id, at__lte=max(taken)).order_by("at").values_list(
        "queue__topic__name", "queue__broker", "queue__queue_id", "member__client_id", "at", "at_low",
        "until", "until_low", "member__held_seen_at", "member",
    )  # fmt: skip
    silences = silences_of(groups=[round_row.group_id], since=min(taken))
    has: dict[Place, list[_Has]] = {}
    for topic, broker, number, client, at, low, until, until_low, told_at, member in rows[:MOST_SPANS]:
        told = max(at, told_at or at) if until is None else until if until_low is None else until_low
        own = () if until is not None and until_low == until else silences.get(member, ())
        has.setdefault((topic, broker, number), []).append(_Has(client, at, low, until, told, own))
    away = perhaps_away(round_row.group, {MessageQueue(*lane.place) for lane in lanes if not lane.from_client})
    bare = {(lane.place, lane.to_client) for lane in lanes if not lane.from_client}
    return [
        _kept(lane, has.get(lane.place, []), now, away.get(MessageQueue(*lane.place), NO_DOUBTS), bare)
        for lane in lanes
    ]


@dataclass(frozen=True, slots=True)
class _Has:
    """A member had a queue from ``at`` to ``until`` at most (None: has it), until ``told_at`` for certain.

    ``silences``: when it did not tell, and then again.
    """

    client: str
    at: int
    at_low: int | None
    until: int | None
    told_at: int
    silences: Doubts


def _kept(lane: Lane, has: Sequence[_Has], now: int, away: Doubts, bare: Container[tuple[Place, str]]) -> Lane:
    """Name who had a queue; of two who were seen to take it by one look who has it from another one, or by his name."""
    taken = lane.taken_at
    if lane.from_client or taken is None:
        return lane
    there = [each for each in has if each.until is None or each.until > taken]
    mine = next((each for each in there if each.client == lane.to_client), None)
    named = [each for each in there if (lane.place, each.client) not in bare or each.client < lane.to_client]
    others = [each for each in there if each.client != lane.to_client and each.at < taken]
    keeper = next(iter(others), next((each for each in named if each.at == taken), None))
    if mine is None or keeper is None:
        return lane
    ends = [each.until for each in (mine, keeper) if each.until is not None]
    low = max(0, min(mine.told_at, keeper.told_at, now) - mine.at)
    low = surely(mine.at, low, [*mine.silences, *keeper.silences, *away])
    high = None if mine.at_low is None else max(low, min([now, *ends]) - mine.at_low)
    return replace(lane, from_client=keeper.client, overlap=(low, high), is_shared=not ends, is_first_seen=False)


def _with_what_is_older(round_row: Round, lanes: list[Lane]) -> list[Lane]:
    """Tell the queues that two had since before the round, of whom one let go in it; of before others tell."""
    begin = round_row.opened_low or round_row.opened_at
    if all(lane.dropped_at is None or (lane.taken_at or begin) >= begin for lane in lanes):
        return lanes
    began = began_at(round_row)
    return [replace(lane, is_older=True, unowned=(0, 0)) if _is_older(lane, began) else lane for lane in lanes]


def _is_older(lane: Lane, began: int) -> bool:
    return lane.dropped_at is not None and lane.taken_at is not None and lane.taken_at < min(began, lane.dropped_at)


def _with_what_was_known(round_row: Round, lanes: list[Lane]) -> list[Lane]:
    """Say of queues that nobody is known to have had that they had nobody only where every member had answered."""
    if all(lane.from_client or lane.is_first_seen for lane in lanes) or knew_all_before(round_row):
        return lanes
    return [lane if lane.from_client else replace(lane, is_first_seen=True) for lane in lanes]


def _with_gaps_before(round_row: Round, lanes: list[Lane], shares: Mapping[int, Share] | None, now: int) -> list[Lane]:
    """Say how long nobody had what nobody is known to have let go, where that was seen; at least, where it is older.

    Of what an earlier round let go that one tells it.
    """
    if all(lane.from_client or lane.taken_at is None for lane in lanes):
        return lanes
    shares = shares_in(row=round_row, now=now) if shares is None else shares
    places = places_of(pk for pk, share in shares.items() if share.is_gap)
    places = {pk: places[pk] for pk in _taken_before(lanes, places)}
    for pk in told_elsewhere(row=round_row, places=places, now=now):
        del places[pk]
    before = shares_until(row=round_row, times=_taken_before(lanes, places), now=now)
    found = {places[pk]: _gap(share) for pk, share in before.items() if share.is_gap}
    return [
        replace(lane, unowned=gap) if _is_of_nobody(lane) and (gap := found.get(lane.place)) is not None else lane
        for lane in lanes
    ]


def _gap(share: Share) -> Within:
    return share.unowned.low, None if share.is_older else share.unowned.high


def _is_of_nobody(lane: Lane) -> bool:
    return not lane.from_client and lane.taken_at is not None


def _taken_before(lanes: Sequence[Lane], places: Mapping[int, tuple[str, str, int]]) -> dict[int, int]:
    """Give when queues were taken, by row: that they had nobody after that is no lane's, or another one's."""
    taken = {lane.place: lane.taken_at for lane in reversed(lanes) if _is_of_nobody(lane)}
    return {pk: at for pk, place in places.items() if (at := taken.get(place)) is not None}


def _less(lane: Lane, doubts: Doubts) -> Lane:
    """Leave out of what is certain of what was taken the time in which not everybody answered."""
    since = lane.dropped_at if lane.dropped[1] is None else lane.dropped[1]
    if since is None:
        return lane
    (unowned, most), (pause, longest) = lane.unowned, lane.pause
    if unowned:
        unowned = surely(since, unowned, doubts, until=lane.taken[0])
    if pause:
        pause = surely(since, pause, doubts)
    return replace(lane, unowned=(unowned, most), pause=(pause, longest))


def _lane(story: Story, known: _Known, left: Left) -> Lane:
    dropped, taken = story.dropped, story.taken
    is_waiting = taken is None and dropped is not None
    unowned = (story.unowned.low, story.unowned.high) if story.unowned else (None, None)
    known = replace(known, doubts=[*known.doubts, *story.others]) if is_waiting else known
    if is_waiting and dropped is not None:
        unowned = left.lasted(dropped, known.sure, known.now, known.doubts)  # who was lost may have it still
    overlap = (story.overlap.low, story.overlap.high) if story.overlap else (None, None)
    pause = pause_of(story)
    lane = Lane(
        *story.queue,
        story.from_client or "",
        story.to_client or "",
        dropped.at if dropped else None,
        taken.at if taken else None,
        story.first_pull_at,
        unowned,
        overlap,
        is_waiting,
        pause=(pause.low, pause.high) if pause else (None, None),
        is_first_seen=story.from_client is None and taken is not None and taken.low is None,
        dropped=_within(dropped),
        taken=_within(taken),
    )
    if not is_waiting or dropped is None:
        return _less(lane, known.doubts)
    if left.end is not None and left.end.gone_at is not None:
        lane = _ended(lane, left, left.end, dropped, known)
    return _doubted(lane, known.told_until)


def _within(instant: Instant | None) -> Within:
    return (None, None) if instant is None else (instant.low, instant.high)
