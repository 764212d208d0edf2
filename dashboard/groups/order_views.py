"""Orders from pages: forms come in, a row of the command table goes out, and what became of it is shown."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from dashboard.clusters.models import Broker, Cluster
from dashboard.clusters.shell import all_clusters
from dashboard.common.clock import now_ms
from dashboard.demo.shop import BROKERS
from dashboard.groups import asking, listing
from dashboard.groups.models import Group
from dashboard.groups.programme import programme
from dashboard.groups.showing import row_of
from dashboard.groups.views import access_in, find_group
from dashboard.people.gate import needs
from dashboard.people.roles import Role
from dashboard.push.publish import current_seq, overview_stream
from dashboard.push.shapes import to_json


@require_safe
@needs(Role.VIEWER)
def group_orders(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what was ordered of a group, and what became of it: a part of its page."""
    found, now = find_group(request, pk), now_ms()
    orders = asking.told(group=found, now=now)
    return render(request, "groups/_orders.html", {"orders": orders, "group": found, "now": now})


@needs(Role.OPERATOR)
def order_of_group(request: HttpRequest, pk: int) -> HttpResponse:
    """Order something of a group: ``verb= target= how= reason=``."""
    found = find_group(request, pk)
    return _ask(request, found.cluster, found, reverse("group", args=[pk]))


@require_safe
@needs(Role.VIEWER)
def demo(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what happens in the demo, and what can be ordered of it; ``?part=orders`` is what became of that."""
    cluster, now = find_demo(request, pk), now_ms()
    access, stream = access_in(request), overview_stream(cluster.pk)
    seq = current_seq(stream=stream)  # before rows
    seen = [
        each
        for each in Group.objects.filter(cluster=cluster).select_related("cluster").order_by("name")
        if listing.may_see(each, cluster, access)
    ]
    orders = asking.told_of_demo(cluster=cluster, groups=[each.name for each in seen], now=now)
    if request.GET.get("part") == "orders":
        return render(request, "groups/_orders.html", {"orders": orders, "now": now})
    groups = [each for each in seen if each.gone_at is None]
    context = {
        "cluster": cluster,
        "aside": [cluster] if cluster.is_aside else [],
        "chosen": cluster.name,
        "groups": [{"group": each, "obstacle": asking.obstacle_to_play(group=each, access=access)} for each in groups],
        "brokers": BROKERS,
        "away": set(Broker.objects.filter(cluster=cluster, gone_at__isnull=False).values_list("name", flat=True)),
        "obstacle": asking.obstacle_to_ordering(cluster=cluster, group=None, access=access),
        "programme": programme(),
        "orders": orders,
        "now": now,
        "facts": {
            "stream": stream,
            "seq": seq,
            "watched_at": cluster.watched_at,
            "is_aside": cluster.is_aside,
            "rows": [to_json(row_of(each)) for each in groups],
            "now": now,
        },
    }
    return render(request, "groups/demo.html", context)


@needs(Role.OPERATOR)
def order_of_demo(request: HttpRequest, pk: int) -> HttpResponse:
    """Order something of the demo's brokers: ``verb= target=``."""
    return _ask(request, find_demo(request, pk), None, reverse("demo", args=[pk]))


def find_demo(request: HttpRequest, pk: int) -> Cluster:
    """Give a demo cluster, or one that was put aside.

    Raises:
        Http404: there is none, or not for this person.
    """
    for cluster in all_clusters(access=access_in(request)):
        if cluster.pk == pk and cluster.is_demo:
            return cluster
    raise Http404(_("There is no such demo, or you may not see it."))


def _ask(request: HttpRequest, cluster: Cluster, group: Group | None, page: str) -> HttpResponse:
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    asked = asking.Asked(**{name: request.POST.get(name, "") for name in ("verb", "target", "reason", "how")})
    access, wants_json = access_in(request), request.headers.get("Accept", "") == "application/json"
    try:
        asking.ask(cluster=cluster, group=group, asked=asked, access=access, author_id=request.user.pk, now=now_ms())
    except asking.Refused as refusal:
        if wants_json:
            return JsonResponse({"refused": str(refusal)}, status=refusal.status)
        messages.error(request, str(refusal))
    return JsonResponse({}) if wants_json else HttpResponseRedirect(f"{page}#orders")
