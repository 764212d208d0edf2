"""What the pages of one group read besides its state: time bar, rounds, handoffs, members, who left."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from django.db.models import Q

from dashboard.clusters.models import Broker
from dashboard.groups.bands import Step
from dashboard.groups.before import knew_all_before
from dashboard.groups.ending import stories_of
from dashboard.groups.handoffs import Story, pause_of
from dashboard.groups.models import Group, Handoff, Holding, Member, Presence, Round
from dashboard.groups.owned import MOST_SPANS, bands_of, told_until_of
from dashboard.groups.shares import Share
from dashboard.groups.whose import cause_with_names, whose
from dashboard.groups.words import cause_words, departure_words

WINDOWS_MS = {"3m": 180_000, "10m": 600_000, "1h": 3_600_000, "6h": 21_600_000, "24h": 86_400_000}
MOST_ROUNDS = 400
GONE_FOR_MS = {"unregistered": 60_000}
GONE_LONG_MS = 90_000  # one that was killed stays longer: its queues still tell its story
MOST_LANES = 60
MOVED_FOR_MS = 30_000


@dataclass(frozen=True, slots=True)
class Lane:
    """One queue's handoff in a round. Instants and durations are ms; None is unknown, or has not happened.

    ``is_unknown``: nobody said to have it, but somebody does not answer, and may have it. ``is_first_seen``: it was
    first seen with who has it; whose it was before is unknown.
    """

    topic: str
    broker: str
    queue_id: int
    from_client: str
    to_client: str
    dropped_at: int | None
    taken_at: int | None
    first_pull_at: int | None
    unowned: tuple[int | None, int | None]
    overlap: tuple[int | None, int | None]
    is_waiting: bool
    is_shared: bool = False
    pause: tuple[int | None, int | None] = (None, None)
    is_unknown: bool = False
    is_first_seen: bool = False

    @property
    def is_overlap(self) -> bool:
        """Whether two had it: as far as one look tells, or certainly."""
        if self.overlap[0]:
            return True
        return self.taken_at is not None and (self.dropped_at is None or self.taken_at < self.dropped_at)

    @property
    def is_gap(self) -> bool:
        """Whether nobody had it for a while: as far as one look tells, or certainly."""
        return self.is_waiting or bool(self.unowned[0]) or self._is_seen_gap

    @property
    def _is_seen_gap(self) -> bool:
        return not self.is_overlap and not self.is_unknown and bool(self.unowned[1])

    @property
    def weight(self) -> tuple[int, int]:
        """What makes one lane worse than another: waiting still, then the longest without owner or with two."""
        of = self.overlap if self.is_overlap else self.unowned if self.is_gap else (0, 0)
        return (int(self.is_waiting or self.is_shared), of[1] or of[0] or 0)


def lanes_of(round_row: Round, *, now: int) -> list[Lane]:
    """Give the handoffs of a round, worst first."""
    if round_row.closed_at is None:
        told_until = told_until_of(round_row.group_id)
        lanes = [_lane(story, now, told_until) for story in stories_of(round_row)]
        lanes = _with_those_who_had(round_row, lanes)
    else:
        lanes = _told_lanes(round_row, list(Handoff.objects.filter(round=round_row)[:MOST_SPANS]), now)
    lanes = _with_what_was_known(round_row, _with_those_who_keep(round_row, lanes, now))
    return sorted(lanes, key=lambda lane: lane.weight, reverse=True)


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
    )


def _told_lanes(round_row: Round, handoffs: list[Handoff], now: int) -> list[Lane]:
    """Say also until when queues had no owner that nobody had taken when their round ended, or that nobody has yet."""
    if all(each.taken_at is not None or each.dropped_at is None for each in handoffs):
        return [_told_lane(each) for each in handoffs]
    since = min(each.dropped_at for each in handoffs if each.dropped_at is not None)
    rows = Holding.objects.filter(Q(until=None) | Q(until__gt=since), group=round_row.group_id).order_by("at")
    held: dict[tuple[str, str, int], list[_Hold]] = {}
    for row in rows.select_related("queue__topic", "member")[:MOST_SPANS]:
        place = (row.queue.topic.name, row.queue.broker, row.queue.queue_id)
        held.setdefault(place, []).append(_Hold(row.member.client_id, row.at, row.at_low, row.until))
    closed = round_row.closed_at or now
    told_until = told_until_of(round_row.group_id)
    lanes = [_until(each, held.get((each.topic, each.broker, each.queue_id), []), closed, now) for each in handoffs]
    return [_doubted(lane, told_until) for lane in lanes]


@dataclass(frozen=True, slots=True)
class _Hold:
    """One member had a queue from ``at`` until ``until`` (None: it has it)."""

    client: str
    at: int
    at_low: int | None
    until: int | None


def _until(row: Handoff, held: Sequence[_Hold], closed: int, now: int) -> Lane:
    lane, dropped = _told_lane(row), row.dropped_at
    if row.taken_at is not None or dropped is None:
        return lane
    later = [hold for hold in held if hold.until is None or hold.until > dropped]
    kept = next((hold for hold in later if hold.at <= dropped), None)
    if kept is not None:  # another one had it all the time: nobody missed it
        return replace(lane, to_client=kept.client, taken_at=dropped, unowned=(0, 0))
    came = next((hold for hold in later if hold.at >= closed), None)
    low, high = (now, now) if came is None else (came.at_low, came.at)
    at_least = max(0, low - (row.dropped_high or dropped)) if low is not None else 0
    at_most = max(at_least, high - (row.dropped_low or dropped))
    return replace(lane, unowned=(at_least, at_most), is_waiting=came is None)


def _doubted(lane: Lane, told_until: int | None) -> Lane:
    """Say no more than is known of a queue that nobody is known to have, while somebody does not answer."""
    if not lane.is_waiting or told_until is None or lane.dropped_at is None:
        return lane
    low, high = lane.unowned
    known = max(0, told_until - lane.dropped_at)
    return replace(lane, unowned=(min(low or 0, known), high), is_waiting=False, is_unknown=True)


def _with_those_who_had(round_row: Round, lanes: list[Lane]) -> list[Lane]:
    """Name who has a queue that another one let go, where he took it before the round began."""
    if not any(lane.is_waiting or lane.is_unknown for lane in lanes):
        return lanes
    rows = Holding.objects.filter(group=round_row.group_id, until=None).values_list(
        "queue__topic__name", "queue__broker", "queue__queue_id", "member__client_id", "at"
    )
    has = {(topic, broker, number): (client, at) for topic, broker, number, client, at in rows[:MOST_SPANS]}
    return [_had(lane, has.get((lane.topic, lane.broker, lane.queue_id))) for lane in lanes]


def _had(lane: Lane, has: tuple[str, int] | None) -> Lane:
    if has is None or lane.dropped_at is None or not (lane.is_waiting or lane.is_unknown):
        return lane
    client, at = has
    gap = (0, max(0, at - lane.dropped_at))
    return replace(lane, to_client=client, taken_at=at, unowned=gap, is_waiting=False, is_unknown=False)


def _with_those_who_keep(round_row: Round, lanes: list[Lane], now: int) -> list[Lane]:
    """Name the old owner of queues that were taken by another one, but not let go yet: they have two owners so far."""
    if all(lane.from_client or lane.taken_at is None for lane in lanes):
        return lanes
    rows = Holding.objects.filter(group=round_row.group_id, until=None).order_by("at").values_list(
        "queue__topic__name", "queue__broker", "queue__queue_id", "member__client_id", "at", "at_low",
        "member__held_seen_at",
    )  # fmt: skip
    has: dict[tuple[str, str, int], list[_Has]] = {}
    for topic, broker, number, client, at, low, told_at in rows[:MOST_SPANS]:
        has.setdefault((topic, broker, number), []).append(_Has(client, at, low, max(at, told_at or at)))
    return [_kept(lane, has.get((lane.topic, lane.broker, lane.queue_id), []), now) for lane in lanes]


@dataclass(frozen=True, slots=True)
class _Has:
    """A member has a queue since ``at``, and told so last at ``told_at``."""

    client: str
    at: int
    at_low: int | None
    told_at: int


def _kept(lane: Lane, has: Sequence[_Has], now: int) -> Lane:
    if lane.from_client or lane.taken_at is None:
        return lane
    mine = next((each for each in has if each.client == lane.to_client), None)
    keeper = next((each for each in has if each.client != lane.to_client and each.at < lane.taken_at), None)
    if mine is None or keeper is None:
        return lane
    low = max(0, min(mine.told_at, keeper.told_at, now) - mine.at)
    high = None if mine.at_low is None else max(low, now - mine.at_low)
    return replace(lane, from_client=keeper.client, overlap=(low, high), is_shared=True, is_first_seen=False)


def _with_what_was_known(round_row: Round, lanes: list[Lane]) -> list[Lane]:
    """Say of queues that nobody is known to have had that they had nobody only where every member had answered."""
    if all(lane.from_client or lane.is_first_seen for lane in lanes) or knew_all_before(round_row):
        return lanes
    return [lane if lane.from_client else replace(lane, is_first_seen=True) for lane in lanes]


def _lane(story: Story, now: int, told_until: int | None) -> Lane:
    dropped, taken = story.dropped, story.taken
    is_waiting = taken is None and dropped is not None
    unowned = (story.unowned.low, story.unowned.high) if story.unowned else (None, None)
    if is_waiting and dropped is not None:
        unowned = (max(0, now - (dropped.high or dropped.at)), max(0, now - (dropped.low or dropped.at)))
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
    )
    return _doubted(lane, told_until)


def window_of(*, group: Group, asked: str, now: int) -> tuple[str, int]:
    """Give the window of the time bar and where it begins: the one that was asked for, or the first with a round."""
    if asked in WINDOWS_MS:
        return asked, now - WINDOWS_MS[asked]
    latest = group.round_opened_at
    fitting = [name for name, length in WINDOWS_MS.items() if latest is not None and latest >= now - length]
    name = fitting[0] if fitting else "10m"
    return name, now - WINDOWS_MS[name]


def time_bar(*, group: Group, since: int, now: int) -> dict[str, object]:
    """Give rounds and bands of a window, as plain values for the browser."""
    rounds = (
        Round.objects.filter(Q(closed_at=None) | Q(closed_at__gte=since), group=group)
        .order_by("-number")
        .defer("before", "after")
    )
    names = whose(rounds=rounds)
    nobody, two, is_whole = bands_of(group=group, since=since, now=now)
    told_until = told_until_of(group.pk)
    if told_until is not None:  # who does not answer may have what nobody else has
        nobody = [replace(step, until=min(step.until, told_until)) for step in nobody if step.since < told_until]
    return {
        "since": since,
        "until": now,
        "rounds": [_round(row, names.get(row.pk, "")) for row in reversed(rounds[:MOST_ROUNDS])],
        "none": [_step(step) for step in nobody],
        "two": [_step(step) for step in two],
        "is_whole": is_whole,
        "told_until": told_until,
    }


def around(*, group: Group, now: int) -> dict[str, object]:
    """Give what the map shows besides the state: who left, what moved a moment ago, which brokers are away."""
    left = Member.objects.filter(group=group, left_at__gte=now - GONE_LONG_MS).order_by("client_id")[:200]
    away = Broker.objects.filter(cluster=group.cluster_id, broker_id=0, gone_at__isnull=False)
    seen = Member.objects.filter(group=group, left_at=None).values_list("client_id", "held_seen_at", "missing_at")
    latest = Round.objects.filter(group=group).order_by("-number").first()
    moved = [] if latest is None or (latest.closed_at or now) < now - MOVED_FOR_MS else lanes_of(latest, now=now)
    return {
        "now": now,
        "watched_at": group.cluster.watched_at,
        "gone_at": group.gone_at,
        "is_behind": group.inputs_version > group.done_version,
        "left": [
            {
                "client": member.client_id,
                "at": member.left_at,
                "until": (member.left_at or 0) + GONE_FOR_MS.get(member.departure or "", GONE_LONG_MS),
                "words": departure_words(member.departure),
                "departure": member.departure,
            }
            for member in left
        ],
        "away": sorted(set(away.values_list("name", flat=True)[:500])),
        "seen": [{"client": client, "at": at, "missing_at": missing_at} for client, at, missing_at in seen[:2_000]],
        "moves": [move_of(lane) for lane in moved[:2_000] if (lane.taken_at or 0) >= now - MOVED_FOR_MS],
    }


def worst(lanes: Sequence[Lane], shares: Collection[Share]) -> dict[str, object]:
    """Give the longest time without owner and with two, each with its bounds and the number of queues.

    Those times are of all the queues in the round's time, whether they were handed over in it or not.
    """
    unowned = [share.unowned for share in shares if share.is_gap]
    overlap = [share.overlap for share in shares if share.is_overlap]
    pauses = [lane.pause for lane in lanes if lane.pause != (None, None)]
    return {
        "unowned": _longest([(each.low, each.high) for each in unowned]),
        "unowned_queues": len(unowned),
        "overlap": _longest([(each.low, each.high) for each in overlap]),
        "overlap_queues": len(overlap),
        "pause": max(pauses, key=_high, default=None),
        "pause_queues": len(pauses),
        "unknown_queues": sum(lane.is_unknown for lane in lanes),
        "is_waiting": any(share.is_gap and share.is_lasting and not share.is_doubted for share in shares),
    }


def _longest(spans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Bound the longest: it is at least the longest lower bound."""
    return (max(low for low, _ in spans), max(high for _, high in spans)) if spans else None


def members_of(*, group: Group) -> list[dict[str, object]]:
    """Give the members with what brokers and they themselves told, each with its addresses."""
    members = list(Member.objects.filter(group=group, left_at=None).order_by("client_id"))
    addresses: dict[int, list[str]] = {}
    rows = Presence.objects.filter(member__in=members, gone_at=None).order_by("broker", "address")
    for member, broker, address in rows.values_list("member_id", "broker", "address"):
        addresses.setdefault(member, []).append(f"{broker} {address}")
    return [{"member": member, "addresses": addresses.get(member.pk, [])} for member in members]


def queue_story(*, group: Group, topic: str, broker: str, queue_id: int, most: int = 12) -> list[dict[str, object]]:
    """Give the last owners of one queue, newest first."""
    rows = Holding.objects.filter(
        group=group, queue__topic__name=topic, queue__broker=broker, queue__queue_id=queue_id
    ).order_by("-at")
    return [
        {
            "client": row.member.client_id,
            "at": row.at,
            "until": row.until,
            "reason": row.reason,
            "first_pull_at": row.first_pull_at,
            "left": departure_words(row.member.departure) if row.member.left_at is not None else None,
        }
        for row in rows.select_related("member")[:most]
    ]


def _high(bounds: tuple[int | None, int | None]) -> float:
    return float("inf") if bounds[1] is None else bounds[1]


def _round(row: Round, names: str) -> dict[str, object]:
    return {
        "number": row.number,
        "state": row.state,
        "cause": row.cause,
        "words": cause_with_names(cause_words(row.cause), names),
        "opened_at": row.opened_at,
        "closed_at": row.closed_at,
        "moves": row.move_count,
        "wave": row.wave,
    }


def _step(step: Step) -> list[int]:
    return [step.since, step.until, step.queues]


def move_of(lane: Lane) -> dict[str, object]:
    """Give a move as the map traces it."""
    return {
        "topic": lane.topic,
        "broker": lane.broker,
        "id": lane.queue_id,
        "from": lane.from_client,
        "to": lane.to_client,
        "at": lane.taken_at,
    }
