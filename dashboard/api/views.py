"""The page of the API: what it has, and the tokens of whoever looks."""

from __future__ import annotations

import json

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from dashboard.api import tokens
from dashboard.api.errors import ADDRESS
from dashboard.api.models import ApiToken
from dashboard.api.site import description
from dashboard.common.clock import now_ms
from dashboard.people.gate import needs
from dashboard.people.roles import Role

MOST_SHOWN = 100


@require_safe
@never_cache
@needs(Role.VIEWER)
def page(request: HttpRequest) -> HttpResponse:
    """Show the operations, and the person's own tokens."""
    return _page(request)


@require_POST
@never_cache
@needs(Role.VIEWER)
def make_token(request: HttpRequest) -> HttpResponse:
    """Make a token, and show it this once: ``note= days= may=read|change``."""
    days = request.POST.get("days", str(tokens.DEFAULT_DAYS))
    try:
        made, row = tokens.make(
            user=_person(request),
            is_read_only=request.POST.get("may") != "change",
            days=int(days) if days.isdecimal() and len(days) < 6 else 0,
            note=request.POST.get("note", "").strip(),
            now=now_ms(),
        )
    except ValueError:
        needed = _("A token is good for 1 to %(n)s days.") % {"n": tokens.LONGEST_DAYS}
        return _page(request, problem=needed, status=400)
    except tokens.TooMany:
        enough = _("You have %(n)s good tokens: revoke one first.") % {"n": tokens.MOST}
        return _page(request, problem=enough, status=400)
    curl = f"curl -H 'Authorization: Bearer {made}' {request.build_absolute_uri(ADDRESS)}groups"
    return _page(request, made=made, row=row, curl=curl)


@require_POST
@needs(Role.VIEWER)
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke one of the person's tokens."""
    if not tokens.revoke(token=pk, user=_person(request), now=now_ms()):
        raise Http404(_("There is no such token, or it is not yours to revoke."))
    return redirect("api")


def operations() -> list[dict[str, object]]:
    """List what the API has, as its description does: method, address, role, summary, parameters."""
    found = []
    for where, methods in json.loads(description())["paths"].items():
        for method, each in methods.items():
            role = each["x-needs-role"]
            names = [one["name"] for one in each.get("parameters", []) if one["in"] == "query"]
            found.append(
                {
                    "method": method.upper(),
                    "address": where,
                    "role": _(role),
                    "says": each["description"].splitlines()[0].replace("``", ""),
                    "parameters": names,
                }
            )
    return found


def _page(request: HttpRequest, *, status: int = 200, **more: object) -> HttpResponse:
    mine = ApiToken.objects.filter(user=_person(request)).order_by("-pk")[:MOST_SHOWN]
    context = {
        "tokens": mine,
        "operations": operations(),
        "default_days": tokens.DEFAULT_DAYS,
        "longest_days": tokens.LONGEST_DAYS,
        "now": now_ms(),
        **more,
    }
    return render(request, "api/api.html", context, status=status)


def _person(request: HttpRequest) -> User:
    user = request.user
    assert isinstance(user, User)
    return user
