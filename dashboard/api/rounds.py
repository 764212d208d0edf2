"""Rounds of a group, one of them, what moved in it, and the handoffs of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db.models import Min
from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query
from pydantic import Field, model_validator

from dashboard.api.errors import Problem
from dashboard.api.lists import Form, page_of, page_read
from dashboard.api.past import Instantly, Then, instant_asked, shown_then
from dashboard.api.round_shapes import (
    KEPT_STILL,
    NO_OFFSETS,
    NOT_THEN,
    HandoffOut,
    MoveOut,
    RoundOut,
    RoundRow,
    beyond_out,
    cause_out,
    handoff_out,
    load_out,
    move_out,
    round_row,
)
from dashboard.api.shapes import UNTIL, Bounds, Instant, Page, Paging, in_order
from dashboard.api.site import reads
from dashboard.common.clock import now_ms
from dashboard.groups import past_story, story
from dashboard.groups import rounds as read
from dashboard.groups.account import account_at, account_of, figures_of
from dashboard.groups.beyond import Beyond
from dashboard.groups.doubts import NO_DOUBTS, all_doubts_of, less
from dashboard.groups.handoffs import UNKNOWN_PAUSE
from dashboard.groups.lanes import lanes_of
from dashboard.groups.lasting import lasting_handoffs
from dashboard.groups.models import Handoff, Round, RoundCause
from dashboard.groups.paragraph import sentence_of
from dashboard.groups.pictured import loads_of
from dashboard.groups.twice import Totals, awaited_in, totals_in, twice_in
from dashboard.groups.views import find_group

NONE_HANDED = "no queue went from one member to another"
NOT_TOLD_YET = "it has just ended, and its handoffs are not told yet"
NOTHING_BEFORE = "it is the first round that was seen of its group, and who was a member before is not known"
MOST_BEYOND = 200
NO_FIRST_PULL = "of {n} handoffs the first pull is not known: members report it, brokers do not"


class Within(Paging):
    """Of rounds that were open in this time; without an end until now."""

    since: Instant = 0
    until: int | None = Field(default=None, description=UNTIL)

    @model_validator(mode="after")
    def _is_in_order(self) -> Within:
        in_order(self.since, self.until)
        return self


@reads("/groups/{int:pk}/rounds", name="api rounds", answer=Page[RoundRow], is_table=True)
def rounds(request: HttpRequest, pk: int, asked: Query[Within]) -> Page[RoundRow] | HttpResponse:
    """List a group's rounds that are kept, newest first."""
    found, now = find_group(request, pk), now_ms()
    rows = Round.objects.filter(group=found, opened_at__lte=asked.until or now).order_by("-number")
    rows = rows.exclude(closed_at__lt=asked.since).defer("before", "after")
    return page_read(rows, lambda row: round_row(row, now), asked, now, Form(RoundRow, f"rounds-{found.name}"))


@reads("/groups/{int:pk}/rounds/{int:number}", name="api round", answer=RoundOut)
def one_round(request: HttpRequest, pk: int, number: int, asked: Query[Instantly]) -> RoundOut:
    """Give one round: its sentence, what proves its cause, loads before and after, the worst of its handoffs.

    With ``at`` as it stood then; loads are those of its latest look.
    """
    row, now = _find(request, pk, number), now_ms()
    if not asked.at:
        told = account_of(row=row, now=now)
        twice = totals_in(row=row, lanes=told.lanes, known=twice_in(row=row, lanes=told.lanes))
        worst = figures_of(row=row, account=told, twice=twice)
        return _round(row, worst, read.causes_of(row), told.rest, now, twice)
    row, at = _then(row, asked.at, now), instant_asked(asked.at, now)
    told = account_at(row=row, at=at, now=now)
    worst = {**story.worst(told.lanes, told.own.shares), **told.own.figures}
    return _round(row, worst, past_story.causes_at(row=row, at=at), told.rest, at)


def _then(row: Round, asked: str, now: int) -> Round:
    """Give a round as it stood at an instant.

    Raises:
        Problem: 404 where it was not the latest one then, or nothing is kept of then.
    """
    then = past_story.round_at(group=row.group, shown=shown_then(row.group, asked, now))
    if then is None or then.number != row.number:
        seen = "there was no round yet" if then is None else f"the latest one was round {then.number}"
        raise Problem(404, f"round {row.number} did not stand as the latest one at {asked}: {seen}")
    return then


def _round(
    row: Round,
    worst: Mapping[str, object],
    causes: Sequence[RoundCause],
    rest: Sequence[Beyond],
    now: int,
    twice: Totals | None = None,
) -> RoundOut:
    before, after = read.neighbours_of(row)
    out = round_row(row, now)
    if row.members_before is None:
        out.unknown["members_before"] = NOTHING_BEFORE
    if twice is None or twice.count is None:
        out.unknown["twice"] = NOT_THEN if twice is None else _why_not_twice(twice)
    if twice is None:
        out.unknown |= dict.fromkeys(("twice_unknown", "unowned_unmoved_queues"), NOT_THEN)
    if row.closed_at is not None and row.told_at is None:
        out.unknown["longest_pause"] = NOT_TOLD_YET
    elif worst["pause"] == UNKNOWN_PAUSE:
        out.unknown["longest_pause"] = NO_FIRST_PULL.format(n=worst["pause_unknown"])
    return RoundOut(
        **out.model_dump(),
        at=now,
        sentence=sentence_of(row, worst, now=now),
        waits_for=(row.waits_for or None) if row.closed_at is None else None,
        members_before=row.members_before,
        members_after=row.members_after,
        left_open=_most(worst.get("left_open")),
        unsettled=row.unsettled,
        unknown_members=row.unknown_members,
        causes=[cause_out(each) for each in causes],
        loads=[load_out(each) for each in loads_of(row)],
        longest_unowned=_bounds(worst["unowned"]),
        unowned_queues=int(str(worst["unowned_queues"])),
        unowned_unmoved_queues=_most(worst.get("unowned_unmoved")),
        is_unowned_lasting=bool(worst["is_waiting"]),
        unowned_perhaps_queues=int(str(worst["unowned_perhaps_queues"])),
        unowned_perhaps_most=_most(worst["unowned_perhaps"]),
        longest_overlap=_bounds(worst["overlap"]),
        overlap_queues=int(str(worst["overlap_queues"])),
        overlap_older_queues=int(str(worst["overlap_older_queues"])),
        overlap_perhaps_older_queues=int(str(worst["overlap_perhaps_older_queues"])),
        is_overlap_lasting=bool(worst["is_shared"]),
        overlap_perhaps_queues=int(str(worst["overlap_perhaps_queues"])),
        overlap_perhaps_most=_most(worst["overlap_perhaps"]),
        longest_pause=None if "longest_pause" in out.unknown else _bounds(worst["pause"]),
        pause_queues=int(str(worst["pause_queues"])),
        pause_unknown=int(str(worst["pause_unknown"])),
        handoffs=int(str(worst["handoffs"])),
        beyond_count=len(rest),
        beyond=[beyond_out(each) for each in rest[:MOST_BEYOND]],
        twice=twice.count if twice is not None else None,
        twice_unknown=twice.unknown if twice is not None else None,
        previous=before.number if before is not None else None,
        next=after.number if after is not None else None,
    )


def _why_not_twice(twice: Totals) -> str:
    if twice.unreported:
        return NO_OFFSETS
    return KEPT_STILL if twice.awaited else NONE_HANDED


@reads("/groups/{int:pk}/rounds/{int:number}/moves", name="api moves", answer=Page[MoveOut], is_table=True)
def moves(request: HttpRequest, pk: int, number: int, asked: Query[Then]) -> Page[MoveOut] | HttpResponse:
    """List the handoffs of a round, worst first; of one that is under way as far as it is known.

    With ``at`` as far as they had come then.
    """
    row, now = _find(request, pk, number), now_ms()
    at = instant_asked(asked.at, now)
    lanes = past_story.lanes_at(row=row, at=at, now=now) if asked.at else lanes_of(row, now=now)
    known = {} if asked.at else twice_in(row=row, lanes=lanes)
    awaited = () if asked.at else awaited_in(row=row, lanes=lanes, known=known)
    why = NOT_THEN if asked.at else NO_OFFSETS
    form = Form(MoveOut, f"round-{number}-{row.group.name}")
    return page_of(lanes, lambda lane: move_out(lane, known, KEPT_STILL if lane in awaited else why), asked, now, form)


@reads("/groups/{int:pk}/handoffs", name="api handoffs", answer=Page[HandoffOut], is_table=True)
def handoffs(request: HttpRequest, pk: int, asked: Query[Within]) -> Page[HandoffOut] | HttpResponse:
    """List the handoffs of rounds that have ended, the newest round first."""
    found, now = find_group(request, pk), now_ms()
    rows = Handoff.objects.filter(round__group=found, round__opened_at__lte=asked.until or now)
    rows = rows.exclude(round__closed_at__lt=asked.since).select_related("round").defer("round__before", "round__after")
    rows = rows.order_by("-round__number", "topic", "broker", "queue_id", "pk")
    since = rows.aggregate(first=Min("dropped_at"))["first"] or now
    doubts = all_doubts_of(groups=[found.pk], since=since).get(found.pk, NO_DOUBTS)
    open_ended = rows.filter(dropped_at__isnull=False, taken_at=None).order_by().values_list("round", flat=True)
    lasting = lasting_handoffs(rounds=set(open_ended), now=now)
    form = Form(HandoffOut, f"handoffs-{found.name}")
    return page_read(rows, lambda row: handoff_out(less(row, doubts), lasting.get(row.pk)), asked, now, form)


def _find(request: HttpRequest, pk: int, number: int) -> Round:
    row = read.find(group=find_group(request, pk), number=number)
    if row is None:
        raise Http404(f"there is no round {number} of this group, or it is not kept any more")
    return row


def _bounds(bounds: object) -> Bounds | None:
    return Bounds(low=bounds[0], high=bounds[1]) if isinstance(bounds, tuple) else None


def _most(value: object) -> int | None:
    return value if isinstance(value, int) else None
