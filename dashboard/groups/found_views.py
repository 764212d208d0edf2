"""The page of all findings: read what is asked for, render."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.clusters.shell import all_clusters, aside_of, chosen_of
from dashboard.clusters.silences import told_until
from dashboard.common.clock import now_ms
from dashboard.groups import found
from dashboard.groups.models import Finding
from dashboard.groups.proofs import seen_at_of
from dashboard.groups.views import access_in, unanswered
from dashboard.groups.young import is_explained
from dashboard.people.gate import needs
from dashboard.people.roles import Role


@require_safe
@needs(Role.VIEWER)
def findings(request: HttpRequest) -> HttpResponse:
    """List all that is found wrong now, the gravest first: ``?q= &kind= &cluster= &state= &page=``."""
    access, now, asked = access_in(request), now_ms(), request.GET
    chosen, kind, state, number = (asked.get(name, "") for name in ("cluster", "kind", "state", "page"))
    clusters = all_clusters(access=access)
    shown = chosen_of(clusters, chosen)
    sought = found.Sought(
        asked.get("q", "")[:200], kind if kind in found.KINDS else "", state if state in found.STATES else ""
    )
    rows = found.found(clusters=shown, access=access, sought=sought)
    page = found.page_of(rows=rows, number=int(number) if number.isdecimal() and len(number) < 7 else 1)
    fields = {"q": sought.search, "kind": sought.kind, "cluster": chosen, "state": sought.state}
    context = {
        "page": page,
        "rows": [(each, _is_of_young_round(each, now), _told_until(each, now)) for each in page.rows],
        "sought": sought,
        "chosen": chosen,
        "clusters_shown": clusters,
        "aside": aside_of(clusters, chosen),
        "answering": unanswered(shown, now),
        "mute": [each for each in shown if each.watched_at is None],
        "is_unknown": all(each.watched_at is None for each in shown),
        "is_unwatched": not shown,
        "kinds": found.KINDS,
        "proofs_at": seen_at_of(groups={each.group_id for each in page.rows if each.group_id is not None}),
        "query": urlencode({name: text for name, text in fields.items() if text}),
        "now": now,
    }
    return render(request, "groups/findings.html", context)


def _told_until(row: Finding, now: int) -> int:
    """Say up to when a finding is known to last."""
    return max(row.suspected_at, told_until(row.cluster, now))


def _is_of_young_round(row: Finding, now: int) -> bool:
    """Ask whether a finding is no fault so far: the group's round is young, and explains it."""
    if row.group is None:
        return False
    return is_explained(row, opened_at=row.group.round_opened_at, closed_at=row.group.round_closed_at, now=now)
