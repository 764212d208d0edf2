"""The page of producers, as they stand now or as they stood at a past instant: read who is asked for, render."""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from dashboard.clusters.models import Cluster
from dashboard.clusters.shell import all_clusters, aside_of, chosen_of, visible_cluster
from dashboard.clusters.silences import is_silent
from dashboard.common.clock import now_ms
from dashboard.groups.past import BadInstant, instant_of, spell_instant
from dashboard.groups.views import access_in, unanswered
from dashboard.people.gate import needs
from dashboard.people.roles import Access, Role
from dashboard.producers import canaries, present, queries
from rebalance_engine.network.canary import TOPIC

MOST_ALONE = 20
MOST_NAMED = 20  # brokers without a column
KEPT = ("cluster", "client", "q", "page")  # parameters of the address that stay from one instant to the next


@require_safe
@needs(Role.VIEWER)
def producers(request: HttpRequest) -> HttpResponse:
    """Show producers by brokers, and one of them more closely: ``?cluster= &client= &at= &q= &page=``."""
    access, now = access_in(request), now_ms()
    try:
        past = instant_of(request.GET["at"], now=now) if request.GET.get("at") else None
    except BadInstant as bad:
        return render(request, "producers/no_past.html", {"why": str(bad)}, status=400)
    at = now if past is None else past
    chosen, client = request.GET.get("cluster", ""), request.GET.get("client", "")
    clusters = all_clusters(access=access)
    mine = chosen_of(clusters, chosen)
    search, page = request.GET.get("q", "")[:200], request.GET.get("page", "")
    withheld = [each for each in mine if not access.may_everywhere(Role.VIEWER, cluster=each.name)]
    every = queries.producers_of(clusters=mine, access=access, now=at, is_past=past is not None)
    wanted = queries.searched(every, search)
    number = int(page) if page.isdecimal() and len(page) < 7 else 1
    read = queries.page_of(wanted, number=number, search=search, now=at)
    birds = canaries.canaries_of(clusters=mine, access=access, at=past)
    named = (row for row in wanted.rows if row.client == client)
    closely = next(named, None) or queries.with_most_to_say(wanted.rows, now=at)
    alone = [(row, each, each.left_ms(at)) for row in every.rows for each in row.leaves_alone(at)]
    context = {
        "clusters_shown": [each for each in clusters if not each.is_aside or each in mine],
        "chosen": chosen,
        "withheld": withheld,
        "is_withheld": bool(mine) and len(withheld) == len(mine),
        "read": read,
        "page": read,
        "rows": present.rows_of(read, canaries.estimates_of(birds, at), now=at),
        "canaries": _canaries(birds, access, past, at),
        "canary_topic": TOPIC,
        "search": search,
        "kept": urlencode([each for each in (("q", search), ("cluster", chosen), ("at", past)) if each[1]]),
        "left_out": read.left_out[:MOST_NAMED],
        "left_out_more": max(0, len(read.left_out) - MOST_NAMED),
        "alone": alone[:MOST_ALONE],
        "alone_more": max(0, len(alone) - MOST_ALONE),
        "has_reporting": any(row.is_reporting and not row.is_unheard for row in every.rows),
        "unheard": [row for row in read.rows if row.is_unheard],
        **_answering(mine, now),
        "aside": aside_of(clusters, chosen),
        "is_unwatched": not mine,
        "is_aside": bool(mine) and all(each.is_aside for each in mine),
        "closely": closely,
        "is_past": past is not None,
        "at_iso": spell_instant(at),
        "ago": now - at,
        "now": at,
        "steps_in_time": _steps(request, queries.neighbours_of(wanted, at=at, now=now)),
        "live": _link(request, None),
    }
    if closely is not None and closely.has_told:
        steps = queries.steps_for(closely)
        context |= {
            "steps": steps,
            "told_of": present.told_of(closely),
            "history": present.history_of(closely, wanted, now=now, at=past),
            "ladder": present.ladder_of(closely, steps, now=at),
            "avoids_none": queries.avoids_none(closely),
            "picks": present.picks_of(queries.picks_of(closely, now=at)),
        }
    return render(request, "producers/producers.html", context)


def _answering(clusters: list[Cluster], now: int) -> dict[str, object]:
    """Give when the clusters answered, which servers do not, and which clusters have not answered for a while."""
    return {
        "watched": json.dumps({_stream(each): each.watched_at for each in clusters}),
        "streams_aside": json.dumps([_stream(each) for each in clusters if each.is_aside]),
        "answering": unanswered(clusters, now),
        "silent": [each for each in clusters if is_silent(each, now)],
    }


def _stream(cluster: Cluster) -> str:
    return f"producers-{cluster.pk}"


@require_POST
@needs(Role.ADMIN)
def switch_canary(request: HttpRequest, pk: int) -> HttpResponse:
    """Switch the canary of a cluster: ``is_on=yes|no may_create=yes reason=``."""
    access, given = access_in(request), request.POST
    wish = canaries.Wish(
        is_on=given.get("is_on") == "yes", may_create=given.get("may_create") == "yes", reason=given.get("reason", "")
    )
    try:
        canaries.switch(cluster=visible_cluster(pk=pk, access=access), wish=wish, access=access, now=now_ms())
    except canaries.Refused as refusal:
        if refusal.is_forbidden:
            raise PermissionDenied(str(refusal)) from refusal
        messages.error(request, str(refusal))
    return redirect(f"{reverse('producers')}#canary")


def _canaries(birds: Sequence[canaries.Seen], access: Access, past: int | None, at: int) -> list[dict[str, object]]:
    """Give the canaries; of a past instant those of which something of then is kept, which nobody switches there."""
    return [
        present.canary_of(each, obstacle=canaries.obstacle_to_switching(cluster=each.cluster, access=access), now=at)
        for each in birds
        if past is None or each.estimates(at)
    ]


def _steps(request: HttpRequest, near: queries.Neighbours) -> list[dict[str, object]]:
    """Give the ways to other instants, each with its key; one that leads nowhere has no address."""
    ways = (
        (
            ("previous round", "[", _("Previous")),
            _("Previous begin or end of a time in which a broker was left alone"),
            near.previous,
        ),
        (("next round", "]", _("Next")), _("Next begin or end of a time in which a broker was left alone"), near.next),
    )
    return [
        {"does": does, "key": key, "short": short, "words": words, "link": None if to is None else _link(request, to)}
        for (does, key, short), words, to in ways
    ]


def _link(request: HttpRequest, at: int | None) -> str:
    query = ({} if at is None else {"at": str(at)}) | {name: request.GET[name] for name in KEPT if name in request.GET}
    return f"?{urlencode(query)}"
