"""The page of pauses as plain values: for its charts and its tables."""

from __future__ import annotations

from collections.abc import Sequence

from django.urls import reverse
from django.utils.translation import gettext as _

from dashboard.common.spans import HARD, between, span
from dashboard.groups.models import Group
from dashboard.groups.whose import cause_with_names
from dashboard.groups.words import cause_words
from dashboard.pauses.costs import Between, Sum
from dashboard.pauses.lagging import AFTER_MS, LagOverTime
from dashboard.pauses.queries import CauseCost, Pauses, RoundCost

MOST_ROWS = 200
MOST_SPANS = 4_000
MOST_LAG = 60
AXIS, LANE, FEWEST_LANES = 60, 18, 4  # of the chart of queues: px, px, lanes


def charts_of(pauses: Pauses, waves: Sequence[CauseCost], lag: LagOverTime, group: Group) -> dict[str, object]:
    """Give what the charts draw; null is unknown, each part has the round that it leads to.

    A pause begins between ``first`` and ``at``; at most it goes on for ``high`` since the former.
    """
    shown = set(pauses.queues)
    spans = [each for each in pauses.handoffs if each.queue in shown]
    return {
        "since": pauses.since,
        "until": pauses.until,
        "rounds": [_round(each, group) for each in pauses.rounds],
        "queues": list(pauses.queues),
        "spans": [
            {
                "queue": each.queue,
                "round": each.round,
                "at": each.at,
                "first": each.at if each.dropped.low is None else min(each.at, each.dropped.low),
                "is_seen": each.is_seen,
                "low": each.pause.low,
                "high": each.pause.high,
                "says": _between_two(each.from_client, each.to_client),
            }
            for each in spans[:MOST_SPANS]
        ],
        "waves": [_wave(each, group) for each in waves],
        "lag": [list(point) for point in lag.points],
    }


def room_of_queues(pauses: Pauses) -> int:
    """Say how high the chart of queues will be, in px: as ``static/js/lib/charts.js`` draws it."""
    return AXIS + LANE * max(FEWEST_LANES, len(pauses.queues))


def rows_of(rounds: Sequence[RoundCost], lag: LagOverTime, now: int) -> list[dict[str, object]]:
    """Give the rounds for the table, the newest first, each with how far the group was behind before and after."""
    return [
        {
            "round": each,
            "words": cause_with_names(cause_words(each.cause), each.who),
            "longest": each.cost.longest if each.cost is not None else Between(),
            "paused": written(each.cost.paused) if each.cost is not None else None,
            "unowned": written(each.cost.unowned) if each.cost is not None else None,
            "overlap": written(each.cost.overlap) if each.cost is not None else None,
            "lag_before": lag.at(each.opened_at),
            "lag_most": lag.most(each.opened_at, (now if each.closed_at is None else each.closed_at) + AFTER_MS),
        }
        for each in reversed(rounds[-MOST_ROWS:])
    ]


def costs_of(costs: Sequence[CauseCost]) -> list[dict[str, object]]:
    """Give what causes, or deploys, cost for a table."""
    return [
        {
            "words": cause_words(each.cause),
            "rounds": len(each.rounds),
            "first": each.rounds[0],
            "last": each.rounds[-1],
            "moves": each.moves,
            "left": each.left,
            "began_at": each.began_at,
            "took": None if each.ended_at is None else each.ended_at - each.began_at,
            "longest": each.cost.longest,
            "paused": written(each.cost.paused),
            "unowned": written(each.cost.unowned),
            "overlap": written(each.cost.overlap),
        }
        for each in costs[:MOST_ROWS]
    ]


def written(total: Sum) -> tuple[str, str, str]:
    """Write a sum of durations: its words, its mark and a note. Of what is unknown nothing is added up as 0."""
    if total.unknown and not total.low:
        return _("unknown"), "unknown", _("of %(n)s queues it is unknown") % {"n": total.unknown}
    if total.high is None:
        return f"≥{HARD}{span(total.low)}", "bound", _("of %(n)s queues only a part is known") % {"n": total.unknown}
    words, mark = between(total.low, total.high)
    return words, mark, ""


def _round(each: RoundCost, group: Group) -> dict[str, object]:
    cost = each.cost
    return {
        "number": each.number,
        "at": each.opened_at,
        "until": each.closed_at,
        "cause": each.cause,
        "words": cause_with_names(cause_words(each.cause), each.who),
        "link": reverse("round", args=[group.pk, each.number]),
        "moves": each.moves,
        "left": each.left,
        "is_open": each.closed_at is None,
        "is_told": cost is not None,
        "longest": None if cost is None else [cost.longest.low, cost.longest.high],
        "overlap": None if cost is None else [cost.overlap.low, cost.overlap.high],
    }


def _wave(each: CauseCost, group: Group) -> dict[str, object]:
    return {
        "number": each.rounds[0],
        "last": each.rounds[-1],
        "link": reverse("round", args=[group.pk, each.rounds[0]]),
        "words": cause_words(each.cause),
        "paused": [each.cost.paused.low, each.cost.paused.high],
        "unowned": [each.cost.unowned.low, each.cost.unowned.high],
        "overlap": [each.cost.overlap.low, each.cost.overlap.high],
    }


def _between_two(from_client: str, to_client: str) -> str:
    one, other = from_client or _("nobody"), to_client or _("nobody yet")
    return f"{one} → {other}"
