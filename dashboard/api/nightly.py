"""The nightly runs: how the last one of each cluster, and of RocketMQ's own logs, ended, and what it came to."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja import Query, Schema
from pydantic import Field

from dashboard.api.lists import Form, page_of
from dashboard.api.shapes import Instant, Page, Paging, Text, Unknown
from dashboard.api.site import reads
from dashboard.common.clock import now_ms
from dashboard.history.present import Run
from dashboard.history.views import runs_for


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


@reads("/nightly", name="api nightly", answer=Page[RunOut], is_table=True)
def nightly(request: HttpRequest, asked: Query[Paging]) -> Page[RunOut] | HttpResponse:
    """List the last run of each report of which the caller may see the whole cluster, as the page Reports does."""
    return page_of(runs_for(request), _run, asked, now_ms(), Form(RunOut, "nightly"))


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
