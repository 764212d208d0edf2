"""Pages about groups: read the input, ask one query, render."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from dashboard.clusters.models import Cluster
from dashboard.clusters.shell import all_clusters, aside_of, chosen_of
from dashboard.clusters.silences import Answering, answering
from dashboard.common.clock import now_ms
from dashboard.common.sayings import in_words as in_readers_words
from dashboard.groups import asking, beyond, listing, rounds, story
from dashboard.groups import found as found_now
from dashboard.groups.account import account_of, figures_of
from dashboard.groups.backing import backing_away
from dashboard.groups.drawn import known_of, known_twice, lags_around, plain_lanes, with_queue
from dashboard.groups.ending import moved_so_far
from dashboard.groups.first.page import painted
from dashboard.groups.kinds import listeners_of, programs_of, without_owners
from dashboard.groups.lag import told_plainly
from dashboard.groups.leanest import division_of
from dashboard.groups.left_open import left_open
from dashboard.groups.models import Group, Member
from dashboard.groups.owner_lanes import LONGEST_MS, owner_lanes
from dashboard.groups.paragraph import sentence_of
from dashboard.groups.pictured import loads_of, pictures_of
from dashboard.groups.proofs import seen_at_of
from dashboard.groups.table import in_words
from dashboard.groups.twice import totals_in, twice_in
from dashboard.groups.young import unexplained
from dashboard.people.gate import needs
from dashboard.people.roles import Access, Role
from dashboard.push.publish import current_seq, group_snapshot, overview_stream
from dashboard.push.shapes import to_json

MOST_IDS = 200
MOST_LOADS = 100
MOST_CAUSES = 8  # as many as the page shows; the round's own page has all


@require_safe
@needs(Role.VIEWER)
def overview(request: HttpRequest) -> HttpResponse:
    """List the groups of all clusters, or of one (``?cluster=``); ``?q= &only= &sort= &page=``."""
    access, now = access_in(request), now_ms()
    chosen = request.GET.get("cluster", "")
    clusters = all_clusters(access=access)
    shown = chosen_of(clusters, chosen)
    aside = {"aside": aside_of(clusters, chosen), "chosen": chosen}
    if request.GET.get("part") == "findings":
        return render(request, "groups/_now.html", {**aside, **_now(request, shown, now)})
    wish = _wish(request)
    if request.GET.get("part") == "counts":
        page = listing.list_groups(clusters=shown, access=access, wish=wish, now=now)
        return render(request, "groups/_counts.html", _sums(request, shown, page, wish))
    streams = {overview_stream(each.pk): current_seq(stream=overview_stream(each.pk)) for each in shown}  # before rows
    page = listing.list_groups(clusters=shown, access=access, wish=wish, now=now)
    smalls = listing.smalls(groups=[each.row.id for each in page.rows], now=now)
    page = listing.beside_their_maps(page, smalls)
    context = {
        **_sums(request, shown, page, wish),
        **aside,
        "as_of": _as_of(shown, now),
        "is_aside": bool(shown) and all(each.is_aside for each in shown),
        **_now(request, shown, now),
        "sorts": [(name, words, _link(request, sort=name, page="")) for name, words in _sorts()],
        "query": _link(request, page="").removeprefix("?"),
        "facts": {
            "streams": streams,
            "watched": {overview_stream(each.pk): each.watched_at for each in shown},
            "aside": [overview_stream(each.pk) for each in shown if each.is_aside],
            "clusters": {overview_stream(each.pk): each.name for each in shown},
            "rows": [to_json(each.row) for each in page.rows],
            "known": page.known,
            "list": _list(page, wish),
            "smalls": smalls,
            "count": page.counts["all"],
            "found": page.found,
            "now": now,
        },
    }
    return render(request, "groups/overview.html", context)


def _as_of(clusters: list[Cluster], now: int) -> int | None:
    """Say of when the page is: of when any of its clusters answered last; None: none ever did."""
    answered = [each.watched_at for each in clusters if each.watched_at is not None]
    return min(now, max(answered)) if answered else (None if clusters else now)


def unanswered(clusters: list[Cluster], now: int) -> list[Answering]:
    """Give those clusters of which not all answers; that one is put aside is said itself."""
    watched = [each for each in clusters if not each.is_aside]
    return [each for each in answering(clusters=watched, now=now) if not each.is_fine]


def _list(page: listing.Page, wish: listing.Wish) -> dict[str, object]:
    """Give what tells whether a group that is pushed has a place in the list that is shown."""
    is_filtered = bool(wish.search) or wish.only != "all"
    is_whole = page.pages == 1 and not is_filtered
    return {"sort": wish.sort, "number": page.number, "is_filtered": is_filtered, "is_whole": is_whole}


def _sums(request: HttpRequest, shown: list[Cluster], page: listing.Page, wish: listing.Wish) -> dict[str, object]:
    """Give what the overview says of all groups together."""
    tabs = [(name, words, page.counts[name], _link(request, only=name, page="")) for name, words in _tabs()]
    return {"clusters_shown": shown, "page": page, "wish": wish, "tabs": tabs, "sums": _mark_of_sums(shown, page)}


def _mark_of_sums(shown: list[Cluster], page: listing.Page) -> str:
    """Say what sums over clusters are: a bound where one of them has never answered, unknown where that is all."""
    mute = [each for each in shown if each.watched_at is None]
    if not mute:
        return "exact"
    return "bound" if page.known or len(mute) < len(shown) else "unknown"


@require_safe
@needs(Role.VIEWER)
def smalls(request: HttpRequest) -> JsonResponse:
    """Give maps in the small and last rounds of up to 200 groups: ``?ids=1,2,3``."""
    now = now_ms()
    return JsonResponse({"now": now, "smalls": listing.smalls(groups=_asked(request), now=now)})


@require_safe
@needs(Role.VIEWER)
def fared(request: HttpRequest) -> JsonResponse:
    """Give how up to 200 groups fared lately, which becomes another thing without any change: ``?ids=1,2,3``."""
    now = now_ms()
    return JsonResponse({"now": now, "fared": listing.fared(groups=_asked(request), now=now)})


def _asked(request: HttpRequest) -> list[int]:
    """Give the groups that are asked for, as far as the person may see them."""
    asked = [int(part) for part in request.GET.get("ids", "").split(",") if part.isdecimal() and len(part) < 19]
    access = access_in(request)
    groups = Group.objects.filter(pk__in=asked[:MOST_IDS]).select_related("cluster")
    return [group.pk for group in groups if listing.may_see(group, group.cluster, access)]


@require_safe
@needs(Role.VIEWER)
def group(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one group: time bar, findings, map, members, rounds. ``?window=`` and ``?queue=`` and ``?zoom=``."""
    found, now = find_group(request, pk), now_ms()
    snapshot = group_snapshot(group=pk)
    window, since = story.window_of(group=found, asked=request.GET.get("window", ""), now=now)
    latest = rounds.latest_of(group=found)
    told = account_of(row=latest, now=now)
    lanes = told.lanes
    members = story.members_of(group=found)
    around = story.around(group=found, now=now, lanes=lanes)
    kinds = [each["member"] for each in members if isinstance(each["member"], Member)]
    facts = {
        "group": pk,
        "window": window,
        "snapshot": to_json(snapshot) if snapshot else None,
        "time": story.time_bar(group=found, since=since, now=now),
        "around": around,
        "lanes": plain_lanes(latest, lanes, now, known_twice(latest, lanes), rest=told.rest),
        "lag": told_plainly(group=found),
    }
    context = {
        "group": found,
        "listed": listing.listed(group=found),
        "state": snapshot.state if snapshot else None,
        "seq": snapshot.seq if snapshot else None,
        "faults": unexplained(snapshot.state, now=now) if snapshot and found.gone_at is None else [],
        "proofs_at": seen_at_of(groups=[pk]).get(pk),
        **painted(snapshot.state if snapshot else None, facts, zoom=request.GET.get("zoom", "")),
        "held_by": rounds.held_by(snapshot.state) if snapshot else [],
        "in_words": in_words(snapshot.state, around) if snapshot else None,
        "members": members,
        "programs": programs_of(kinds),
        "listeners": listeners_of(kinds, model=found.model),
        **without_owners(
            consume_types={each.client_id: each.consume_type for each in kinds},
            proxied=[each.client_id for each in kinds if each.is_proxied],
            popped_by=found.popped_by,
            strategy=found.strategy,
        ),
        "round": latest,
        "moved_so_far": moved_so_far(latest, now=now) if latest else None,
        "left_open": left_open(latest) if latest else 0,
        "loads": loads_of(latest)[: story.MOST_LANES] if latest else [],
        "causes": rounds.causes_of(latest, most=MOST_CAUSES) if latest else [],
        "more_causes": max(0, latest.causes.count() - MOST_CAUSES) if latest else 0,
        "lanes": lanes[: story.MOST_LANES],
        "lane_count": len(lanes),
        **known_of(row=latest, lanes=lanes),
        "worst": story.worst(lanes, told.own.shares, is_untold=latest is not None and latest.is_left_untold),
        **beyond.shown(told.rest),
        "rounds": rounds.newest(group=found, most=12, now=now),
        "window": window,
        "windows": [(name, _link(request, window=name)) for name in story.WINDOWS_MS],
        "now": now,
        "as_of": _as_of([found.cluster], now),
        "answering": unanswered([found.cluster], now),
        **asking.buttons(group=found, access=access_in(request), now=now),
        "facts": facts,
    }
    return render(request, "groups/_side.html" if request.GET.get("part") == "side" else "groups/group.html", context)


@require_safe
@needs(Role.VIEWER)
def facts(request: HttpRequest, pk: int) -> JsonResponse:
    """Give what a group's page shows besides its state, newly: time bar, who left, handoffs."""
    found, now = find_group(request, pk), now_ms()
    _window, since = story.window_of(group=found, asked=request.GET.get("window", ""), now=now)
    latest = rounds.latest_of(group=found)
    told = account_of(row=latest, now=now)
    return JsonResponse(
        {
            "time": story.time_bar(group=found, since=since, now=now),
            "around": story.around(group=found, now=now, lanes=told.lanes),
            "lanes": plain_lanes(latest, told.lanes, now, known_twice(latest, told.lanes), rest=told.rest),
        }
    )


@require_safe
@needs(Role.VIEWER)
def lag(request: HttpRequest, pk: int) -> JsonResponse:
    """Give how far a group is behind in each queue, now and in the last minute."""
    return JsonResponse({"now": now_ms(), "lag": told_plainly(group=find_group(request, pk))})


@require_safe
@needs(Role.VIEWER)
def owners(request: HttpRequest, pk: int) -> JsonResponse:
    """Give who had each queue of a group over time: ``?since= &until=`` (ms since 1970)."""
    found, now = find_group(request, pk), now_ms()
    since, until = (_instant(request.GET.get(name, "")) for name in ("since", "until"))
    until = now if until is None else min(until, now)
    since = until - story.WINDOWS_MS["10m"] if since is None else since
    lanes = owner_lanes(group=found, since=max(min(since, until), until - LONGEST_MS), until=until)
    return JsonResponse({"now": now, **lanes})


@require_safe
@needs(Role.VIEWER)
def queue(request: HttpRequest, pk: int) -> JsonResponse:
    """Give the last owners of one queue: ``?topic= &broker= &id=``."""
    found = find_group(request, pk)
    number = request.GET.get("id", "")
    if not number.isdecimal() or len(number) > 10:
        raise Http404(_("A queue's number is needed, such as ?topic=orders&broker=broker-a&id=0."))
    owners = story.queue_story(
        group=found,
        topic=request.GET.get("topic", ""),
        broker=request.GET.get("broker", ""),
        queue_id=int(number),
    )
    said = [{**each, "reason": in_readers_words(str(each["reason"] or ""))} for each in owners]
    return JsonResponse({"now": now_ms(), "owners": said})


@require_safe
@needs(Role.VIEWER)
def round_list(request: HttpRequest, pk: int) -> HttpResponse:
    """List a group's rounds, newest first; ``?page=``."""
    found, now = find_group(request, pk), now_ms()
    page = rounds.page_of(group=found, number=_number(request.GET.get("page", "")), now=now)
    context = {"group": found, "page": page, "now": now}
    return render(request, "groups/rounds.html", context)


@require_safe
@needs(Role.VIEWER)
def round_page(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Show one round: a paragraph, handoffs worst first, the evidence, before and after."""
    found, now = find_group(request, pk), now_ms()
    row = rounds.find(group=found, number=number)
    if row is None:
        raise Http404(_("There is no such round, or it is not kept any more."))
    told = account_of(row=row, now=now)
    lanes, rest = told.lanes, told.rest
    known = twice_in(row=row, lanes=lanes)
    twice = totals_in(row=row, lanes=lanes, known=known)
    worst = figures_of(row=row, account=told, twice=twice)
    queue = request.GET.get("queue", "")[:400]
    page = story.page_of(with_queue(lanes, queue), _number(request.GET.get("handoffs", "")))
    drawn = with_queue(rest, queue) if page["lane_page"] == 1 else ()
    pictures = pictures_of(row)
    context = {
        "group": found,
        "round": row,
        "moved_so_far": moved_so_far(row, now=now),
        "left_open": worst["left_open"],
        "twice": twice,
        **page,
        **beyond.shown(rest),
        "handoff_count": len(lanes),
        "queue": queue,
        "worst": worst,
        "causes": rounds.causes_of(row),
        "sentence": sentence_of(row, worst, now=now),
        "loads": loads_of(row)[:MOST_LOADS],
        "division": division_of(row),
        "neighbours": rounds.neighbours_of(row),
        "now": now,
        "facts": {
            "group": pk,
            "lanes": plain_lanes(row, page["lanes"], now, known, rest=drawn),
            **pictures,
            "lags": lags_around(group=found, row=row, before_at=pictures["before_at"], now=now),
        },
    }
    return render(request, "groups/round.html", context)


def access_in(request: HttpRequest) -> Access:
    """Give what the person of a request may do; the gate has put it there."""
    access = getattr(request, "access", None)
    assert isinstance(access, Access)
    return access


def find_group(request: HttpRequest, pk: int) -> Group:
    """Give a group.

    Raises:
        Http404: there is none, or not for this person; which of the two is not told.
    """
    found = Group.objects.select_related("cluster").filter(pk=pk).first()
    if found is None or not listing.may_see(found, found.cluster, access_in(request)):
        raise Http404(_("There is no such group, or you may not see it."))
    return found


def _now(request: HttpRequest, clusters: list[Cluster], now: int) -> dict[str, object]:
    """Give what the overview says besides its rows: who does not answer, what is wrong, and who backs away."""
    access = access_in(request)
    wrong = found_now.now_wrong(clusters=clusters, access=access, now=now)
    answers = answering(clusters=clusters, now=now)
    backing, has_producers = backing_away(clusters=clusters, access=access, now=now)
    return {
        "clusters_shown": clusters,
        "answering": unanswered(clusters, now),
        "is_answering": any(each.is_watched and each.answered_at is not None for each in answers),
        "wrong": wrong,
        "proofs_at": seen_at_of(groups=[each.group_id for each in wrong.first if each.group_id is not None]),
        "without_one_owner": listing.without_one_owner(clusters=clusters, access=access),
        "link_to_these": _link(request, only="owners", q="", page=""),
        "backing": backing,
        "has_producers": has_producers,
        "now": now,
    }


def _wish(request: HttpRequest) -> listing.Wish:
    only, sort = request.GET.get("only", "all"), request.GET.get("sort", "state")
    return listing.Wish(
        search=request.GET.get("q", "")[:200],
        only=only if only in listing.FILTERS else "all",
        sort=sort if sort in listing.SORTS else "state",
        page=_number(request.GET.get("page", "")),
    )


def _instant(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) <= 15 else None


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 7 else 1


def _link(request: HttpRequest, **changed: str) -> str:
    """Give this page's address with some of its parameters changed; an empty one is left out."""
    kept = {name: request.GET[name] for name in request.GET if name != "part"} | changed
    return "?" + urlencode({name: value for name, value in kept.items() if value})


def _tabs() -> list[tuple[str, str]]:
    return [
        ("all", _("All")),
        ("findings", _("With findings")),
        ("owners", _("No owner or two")),
        ("moving", _("Rebalancing")),
        ("unknown", _("Unknown")),
    ]


def _sorts() -> list[tuple[str, str]]:
    return [
        ("state", _("state")),
        ("name", _("name")),
        ("members", _("members")),
        ("queues", _("queues")),
        ("round", _("last round")),
        ("lag", _("lag")),
    ]
