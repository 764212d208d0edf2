"""The page of the nightly reports, and the reports themselves."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from dashboard.groups.views import access_in
from dashboard.history import asked, ordering
from dashboard.history.jobs import last_runs
from dashboard.history.present import Run, runs_of
from dashboard.people.gate import needs
from dashboard.people.roles import Role

PAGE = "report.html"
# A report is one file with its styles, its charts and their JavaScript in it. It runs as a page of nobody: without our
# cookies, without a way to ask us or anybody else for anything.
ALONE = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"
    " img-src data: blob:; frame-ancestors 'none'"
)


@require_safe
@needs(Role.VIEWER)
def nightly(request: HttpRequest) -> HttpResponse:
    """Show how the last runs of the nightly jobs ended, and what they came to."""
    access, clusters, now = access_in(request), cluster_names(), now_ms()
    sources = sources_now()
    offered = ordering.choices(access=access, clusters=clusters, sources=sources)
    context = {
        "runs": runs_for(request),
        "reads_logs": settings.LOGS is not None,
        "standing": asked.standing(sources.reports, now=now),
        "offered": offered,
        "obstacle": ordering.obstacle_to_ordering(access=access, clusters=clusters)
        or ordering.obstacle_to_running(sources=sources, offered=offered, now=now),
    }
    return render(request, "history/nightly.html", context)


@require_POST
@needs(Role.OPERATOR)
def order(request: HttpRequest) -> HttpResponse:
    """Order a run: ``name= reason=``; without a name of all reports."""
    wish = ordering.Wish(name=request.POST.get("name", ""), reason=request.POST.get("reason", ""))
    try:
        order_for(request, wish)
    except ordering.Refused as refusal:
        if refusal.status == HTTPStatus.FORBIDDEN:
            raise PermissionDenied(str(refusal)) from refusal
        messages.error(request, str(refusal))
    return redirect("nightly")


@require_safe
@needs(Role.VIEWER)
def report(request: HttpRequest, name: str) -> HttpResponse:
    """Give the page of one report.

    Raises:
        Http404: there is none, or not for this person; which of the two is not told.
    """
    if not any(run.name == name and run.has_page for run in runs_for(request)):
        raise Http404(_("There is no such report, or you may not see it."))
    page = (Path(settings.REPORTS) / name / PAGE).read_bytes()
    return HttpResponse(page, headers={"Content-Security-Policy": ALONE})


def order_for(request: HttpRequest, wish: ordering.Wish) -> asked.Asked:
    """Order a run for whoever asks.

    Raises:
        Refused: it is not ordered.
    """
    return ordering.order(
        wish=wish, access=access_in(request), clusters=cluster_names(), sources=sources_now(), now=now_ms()
    )


def cluster_names() -> list[str]:
    """Name the clusters that there are."""
    return list(Cluster.objects.values_list("name", flat=True))


def sources_now() -> ordering.Sources:
    """Give the folders of the settings."""
    return ordering.Sources(
        history=Path(settings.HISTORY), reports=Path(settings.REPORTS), has_logs=settings.LOGS is not None
    )


def runs_for(request: HttpRequest) -> list[Run]:
    """Give the runs that whoever asks may see."""
    folder = Path(settings.REPORTS)
    return runs_of(
        last_runs(folder),
        clusters=cluster_names(),
        access=access_in(request),
        pages=[page.parent.name for page in folder.glob(f"*/{PAGE}")],
    )
