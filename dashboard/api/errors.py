"""What the API says where it does not do what was asked: ``{"problem": "…"}``, for whoever asks of it.

The site's own pages keep their own words: the handlers of 400 to 500 ask first whose address it was.
"""

from __future__ import annotations

from collections.abc import Collection

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import Resolver404
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language_from_request, ngettext, override
from django.utils.translation import gettext as _
from django.views import defaults

from dashboard.common.shown import shown
from dashboard.common.spans import plain

ADDRESS = "/api/v1/"
MOST_NAMED, LONGEST_NAME = 5, 40  # parameters that a refusal names, and letters of each
FROM_ELSEWHERE = ("Origin checking failed", "Referer checking failed")  # as django.middleware.csrf says it


class Problem(Exception):
    """The API does not do it: a status, and what was seen and what is needed; and when there is room for it, in s."""

    def __init__(self, status: int, words: str, *, wait_s: int = 0, **more: object) -> None:
        super().__init__(words)
        self.status = status
        self.wait_s = wait_s
        self.more = more


def is_of_the_api(request: HttpRequest) -> bool:
    """Ask whether an address is one of the API's."""
    return request.path_info.startswith(ADDRESS)


def refused(status: int, words: str, **more: object) -> JsonResponse:
    """Say why not."""
    answer = JsonResponse({"problem": plain(words), **more}, status=status)
    if status == 401:
        answer["WWW-Authenticate"] = 'Bearer realm="api"'
    return answer


def refuse_unknown(request: HttpRequest, known: Collection[str]) -> JsonResponse | None:
    """Refuse parameters of an address that it does not know, by their names; None: it knows all of them."""
    unknown = sorted(request.GET.keys() - set(known))
    if not unknown:
        return None
    more = f" and {len(unknown) - MOST_NAMED} more" if len(unknown) > MOST_NAMED else ""
    names = ", ".join(repr(shown(name, LONGEST_NAME)) for name in unknown[:MOST_NAMED])
    there = f"there are {', '.join(sorted(known))}" if known else "there are none"
    return refused(400, f"there is no parameter {names}{more} here; {there}")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400, or 413; it may have been refused before anything had asked for the reader's language."""
    is_too_large, most = isinstance(exception, RequestDataTooBig), settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    told = str(exception) if isinstance(exception, BadRequest) else ""
    if is_of_the_api(request):
        if is_too_large:
            return refused(413, f"the body is too large; needed are at most {most:,} bytes")
        return refused(400, told or "this is no request that can be read")
    with override(get_language_from_request(request)):
        if is_too_large:
            told = _("What you sent is too large: %(n)s bytes are taken at most.") % {"n": f"{most:,}"}
        return render(request, "400.html", {"told": told}, status=413 if is_too_large else 400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403, with the reason that the gate gave."""
    if is_of_the_api(request):
        return refused(403, str(exception) or "this is not for you")
    return defaults.permission_denied(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404."""
    if is_of_the_api(request):
        return refused(404, f"there is nothing at {request.path_info[:200]}; {ADDRESS}openapi.json lists what there is")
    if isinstance(exception, Resolver404):  # its own words are a list of patterns
        exception = Http404(_("There is no page at %(address)s.") % {"address": request.path_info[:200]})
    return defaults.page_not_found(request, exception)


def failed(request: HttpRequest) -> HttpResponse:
    """Answer 500; what it was is in the log alone."""
    if is_of_the_api(request):
        return refused(500, "the control room failed here; its log says how")
    return defaults.server_error(request)


def database_away(request: HttpRequest, again_s: int) -> HttpResponse:
    """Answer 503; a page asks nothing more of the database for it."""
    if is_of_the_api(request):
        return refused(503, f"the database does not answer now; needed is to ask again, in {again_s} s or later")
    is_sent = request.method == "POST"
    if is_sent and request.headers.get("Accept", "") == "application/json":  # a form that a script sends
        return JsonResponse({"refused": not_stored(again_s)}, status=503)
    return HttpResponse(
        render_to_string("503.html", {"n": again_s, "sent": is_sent and not_stored(again_s)}), status=503
    )


def not_stored(again_s: int) -> str:
    """Say what became of a form that met a database which does not answer."""
    return ngettext(
        "The database does not answer, or is locked by others. What you sent is not stored: send it again in %(n)s s"
        " or later.",
        "The database does not answer, or is locked by others. What you sent is not stored: send it again in %(n)s s"
        " or later.",
        again_s,
    ) % {"n": again_s}


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponseBase:
    """Answer a change that came with a browser's log-in, but without its token against forged requests."""
    if is_of_the_api(request):
        seen = reason.rstrip(".") or "the request may be forged"
        return refused(403, f"{seen}: needed is the header X-CSRFToken, or an API token instead of a log-in")
    came_from = request.headers.get("Referer", "")
    is_ours = url_has_allowed_host_and_scheme(came_from, {request.get_host()}, require_https=request.is_secure())
    context = {
        "again": came_from if is_ours else "",
        "is_from_elsewhere": reason.startswith(FROM_ELSEWHERE),
        "origin": request.headers.get("Origin") or came_from,
        "here": f"{request.scheme}://{request.get_host()}",
    }
    return render(request, "forged.html", context, status=403)
