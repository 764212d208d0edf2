"""The page of the nightly reports, and the reports themselves."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from dashboard.clusters.models import Cluster
from dashboard.groups.views import access_in
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


@require_GET
@needs(Role.VIEWER)
def nightly(request: HttpRequest) -> HttpResponse:
    """Show how the last runs of the nightly jobs ended, and what they came to."""
    context = {"runs": runs_for(request), "reads_logs": settings.LOGS is not None}
    return render(request, "history/nightly.html", context)


@require_GET
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


def runs_for(request: HttpRequest) -> list[Run]:
    """Give the runs that whoever asks may see."""
    folder = Path(settings.REPORTS)
    return runs_of(
        last_runs(folder),
        clusters=Cluster.objects.values_list("name", flat=True),
        access=access_in(request),
        pages=[page.parent.name for page in folder.glob(f"*/{PAGE}")],
    )
