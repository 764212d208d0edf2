"""The page of producers: read who is asked for, ask for all, render."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from dashboard.clusters.shell import visible_clusters
from dashboard.common.clock import now_ms
from dashboard.groups.views import access_in
from dashboard.people.gate import needs
from dashboard.people.roles import Role
from dashboard.producers import present, queries


@require_GET
@needs(Role.VIEWER)
def producers(request: HttpRequest) -> HttpResponse:
    """Show producers by brokers, and one of them more closely: ``?cluster= &client=``."""
    access, now = access_in(request), now_ms()
    clusters = visible_clusters(access=access)
    asked, client = request.GET.get("cluster", ""), request.GET.get("client", "")
    chosen = asked if asked in {each.name for each in clusters} else ""
    read = queries.producers_of(
        clusters=[each for each in clusters if chosen in {"", each.name}], access=access, now=now
    )
    named = next((row for row in read.rows if row.client == client), None)
    closely = named or next((row for row in read.rows if row.is_reporting), None)
    context = {
        "clusters_shown": clusters,
        "chosen": chosen,
        "read": read,
        "rows": present.rows_of(read, now=now),
        "alone": [(row, each) for row in read.rows for each in row.leaves_alone(now)][:20],
        "has_reporting": any(row.is_reporting for row in read.rows),
        "closely": closely,
        "now": now,
    }
    if closely is not None and closely.is_reporting:
        steps = queries.steps_for(closely)
        context |= {
            "steps": steps,
            "told_of": [each for each in closely.standings if each.told_at is not None],
            "history": present.history_of(closely, read, now=now),
            "ladder": present.ladder_of(closely, steps, now=now),
            "picks": present.picks_of(queries.picks_of(closely, now=now)),
        }
    return render(request, "producers/producers.html", context)
