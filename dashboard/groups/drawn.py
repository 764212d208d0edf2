"""What a round's handoffs are on a page: what is drawn of them, and which of them somebody asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from dashboard.groups.beyond import MOST_SHOWN, Beyond
from dashboard.groups.lane import Lane
from dashboard.groups.leanest import division_of
from dashboard.groups.models import Group, Round
from dashboard.groups.partly import asked_in_part
from dashboard.groups.past_lag import lag_at
from dashboard.groups.story import MOST_LANES
from dashboard.groups.twice import Twice, totals_in, twice_in

T = TypeVar("T", Lane, Beyond)


def known_of(*, row: Round | None, lanes: Sequence[Lane]) -> dict[str, object]:
    """Give what a group's page says of its latest round besides times: how it divided, and what was consumed twice."""
    if row is None:
        return {}
    division = division_of(row) if row.closed_at is not None else None
    return {"division": division, "twice": totals_in(row=row, lanes=lanes, known=known_twice(row, lanes))}


def known_twice(row: Round | None, lanes: Sequence[Lane]) -> dict[Lane, Twice]:
    """Give what came twice in the handoffs of a round of which that is known."""
    return {} if row is None else twice_in(row=row, lanes=lanes)


def with_queue(lanes: Sequence[T], asked: str) -> Sequence[T]:
    """Give the handoffs of the queue that is asked for, ``topic/broker/id``; of no such one those that contain it."""
    words = asked.strip()
    exact = [lane for lane in lanes if _name(lane) == words]
    return exact or [lane for lane in lanes if words.casefold() in _name(lane).casefold()]


def lags_around(*, group: Group, row: Round, before_at: int, now: int) -> dict[str, list[dict[str, object]]]:
    """Give how far the group was behind before a round and after it, or is now, as ``lag_at`` does.

    Args:
        group: the round's.
        row: the round.
        before_at: the instant of the map before it, as ``pictured.pictures_of`` gives it.
        now: ms since 1970.
    """
    return {"before": lag_at(group=group, at=before_at), "after": lag_at(group=group, at=row.closed_at or now)}


def _name(lane: Lane | Beyond) -> str:
    return f"{lane.topic}/{lane.broker}/{lane.queue_id}"


def plain_lanes(
    row: Round | None,
    lanes: Sequence[Lane],
    now: int,
    twice: Mapping[Lane, Twice] | None = None,
    *,
    rest: Sequence[Beyond] = (),
    at: int | None = None,
) -> dict[str, object] | None:
    """Give the handoffs of a round as plain values for the browser, worst first.

    Args:
        row: the round; None: there is none.
        lanes: its handoffs, of which the first are drawn.
        now: ms since 1970.
        twice: what was consumed twice, of the handoffs of which that is known.
        rest: queues without owner, or with two, of which no handoff tells: they have a lane each among the others.
        at: the past instant that the page shows; None is now.
    """
    if row is None:
        return None
    told = [(lane.weight, _plain_lane(lane, (twice or {}).get(lane))) for lane in lanes[:MOST_LANES]]
    told += [(each.weight, _plain_rest(each)) for each in rest[:MOST_SHOWN]]
    return {
        "number": row.number,
        "opened_at": row.opened_at,
        "closed_at": row.closed_at,
        "now": now,
        "in_part": asked_in_part(group=row.group_id, at=at),
        "count": len(lanes),
        "lanes": [plain for _, plain in sorted(told, key=lambda each: each[0], reverse=True)],
    }


def _plain_lane(lane: Lane, twice: Twice | None) -> dict[str, object]:
    return {
        "queue": _name(lane),
        "from": lane.from_client,
        "to": lane.to_client,
        "dropped_at": lane.dropped_at,
        "dropped_high": lane.dropped[1],
        "taken_at": lane.taken_at,
        "taken_low": lane.taken[0],
        "first_pull_at": lane.first_pull_at,
        "unowned": lane.unowned,
        "overlap": lane.overlap,
        "is_waiting": lane.is_waiting,
        "is_shared": lane.is_shared,
        "is_overlap": lane.is_overlap,
        "is_gap": lane.is_gap,
        "is_perhaps_overlap": lane.is_perhaps_overlap,
        "is_perhaps_gap": lane.is_perhaps_gap,
        "is_older": lane.is_older,
        "is_unknown": lane.is_unknown,
        "is_first_seen": lane.is_first_seen,
        "is_gone": lane.is_gone,
        "gone_at": lane.gone_at,
        "is_back": lane.is_back,
        "twice": None if twice is None else twice.count,
    }


def _plain_rest(each: Beyond) -> dict[str, object]:
    return {
        "queue": _name(each),
        "why": "; ".join(each.reasons),
        "unowned": each.unowned,
        "overlap": each.overlap,
        "is_gap": bool(each.unowned[0]),
        "is_overlap": bool(each.overlap[0]),
        "is_perhaps_gap": each.is_perhaps_gap,
        "is_perhaps_overlap": each.is_perhaps_overlap,
        "is_lasting": each.is_lasting,
        "is_of_round": each.is_of_round,
        "nobody": each.times.nobody,
        "perhaps_nobody": each.times.perhaps_nobody,
        "two": each.times.two,
        "perhaps_two": each.times.perhaps_two,
    }
