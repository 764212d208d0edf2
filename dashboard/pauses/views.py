"""The page of a group's pauses: read the window, ask for it, render."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.common.clock import now_ms
from dashboard.groups.dead import dead_letters_of
from dashboard.groups.lag import lag_of
from dashboard.groups.listing import listed
from dashboard.groups.views import find_group
from dashboard.pauses import present, queries
from dashboard.pauses.lagging import lag_over
from dashboard.people.gate import needs
from dashboard.people.roles import Role


@require_safe
@needs(Role.VIEWER)
def pauses(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how long queues stood still, after which rounds, and how far the group is behind: ``?window=``."""
    found, now = find_group(request, pk), now_ms()
    window, since = queries.window_of(group=found, asked=request.GET.get("window", ""), now=now)
    read = queries.pauses_of(group=found, since=since, now=now)
    lag, over_time = lag_of(group=found), lag_over(group=found, since=since, until=now)
    waves = queries.deploys(read.rounds, read.handoffs)
    context = {
        "group": found,
        "listed": listed(group=found),
        "window": window,
        "windows": [(name, f"?window={name}") for name in queries.WINDOWS_MS],
        "pauses": read,
        "rounds": present.rows_of(read.rounds, over_time, now),
        "stood_still": any(each.pause.high != 0 for each in read.handoffs),
        "queues_room": present.room_of_queues(read),
        "untold": [each for each in read.rounds if each.cost is None],
        "causes": present.costs_of(queries.by_cause(read.rounds, read.handoffs)),
        "deploys": present.costs_of(waves),
        "lag": lag,
        "dead": dead_letters_of(group=found),
        "lag_over_time": over_time,
        "lag_rows": sorted(lag.queues, key=lambda each: -(each.lag or 0))[: present.MOST_LAG],
        "now": now,
        "facts": present.charts_of(read, waves, over_time, found),
    }
    return render(request, "pauses/pauses.html", context)
