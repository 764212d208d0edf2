"""The page of a group: as it is now, or with ``?at=`` as it was shown at a past instant."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from dashboard.common.clock import now_ms
from dashboard.groups import beyond, past_story, rounds, story, views
from dashboard.groups.account import account_at
from dashboard.groups.corrected import Corrected, corrected_at
from dashboard.groups.drawn import plain_lanes
from dashboard.groups.ending import moved_so_far
from dashboard.groups.first.page import painted
from dashboard.groups.kinds import listeners_of, programs_of, without_owners
from dashboard.groups.listing import Listed
from dashboard.groups.models import Group
from dashboard.groups.past import BadInstant, Shown, instant_of, shown_at, spell_instant
from dashboard.groups.past_lag import lag_at
from dashboard.groups.past_silent import as_answered
from dashboard.groups.pictured import loads_of
from dashboard.groups.showing import is_cell_proxied, row_shown
from dashboard.groups.table import in_words
from dashboard.groups.words import state_of
from dashboard.groups.young import unexplained
from dashboard.people.gate import needs
from dashboard.people.roles import Role
from dashboard.push.shapes import to_json

LAST = {"last-round": "previous_round", "last-change": "previous_change"}  # where the keys of the live page lead
KEPT = ("window", "queue", "zoom")  # parameters of the address that stay from one instant to the next


@require_safe
@needs(Role.VIEWER)
def group(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one group now, or as it was at ``?at=`` (ms since 1970, or ISO 8601); its last round or change."""
    if "at" not in request.GET:
        return views.group(request, pk)
    found, now = views.find_group(request, pk), now_ms()
    if request.GET["at"] in LAST:
        near = past_story.neighbours_of(group=found, at=now)
        to = getattr(near, LAST[request.GET["at"]])
        return redirect(_link(request, found, to))
    try:
        at = instant_of(request.GET["at"], now=now)
    except BadInstant as bad:
        return render(request, "groups/no_past.html", {"group": found, "why": str(bad)}, status=400)
    shown = shown_at(group=found, at=at)
    if shown is None:
        why = _("Nothing that was seen of this group at %(at)s is kept.") % {"at": spell_instant(at)}
        return render(request, "groups/no_past.html", {"group": found, "why": why}, status=404)
    return render(
        request, "groups/past.html", _context(request, found, as_answered(shown, group=found, at=at), at, now)
    )


def _context(request: HttpRequest, found: Group, shown: Shown, at: int, now: int) -> dict[str, object]:
    state = shown.state
    row = past_story.round_at(group=found, shown=shown)
    told = account_at(row=row, at=at, now=now)
    lanes, rest = told.lanes, told.rest
    around = past_story.around_at(group=found, state=state, lanes=lanes, at=at)
    corrected = corrected_at(group=found, state=state, at=at) if shown.is_exact else Corrected()
    window, bar = past_story.time_bar_at(group=found, at=at, asked=request.GET.get("window", ""), now=now)
    facts = {
        "group": found.pk,
        "at": at,
        "base": reverse("group", args=[found.pk]),
        "state": to_json(state),
        "time": bar,
        "around": {**around, "corrected": corrected.clients},
        "lanes": plain_lanes(row, lanes, at, rest=rest, at=at),
        "lag": lag_at(group=found, at=at),
    }
    return {
        "group": found,
        "at": at,
        "at_iso": spell_instant(at),
        "ago": now - at,
        "shown": shown,
        "corrected": corrected,
        "state": state,
        "faults": unexplained(state, now=at),
        "listed": _listed(found, shown),
        "proofs_at": None,  # of when a proof was is kept of now alone
        **painted(state, facts, zoom=request.GET.get("zoom", ""), at=at),
        "held_by": rounds.held_by(state),
        "in_words": in_words(state, around),
        "members": past_story.members_at(group=found, shown=shown, at=at),
        "queue_count": sum(sum(part.ids[1::2]) for part in state.queues),
        "programs": programs_of(state.members),
        "listeners": listeners_of(state.members, model=state.head.model),
        **without_owners(
            consume_types=past_story.consume_types_at(group=found, state=state),
            proxied=[each.client for each in state.members if is_cell_proxied(each)],
            popped_by=None,  # what brokers are set to is kept of now alone
            strategy=state.head.strategy,
        ),
        "loads": loads_of(row)[: story.MOST_LANES] if row is not None and row.closed_at is not None else [],
        "round": row,
        "moved_so_far": moved_so_far(row, now=at) if row is not None else None,
        "causes": past_story.causes_at(row=row, at=at) if row is not None else [],
        "lanes": lanes[: story.MOST_LANES],
        "lane_count": len(lanes),
        "worst": story.worst(lanes, told.own.shares),
        **beyond.shown(rest),
        "window": window,
        "windows": [(name, _link(request, found, at, window=name)) for name in story.WINDOWS_MS],
        "steps": _steps(request, found, at),
        "live": _link(request, found, None),
        "now": at,
        "facts": facts,
    }


def _listed(found: Group, shown: Shown) -> Listed:
    row = row_shown(shown.state, group=found, at=shown.since)
    return Listed(found.cluster, row, state_of(row))


def _steps(request: HttpRequest, found: Group, at: int) -> list[dict[str, object]]:
    """Give the ways to other instants, each with its key; one that leads nowhere has no address."""
    near = past_story.neighbours_of(group=found, at=at)
    ways = (
        ("previous round", "[", _("Previous round"), near.previous_round),
        ("previous change", "⇧←", _("Previous change"), near.previous_change),
        ("next change", "⇧→", _("Next change"), near.next_change),
        ("next round", "]", _("Next round"), near.next_round),
    )
    return [
        {"does": does, "key": key, "words": words, "link": None if to is None else _link(request, found, to)}
        for does, key, words, to in ways
    ]


def _link(request: HttpRequest, found: Group, at: int | None, **changed: str) -> str:
    kept = {name: request.GET[name] for name in KEPT if request.GET.get(name)} | changed
    query = urlencode(({} if at is None else {"at": str(at)}) | kept)
    return reverse("group", args=[found.pk]) + (f"?{query}" if query else "")
