"""The nightly runs: how the last one of each cluster, and of RocketMQ's own logs, ended; and ordering one now."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja import Query, Schema, Status
from pydantic import Field

from dashboard.api.errors import Problem
from dashboard.api.lists import Form, page_of
from dashboard.api.shapes import Body, Instant, Page, Paging, Text, Unknown
from dashboard.api.site import does, reads
from dashboard.common.clock import now_ms
from dashboard.groups.views import access_in
from dashboard.history.asked import Asked, standing
from dashboard.history.ordering import LONGEST_REASON, Refused, Wish
from dashboard.history.present import Run, may_see
from dashboard.history.views import cluster_names, order_for, runs_for
from dashboard.people.roles import Role


class RunOut(Schema):
    """How the last run of one report ended: ``missed`` left something out, ``off`` found no Spark.

    ``cluster`` null is RocketMQ's own logs. ``finished_at``: when a run of it came to its end last, null: none has.
    ``page`` is where its report with charts is, for a browser that is logged in; null: there is none.
    """

    name: Text
    cluster: Text | None
    end: str = Field(description="done, missed, off or failed")
    at: Instant | None
    finished_at: Instant | None
    summary: Text | None = Field(description="what it came to, for people; null: it did not come to its end")
    said: Text
    page: str | None
    unknown: Unknown


class OrderedIn(Body):
    """Which report to bring up to date: its ``name``, as ``GET /nightly`` has it; without one all."""

    name: str = Field(default="", max_length=1_000)
    reason: str = Field(max_length=10 * LONGEST_REASON)


class OrderedOut(Schema):
    """A run that was ordered; ``name`` null is of all reports. ``begun_at`` null: it waits for the worker for jobs."""

    name: Text | None
    author: Text
    reason: Text
    asked_at: Instant
    begun_at: Instant | None


class UnderWay(Schema):
    """What is under way: ``nothing``, ``waiting`` for the worker, or ``at work``.

    ``ordered`` null: nobody ordered it, as the one of every night, or it is not for the caller to see.
    """

    state: str
    ordered: OrderedOut | None


@reads("/nightly", name="api nightly", answer=Page[RunOut], is_table=True)
def nightly(request: HttpRequest, asked: Query[Paging]) -> Page[RunOut] | HttpResponse:
    """List the last run of each report of which the caller may see the whole cluster, as the page Reports does."""
    return page_of(runs_for(request), _run, asked, now_ms(), Form(RunOut, "nightly"))


@does(Role.OPERATOR, "/nightly", name="api nightly", status=202, answer=OrderedOut)
def order(request: HttpRequest, wanted: OrderedIn) -> Status[OrderedOut]:
    """Order a run now, with a reason; one at a time. ``GET /nightly/under-way`` tells how far it is."""
    try:
        return Status(202, _ordered(order_for(request, Wish(name=wanted.name, reason=wanted.reason))))
    except Refused as refusal:
        raise Problem(refusal.status, str(refusal)) from refusal


@reads("/nightly/under-way", name="api nightly under way", answer=UnderWay)
def under_way(request: HttpRequest) -> UnderWay:
    """Tell whether a run waits or is at work, and who ordered it."""
    found = standing(settings.REPORTS, now=now_ms())
    state = "waiting" if found.is_waiting else "at work" if found.is_at_work else "nothing"
    is_shown = found.asked is not None and may_see(access_in(request), found.asked.only, clusters=cluster_names())
    return UnderWay(state=state, ordered=_ordered(found.asked) if is_shown and found.asked is not None else None)


def _ordered(asked: Asked) -> OrderedOut:
    return OrderedOut(
        name=asked.only,
        author=asked.author,
        reason=asked.reason,
        asked_at=asked.asked_at,
        begun_at=asked.begun_at,
    )


def _run(run: Run) -> RunOut:
    return RunOut(
        name=run.name,
        cluster=run.title or None,
        end=run.end,
        at=run.at,
        finished_at=run.finished_at,
        summary=run.summary,
        said=run.said,
        page=reverse("nightly report", args=[run.name]) if run.has_page else None,
        unknown={} if run.at is not None else {"at": "what is kept of the run does not say when it ended"},
    )
