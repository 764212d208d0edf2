"""What the page of pauses shows: how far a group was behind over time, and what its rounds cost by cause."""

from __future__ import annotations

from typing import Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Schema
from pydantic import Field, model_validator

from dashboard.api.lists import Form, page_of
from dashboard.api.shapes import SINCE, UNTIL, Bounds, Instant, Page, Paging, Unknown, in_order
from dashboard.api.site import reads
from dashboard.common.clock import now_ms
from dashboard.groups.views import find_group
from dashboard.pauses.costs import Sum
from dashboard.pauses.lagging import Point, lag_over
from dashboard.pauses.queries import WINDOWS_MS, CauseCost, by_cause, deploys, pauses_of, window_of

NOT_TOLD = "not every broker told its offsets"
OPEN_ENDED = "of some queues the end is not known"
NOT_COUNTED = "of a round of it, or of them, it is unknown how many queues changed owner"
NOT_OVER = "a round of it is not over"


class LagAsked(Paging):
    """Of which time; without an end until now, without a beginning from a day before its end."""

    since: int | None = Field(default=None, description=SINCE)
    until: int | None = Field(default=None, description=UNTIL)

    @model_validator(mode="after")
    def _is_in_order(self) -> LagAsked:
        in_order(self.since, self.until)
        return self


class LagPoint(Schema):
    """How many messages the group was behind from ``at`` on, until the next one."""

    at: Instant
    lag: int | None
    unknown: Unknown


class CostsAsked(Paging):
    """Of which time, and added up how: by what caused the rounds, or by deploys."""

    window: Literal["1h", "6h", "24h", "7d", "30d"] = "24h"
    by: Literal["cause", "deploy"] = "cause"


class CostRow(Schema):
    """What rounds cost together; durations are added up over their queues, ``longest`` is of one.

    ``moves`` queues changed owner, ``left`` lost theirs because all members had left.
    """

    cause: str
    rounds: list[int]
    moves: int | None
    left: int | None
    began_at: Instant
    ended_at: Instant | None
    longest: Bounds
    paused: Bounds
    unowned: Bounds
    overlap: Bounds
    unknown: Unknown


@reads("/groups/{int:pk}/lag", name="api lag", answer=Page[LagPoint], is_table=True)
def lag_of_group(request: HttpRequest, pk: int, asked: Query[LagAsked]) -> Page[LagPoint] | HttpResponse:
    """Give how far a group was behind over time, where that changed, the oldest first."""
    found, now = find_group(request, pk), now_ms()
    until = now if asked.until is None else asked.until
    since = until - WINDOWS_MS["24h"] if asked.since is None else asked.since
    points = lag_over(group=found, since=since, until=until).points
    return page_of(points, _point, asked, now, Form(LagPoint, f"lag-{found.name}"))


@reads("/groups/{int:pk}/costs", name="api costs", answer=Page[CostRow], is_table=True)
def costs_of_group(request: HttpRequest, pk: int, asked: Query[CostsAsked]) -> Page[CostRow] | HttpResponse:
    """Give what rebalances cost a group in the last time, the dearest cause or the newest deploy first."""
    found, now = find_group(request, pk), now_ms()
    _name, since = window_of(group=found, asked=asked.window, now=now)
    read = pauses_of(group=found, since=since, now=now)
    costs = (by_cause if asked.by == "cause" else deploys)(read.rounds, read.handoffs)
    return page_of(costs, _row, asked, now, Form(CostRow, f"costs-{found.name}", COLUMNS, _fields))


COLUMNS = [
    *("cause", "rounds", "moves", "left", "began_at", "ended_at"),
    *(f"{name}_{side}" for name in ("longest", "paused", "unowned", "overlap") for side in ("low", "high")),
]


def _point(point: Point) -> LagPoint:
    at, lag = point
    return LagPoint(at=at, lag=lag, unknown={"lag": NOT_TOLD} if lag is None else {})


def _row(each: CauseCost) -> CostRow:
    sums = {name: getattr(each.cost, name) for name in ("paused", "unowned", "overlap")}
    unknown = {name: OPEN_ENDED for name, total in sums.items() if total.high is None}
    if each.cost.longest.high is None:
        unknown["longest"] = OPEN_ENDED
    if each.ended_at is None:
        unknown["ended_at"] = NOT_OVER
    for name in ("moves", "left"):
        if getattr(each, name) is None:
            unknown[name] = NOT_OVER if each.ended_at is None else NOT_COUNTED
    return CostRow(
        cause=each.cause,
        rounds=list(each.rounds),
        moves=each.moves,
        left=each.left,
        began_at=each.began_at,
        ended_at=each.ended_at,
        longest=Bounds(low=each.cost.longest.low, high=each.cost.longest.high),
        unknown=unknown,
        **{name: _bounds(total) for name, total in sums.items()},
    )


def _bounds(total: Sum) -> Bounds:
    """Give a sum's bounds; of what is unknown nothing is added up as 0."""
    return Bounds(low=None if total.unknown and not total.low else total.low, high=total.high)


def _fields(row: CostRow) -> list[object]:
    spans = [(each.low, each.high) for each in (row.longest, row.paused, row.unowned, row.overlap)]
    rounds = " ".join(map(str, row.rounds))
    return [
        row.cause,
        rounds,
        row.moves,
        row.left,
        row.began_at,
        row.ended_at,
        *(side for span in spans for side in span),
    ]
