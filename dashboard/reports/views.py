"""The door of reports, and the page of their tokens."""

from __future__ import annotations

from shlex import quote

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from dashboard.clusters.shell import visible_clusters
from dashboard.common.clock import now_ms
from dashboard.common.shown import shown
from dashboard.groups.views import access_in
from dashboard.people.gate import needs, open_to_all
from dashboard.people.roles import Role
from dashboard.reports import operations, queries, tokens
from dashboard.reports.reading import MOST_BYTES, TooLarge, Unacceptable
from dashboard.reports.tokens import find

AGAIN_S = 2
LONGEST_GROUP, LONGEST_NOTE = 255, 200


@csrf_exempt  # who has a token needs no cookie
@require_POST
@never_cache
@open_to_all
def take(request: HttpRequest) -> JsonResponse:
    """Take a report; ``docs/reports.md`` has the answers."""
    token = find(authorization=request.headers.get("Authorization", ""))
    if token is None:
        seen = "there is no token of a group that is good"
        return _refused(401, f"{seen}; needed is Authorization: Bearer <token>, as it was shown when it was made")
    if request.content_type != "application/json":
        return _refused(415, f"the body is {request.content_type or 'of no kind'}; needed is application/json")
    try:
        taken = operations.take(token=token, body=_body(request), now=now_ms())
    except Unacceptable as refusal:
        return _refused(refusal.status, str(refusal))
    found = {"report": taken.report, "facts": taken.facts, "stored": taken.stored, "was_there": taken.was_there}
    return JsonResponse(found, status=200 if taken.was_there else 201)


def _body(request: HttpRequest) -> bytes:
    """Read no more than shows that it is too much, whatever the length that was announced.

    Raises:
        TooLarge: it is.
    """
    announced = request.headers.get("Content-Length", "")
    if announced.isdigit() and int(announced) > MOST_BYTES:
        raise TooLarge(f"the report has {int(announced):,} bytes; needed are at most {MOST_BYTES:,}")
    return request.read(MOST_BYTES + 1)


def _refused(status: int, words: str) -> JsonResponse:
    answer = JsonResponse({"problem": words}, status=status)
    if status == 401:
        answer["WWW-Authenticate"] = 'Bearer realm="reports"'
    if status == 503:
        answer["Retry-After"] = str(AGAIN_S)
        answer._has_been_logged = True  # type: ignore[attr-defined] # Django's own mark: who comes early is told why
    return answer


# ---- the page of tokens ----


@require_safe
@never_cache
@needs(Role.ADMIN)
def list_tokens(request: HttpRequest) -> HttpResponse:
    """List the tokens of the groups of which this person is an admin."""
    return _page(request)


@require_POST
@never_cache
@needs(Role.ADMIN)
def make_token(request: HttpRequest) -> HttpResponse:
    """Make a token, and show it this once."""
    access, group = access_in(request), request.POST.get("group", "").strip()
    cluster = next(
        (each for each in visible_clusters(access=access) if str(each.pk) == request.POST.get("cluster")), None
    )
    note = request.POST.get("note", "").strip()
    if cluster is None or not 0 < len(group) <= LONGEST_GROUP or len(note) > LONGEST_NOTE:
        return _page(request, problem=_("Needed are a cluster and the name of a group."), status=400)
    if not access.may(Role.ADMIN, cluster=cluster.name, group=group):
        return _page(request, problem=_("You are no admin of this group."), status=400)
    made, row = tokens.make(cluster=cluster, group=group, author=access.name, now=now_ms(), note=note)
    return _page(request, made=made, row=row, commands=_commands(request, made, group))


@require_POST
@needs(Role.ADMIN)
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke a token."""
    access = access_in(request)
    if queries.token_of(pk=pk, access=access) is None:
        raise Http404(_("There is no such token, or it is not yours to revoke."))
    tokens.revoke(token=pk, author=access.name, now=now_ms())
    return redirect("tokens")


def _commands(request: HttpRequest, token: str, group: str) -> str:
    """Write how a consumer reports with a token, for a shell; what only its owner knows is in capital letters."""
    url = request.build_absolute_uri("/api/v1/reports")
    name = quote(group) if shown(group) == group else "GROUP"
    consume = f"evenkeel consume --namesrv HOST:PORT --group {name} --topic TOPIC --report {quote(url)}"
    return f"export EVENKEEL_REPORT_TOKEN={token}\n{consume}"


def _page(request: HttpRequest, *, status: int = 200, **more: object) -> HttpResponse:
    access = access_in(request)
    context = {
        "tokens": queries.tokens_of(access=access),
        "choices": visible_clusters(access=access),
        "given": request.POST,
        "now": now_ms(),
        **more,
    }
    return render(request, "reports/tokens.html", context, status=status)
