"""What the pages of one group read besides its state: time bar, rounds, handoffs, members, who left."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypedDict

from django.db.models import Q

from dashboard.clusters.models import Broker
from dashboard.groups import owned
from dashboard.groups.bands import Step
from dashboard.groups.doubts import certain_steps, merged
from dashboard.groups.handoffs import NO_PAUSE, UNKNOWN_PAUSE, longest_pause, stood_still
from dashboard.groups.lane import Lane
from dashboard.groups.models import Group, Holding, Member, Presence, Round
from dashboard.groups.owned import bands_of, disputes_of
from dashboard.groups.partly import asked_in_part
from dashboard.groups.shares import Lasted, Share
from dashboard.groups.silences import doubts_of, told_until_of
from dashboard.groups.whose import cause_with_names, whose
from dashboard.groups.words import cause_words, departure_words

WINDOWS_MS = {"3m": 180_000, "10m": 600_000, "1h": 3_600_000, "6h": 21_600_000, "24h": 86_400_000}
MOST_ROUNDS = 400
GONE_FOR_MS = {"unregistered": 60_000}
GONE_LONG_MS = 90_000  # one that was killed stays longer: its queues still tell its story
MOST_LANES = 60
MOVED_FOR_MS = 30_000


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
    bands = bands_of(group=group, since=since, now=now)
    told_until = told_until_of(group.pk)
    doubts = [*doubts_of(group=group.pk, since=since), *disputes_of(group, since=since)]
    in_doubt = doubts if told_until is None else [*doubts, (told_until, now)]  # who does not answer may have any
    return {
        "since": since,
        "until": now,
        "rounds": [_round(row, names.get(row.pk, "")) for row in reversed(rounds[:MOST_ROUNDS])],
        "none": [_step(step) for step in certain_steps(bands.nobody, in_doubt)],
        "perhaps_none": [_step(step) for step in certain_steps(bands.perhaps_nobody, in_doubt)],
        "two": [_step(step) for step in bands.two],
        "is_whole": bands.is_whole,
        "told_until": told_until,
        "in_part": asked_in_part(group=group.pk),
        "doubts": merged(doubts, since=since, until=now),
    }


def brokers_away(group: Group) -> list[str]:
    """Name the brokers of a group's cluster that have no master now."""
    away = Broker.objects.filter(cluster=group.cluster_id, broker_id=0, gone_at__isnull=False)
    return sorted(set(away.values_list("name", flat=True)[:500]))


def around(*, group: Group, now: int, lanes: Sequence[Lane]) -> dict[str, object]:
    """Give what the map shows besides the state: who left, what moved a moment ago, which brokers are away.

    ``lanes`` are the handoffs of the latest round.
    """
    left = Member.objects.filter(group=group, left_at__gte=now - GONE_LONG_MS).order_by("client_id")[:200]
    seen = Member.objects.filter(group=group, left_at=None).values_list("client_id", "held_seen_at", "missing_at")
    latest = Round.objects.filter(group=group).order_by("-number").first()
    moved = [] if latest is None or (latest.closed_at or now) < now - MOVED_FOR_MS else lanes
    return {
        "now": now,
        "watched_at": group.cluster.watched_at,
        "is_aside": group.cluster.is_aside,
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
        "away": brokers_away(group),
        "seen": [{"client": client, "at": at, "missing_at": missing_at} for client, at, missing_at in seen[:2_000]],
        "moves": [move_of(lane) for lane in moved[:2_000] if (lane.taken_at or 0) >= now - MOVED_FOR_MS],
    }


def worst(lanes: Sequence[Lane], shares: Mapping[int, Share], *, is_untold: bool = False) -> dict[str, object]:
    """Give the longest time without owner and with two, each with its bounds and the number of queues.

    Those times are of all the queues in the round's time, whether they were handed over in it or not; where two had a
    queue beyond it, all of that counts. Where two had it since before the round, it is counted apart
    (``overlap_older_queues``, and ``overlap_perhaps_older_queues`` of those of which it is only possible), and its time
    is an earlier round's. Where nobody had one from before it, the longest is
    known at least. Of what was handed over it is as a handoff tells it, never as wide as all that was possible of its
    queue in the round. What is only possible is told apart: in how many queues, and how long at most (None: nobody
    knows). ``pause`` is the longest of the queues that were let go, as ``handoffs.longest_pause`` says, and at least as
    long as nobody had a queue of which no lane tells; of ``pause_unknown`` handoffs its end is not known. A handoff may
    have begun before the round may: what was possible is told as wide as the widest of ``lanes``, never less, and of
    all the queues of which shares or lanes say it. ``from_nobody`` queues were taken that nobody had.

    Args:
        shares: as ``owned.shares_in`` gives them, by the rows of the queues.
        is_untold: what was let go is not known of all: there may have been a pause where none is told.
    """
    gaps = {pk: share.unowned for pk, share in shares.items() if share.is_gap}
    twos = {pk: share.overlap_within for pk, share in shares.items() if share.is_overlap and not share.is_two_older}
    older = [pk for pk, share in shares.items() if share.is_overlap and share.is_two_older]
    maybe_gaps = {pk: share.unowned.high for pk, share in shares.items() if share.is_perhaps_gap}
    maybe_twos = {pk: share.overlap_within[1] for pk, share in shares.items() if share.is_perhaps_overlap}
    maybe_unowned = _mosts((lane, lane.unowned[1]) for lane in lanes if lane.is_perhaps_gap)
    maybe_overlap = _mosts((lane, lane.overlap[1]) for lane in lanes if lane.is_perhaps_overlap)
    wide_unowned = _mosts((lane, lane.unowned[1]) for lane in lanes if lane.is_gap)
    wide_overlap = _mosts((lane, lane.overlap[1]) for lane in lanes if lane.is_overlap)
    unowned_perhaps = _count_of_either(maybe_gaps, maybe_unowned, known=gaps)
    overlap_perhaps = _count_of_either(maybe_twos, maybe_overlap, known=[*twos, *older])
    pauses = [(lane.place, stood_still(lane.pause, lane.unowned[0])) for lane in lanes if _has_pause(lane)]
    unmoved = {place: (low, None) for place, low in _unmoved(gaps, lanes).items()}
    still = [*pauses, *unmoved.items(), *([(None, UNKNOWN_PAUSE)] if is_untold else [])]
    return {
        "unowned": _longest(
            _gap_bounds(gaps, lanes),
            wide_unowned.values(),
            is_open=any(shares[pk].is_older for pk in gaps),
        ),
        "unowned_queues": len(gaps),
        "unowned_perhaps": _most([*maybe_gaps.values(), *maybe_unowned.values()]) if unowned_perhaps else None,
        "unowned_perhaps_queues": unowned_perhaps,
        "lost_queues": sum(share.is_left_by_lost for share in shares.values()),
        "overlap": _longest(list(twos.values()), wide_overlap.values()),
        "overlap_queues": len(twos),
        "overlap_older_queues": len(older),
        "overlap_perhaps_older_queues": _count_perhaps_older(
            shares, lanes, told=[*twos, *older, *maybe_twos], of_lanes=maybe_overlap
        ),
        "overlap_perhaps": _most([*maybe_twos.values(), *maybe_overlap.values()]) if overlap_perhaps else None,
        "overlap_perhaps_queues": overlap_perhaps,
        "pause": longest_pause([pause for _, pause in still]),
        "pause_queues": len({place for place, (low, _) in still if low}),
        "pause_unknown": sum(high is None for _, (_, high) in pauses),
        "handoffs": len(lanes),
        "from_nobody": len({lane.place for lane in lanes if lane.is_from_nobody}),
        "unknown_queues": sum(lane.is_unknown for lane in lanes),
        "gone_queues": len({lane.place for lane in lanes if lane.is_gone}),
        "back_queues": len({lane.place for lane in lanes if lane.is_gone and lane.is_back}),
        "is_waiting": any(share.is_gap and share.is_lasting and not share.is_doubted for share in shares.values()),
        "is_shared": any(shares[pk].is_shared for pk in twos),
    }


def _count_perhaps_older(
    shares: Mapping[int, Share],
    lanes: Sequence[Lane],
    *,
    told: Collection[int],
    of_lanes: Collection[tuple[str, str, int]],
) -> int:
    """Count the queues that two perhaps had since before a round, of which no other figure of it says that two had it.

    Args:
        shares: by the rows of the queues.
        lanes: the round's handoffs.
        told: the queues of other figures, by their rows.
        of_lanes: and by their names.
    """
    found = {lane.place for lane in lanes if lane.is_older and lane.is_perhaps_overlap}
    of_shares = [pk for pk, share in shares.items() if share.is_perhaps_two_older]
    if not found and not of_shares:
        return 0
    places = owned.places_of([*of_shares, *told])
    found |= {places[pk] for pk in of_shares if pk in places}
    return len(found - {places[pk] for pk in told if pk in places} - set(of_lanes))


def _gap_bounds(gaps: Mapping[int, Lasted], lanes: Sequence[Lane]) -> list[tuple[int, int | None]]:
    """Bound how long nobody had each queue at a time: as its handoffs tell it, or else in all of the round."""
    told: dict[object, list[Lane]] = {}
    for lane in lanes:
        if (lane.is_gap or lane.is_perhaps_gap) and not lane.is_older:
            told.setdefault(lane.place, []).append(lane)
    places = owned.places_of(gaps) if told else {}
    bounds: list[tuple[int, int | None]] = []
    for pk, each in gaps.items():
        own = told.get(places.get(pk), ())
        least = max((lane.unowned[0] or 0 for lane in own if lane.is_gap), default=each.low)
        most = _most(lane.unowned[1] for lane in own) if own else each.high
        bounds.append((least, None if most is None else max(least, most)))
    return bounds


def _unmoved(gaps: Mapping[int, Lasted], lanes: Sequence[Lane]) -> dict[object, int]:
    """Give how long nobody had each queue of which no lane tells, in ms, at least: nobody could pull it either."""
    moved = {lane.place for lane in lanes}
    places = owned.places_of(gaps) if moved else {}
    return {place: each.low for pk, each in gaps.items() if (place := places.get(pk, pk)) not in moved}


def _count_of_either(
    of_shares: Collection[int], of_lanes: Collection[tuple[str, str, int]], *, known: Collection[int]
) -> int:
    """Count the queues of which shares, by their rows, or lanes say that it may be; without those where it is known."""
    if not of_lanes:
        return len(of_shares)
    places = owned.places_of([*of_shares, *known])
    maybe: set[object] = {*(places.get(pk, pk) for pk in of_shares), *of_lanes}
    return len(maybe - {places.get(pk, pk) for pk in known})


class LanePage(TypedDict):
    """What a page shows of a round's handoffs: those of one page of ``lane_pages``, of ``lane_count`` in all."""

    lanes: Sequence[Lane]
    lane_count: int
    lane_page: int
    lane_pages: int


def page_of(lanes: Sequence[Lane], number: int) -> LanePage:
    """Give a page of handoffs; of a number that there is not the nearest."""
    pages = max(1, -(-len(lanes) // MOST_LANES))
    number = min(max(1, number), pages)
    shown = lanes[(number - 1) * MOST_LANES : number * MOST_LANES]
    return LanePage(lanes=shown, lane_count=len(lanes), lane_page=number, lane_pages=pages)


def _has_pause(lane: Lane) -> bool:
    """Whether somebody let the queue go, which is still in a route, and no other one had it all the time."""
    was_kept = lane.taken_at == lane.dropped_at and lane.unowned == NO_PAUSE == (lane.pause[0] or 0, lane.pause[1] or 0)
    return lane.dropped_at is not None and not lane.is_gone and not was_kept


def _longest(
    spans: Sequence[tuple[int, int | None]], mosts: Iterable[int | None], *, is_open: bool = False
) -> tuple[int, int | None] | None:
    """Bound the longest: it is at least the longest lower bound, and at most the highest of all upper ones.

    ``is_open``: some went on for longer than is told here, so that there is no upper bound.
    """
    if not spans:
        return None
    low = max(low for low, _ in spans)
    return low, None if is_open else _most([*(high for _, high in spans), *mosts])


def _most(highs: Iterable[int | None]) -> int | None:
    """Give the highest of upper bounds; None: one is unknown."""
    known = list(highs)
    return None if None in known else max((each for each in known if each is not None), default=None)


def _mosts(lanes: Iterable[tuple[Lane, int | None]]) -> dict[tuple[str, str, int], int | None]:
    """Give how long something of each queue was possible at most, by handoffs that began in the round."""
    found: dict[tuple[str, str, int], int | None] = {}
    for lane, most in lanes:
        if not lane.is_older:
            found[lane.place] = _most([most, found.get(lane.place, 0)])
    return found


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


def _round(row: Round, names: str) -> dict[str, object]:
    return {
        "number": row.number,
        "state": row.state,
        "cause": row.cause,
        "words": cause_with_names(cause_words(row.cause), names),
        "opened_at": row.opened_at,
        "closed_at": row.closed_at,
        "moves": row.move_count,
        "is_left": row.is_left_by_all,
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
